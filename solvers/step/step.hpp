// One time step, and its adjoint: the same ten stages in reverse order.
//
//   M (v_f - v) + h [c + B v_f - tau] = 0         free velocity, damping implicit
//   lambda = MLCP(J M^-1 J^T + R, J v_f + beta)   impulses, N s
//   v+ = v_f + M^-1 J^T lambda
//   q+ = retract(q, h (v+ + w))                   w corrects positions: solvers/step/recovery.hpp
//   activations+                                  forces read those of the start: core/dynamics/activation.hpp
//
// Integrator::mujoco_rk4 takes four of them: solvers/step/runge_kutta.hpp.
//
// M has h B on its diagonal throughout, unless damping acts after the contacts: then v+ of the third line is
// v* of solvers/step/late_damping.hpp.
//
// A step is a pure function of (x, u, theta). It leaves its intermediates in the scratch, where `step_adj`
// reads them. The backward pass runs the same compiled `step` from a stored state, then `step_adj`.
#pragma once

#include <memory>

#include "core/dynamics/activation.hpp"
#include "core/dynamics/compensation.hpp"
#include "core/dynamics/gyroscopic.hpp"
#include "core/dynamics/integrate.hpp"
#include "core/dynamics/medium.hpp"
#include "core/dynamics/spatial_tendon.hpp"
#include "core/dynamics/thrust.hpp"
#include "core/dynamics/wrenches.hpp"
#include "solvers/rows/waiting_blocks.hpp"
#include "solvers/step/free_motion.hpp"
#include "solvers/step/implicit.hpp"
#include "solvers/step/located_impact.hpp"
#include "solvers/step/recovery.hpp"
#include "solvers/step/stage_clock.hpp"
#include "solvers/step/step_inputs.hpp"
#include "solvers/step/warm_start.hpp"

