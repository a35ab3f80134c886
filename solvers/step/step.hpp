// One time step, and its adjoint: the same ten lines read upwards.
//
//   M (v_f - v) + h [c + B v_f - tau] = 0         free velocity, damping implicit
//   lambda = MLCP(J M^-1 J^T + R, J v_f + beta)   impulses, N s
//   v+ = v_f + M^-1 J^T lambda
//   q+ = retract(q, h (v+ + w))                   w corrects positions: solvers/step/recovery.hpp
//
// M has h B on its diagonal throughout.
//
// A step is a pure function of (x, u, theta) and always leaves its intermediates in the scratch; `step_adj`
// reads them. Going backwards over time means running the same compiled `step` from a stored state, then
// `step_adj`.
#pragma once

#include "core/dynamics/gyroscopic.hpp"
#include "core/dynamics/integrate.hpp"
#include "core/dynamics/thrust.hpp"
#include "solvers/step/free_motion.hpp"
#include "solvers/step/implicit.hpp"
#include "solvers/step/located_impact.hpp"
#include "solvers/step/recovery.hpp"
#include "solvers/step/warm_start.hpp"

namespace costate {

// Of a step that is pulled back through two sets of contacts: what the objective has seeded, and the covectors
// of (theta, x, u) that each way gives.
template <class T> struct TwoWays {
    struct Way {
        std::vector<T> theta, x, u;
        double size = 0;
        void clear(const World& w) {
            theta.assign(w.np(), T(0));
            x.assign(w.ndx(), T(0));
            u.assign(w.nu(), T(0));
            size = 0;
        }
        void add_to(T* theta_bar, T* x_bar, T* u_bar) const {
            for (size_t i = 0; i < theta.size(); ++i)
                theta_bar[i] += theta[i];
            for (size_t i = 0; i < x.size(); ++i)
                x_bar[i] += x[i];
            for (size_t i = 0; i < u.size(); ++i)
                u_bar[i] += u[i];
        }
    };
    Way ways[2];
    const Way& larger() const { return ways[ways[1].size > ways[0].size ? 1 : 0]; }

    KinematicsBar<T> bar;
    std::vector<T> lambda_bar;
    std::vector<ContactPointBar<T>> points_bar;
    explicit TwoWays(const World& w) : bar(w.model) {}
    void keep_seeds(const KinematicsBar<T>& of_poses, const std::vector<T>& of_impulses,
                    const std::vector<ContactPointBar<T>>& of_points) {
        bar = of_poses;
        lambda_bar = of_impulses;
        points_bar = of_points;
    }
    void restore_seeds(KinematicsBar<T>& of_poses, std::vector<T>& of_impulses,
                       std::vector<ContactPointBar<T>>& of_points) const {
        of_poses = bar;
        of_impulses = lambda_bar;
        of_points = points_bar;
    }
};

// All intermediates of a step, grouped by stage. One a thread; nothing is allocated once a step has been seen
// with as many rows.
template <class T> struct StepScratch {
    std::vector<Saturation> saturations;  // 1 (nu)
    std::vector<T> tau, B;                // 1 (nv) joint forces; implicit damping
    Kinematics<T> kinematics;             // 2
    FreeMotionScratch<T> free_motion;     // 3, 4
    std::vector<T> v_free;                // 4 (nv)
    ContactScratch<T> contacts;           // 5, 6
    Rows<T> rows;                         // 7
    DelassusScratch<T> delassus;          // 8
    ImpulseScratch<T> impulses;           // 9, 10
    RecoveryScratch<T> recovery;          // 10
    std::vector<T> v_next, displacement;  // 10 (nv) v+; h (v+ + w), less what located impacts take off
    // Covectors that the caller may seed between clear_bars and step_adj: of poses and velocities at the
    // start of the step here, of impulses in impulses.lambda_bar, of contact points in contacts.points_bar.
    KinematicsBar<T> bar;
    std::vector<T> v_next_bar, displacement_bar, v_free_bar, tau_bar, B_bar;  // (nv)
    TwoWays<T> two_ways;

    explicit StepScratch(const World& w);
    void clear_bars();  // after `step`, before seeding
};

template <class T>
void step(const World& w,
          const T* theta,     // (np)
          const T* x,         // (nx) q, v, and what a warm start keeps
          const T* u,         // (nu)
          StepScratch<T>& s,  // out
          T* x_next);         // out (nx)

// After step(w, theta, x, u, s, ...), s.clear_bars() and whatever the objective seeds.
template <class T>
void step_adj(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s,
              const T* x_next_bar,  // (ndx) covector of (q+, v+) and the kept impulses; keys have none
              T* theta_bar,         // (np) +=
              T* x_bar,             // (ndx) += covector of (q, v) and the kept impulses
              T* u_bar);            // (nu) +=

// The same through the active set that the step ended in, whatever Settings::complementarity_aware asks for.
// Linear in x_next_bar, which the choice between two active sets is not: this is the derivative of what ran.
template <class T>
void step_adj_as_solved(const World& w, const T* theta, const T* x, const T* u, StepScratch<T>& s,
                        const T* x_next_bar, T* theta_bar, T* x_bar, T* u_bar);

// Whether q+ is given the gradient of an elastic impact.
template <class T> bool has_elastic_gradient(const World& w, const StepScratch<T>& s) {
    return w.settings.impact == Impact::elastic &&
           std::ranges::any_of(s.rows.blocks, [&](const RowBlock& b) { return bounces(b, s.impulses); });
}

// Whether q+ = retract(q, h v+), and is pulled back as that: neither moved by anything else nor given the
// gradient of another motion.
template <class T> bool displacement_is_h_v(const World& w, const StepScratch<T>& s) {
    return !s.rows.located && !s.rows.recovers && !has_elastic_gradient(w, s);
}

// Poses and velocities at a state, without a step: what an objective may ask of the last state of a rollout.
template <class T> void observe(const World& w, const T* theta, const T* x, StepScratch<T>& s);
template <class T>
void observe_adj(const World& w, const T* theta, const T* x, StepScratch<T>& s, T* theta_bar, T* x_bar);

// A hash of every branch the step took: features, rows, bias cases, saturation, clamps of every sweep. Two
// steps with equal hashes ran through the same smooth pieces.
std::uint64_t branch_hash(const StepScratch<double>& s);

// Whether a step with rows is pulled back through the equations that its impulses obey. All islands must be
// solved, else the sweeps of those that are not are pulled back themselves: at 100 times the acceptable
// residual, gradients by the equations are off by up to 1e-3.
template <class T> bool has_implicit_gradient(const World& w, const StepScratch<T>& s) {
    return w.implicit_gradient() && !s.impulses.any_swept();
}

// How the islands' complementarity problems were left.
struct SolverOutcome {
    double residual = 0;  // the largest, m/s
    // whether all are solved: exact solvers say so, of sweeps the residual is acceptable
    bool converged = true;
};
SolverOutcome solver_outcome(const World& w, const StepScratch<double>& s);
inline double solver_residual(const World& w, const StepScratch<double>& s) {
    return solver_outcome(w, s).residual;
}
int solver_sweeps(const StepScratch<double>& s);  // the most that any took; 0 of exact solvers

}  // namespace costate
