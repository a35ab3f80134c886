// From the free velocity to the impulses and their velocity:
//   b = J v_f + beta,   lambda = MLCP(A, b) island by island,   dv = M^-1 J^T lambda
//
// If an exact solver fails on a large island, its equations do not hold and have no valid adjoint. The island
// then gets the impulses of 200 sweeps with its friction law, from the solver's start, and the gradient of
// these sweeps.
#pragma once

#include "solvers/complementarity/cone_sweeps.hpp"
#include "solvers/complementarity/lane_solvers.hpp"
#include "solvers/complementarity/laws.hpp"
#include "solvers/complementarity/pgs.hpp"
#include "solvers/complementarity/solver.hpp"
#include "solvers/step/delassus.hpp"

namespace costate {

// For the gradient of elastic impacts: solvers/step/located_impact.hpp
template <class T> struct ElasticScratch {
    std::vector<const RowBlock*> bouncing;
    std::vector<double> y;  // (bouncing)
    std::vector<T> pulled;  // (bouncing)
    DenseSolver solver;     // of (J_i J_j^T)^2
};

template <class T> struct ImpulseScratch {
    std::vector<T> b, lambda;      // (rows) m/s; N s
    std::vector<Value<T>> before;  // (rows) m/s: MlcpView::before
    // (blocks) position of each block's start among the stored impulses: solvers/step/warm_start.hpp
    std::vector<int> warm;
    std::vector<std::pair<Value<T>, int>> warm_slots;  // key and slot of each stored contact, sorted
    std::vector<T> dv;                                 // (nv) velocity from the impulses
    std::vector<ConeTape<T>> tapes;                    // per island with sweeps
    std::vector<ActiveSet<T>> sets;                    // per island with an implicit gradient
    // per island: relabelled as in solvers/step/implicit.hpp
    std::vector<ActiveSet<T>> relabelled;
    std::vector<SolverStatus> status;  // per island, for exact solvers
    std::vector<unsigned char> swept;  // per island: 1 if pulled back through its sweeps
    std::vector<T> start;              // start of the solver, for a large island
    // Of a step on dual numbers: the impulses that the step on doubles has found. Friction may have several solutions,
    // and the derivative is that of this one, on its active set.
    const ImpulseScratch<double>* found = nullptr;
    FrictionLaw law = FrictionLaw::box;
    SolverScratch solver;
    // bars
    ElasticScratch<T> elastic;
    std::vector<T> lambda_bar, b_bar;    // (rows)
    std::vector<T> w;                    // (nv) M^-1 v+_bar
    std::vector<T> impact_displacement;  // (nv) solvers/step/located_impact.hpp
    bool any_swept() const {
        return std::ranges::any_of(swept, [](unsigned char it) { return it != 0; });
    }
    explicit ImpulseScratch(const World& world)
        : dv(world.nv(), T(0)),
          tapes(world.model.trees.size()),
          sets(tapes.size()),
          relabelled(tapes.size()),
          w(dv),
          impact_displacement(dv) {}
};

template <class T>
MlcpView<T> island_problem(const Rows<T>& rows, const DelassusScratch<T>& d, const ImpulseScratch<T>& s,
                           size_t i) {
    const Island& island = rows.islands[i];
    const int r = island.row;
    return {island.rows,
            island.factored ? nullptr : d.A.data() + island.delassus,
            s.b.data() + r,
            rows.type.data() + r,
            rows.normal.data() + r,
            rows.bound.data() + r,
            r,
            rows.dropped.data() + r,
            island.factored ? &d.factored[i] : nullptr,
            rows.lanes.data() + r,
            s.before.empty() ? nullptr : s.before.data() + r};
}

// visit(block, row, length, dofs, values) for every row: J_rj is rows.J[values + i] at j = dofs[i], i <
// length.
template <class T, class Visit> void for_each_row_of_block(const Rows<T>& rows, const Visit& visit) {
    for (const RowBlock& block : rows.blocks)
        for (int r = 0; r < block.rows; ++r)
            visit(block, block.row + r, block.length, rows.chain_dof.data() + block.chain,
                  block.values + r * block.length);
}
template <class T, class Visit> void for_each_row(const Rows<T>& rows, const Visit& visit) {
    for_each_row_of_block(rows, [&](const RowBlock&, int row, int length, const int* dofs, int values) {
        visit(row, length, dofs, values);
    });
}

// Sweeps for a large unsolved island. In heaps they leave residuals of 1e-6 m/s and take ten times the time
// of a step with pgs.
inline constexpr int unsolved_sweeps = 200;

// Whether a step on doubles has found the impulses of these rows: before the last, a step may have others.
inline bool has_found(const ImpulseScratch<Dual<double>>& s) {
    return s.found != nullptr && std::ranges::equal(s.b, s.found->b, [](const Dual<double>& ours, double b) {
               return std::abs(ours.v - b) <= 1e-9 * (1 + std::abs(b));
           });
}

// The impulses of an island as functions of the problem, where a step on doubles has found them.
inline SolverStatus take_found_impulses(const MlcpView<Dual<double>>& p, size_t island,
                                        ImpulseScratch<Dual<double>>& s, Dual<double>* lambda) {
    ActiveSet<Dual<double>>& set = s.sets[island];
    if (s.found->swept[island] == 0) {
        std::copy_n(s.found->lambda.begin() + p.first_row, p.rows, lambda);
        set.state = s.found->sets[island].state;
        if (p.factored != nullptr) set.values.take(*p.factored);
        differentiate_solution(p, set, lambda);
    }
    return s.found->status[island];
}

// lambda (rows): in, the start; out, the solution. found: whether s.found has it.
template <class T>
void solve_island(const World& w, const MlcpView<T>& p, size_t island, bool found, ImpulseScratch<T>& s,
                  T* lambda) {
    ActiveSet<T>& set = s.sets[island];
    for (int r = 0; r < p.rows; ++r)
        lambda[r] = where(p.drops(r), T(0), lambda[r]);
    if (solver_kind(w.settings.solver).sweeps) {
        pgs(p, w.settings.sweeps, w.settings.tolerance, s.tapes[island], lambda);
        s.swept[island] = 1;
        if (!w.implicit_gradient()) return;
        linearise_at(p, FrictionLaw::box, set, lambda);
        s.swept[island] = !(mlcp_residual(p, lambda) <= acceptable_residual(p, lambda));
        return;
    }
    if constexpr (is_lanes<T>)
        if (p.factored != nullptr) throw LanesPart();
    if (p.factored != nullptr) s.start.assign(lambda, lambda + p.rows);
    if constexpr (std::is_same_v<T, Dual<double>>)
        if (found) s.status.push_back(take_found_impulses(p, island, s, lambda));
    if (!found) s.status.push_back(solve_exactly(p, w.settings, w.friction_law(), s.solver, set, lambda));
    if (p.factored == nullptr || s.status.back() != SolverStatus::unsolved) return;
    s.swept[island] = 1;
    std::copy(s.start.begin(), s.start.end(), lambda);
    if (w.friction_law() == FrictionLaw::box)
        pgs(p, unsolved_sweeps, 0, s.tapes[island], lambda);
    else
        cone_sweeps(p, w.friction_law(), unsolved_sweeps, s.tapes[island], lambda);
}

// Pulls x_bar back through the active set of a solution x to the covectors of the operator, b and mu:
//   b_bar += s_bar,   A_bar += s_bar x^T
// For a factored A
//   W_bar += s_bar (W^T x)^T + x (W^T s_bar)^T,   R_bar += s_bar x
// x_bar (rows): out, 0, because the solution does not depend on the start.
template <class T>
void pull_back_solution(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, T* x_bar,
                        const OperatorBar<T>& bar, T* b_bar, T* bound_bar) {
    set.s_bar.assign(p.rows, T(0));
    const T* s_bar = set.s_bar.data();
    pull_back_active_set(p, set, x, x_bar, set.s_bar.data(), bound_bar);
    std::fill(x_bar, x_bar + p.rows, T(0));
    for (int r = 0; r < p.rows; ++r)
        b_bar[r] += s_bar[r];
    if (p.factored == nullptr) {
        for (int r = 0; r < p.rows; ++r)
            for (int c = 0; c < p.rows; ++c)
                bar.A[r * p.rows + c] += s_bar[r] * x[c];
        return;
    }
    const FactoredOperator<T>& A = *p.factored;
    std::fill(A.along, A.along + A.dofs, T(0));
    std::fill(A.swept, A.swept + A.dofs, T(0));
    for (int r = 0; r < p.rows; ++r) {
        A.add(r, x[r], A.along);
        A.add(r, s_bar[r], A.swept);
    }
    for (int r = 0; r < p.rows; ++r) {
        bar.R[r] += s_bar[r] * x[r];
        for (size_t k = A.start[r]; k < A.start[r + 1]; ++k)
            bar.W[k] += s_bar[r] * A.along[A.column[k]] + x[r] * A.swept[A.column[k]];
    }
}

// Sets s.before by the velocity v. Joint friction that rests yields by its compliance at most; this counts as rest.
template <class T>
void find_velocities_before(const Rows<T>& rows, const T* v, std::vector<Value<T>>& before) {
    using V = Value<T>;
    before.resize(rows.beta.size());
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        V sum = value_of(rows.beta[row]);
        for (int i = 0; i < length; ++i)
            sum += value_of(rows.J[values + i]) * value_of(v[dofs[i]]);
        if (rows.type[row] == RowType::boxed) {
            const V yielding = 1.01 * value_of(rows.R[row]) * value_of(rows.bound[row]);
            sum = where(magnitude(sum) <= yielding, V(0), sum);
        }
        before[row] = sum;
    });
}

