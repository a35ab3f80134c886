// From the free velocity to the impulses and the velocity they leave:
//   b = J v_f + beta,   lambda = MLCP(A, b) island by island,   dv = M^-1 J^T lambda
#pragma once

#include "solvers/complementarity/cone.hpp"
#include "solvers/complementarity/laws.hpp"
#include "solvers/complementarity/pgs.hpp"
#include "solvers/step/delassus.hpp"

namespace costate {

template <class T> struct ImpulseScratch {
    std::vector<T> b, lambda;  // (rows) m/s; N s
    // (blocks) where the start of each was found: solvers/step/warm_start.hpp
    std::vector<int> warm;
    std::vector<std::pair<double, int>> warm_slots;  // key of a contact and its place, sorted
    std::vector<T> dv;                               // (nv) velocity from the impulses
    std::vector<PgsTape<T>> tapes;                   // per island, of pgs
    std::vector<ActiveSet<T>> sets;                  // per island, where the gradient is implicit
    // per island: with the contacts separating that the loss wants open
    std::vector<ActiveSet<T>> relabelled;
    std::vector<SolverStatus> status;  // per island, of exact solvers
    // whether all islands are solved, where sweeps have an implicit gradient
    bool settled = true;
    LcpScratch lcp;
    ConeScratch cone;
    // bars
    std::vector<T> lambda_bar, b_bar;  // (rows)
    std::vector<T> w;                  // (nv) M^-1 v+_bar
    std::vector<T> late;               // (nv) solvers/step/located_impact.hpp
    explicit ImpulseScratch(const World& world)
        : dv(world.nv(), T(0)),
          tapes(world.model.trees.size()),
          sets(tapes.size()),
          relabelled(tapes.size()),
          w(dv),
          late(dv) {}
};

template <class T>
MlcpView<T> island_problem(const Rows<T>& rows, const DelassusScratch<T>& d, const ImpulseScratch<T>& s,
                           size_t i) {
    const Island& island = rows.islands[i];
    const int r = island.row;
    return {island.rows,
            island.factored ? nullptr : d.A.data() + island.delassus,
            s.b.data() + r,
            rows.mu.data() + r,
            rows.normal.data() + r,
            r,
            rows.dropped.data() + r,
            island.factored ? &d.factored[i] : nullptr};
}

// y_r = sum over the chain of J_rj x_j, per row
template <class T, class Visit> void for_each_row(const Rows<T>& rows, const Visit& visit) {
    for (const RowBlock& block : rows.blocks)
        for (int r = 0; r < block.rows; ++r)
            visit(block.row + r, block.length, rows.chain_dof.data() + block.chain,
                  block.values + r * block.length);
}

// Sweeps by which exact solvers guess where they have no warm start.
inline constexpr int guessing_sweeps = 10;

// From lambda, at which the solver starts, to the solution.
template <class T>
void solve_island(const World& w, const MlcpView<T>& p, size_t island, ImpulseScratch<T>& s, T* lambda) {
    ActiveSet<T>& set = s.sets[island];
    for (int r = 0; r < p.rows; ++r)
        if (p.drops(r)) lambda[r] = T(0);
    if (w.settings.solver == SolverType::pgs) {
        pgs(p, w.settings.sweeps, w.settings.tolerance, s.tapes[island], lambda);
        if (!w.implicit_gradient()) return;
        linearise_at(p, FrictionLaw::box, set, lambda);
        s.settled = s.settled && mlcp_residual(p, lambda) <= acceptable_residual(p, lambda);
        return;
    }
    if (std::all_of(lambda, lambda + p.rows, [](const T& x) { return x == T(0); }))
        pgs(p, guessing_sweeps, 0, s.tapes[island], lambda);
    s.status.push_back(w.settings.solver == SolverType::lcp
                           ? lcp(p, s.lcp, set, lambda)
                           : cone(p, w.friction_law(), w.settings.cone_method, s.cone, set, lambda));
}

// s.b and s.lambda, from where that stands
template <class T>
void solve_impulses(const World& w, const Rows<T>& rows, const DelassusScratch<T>& d, const T* v_free,
                    ImpulseScratch<T>& s) {
    s.b = rows.beta;
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.b[row] += rows.J[values + i] * v_free[dofs[i]];
    });
    s.status.clear();
    s.settled = true;
    for (size_t i = 0; i < rows.islands.size(); ++i)
        solve_island(w, island_problem(rows, d, s, i), i, s, s.lambda.data() + rows.islands[i].row);
    if constexpr (std::is_same_v<T, double>) {
        for (size_t i = 0; i < rows.islands.size(); ++i)
            assert_lawful(island_problem(rows, d, s, i), w.friction_law(),
                          s.lambda.data() + rows.islands[i].row,
                          !s.status.empty() && s.status[i] != SolverStatus::unsolved);
    }
}
// Sweeps backwards: from s.lambda_bar to A_bar, J_bar, beta_bar, mu_bar, the free velocity's covector and, in
// its place, the start's.
template <class T>
void solve_impulses_adj(Rows<T>& rows, DelassusScratch<T>& d, const T* v_free, ImpulseScratch<T>& s,
                        T* v_free_bar) {
    s.b_bar.assign(s.b.size(), T(0));
    for (size_t i = 0; i < rows.islands.size(); ++i) {
        const Island& island = rows.islands[i];
        OperatorBar<T> bar;
        if (island.factored)
            bar = {nullptr, d.W_bar.data(), rows.R_bar.data() + island.row};
        else
            bar = {d.A_bar.data() + island.delassus, nullptr, nullptr};
        pgs_adj(island_problem(rows, d, s, i), s.tapes[i], s.lambda_bar.data() + island.row, bar,
                s.b_bar.data() + island.row, rows.mu_bar.data() + island.row);
    }
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        const T& b_bar = s.b_bar[row];
        rows.beta_bar[row] += b_bar;
        for (int i = 0; i < length; ++i) {
            rows.J_bar[values + i] += b_bar * v_free[dofs[i]];
            v_free_bar[dofs[i]] += b_bar * rows.J[values + i];
        }
    });
}

