// One step of a toy world, its adjoint, and its derivative along a direction by dual numbers.
#pragma once

#include "solvers/step/jacobian.hpp"
#include "solvers/step/runge_kutta.hpp"
#include "tests/support/toy_worlds.hpp"

namespace costate::test {

struct StepBars {
    VecX<double> theta, x, u;
    double pair(const VecX<double>& dtheta, const VecX<double>& dx, const VecX<double>& du) const {
        return theta.dot(dtheta) + x.dot(dx) + u.dot(du);
    }
};

// Largest difference, relative to the largest entry.
inline double apart(const StepJacobian::Matrix& A, const StepJacobian::Matrix& B) {
    return A.size() == 0 ? 0 : (A - B).cwiseAbs().maxCoeff() / std::max(1.0, B.cwiseAbs().maxCoeff());
}

inline VecX<double> run_step(const ToyState& t, StepScratch<double>& s) {
    VecX<double> next(t.world.nx());
    step(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next.data());
    return next;
}

// The adjoint of the step that s has just run.
inline StepBars step_bars(const ToyState& t, StepScratch<double>& s, const VecX<double>& next_bar) {
    s.clear_bars();
    StepBars b{VecX<double>::Zero(t.world.np()), VecX<double>::Zero(t.world.ndx()),
               VecX<double>::Zero(t.world.nu())};
    step_adj(t.world, {t.theta.data(), t.x.data(), t.u.data()}, s, next_bar.data(),
             {b.theta.data(), b.x.data(), b.u.data()});
    return b;
}

inline StepBars run_step_adjoint(const ToyState& t, StepScratch<double>& s, const VecX<double>& next_bar) {
    run_step(t, s);
    return step_bars(t, s, next_bar);
}

// The product J (dtheta, dx, du) by dual numbers.
inline VecX<double> push_step(const ToyState& t, StepScratch<D>& s, const VecX<double>& dtheta,
                              const VecX<double>& dx, const VecX<double>& du) {
    const VecX<D> theta = lift_vector(t.theta, dtheta.data()), x = lift_state(t.world.model, t.x, dx.data()),
                  u = lift_vector(t.u, du.data());
    VecX<D> next(t.world.nx());
    step(t.world, {theta.data(), x.data(), u.data()}, s, next.data());
    return state_tangent(t.world.model, next);
}

// |y_bar.(J d) - (J^T y_bar).d| over |y_bar| |J d|, for the step that s has just run and random d and y_bar. It has a
// meaning if both scratches then have the same branches.
inline double transpose_error(const ToyState& t, Rng& g, StepScratch<double>& s, StepScratch<D>& duals) {
    const World& w = t.world;
    VecX<double> next_bar(w.ndx()), dtheta(w.np()), dx(w.ndx()), du(w.nu());
    for (VecX<double>* x : {&next_bar, &dtheta, &dx, &du})
        for (double& entry : *x)
            entry = 1e-2 * g.normal();
    dtheta.array() *= t.theta.array().abs();
    const StepBars bars = step_bars(t, s, next_bar);
    const VecX<double> next_dot = push_step(t, duals, dtheta, dx, du);
    return std::abs(next_bar.dot(next_dot) - bars.pair(dtheta, dx, du)) / (next_bar.norm() * next_dot.norm());
}

// The state, controls and parameters moved along a direction.
inline ToyState moved_state(const ToyState& t, double e, const VecX<double>& dtheta, const VecX<double>& dx,
                            const VecX<double>& du) {
    ToyState p = t;
    const VecX<double> step_x = e * dx;
    retract(t.world.model, t.x.data(), step_x.data(), p.x.data());
    const Eigen::Index behind = t.world.own_ndx() - t.world.nv();
    p.x.segment(t.world.nq(), behind) += step_x.segment(t.world.nv(), behind);
    p.u += e * du;
    p.theta += e * dtheta;
    return p;
}

// The tangent from one state to another: of q, v and the activations.
inline VecX<double> state_difference(const Model& m, const VecX<double>& from, const VecX<double>& to) {
    const int behind = m.nv + static_cast<int>(m.activations.size());
    VecX<double> d(m.nv + behind);
    difference(m, from.data(), to.data(), d.data());
    d.tail(behind) = to.segment(m.nq, behind) - from.segment(m.nq, behind);
    return d;
}

// True if a step on dual numbers took the same branches as the step on numbers. Their sums round differently,
// so they may differ where two branches meet.
inline bool same_branches(const StepScratch<double>& s, const StepScratch<D>& d) {
    if (s.contacts.detection.features != d.contacts.detection.features ||
        s.rows.blocks.size() != d.rows.blocks.size())
        return false;
    for (size_t i = 0; i < s.rows.blocks.size(); ++i) {
        const RowBlock &a = s.rows.blocks[i], &b = d.rows.blocks[i];
        if (a.kind != b.kind || a.index != b.index || a.side != b.side || a.bias != b.bias) return false;
    }
    const auto same_sides = [](const RangeSides<double>& a, const RangeSides<D>& b) {
        return a.below == b.below && a.above == b.above;
    };
    const auto same = [&](const Saturation<double>& a, const Saturation<D>& b) {
        return same_sides(a.control, b.control) && same_sides(a.force, b.force);
    };
    if (!std::equal(s.saturations.begin(), s.saturations.end(), d.saturations.begin(), same)) return false;
    if (s.springs != d.springs) return false;
    for (size_t i = 0; s.rows.recovers && i < s.rows.islands.size(); ++i) {
        const Island& island = s.rows.islands[i];
        if (s.recovery.swept[i] != d.recovery.swept[i]) return false;
        for (int r = 0; recovers(s.rows, island) && r < island.rows; ++r) {
            const size_t n = r;
            if (s.recovery.swept[i] != 0) {
                if ((s.recovery.kappa[island.row + r] > 0) != (d.recovery.kappa[island.row + r] > D(0)))
                    return false;
                continue;
            }
            if (s.recovery.sets[i].state[n] != d.recovery.sets[i].state[n]) return false;
        }
    }
    for (size_t i = 0; i < s.rows.islands.size(); ++i) {
        const MlcpView<double> p = island_problem(s.rows, s.delassus, s.impulses, i);
        const MlcpView<D> q = island_problem(d.rows, d.delassus, d.impulses, i);
        const PgsTape<double>& tape = s.impulses.tapes[i];
        if (tape.sweeps != d.impulses.tapes[i].sweeps) return false;
        for (int n = 0; n < tape.sweeps * p.rows; ++n) {
            const double* x = tape.x.data() + p.rows + n;
            const D* y = d.impulses.tapes[i].x.data() + p.rows + n;
            const int a = clamp_code(p, n % p.rows, x), b = clamp_code(q, n % p.rows, y);
            // both bounds are the same, as in branch_hash
            const bool between_zeros = *x == 0 && *y == D(0) && a != 0 && b != 0;
            if (a != b && !between_zeros) return false;
        }
    }
    for (int i = 1; s.runge_kutta && i < rk_stages; ++i)
        if (!same_branches(s.runge_kutta->scratch[i - 1], d.runge_kutta->scratch[i - 1])) return false;
    return true;
}

}  // namespace costate::test
