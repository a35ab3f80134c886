#include "solvers/complementarity/cone.hpp"

namespace costate {

namespace {

constexpr int first_sweeps = 20, second_sweeps = 100, more_sweeps = 400, last_sweeps = 20'000,
              last_products = 15'000'000, last_rounds = 5, max_boxes = 40, newton_steps = 10,
              last_newton_steps = 30, max_full_steps = 4, max_halvings = 6, large_admm_iterations = 50;

double work_of_factor(const MlcpView<double>& p, const ActiveSet<double>& set) {
    return p.factored != nullptr ? set.factored.work() : factorisation_work(set.active.size());
}

// Whether the work on a large island is within its bound.
bool may_go_on(const MlcpView<double>& p, const ConeScratch& w) {
    return p.factored == nullptr || w.work < work_limit(*p.factored);
}

// Newton's method on the states suggested by each iterate. Full steps at first, which usually reach the right
// states even if the residual increases on the way; then, from the best iterate, steps that are halved until
// the residual decreases. True if x is then a solution; otherwise x is the best iterate.
bool newton(const MlcpView<double>& p, FrictionLaw law, ConeScratch& w, double* x,
            int max_steps = newton_steps) {
    const size_t n = p.rows;
    bool has_factor = false;
    w.states.resize(n);
    w.s.resize(n);
    mlcp_velocity(p, x, w.s.data());
    double residual = mlcp_residual(p, x, w.s.data(), law);
    // w.x <- Newton's step from `at` with the velocities s, and w.set.s its velocities; returns its residual
    const auto step_from = [&](const double* at, const double* s) {
        classify(p, law, at, s, w.states.data());
        w.x.assign(at, at + n);
        if (solve_states(p, w.set, w.states, has_factor, s, w.x.data())) w.work += work_of_factor(p, w.set);
        has_factor = true;
        return mlcp_residual(p, w.x.data(), w.set.s.data(), law);
    };
    w.full.assign(x, x + n);
    w.full_s = w.s;
    for (int k = 0; k < max_full_steps; ++k) {
        const double now = step_from(w.full.data(), w.full_s.data());
        std::swap(w.full, w.x);
        w.full_s = w.set.s;
        if (!(now < residual)) continue;
        residual = now;
        std::ranges::copy(w.full, x);
        w.s = w.full_s;
        if (residual <= acceptable_residual(p, x)) return true;
    }
    for (int k = 0; k < max_steps && residual > acceptable_residual(p, x); ++k) {
        w.before.assign(x, x + n);
        double length = 1, now = step_from(x, w.s.data());
        if (now < residual) {
            std::ranges::copy(w.x, x);
            w.s = w.set.s;
        }
        for (int i = 0; i < max_halvings && !(now < residual); ++i) {
            length /= 2;
            for (size_t r = 0; r < n; ++r)
                x[r] = w.before[r] + length * (w.x[r] - w.before[r]);
            mlcp_velocity(p, x, w.s.data());
            now = mlcp_residual(p, x, w.s.data(), law);
        }
        if (!(now < residual)) {
            std::ranges::copy(w.before, x);
            return false;
        }
        residual = now;
    }
    return residual <= acceptable_residual(p, x);
}

// Lets contacts slide that stick by more than their friction, in the direction of that.
void slide_beyond_friction(const MlcpView<double>& p, const double* x, std::vector<RowState>& states) {
    constexpr double round_off = 1e-9;
    for (int r = 0; r < p.rows; ++r) {
        const int friction = p.friction_rows(r);
        if (friction == 0 || states[r] == RowState::separating || !(x[r] > 0)) continue;
        if (length_of(x + r + 1, friction) <= (1 + round_off) * p.mu(r + 1) * x[r]) continue;
        for (int t = r + 1; t <= r + friction; ++t)
            if (states[t] == RowState::clamping) states[t] = RowState::sliding;
    }
}

// Newton's method by full steps, as long as one of two halves the residual: for starts that are close to a
// solution, or else given up soon. True if x is then a solution; otherwise x is unchanged. Contacts that stick by too
// much friction slide only when all else is settled: at once, they would change sides for ever.
bool newton_nearby(const MlcpView<double>& p, FrictionLaw law, ConeScratch& w, double* x) {
    constexpr int max_steps = 10, patience = 2;
    constexpr double decrease = 0.5;
    w.states.resize(p.rows);
    w.s.resize(p.rows);
    w.x.assign(x, x + p.rows);
    mlcp_velocity(p, x, w.s.data());
    const double* s = w.s.data();
    double least = mlcp_residual(p, x, s, law);
    for (int k = 0, best = -1; k < max_steps && k - best <= patience && may_go_on(p, w); ++k) {
        classify(p, law, w.x.data(), s, w.states.data());
        if (k > 0 && law == FrictionLaw::cone && w.states == w.set.state)
            slide_beyond_friction(p, w.x.data(), w.states);
        if (solve_states(p, w.set, w.states, k > 0, s, w.x.data())) w.work += work_of_factor(p, w.set);
        s = w.set.s.data();
        const double residual = mlcp_residual(p, w.x.data(), s, law);
        if (residual <= acceptable_residual(p, w.x.data())) {
            std::ranges::copy(w.x, x);
            return true;
        }
        if (residual < decrease * least) {
            least = residual;
            best = k;
        }
    }
    return false;
}

// The velocity that a contact which held may have, because its Jacobian is that of a later time, as shares: of what the
// free motion changes in the step and, along its tangents, of its normal velocity. First generous, then none.
struct HeldMotion {
    double of_change, of_normal;
};
constexpr HeldMotion held_motions[] = {{0.5, 1}, {0, 0}};

// True if the contact of the normal row n opened.
bool has_opened(const MlcpView<double>& p, int n, const HeldMotion& held) {
    constexpr double opening = 1e-4;  // m/s
    return p.before[n] > std::max(opening, held.of_change * (p.before[n] - p.b[n]));
}

// True if it slipped.
bool has_slipped(const MlcpView<double>& p, int n, const HeldMotion& held) {
    constexpr double slipping = 1e-5;  // m/s
    const int friction = p.friction_rows(n);
    double change2 = 0;
    for (int t = n + 1; t <= n + friction; ++t)
        change2 += (p.before[t] - p.b[t]) * (p.before[t] - p.b[t]);
    return length_of(p.before + n + 1, friction) >
           std::max(slipping, held.of_normal * std::abs(p.before[n])) + held.of_change * std::sqrt(change2);
}

// The states that p.before tells: contacts that opened, rows that slipped, and the others. w.s: A x + b without
// impulses, but the velocity before where a contact slipped, for the direction of its slip.
void find_states_before(const MlcpView<double>& p, const HeldMotion& held, ConeScratch& w) {
    w.states.assign(p.rows, RowState::clamping);
    w.s.assign(p.b, p.b + p.rows);
    for (int r = 0; r < p.rows; ++r) {
        const int n = p.type[r] == RowType::friction ? p.normal_of(r) : r;
        const bool opens = p.type[n] == RowType::unilateral && has_opened(p, n, held);
        if (opens || p.drops(r) || p.drops(n) || (n != r && p.mu(r) == 0)) {
            w.states[r] = RowState::separating;
        } else if (p.type[r] == RowType::boxed && p.before[r] != 0) {
            w.states[r] = p.before[r] > 0 ? RowState::lower : RowState::upper;
        } else if (n != r && has_slipped(p, n, held)) {
            w.states[r] = RowState::sliding;
            w.s[r] = p.before[r];
        }
    }
}

// From the solution for these states, as where a motion goes on.
bool newton_from_states_before(const MlcpView<double>& p, FrictionLaw law, ConeScratch& w, double* x) {
    if (p.before == nullptr || law != FrictionLaw::cone) return false;
    w.first_states.clear();
    for (const HeldMotion& held : held_motions) {
        find_states_before(p, held, w);
        if (w.states == w.first_states) return false;
        w.first_states = w.states;
        w.start.assign(p.rows, 0);
        solve_states(p, w.set, w.states, false, w.s.data(), w.start.data());
        w.work += work_of_factor(p, w.set);
        const double residual = mlcp_residual(p, w.start.data(), w.set.s.data(), law);
        if (residual <= acceptable_residual(p, w.start.data()) || newton_nearby(p, law, w, w.start.data())) {
            std::ranges::copy(w.start, x);
            return true;
        }
    }
    return false;
}

// From the iterates of an interior-point method, closer ones where contacts hardly stick or slip.
bool newton_from_inside(const MlcpView<double>& p, FrictionLaw law, ConeScratch& w, double* x) {
    w.interior.start(p, law, x);
    bool closer = true, found = false;
    for (const double gap : {1e-8, 1e-12, 1e-16, 1e-20}) {
        if (found || !closer) break;
        closer = w.interior.advance(gap, x);
        found = gap >= 1e-12 ? newton_nearby(p, law, w, x) : newton(p, law, w, x);
    }
    w.work += w.interior.work();
    return found;
}

SolverStatus solve_dense(const MlcpView<double>& p, FrictionLaw law, ConeMethod method, ConeScratch& w,
                         double* x) {
    const auto sweep = [&](int sweeps) {
        if (method == ConeMethod::admm)
            cone_admm_inplace(p, law, sweeps, acceptable_residual(p, x), w, x);
        else
            cone_gauss_seidel_inplace(p, law, sweeps, acceptable_residual(p, x), w.s, x);
    };
    const auto by_boxes = [&](bool by_pivots) {
        for (int round = 0; law == FrictionLaw::cone && round < max_boxes && w.work < max_work &&
                            reflected_boxes(p, w.boxes, x, by_pivots);
             ++round) {
            w.work += w.boxes.lcp.work;
            if (newton(p, law, w, x)) return true;
        }
        return false;
    };
    for (const int sweeps : {first_sweeps, second_sweeps}) {
        sweep(sweeps);
        if (newton(p, law, w, x)) return SolverStatus::pivoted;
        if (by_boxes(true)) return SolverStatus::boxed;
    }
    if (by_boxes(false)) return SolverStatus::boxed;
    sweep(more_sweeps);
    if (newton(p, law, w, x, last_newton_steps)) return SolverStatus::pivoted;
    w.best.assign(x, x + p.rows);
    if (smoothing_newton(p, law, x, w.work) && newton(p, law, w, x, last_newton_steps))
        return SolverStatus::smoothed;
    if (!(mlcp_residual(p, x, law) < mlcp_residual(p, w.best.data(), law))) std::ranges::copy(w.best, x);
    // From where all else got stuck, many sweeps come close to most solutions; they take about as long as the rest.
    double least = mlcp_residual(p, x, law);
    w.start.assign(x, x + p.rows);
    for (int round = 0; round < last_rounds; ++round) {
        sweep(std::min(last_sweeps, last_products / (p.rows * p.rows)));
        if (newton(p, law, w, x, last_newton_steps)) return SolverStatus::pivoted;
        if (const double residual = mlcp_residual(p, x, law); residual < least) {
            least = residual;
            w.start.assign(x, x + p.rows);
        }
    }
    std::ranges::copy(w.start, x);
    return SolverStatus::unsolved;
}

// Whether an interior-point method is within the bounded work on a large island.
bool can_go_inside(const MlcpView<double>& p, ConeScratch& w) {
    constexpr double expected_factorisations = 40;
    return p.factored == nullptr ||
           expected_factorisations * w.large.smoothed.expected_work(*p.factored) <= work_limit(*p.factored);
}

struct Solution {
    SolverStatus status;
    const ActiveSet<double>* set;  // its states and their factor, or null
};

Solution solve_large_island(const MlcpView<double>& p, FrictionLaw law, ConeMethod method, ConeScratch& w,
                            double* x) {
    if (method == ConeMethod::admm)
        cone_admm_inplace(p, law, large_admm_iterations, acceptable_residual(p, x), w, x);
    const SolverStatus status = solve_large_by_states(p, law, w.large, x);
    if (status != SolverStatus::unsolved) return {status, &w.large.set};
    return {solve_large_smoothed(p, law, w.large, x), &w.large.set};
}

Solution solve_dense_island(const MlcpView<double>& p, FrictionLaw law, ConeMethod method, ConeScratch& w,
                            double* x) {
    if (w.free_rows.eliminate(p, x)) {
        const SolverStatus status = solve_dense(w.free_rows.rest(), law, method, w, w.free_rows.rest_x());
        w.free_rows.restore(p, x);
        if (status != SolverStatus::unsolved && newton(p, law, w, x)) return {status, &w.set};
    }
    const SolverStatus status = solve_dense(p, law, method, w, x);
    return {status, status == SolverStatus::unsolved ? nullptr : &w.set};
}

Solution solve(const MlcpView<double>& p, FrictionLaw law, ConeMethod method, ConeScratch& w, double* x) {
    const bool large = p.factored != nullptr;
    if (large && law == FrictionLaw::relaxed_cone && w.primal_newton.solve(p, x))
        return {SolverStatus::primal, nullptr};
    w.work = w.large.work = 0;
    // solved already, where the velocities are round-off or a step is replayed
    if (large && mlcp_residual(p, x, law) <= acceptable_residual(p, x))
        return {SolverStatus::guessed, nullptr};
    bool found = is_zero(x, p.rows) && newton_from_states_before(p, law, w, x);
    if (!found) {
        guess_inplace(p, w.s, x);
        found = newton_nearby(p, law, w, x);
    }
    w.large.work = w.work;
    if (found) return {SolverStatus::guessed, &w.set};
    w.start.assign(x, x + p.rows);
    if (can_go_inside(p, w) && newton_from_inside(p, law, w, x)) return {SolverStatus::interior, &w.set};
    std::ranges::copy(w.start, x);
    return large ? solve_large_island(p, law, method, w, x) : solve_dense_island(p, law, method, w, x);
}

}  // namespace

template <class T>
SolverStatus cone(const MlcpView<T>& p, FrictionLaw law, ConeMethod method, ConeScratch& w, ActiveSet<T>& set,
                  T* x) {
    return with_values(p, set, x,
                       [&](const MlcpView<double>& values, ActiveSet<double>& found, double* start) {
                           const auto [status, solution] = solve(values, law, method, w, start);
                           if (status == SolverStatus::primal)
                               take_solution(values, law, found, start);
                           else if (values.factored != nullptr)
                               settle_large(values, law, status, solution, found, start);
                           else
                               settle_inplace(values, law, found, start, solution);
                           return status;
                       });
}

template SolverStatus cone(const MlcpView<double>&, FrictionLaw, ConeMethod, ConeScratch&, ActiveSet<double>&,
                           double*);
template SolverStatus cone(const MlcpView<Dual<double>>&, FrictionLaw, ConeMethod, ConeScratch&,
                           ActiveSet<Dual<double>>&, Dual<double>*);

}  // namespace costate