template <class T, class Visit>
void for_each_tree_with_rows(const World& w, const Rows<T>& rows, const Visit& visit) {
    for (const int t : rows.island_trees)
        visit(w.model.trees[t].dof_begin, w.model.trees[t].dof_end);
}

// s.dv = L^-1 D^-1 Z lambda
template <class T>
void apply_impulses(const World& w, const T* L, const Rows<T>& rows, const DelassusScratch<T>& d,
                    ImpulseScratch<T>& s) {
    std::fill(s.dv.begin(), s.dv.end(), T(0));
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.dv[dofs[i]] += d.Z[values + i] * s.lambda[row];
    });
    for_each_tree_with_rows(w, rows, [&](int begin, int end) {
        ltl_solve_diagonal_lower_inplace(w.model, L, begin, end, s.dv.data());
    });
}
// w = M^-1 dv_bar:   lambda_bar += J w,   J_bar += lambda w^T,   M_bar -= w dv^T
template <class T>
void apply_impulses_adj(const World& w, const T* L, Rows<T>& rows, ImpulseScratch<T>& s, const T* dv_bar,
                        T* M_bar) {
    for_each_tree_with_rows(w, rows, [&](int begin, int end) {
        std::copy(dv_bar + begin, dv_bar + end, s.w.begin() + begin);
        ltl_solve_inplace(w.model, L, begin, end, s.w.data());
        ltl_solve_inplace_adj(w.model, begin, end, s.dv.data(), s.w.data(), M_bar);
    });
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i) {
            s.lambda_bar[row] += rows.J[values + i] * s.w[dofs[i]];
            rows.J_bar[values + i] += s.lambda[row] * s.w[dofs[i]];
        }
    });
}

}  // namespace costate
