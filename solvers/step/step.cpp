#include "solvers/step/step.inl"
#include "solvers/step/lane_step.hpp"

namespace costate {

namespace {

// The side of the recovery's complementarity for row r of island i. A row that the step has just closed and
// the recovery does not push is on both sides up to round-off. Both sides then have the same derivative,
// because s is 0 and stays 0.
std::uint64_t recovery_branch(const StepScratch<double>& s, size_t i, int r) {
    constexpr double tie = 1e-10;  // m/s
    const Island& island = s.rows.islands[i];
    if (!recovers(s.rows, island)) return 0;
    if (s.recovery.swept[i] != 0) {  // one bit per sweep: the row is pushed
        std::uint64_t pushed = 1;
        const PgsTape<double>& tape = s.recovery.tapes[i];
        for (int k = 1; k <= tape.sweeps; ++k)
            pushed = pushed << 1 | (tape.x[static_cast<size_t>(k) * island.rows + r] > 0 ? 1u : 0u);
        return pushed;
    }
    const MlcpView<double> p = recovery_problem(s.rows, s.delassus, s.impulses, s.recovery, i);
    const size_t row = island.row + r;
    if (p.type[r] == RowType::free) return 0;
    if (s.recovery.kappa[row] * p.diagonal(r) > tie) return 1;
    return s.recovery.sets[i].s[r] > tie ? 2 : 3;
}

}  // namespace

std::uint64_t branch_hash(const StepScratch<double>& s) {
    std::uint64_t hash = shared_branches(s);
    const auto mix = [&](std::uint64_t value) { hash = mixed(hash, value); };
    const auto mix_sides = [&](const RangeSides<double>& a, const RangeSides<double>& b) {
        mix((a.below ? 1u : 0u) | (a.above ? 2u : 0u) | (b.below ? 4u : 0u) | (b.above ? 8u : 0u));
    };
    for (const Saturation<double>& at : s.saturations)
        mix_sides(at.control, at.force);
    for (const ActivationSides<double>& at : s.activation_sides)
        mix_sides(at.control, at.range);
    for (const RowBlock& b : s.rows.blocks) {
        mix(static_cast<std::uint64_t>(b.bias.of[0]));
        if (b.kind == RowKind::contact && b.bias == BiasCase::bounce)
            mix(static_cast<std::uint64_t>(s.contacts.points[b.index].b_bounces));
    }
    for (size_t i = 0; s.rows.recovers && i < s.rows.islands.size(); ++i)
        for (int r = 0; r < s.rows.islands[i].rows; ++r)
            mix(recovery_branch(s, i, r));
    for (const int place : s.impulses.warm)
        mix(static_cast<std::uint64_t>(place + 1));
    for (size_t i = 0; i < s.rows.islands.size(); ++i) {
        const MlcpView<double> p = island_problem(s.rows, s.delassus, s.impulses, i);
        for (const RowState state : s.impulses.sets[i].state)
            mix(static_cast<std::uint64_t>(state) & 0xff);
        const ConeTape<double>& tape = s.impulses.tapes[i];
        const bool exact = !s.impulses.status.empty();
        if (exact && s.impulses.swept[i] == 0) continue;
        mix(static_cast<std::uint64_t>(tape.sweeps));
        const double* x = tape.x.data() + p.rows;
        if (s.impulses.law != FrictionLaw::box) {
            for (int k = 0; k < tape.sweeps; ++k, x += p.rows)
                for (int r = 0; r < p.rows; ++r)
                    mix(static_cast<std::uint64_t>(cone_code(p, r, x)));
            continue;
        }
        for (int k = 0; k < tape.sweeps; ++k)
            for (int r = 0; r < p.rows; ++r, ++x) {
                const int code = clamp_code(p, r, x);
                // both bounds of 0 are the same
                mix(static_cast<std::uint64_t>((*x == 0 ? std::abs(code) : code) + 1));
            }
    }
    if (s.runge_kutta)
        for (const StepScratch<double>& later : s.runge_kutta->scratch)
            mix(branch_hash(later));
    return hash;
}

SolverOutcome solver_outcome(const World& w, const StepScratch<double>& s) {
    const bool exact = !s.impulses.status.empty();
    SolverOutcome out;
    for (size_t i = 0; i < s.rows.islands.size(); ++i) {
        const MlcpView<double> p = island_problem(s.rows, s.delassus, s.impulses, i);
        const double* lambda = s.impulses.lambda.data() + s.rows.islands[i].row;
        const double residual = mlcp_residual(p, lambda, w.friction_law());
        out.residual = std::max(out.residual, residual);
        if (!exact && residual > acceptable_residual(p, lambda)) out.converged = false;
    }
    for (const SolverStatus status : s.impulses.status)
        if (status == SolverStatus::unsolved) out.converged = false;
    if (s.runge_kutta)
        for (const StepScratch<double>& later : s.runge_kutta->scratch) {
            const SolverOutcome of_stage = solver_outcome(w, later);
            out.residual = std::max(out.residual, of_stage.residual);
            out.converged = out.converged && of_stage.converged;
        }
    return out;
}

int solver_sweeps(const StepScratch<double>& s) {
    int most = 0;
    if (!s.impulses.status.empty()) return most;
    for (size_t i = 0; i < s.rows.islands.size(); ++i)
        most = std::max(most, s.impulses.tapes[i].sweeps);
    if (s.runge_kutta)
        for (const StepScratch<double>& later : s.runge_kutta->scratch)
            most = std::max(most, solver_sweeps(later));
    return most;
}

COSTATE_INSTANTIATE_STEP(double)

}  // namespace costate
