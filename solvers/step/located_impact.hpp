// Impacts located inside a step. A gap that closes with the velocity v_n = J v closes at t = -gap/v_n. Before
// t the body moves with the free velocity, after t with the velocity after the impulse:
//
//   q+ = retract(q, h v+ - sum over bouncing contacts of t M^-1 J^T lambda)
//
// The row's bias (solvers/rows/bias.hpp) reverses the velocity at t. As h -> 0, the derivative of such a step
// by q and v tends to the saltation matrix. The derivative of a step that bounces at its beginning does not.
// M has h B on its diagonal.
#pragma once

#include "solvers/rows/rows.hpp"
#include "solvers/step/impulses.hpp"

namespace costate {

// visit(row, length, dofs, values, t, first row of the block) for every row of the contacts that bounce
// inside the step.
template <class T, class Visit>
void for_each_located_row(const World& w, const T* theta, const T* q, const ContactScratch<T>& contacts,
                          const Rows<T>& rows, const Visit& visit) {
    for (const RowBlock& block : rows.blocks) {
        if (block.bias != BiasCase::located) continue;
        const T t = impact_time(block_gap(w, theta, block, q, contacts, rows), rows.v_before[block.row]);
        for (int r = 0; r < block.rows; ++r)
            visit(block.row + r, block.length, rows.chain_dof.data() + block.chain,
                  block.values + r * block.length, t, block.row);
    }
}

// Subtracts s.impact_displacement = M^-1 sum t J^T lambda from the displacement.
template <class T>
void impact_displacement(const World& w, const T* theta, const T* q, const T* L,
                         const ContactScratch<T>& contacts, const Rows<T>& rows, ImpulseScratch<T>& s,
                         T* displacement) {
    if (!rows.located) return;
    std::fill(s.impact_displacement.begin(), s.impact_displacement.end(), T(0));
    for_each_located_row(w, theta, q, contacts, rows,
                         [&](int row, int length, const int* dofs, int values, const T& t, int) {
                             for (int i = 0; i < length; ++i)
                                 s.impact_displacement[dofs[i]] += t * s.lambda[row] * rows.J[values + i];
                         });
    ltl_solve_inplace(w.model, L, 0, w.nv(), s.impact_displacement.data());
    for (int j = 0; j < w.nv(); ++j)
        displacement[j] -= s.impact_displacement[j];
}
// With y = -M^-1 displacement_bar:
//   lambda_bar += t J y,   J_bar += t lambda y^T,   t_bar += lambda J y
//   M_bar -= y impact_displacement^T
template <class T>
void impact_displacement_adj(const World& w, const T* theta, const T* q, const T* L,
                             const ContactScratch<T>& contacts, Rows<T>& rows, ImpulseScratch<T>& s,
                             const T* displacement_bar, T* M_bar) {
    if (!rows.located) return;
    for (int j = 0; j < w.nv(); ++j)
        s.w[j] = -displacement_bar[j];
    ltl_solve_inplace(w.model, L, 0, w.nv(), s.w.data());
    ltl_solve_inplace_adj(w.model, 0, w.nv(), s.impact_displacement.data(), s.w.data(), M_bar);
    for_each_located_row(w, theta, q, contacts, rows,
                         [&](int row, int length, const int* dofs, int values, const T& t, int first) {
                             const T& lambda = s.lambda[row];
                             T along(0);
                             for (int i = 0; i < length; ++i) {
                                 const T& y = s.w[dofs[i]];
                                 along += rows.J[values + i] * y;
                                 rows.J_bar[values + i] += t * lambda * y;
                             }
                             s.lambda_bar[row] += t * along;
                             rows.time_bar[first] += lambda * along;
                         });
}

// True if a block has bounced at the beginning of the step.
template <class T> bool bounces(const RowBlock& block, const ImpulseScratch<T>& s) {
    return block.bias == BiasCase::bounce && value_of(s.lambda[block.row]) > 0;
}

// The covector of q+ if a step has bounced at its beginning and gets the gradient of an elastic impact
// (Werling et al. 2021, section VI and appendix E):
//   dq+/dq = X,   dq+/dv = h X,   X = 1 - sum y_i J_i^T J_i
// with y such that J_i X J_i^T = -e_i J_i J_i^T on the rows that bounce. `d` (nv): in, displacement_bar; out,
// X^T displacement_bar.
template <class T>
void elastic_displacement_inplace(const Rows<T>& rows, const ContactScratch<T>& contacts,
                                  ImpulseScratch<T>& s, T* d) {
    ElasticScratch<T>& e = s.elastic;
    e.bouncing.clear();
    for (const RowBlock& block : rows.blocks)
        if (bounces(block, s)) e.bouncing.push_back(&block);
    const auto along = [&](const RowBlock& block, const auto& x) {
        T sum(0);
        for (int i = 0; i < block.length; ++i)
            sum += rows.J[block.values + i] * x(rows.chain_dof[block.chain + i]);
        return sum;
    };
    const auto inner = [&](const RowBlock& a, const RowBlock& b) {
        return along(a, [&](int dof) {
            for (int i = 0; i < b.length; ++i)
                if (rows.chain_dof[b.chain + i] == dof) return rows.J[b.values + i];
            return T(0);
        });
    };
    const size_t n = e.bouncing.size();
    e.y.resize(n);
    e.pulled.resize(n);
    e.solver.factor({static_cast<int>(n), {}, false}, [&](size_t i, size_t, double* row, double*) {
        const RowBlock& a = *e.bouncing[i];
        for (size_t j = 0; j < n; ++j) {
            const double product = lane(value_of(inner(a, *e.bouncing[j])), 0);
            row[j] = product * product;
            if (i == j) e.y[i] = (1 + lane(value_of(block_restitution(a, contacts)), 0)) * product;
        }
    });
    e.solver.solve_inplace(e.y.data());
    for (size_t i = 0; i < n; ++i)
        e.pulled[i] = T(e.y[i]) * along(*e.bouncing[i], [&](int dof) { return d[dof]; });
    for (size_t i = 0; i < n; ++i)
        for (int k = 0; k < e.bouncing[i]->length; ++k)
            d[rows.chain_dof[e.bouncing[i]->chain + k]] -= e.pulled[i] * rows.J[e.bouncing[i]->values + k];
}

}  // namespace costate
