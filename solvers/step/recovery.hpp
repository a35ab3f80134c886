// Recovery from errors of position. Bodies that are deeper than the slop are moved apart within the step, the
// ends of an equality are moved together, and none of this motion remains as velocity (split impulses:
// Guendelman, Bridson & Fedkiw 2003, and Catto's engines). The step's velocity v+ satisfies J v+ >= 0 on such
// rows, or = 0 on equalities. A second problem on these two kinds of rows, without friction, gives the
// motion:
//
//   s = J v+ + beta + R lambda >= 0                                  residual velocity of the step's rows
//   w = M^-1 J^T kappa                                               velocity of the recovery, not part of v+
//   s + rho + J w + c R kappa >= 0, complementary to kappa >= 0      rho: rows.recovery
//   q+ = retract(q, h (v+ + w))
//
// with = 0 for the rows of equalities. The compliance is c = 100 times that of the step, so that
// contradictory errors are distributed and not amplified. With every contact solver this problem is solved
// exactly and pulled back through its active set. A factored island of more than 200 dofs gets 50 sweeps of
// projected Gauss-Seidel instead, with time proportional to its rows, and their reverse sweeps: kappa = PGS(W
// W^T + c R, s + rho) as in solvers/complementarity/pgs.hpp. A step without such rows skips the recovery. M
// has h B on its diagonal.
#pragma once

#include "solvers/step/impulses.hpp"