namespace costate {

template <class T> struct StepScratch;
template <class T> struct RungeKutta;

// For a step that is pulled back through two active sets: the covectors seeded by the objective, and the
// covectors of (theta, x, u) from each active set.
template <class T> struct TwoActiveSets {
    struct Pullback {
        std::vector<T> theta, x, u, wrenches;
        Value<T> size = 0;
        void clear(const World& w) {
            theta.assign(w.np(), T(0));
            x.assign(w.ndx(), T(0));
            u.assign(w.nu(), T(0));
            wrenches.assign(6 * w.model.bodies.size(), T(0));
            size = 0;
        }
        StepInputBars<T> bars() { return {theta.data(), x.data(), u.data(), wrenches.data()}; }
        void add_to(const StepInputBars<T>& bar) const {
            for (size_t i = 0; i < theta.size(); ++i)
                bar.theta[i] += theta[i];
            for (size_t i = 0; i < x.size(); ++i)
                bar.x[i] += x[i];
            for (size_t i = 0; i < u.size(); ++i)
                bar.u[i] += u[i];
            for (size_t i = 0; bar.wrenches != nullptr && i < wrenches.size(); ++i)
                bar.wrenches[i] += wrenches[i];
        }
    };
    Pullback pullbacks[2];
    const Pullback& larger() const { return pullbacks[pullbacks[1].size > pullbacks[0].size ? 1 : 0]; }

    KinematicsBar<T> bar;
    std::vector<T> lambda_bar, velocity_bar;
    std::vector<ContactPointBar<T>> points_bar;
    std::vector<Motion<T>> wrenches_bar;
    explicit TwoActiveSets(const World& w) : bar(w.model) {}
    void keep_seeds(const StepScratch<T>& s) {
        bar = s.bar;
        velocity_bar = s.velocity_bar;
        wrenches_bar = s.wrenches_bar;
        lambda_bar = s.impulses.lambda_bar;
        points_bar = s.contacts.points_bar;
    }
    void restore_seeds(StepScratch<T>& s) const {
        s.bar = bar;
        s.velocity_bar = velocity_bar;
        s.wrenches_bar = wrenches_bar;
        s.impulses.lambda_bar = lambda_bar;
        s.contacts.points_bar = points_bar;
    }
};

// Scratch of the contacts that are felt from a distance; empty until a step has been pulled back with them.
template <class T> struct DistantContacts {
    Detection detection;
    std::vector<double> theta;          // (np) values of the parameters
    std::vector<Force<T>> no_wrenches;  // (bodies) zero
    std::vector<Motion<T>> twists;      // (bodies)
};

// All intermediates of a step, grouped by stage. Each thread needs its own scratch. A step allocates only if
// it has more rows than all before.
template <class T> struct StepScratch {
    std::vector<Saturation<T>> saturations;            // 1 (nu)
    std::vector<T> tau, B;                             // 1 (nv) joint forces; implicit damping
    std::vector<T> inputs;                             // 1 (nu) of force laws, if there are activations
    Kinematics<T> kinematics;                          // 2
    TendonPaths<T> paths;                              // 2
    std::vector<Side> springs;                         // 2 (tendons) where springs with slack pull
    bool pushed = false;                               // 2 whether external wrenches act
    std::vector<Force<T>> wrenches;                    // 2 (bodies) those, in the common frame
    LateDamping<T> late_damping;                       // 1, 3, 10
    FreeMotionScratch<T> free_motion;                  // 3, 4
    std::vector<T> v_free;                             // 4 (nv)
    ContactScratch<T> contacts;                        // 5, 6
    Rows<T> rows;                                      // 7
    DelassusScratch<T> delassus;                       // 8
    ImpulseScratch<T> impulses;                        // 9, 10
    RecoveryScratch<T> recovery;                       // 10
    std::vector<T> v_next;                             // 10 (nv) v+; with late damping v*
    std::vector<T> displacement;                       // 10 (nv) h (v+ + w) - impact_displacement
    std::vector<ActivationSides<T>> activation_sides;  // 10 (na)
    // Covectors that the caller may seed between clear_bars and step_adj: `bar` for poses and velocities at
    // the start of the step, impulses.lambda_bar for impulses, contacts.points_bar for contact points.
    KinematicsBar<T> bar;
    std::vector<T> velocity_bar;          // (nv) of v_next, may be seeded
    std::vector<Motion<T>> wrenches_bar;  // (bodies), may be seeded if external wrenches act
    TendonPaths<T> paths_bar;
    std::vector<T> v_next_bar, displacement_bar, v_free_bar, tau_bar, B_bar;  // (nv)
    std::vector<T> inputs_bar;                                                // (nu) as inputs
    TwoActiveSets<T> two_active_sets;
    DistantContacts<T> distant_contacts;
    std::unique_ptr<RungeKutta<T>> runge_kutta;  // of Integrator::mujoco_rk4, after the first step
    StageClock* clock = nullptr;                 // times the stages of `step`, if it is set
    // Of a step on dual numbers: the same step on doubles (solvers/step/tangent_step.hpp), or null
    const StepScratch<double>* found = nullptr;

    explicit StepScratch(const World& w);
    StepScratch(StepScratch&&);
    ~StepScratch();
    void clear_bars();  // after `step`, before seeding
};

template <class T>
void step(const World& w, const StepInputs<T>& in,
          StepScratch<T>& s,  // out
          T* x_next);         // out (nx)

// Call after step(w, in, s, ...), s.clear_bars() and the seeding of the objective.
template <class T>
void step_adj(const World& w, const StepInputs<T>& in, StepScratch<T>& s,
              const T* x_next_bar,           // (ndx) covector of the next state; 0 for keys
              const StepInputBars<T>& bar);  // +=

// The same through the active set of the solution, regardless of Settings::complementarity_aware and
// felt_distance. It is the derivative of the step that ran, and linear in x_next_bar. The choice between two
// active sets is not linear.
template <class T>
void step_adj_as_solved(const World& w, const StepInputs<T>& in, StepScratch<T>& s, const T* x_next_bar,
                        const StepInputBars<T>& bar);

// True if q+ gets the gradient of an elastic impact.
template <class T> bool has_elastic_gradient(const World& w, const StepScratch<T>& s) {
    return w.settings.impact == Impact::elastic &&
           std::ranges::any_of(s.rows.blocks, [&](const RowBlock& b) { return bounces(b, s.impulses); });
}

// v+, the velocity after the step; of a stage with Integrator::mujoco_rk4.
template <class T> const std::vector<T>& v_after(const World& w, const StepScratch<T>& s) {
    return w.damps_late() ? s.late_damping.v : s.v_next;
}

// True if q+ = retract(q, h v+) and is pulled back as this function: without located impacts, recovery, the
// gradient of an elastic impact or several stages.
template <class T> bool displacement_is_h_v(const World& w, const StepScratch<T>& s) {
    return !s.rows.located && !s.rows.recovers && !has_elastic_gradient(w, s) && !s.runge_kutta;
}

// Computes poses and velocities at a state without a step, for the objective at the last state of a rollout.
template <class T> void observe(const World& w, const T* theta, const T* x, StepScratch<T>& s);
template <class T>
void observe_adj(const World& w, const T* theta, const T* x, StepScratch<T>& s, T* theta_bar, T* x_bar);

// A hash of every branch of the step: features, rows, bias cases, saturation, clamps of every sweep. Steps
// with equal hashes evaluate the same smooth function.
std::uint64_t branch_hash(const StepScratch<double>& s);

// True if a step with rows is pulled back through the equations of its impulses. This requires that all
// islands are solved; otherwise sweeps are pulled back. At 100 times the acceptable residual, gradients by
// the equations have errors of up to 1e-3.
template <class T> bool has_implicit_gradient(const World& w, const StepScratch<T>& s) {
    return w.implicit_gradient() && !s.impulses.any_swept();
}

// Result of the islands' complementarity problems.
struct SolverOutcome {
    double residual = 0;  // largest over the islands, m/s
    // all islands are solved: reported by exact solvers, judged by the residual for sweeps
    bool converged = true;
};
SolverOutcome solver_outcome(const World& w, const StepScratch<double>& s);
inline double solver_residual(const World& w, const StepScratch<double>& s) {
    return solver_outcome(w, s).residual;
}
int solver_sweeps(const StepScratch<double>& s);  // maximum over the islands; 0 for exact solvers

}  // namespace costate
