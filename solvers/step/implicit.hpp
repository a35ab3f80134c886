// The adjoint of a step's dynamics through the equations that its result satisfies:
//
//   r = M (v+ - v) + h [c + B v+ - tau] - J^T lambda = 0
//   s = J v+ + beta + R lambda,   complementary to lambda
//
// With v0 the covector of v+, and s_bar from the adjoint of the active set:
//
//   lambda_bar += J M^-1 v0,   w = M^-1 (v0 + J^T s_bar)
//
// All other covectors are the derivatives of -w.r + s_bar.s with v+, lambda, w and s_bar held constant: one
// adjoint of RNEA at the acceleration (v+ - v)/h, and J_bar += s_bar v+^T + lambda w^T for the rows. M
// includes h B on its diagonal when it is inverted.
#pragma once

#include "solvers/step/impulses.hpp"

namespace costate {

// The active set through which a step is pulled back. solved: the active set of the solution. relabelled: the
// same, but loaded contacts are open if opening them would decrease the loss, the other side of
// complementarity (Werling et al. 2021, section IV-D). A drone that rests on the ground has no gradient by
// its thrust through the active set of the solution.
enum class ContactLabels { solved, relabelled };

// found.state, but separating for contacts at which a further normal impulse would decrease the loss.
// loss_by_impulse (rows) is J M^-1 v0.
template <class T>
void relabel(const MlcpView<T>& p, const ActiveSet<T>& found, const T* loss_by_impulse, const T* x,
             ActiveSet<T>& out) {
    out.state = found.state;
    out.s.resize(found.s.size());
    for (int r = 0; r < p.rows; ++r) {
        RowState& state = out.state[r];
        if (p.type[r] == RowType::unilateral && loss_by_impulse[r] < T(0)) state = RowState::separating;
        if (p.type[r] == RowType::friction && out.state[p.normal_of(r)] == RowState::separating)
            state = RowState::separating;
    }
    linearise_states(p, out, x);
}

// From the covectors of the impulses and of v+: s_bar (b_bar in the scratch), bound_bar, and s.w.
template <class T>
void constrained_response(const World& w, const T* L, Rows<T>& rows, const DelassusScratch<T>& d,
                          ImpulseScratch<T>& s, const T* v_next_bar, ContactLabels labels) {
    const auto solve = [&] { ltl_solve_inplace(w.model, L, 0, w.nv(), s.w.data()); };
    std::copy(v_next_bar, v_next_bar + w.nv(), s.w.begin());
    if (rows.islands.empty()) return solve();
    solve();
    s.b_bar.assign(s.b.size(), T(0));  // first J M^-1 v0
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.b_bar[row] += rows.J[values + i] * s.w[dofs[i]];
        s.lambda_bar[row] += s.b_bar[row];
    });
    for (size_t i = 0; i < rows.islands.size(); ++i) {
        const int row = rows.islands[i].row, end = row + rows.islands[i].rows;
        const MlcpView<T> p = island_problem(rows, d, s, i);
        const bool relabelled = labels == ContactLabels::relabelled;
        if (relabelled) relabel(p, s.sets[i], s.b_bar.data() + row, s.lambda.data() + row, s.relabelled[i]);
        std::fill(s.b_bar.begin() + row, s.b_bar.begin() + end, T(0));
        pull_back_active_set(p, relabelled ? s.relabelled[i] : s.sets[i], s.lambda.data() + row,
                             s.lambda_bar.data() + row, s.b_bar.data() + row, rows.bound_bar.data() + row);
    }
    std::copy(v_next_bar, v_next_bar + w.nv(), s.w.begin());
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.w[dofs[i]] += rows.J[values + i] * s.b_bar[row];
    });
    solve();
}

// Adds the covectors of the rows from s_bar and w, with v+ and lambda held constant. Returns w . J^T lambda.
template <class T>
T pull_back_row_velocities(Rows<T>& rows, const ImpulseScratch<T>& s,
                           const T* v_next)  // (nv)
{
    T power(0);
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        const T &lambda = s.lambda[row], &s_bar = s.b_bar[row];
        rows.beta_bar[row] += s_bar;
        rows.R_bar[row] += s_bar * lambda;
        for (int i = 0; i < length; ++i) {
            const T& w_j = s.w[dofs[i]];
            rows.J_bar[values + i] += s_bar * v_next[dofs[i]] + lambda * w_j;
            power += lambda * rows.J[values + i] * w_j;
        }
    });
    return power;
}

}  // namespace costate