namespace costate {

inline constexpr double recovery_compliance = 100;  // c
inline constexpr int recovery_sweeps = 50, max_dofs_recovered_exactly = 200;

template <class T> struct RecoveryScratch {
    std::vector<T> b, kappa;                    // (rows) s + rho, m/s; N s
    std::vector<LaneBits> dropped;              // (rows) rows.dropped, and all friction rows
    std::vector<T> A;                           // as the dense Delassus operators, with c R
    std::vector<T> R, diagonal;                 // (rows) c R; the diagonal of A
    std::vector<FactoredOperator<T>> factored;  // (islands)
    std::vector<T> w;                           // (nv) velocity of the recovery
    std::vector<ActiveSet<T>> sets;             // per island
    std::vector<PgsTape<T>> tapes;              // per island with sweeps
    std::vector<unsigned char> swept;           // per island: 1 if recovered by sweeps
    LcpScratch lcp;
    // bars
    std::vector<T> R_bar;                        // (rows) of c R, from the sweeps
    std::vector<T> kappa_bar, s_bar, bound_bar;  // (rows)
    std::vector<T> w_bar;                        // (nv)
    explicit RecoveryScratch(const World& world)
        : w(world.nv(), T(0)),
          sets(world.model.trees.size()),
          tapes(sets.size()),
          w_bar(w) {}
    bool any_swept() const {
        return std::ranges::any_of(swept, [](unsigned char it) { return it != 0; });
    }
};

// True if a row of the island is deeper than the slop in a lane, or of an equality: its error may be exactly 0, but
// not the derivative of its recovery.
template <class T> bool recovers_in_lane(const Rows<T>& rows, const Island& island, int i) {
    for (int r = island.row; r < island.row + island.rows; ++r)
        if (lane(value_of(rows.recovery[r]), i) != 0 || rows.type[r] == RowType::free) return true;
    return false;
}
template <class T> bool recovers(const Rows<T>& rows, const Island& island) {
    for (int i = 0; i < lanes_of<T>; ++i)
        if (recovers_in_lane(rows, island, i)) return true;
    return false;
}

template <class T>
MlcpView<T> recovery_problem(const Rows<T>& rows, const DelassusScratch<T>& d,
                             const ImpulseScratch<T>& impulses, const RecoveryScratch<T>& s, size_t i) {
    const Island& island = rows.islands[i];
    MlcpView<T> p = island_problem(rows, d, impulses, i);
    p.b = s.b.data() + island.row;
    p.dropped = s.dropped.data() + island.row;
    if (p.factored != nullptr)
        p.factored = &s.factored[i];
    else
        p.A = s.A.data() + island.delassus;
    return p;
}

// Operators of the islands with c R instead of R.
template <class T>
void soften(const Rows<T>& rows, const DelassusScratch<T>& d, const ImpulseScratch<T>& impulses,
            RecoveryScratch<T>& s) {
    const T c(recovery_compliance);
    s.A = d.A;
    s.R.resize(rows.R.size());
    s.diagonal.resize(rows.R.size());
    s.factored.resize(rows.islands.size());
    for (size_t i = 0; i < rows.islands.size(); ++i) {
        const Island& island = rows.islands[i];
        const MlcpView<T> p = island_problem(rows, d, impulses, i);
        for (int r = 0; r < island.rows; ++r) {
            const size_t row = island.row + r;
            s.R[row] = c * rows.R[row];
            s.diagonal[row] = p.diagonal(r) + (c - T(1)) * rows.R[row];
            const size_t n = island.rows, k = r;
            if (p.factored == nullptr) s.A[island.delassus + k * n + k] = s.diagonal[row];
        }
        if (p.factored == nullptr) continue;
        s.factored[i] = *p.factored;
        s.factored[i].R = s.R.data() + island.row;
        s.factored[i].diagonal = s.diagonal.data() + island.row;
    }
}

// Computes kappa of island i, starting from 0.
template <class T>
void recover_island(const Rows<T>& rows, const DelassusScratch<T>& d, const ImpulseScratch<T>& impulses,
                    RecoveryScratch<T>& s, size_t i) {
    const Island& island = rows.islands[i];
    const MlcpView<T> p = recovery_problem(rows, d, impulses, s, i);
    T* kappa = s.kappa.data() + island.row;
    const bool exactly = !island.factored || island.dofs <= max_dofs_recovered_exactly;
    if constexpr (is_lanes<T>)
        for (int n = 0; n < lanes_of<T>; ++n)
            s.sets[i].rests[n] = !recovers_in_lane(rows, island, n);
    const bool solved = exactly && lcp(p, s.lcp, s.sets[i], kappa) != SolverStatus::unsolved;
    s.swept[i] = island.factored && !solved;
    if (s.swept[i] == 0) return;
    std::fill(kappa, kappa + island.rows, T(0));
    pgs(p, recovery_sweeps, 0, s.tapes[i], kappa);
}

// Computes s.w from the impulses of the step. 0 if no row recovers.
template <class T>
void recover_positions(const World& w, const T* L, const Rows<T>& rows, const DelassusScratch<T>& d,
                       const ImpulseScratch<T>& impulses,
                       const T* v_next,  // (nv) v+
                       RecoveryScratch<T>& s) {
    std::fill(s.w.begin(), s.w.end(), T(0));
    s.swept.assign(rows.islands.size(), 0);
    if (!rows.recovers) return;
    // 1 residual velocity of the rows
    s.b.assign(rows.beta.size(), T(0));
    s.kappa.assign(rows.beta.size(), T(0));
    s.dropped = rows.dropped;
    for (size_t r = 0; r < s.dropped.size(); ++r)
        if (rows.type[r] == RowType::friction || rows.type[r] == RowType::boxed) s.dropped[r] = all_lanes<T>;
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        const size_t r = row;
        s.b[r] = rows.beta[r] + rows.R[r] * impulses.lambda[r] + rows.recovery[r];
        for (int i = 0; i < length; ++i)
            s.b[r] += rows.J[values + i] * v_next[dofs[i]];
    });
    // 2 kappa
    soften(rows, d, impulses, s);
    for (size_t i = 0; i < rows.islands.size(); ++i)
        if (recovers(rows, rows.islands[i])) recover_island(rows, d, impulses, s, i);
    // 3 w
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.w[dofs[i]] += rows.J[values + i] * s.kappa[row];
    });
    ltl_solve_inplace(w.model, L, 0, w.nv(), s.w.data());
}