// Computes s.b and s.lambda. s.lambda is also the start. v (nv): the velocity at the start of the step.
template <class T>
void solve_impulses(const World& w, const Rows<T>& rows, const DelassusScratch<T>& d, const T* v,
                    const T* v_free, ImpulseScratch<T>& s) {
    s.b = rows.beta;
    for_each_row(rows, [&](int row, int length, const int* dofs, int values) {
        for (int i = 0; i < length; ++i)
            s.b[row] += rows.J[values + i] * v_free[dofs[i]];
    });
    if (solver_kind(w.settings.solver).sweeps)
        s.before.clear();
    else
        find_velocities_before(rows, v, s.before);
    s.status.clear();
    s.swept.assign(rows.islands.size(), 0);
    s.law = w.friction_law();
    bool found = false;
    if constexpr (std::is_same_v<T, Dual<double>>) found = has_found(s);
    for (size_t i = 0; i < rows.islands.size(); ++i)
        solve_island(w, island_problem(rows, d, s, i), i, found, s, s.lambda.data() + rows.islands[i].row);
    if (solver_kind(w.settings.solver).sweeps && s.any_swept())
        std::ranges::fill(s.swept, 1);  // every island has sweeps to pull back
    if constexpr (std::is_same_v<T, double>) {
        for (size_t i = 0; i < rows.islands.size(); ++i)
            assert_lawful(island_problem(rows, d, s, i), w.friction_law(),
                          s.lambda.data() + rows.islands[i].row,
                          !s.status.empty() && s.status[i] != SolverStatus::unsolved);
    }
}
// Through the sweeps in reverse, or through the active set for islands that were solved: from s.lambda_bar to
// A_bar, J_bar, beta_bar, bound_bar and v_free_bar. s.lambda_bar then holds the covector of the start.
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
        const MlcpView<T> p = island_problem(rows, d, s, i);
        T *lambda_bar = s.lambda_bar.data() + island.row, *b_bar = s.b_bar.data() + island.row,
          *bound_bar = rows.bound_bar.data() + island.row;
        if (s.swept[i] == 0)
            pull_back_solution(p, s.sets[i], s.lambda.data() + island.row, lambda_bar, bar, b_bar, bound_bar);
        else if (s.law == FrictionLaw::box)
            pgs_adj(p, s.tapes[i], lambda_bar, bar, b_bar, bound_bar);
        else
            cone_sweeps_adj(p, s.law, s.tapes[i], lambda_bar, bar, b_bar, bound_bar);
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