// From w_bar, with y = M^-1 w_bar, kappa_bar = J y, s_bar by the active set, z = M^-1 (w_bar + J^T s_bar):
//   J_bar += s_bar (v+ + w)^T + kappa z^T,   M_bar -= z w^T,   beta_bar, rho_bar += s_bar
//   R_bar += s_bar (lambda + c kappa),   lambda_bar += R s_bar,   v+_bar += J^T s_bar
// For an island recovered by sweeps, s_bar is the covector of their b, z = y, J_bar has s_bar v+^T, R_bar has
// c times the covector of the sweeps' c R, and d.W_bar accumulates W_bar.
template <class T>
void recover_positions_adj(const World& w, const T* L, Rows<T>& rows, DelassusScratch<T>& d,
                           ImpulseScratch<T>& impulses, RecoveryScratch<T>& s,
                           const T* v_next,  // (nv)
                           const T* w_bar,   // (nv)
                           T* v_next_bar,    // (nv) +=
                           T* M_bar) {       // (mass_matrix_size) +=
    if (!rows.recovers) return;
    // 3 w
    std::copy(w_bar, w_bar + w.nv(), s.w_bar.begin());
    ltl_solve_inplace(w.model, L, 0, w.nv(), s.w_bar.data());
    s.kappa_bar.assign(s.kappa.size(), T(0));
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.kappa_bar[row] += rows.J[values + i] * s.w_bar[dofs[i]];
    });
    // 2 kappa
    s.s_bar.assign(s.kappa.size(), T(0));
    s.bound_bar.assign(s.kappa.size(), T(0));  // stays zero: rows with a bound are dropped
    s.R_bar.assign(s.kappa.size(), T(0));
    for (size_t i = 0; i < rows.islands.size(); ++i) {
        const Island& island = rows.islands[i];
        if (!recovers(rows, island)) continue;
        if (s.swept[i] != 0) {
            const OperatorBar<T> bar{nullptr, d.W_bar.data(), s.R_bar.data() + island.row};
            pgs_adj(recovery_problem(rows, d, impulses, s, i), s.tapes[i], s.kappa_bar.data() + island.row,
                    bar, s.s_bar.data() + island.row, s.bound_bar.data() + island.row);
            continue;
        }
        pull_back_active_set(recovery_problem(rows, d, impulses, s, i), s.sets[i],
                             s.kappa.data() + island.row, s.kappa_bar.data() + island.row,
                             s.s_bar.data() + island.row, s.bound_bar.data() + island.row);
    }
    const auto exact = [&](const RowBlock& block) { return s.swept[block.island] == 0; };
    std::copy(w_bar, w_bar + w.nv(), s.w_bar.begin());
    for_each_row_of_block(rows, [&](const RowBlock& block, int row, int length, const int* dofs, int values) {
        for (int i = 0; exact(block) && i < length; ++i)
            s.w_bar[dofs[i]] += rows.J[values + i] * s.s_bar[row];
    });
    ltl_solve_inplace(w.model, L, 0, w.nv(), s.w_bar.data());
    ltl_solve_inplace_adj(w.model, 0, w.nv(), s.w.data(), s.w_bar.data(), M_bar);
    // 1 residual velocity of the rows
    for_each_row_of_block(rows, [&](const RowBlock& block, int row, int length, const int* dofs, int values) {
        const size_t r = row;
        const T &s_bar = s.s_bar[r], &kappa = s.kappa[r], &lambda = impulses.lambda[r];
        rows.beta_bar[r] += s_bar;
        rows.recovery_bar[r] += s_bar;
        rows.R_bar[r] += exact(block) ? T(s_bar * (lambda + T(recovery_compliance) * kappa))
                                      : T(s_bar * lambda + T(recovery_compliance) * s.R_bar[r]);
        impulses.lambda_bar[r] += rows.R[r] * s_bar;
        for (int i = 0; i < length; ++i) {
            const size_t j = dofs[i];
            v_next_bar[j] += rows.J[values + i] * s_bar;
            rows.J_bar[values + i] +=
                s_bar * (exact(block) ? T(v_next[j] + s.w[j]) : v_next[j]) + kappa * s.w_bar[j];
        }
    });
}

}  // namespace costate
