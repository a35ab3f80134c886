// Batches: many environments of one world, stepped together by several threads, and pulled back.
//
// A control step is `substeps` time steps with one control. Arrays have the environment first, or the control
// step and then the environment; their shapes stand in brackets. SI units throughout. Every number that comes
// out has the same bits for any number of threads, any division into batches, and from `step` and `step_adj`
// called one by one.
//
// An environment diverges when a state would not be finite. It then stays in the state in which that control
// step began, no gradient goes through that step, and all others go on as ever.
//
// One thread at a time may call a batch. Once each of its threads has seen as many contacts as there are,
// calls other than `jacobian` allocate nothing. A call that throws, for want of memory or as CallInterrupted,
// may have written a part of its outputs; the batch's own states are as before. After fork(), calls on a
// batch with several threads throw ForkedProcess.
#pragma once

#include <cassert>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "adjoint/batch/covector_coordinates.hpp"
#include "adjoint/batch/interrupt.hpp"
#include "adjoint/batch/workspace.hpp"
#include "adjoint/checkpoints/schedule.hpp"
#include "solvers/step/observation.hpp"

namespace costate {

class Workers;
struct Worker;
struct ControlStep;
struct Gradient;
struct ReverseStep;

// What a rollout of a batch reads and writes. Null pointers are left out; those of inputs are zeros.
struct BatchRun {
    int steps = 1;
    const double* x = nullptr;         // (n_env x nx), or null: the batch's own states
    const double* u = nullptr;         // (steps x n_env x nu)
    const double* wrenches = nullptr;  // (steps x n_env x bodies x 6) external force and torque, as in `step`
    double* states = nullptr;          // out (steps x n_env x nx) after each control step
    double* y = nullptr;       // out (steps x n_env x ny) sensors at the beginning of each control step
    int* completed = nullptr;  // out (n_env)
};

// The gradient of a function of the states and sensors of a run, and where it goes.
struct BatchSeeds {
    const double* states_bar = nullptr;  // (steps x n_env x state_bar_width), or null: zeros
    const double* y_bar = nullptr;       // (steps x n_env x ny), or null: zeros
    // Instead of both: called for t = steps - 1, ..., 0 by the calling thread, with the states (n_env x nx)
    // after control step t and the sensors y (n_env x ny) at its beginning. It adds to states_bar (n_env x
    // state_bar_width) and y_bar (n_env x ny), which are zero. False ends the call with CallInterrupted.
    std::function<bool(int t, const double* states, const double* y, double* states_bar, double* y_bar)> at;
};
struct BatchGradients {
    double* x_bar = nullptr;         // out (n_env x state_bar_width) of the first states
    double* u_bar = nullptr;         // out (steps x n_env x nu)
    double* wrenches_bar = nullptr;  // out (steps x n_env x bodies x 6)
    double* theta_bar = nullptr;     // out (np), or (n_env x np)
};

// The direction of a derivative of a run, and of a gradient of it. Null: zeros.
struct BatchDirection {
    const double* x = nullptr;      // (n_env x ndx)
    const double* u = nullptr;      // (steps x n_env x nu)
    const double* theta = nullptr;  // (np)
};

// Columns of Jacobians that are wanted: masks, 0 for those that are left out. Null: all.
struct JacobianColumns {
    const unsigned char* x = nullptr;      // (ndx)
    const unsigned char* u = nullptr;      // (nu)
    const unsigned char* theta = nullptr;  // (np)
};

enum class EnvironmentStatus { ok, diverged };

struct BatchOptions {
    int n_env = 1;
    int threads = 1;              // that work, the calling one included, at most n_env; 0: one a core
    int substeps = 1;             // time steps of a control step
    bool own_parameters = false;  // room for parameters of each environment, as for domain randomisation
    // of all threads, for the states between the time steps of a control step; 0: room for each. Less memory
    // takes more time and gives the same bits
    size_t checkpoint_bytes = 0;
    WorkspacePool* workspaces = nullptr;               // where threads take theirs from; null: new ones
    const CovectorCoordinates* coordinates = nullptr;  // of states' and poses' covectors; null: tangent
};

// How many threads a batch with these options has.
int thread_count(const BatchOptions& o);
// Which states of a control step each thread stores. Throws std::invalid_argument if checkpoint_bytes holds
// no state a thread.
Schedule control_step_schedule(const World& w, const BatchOptions& o);

// Moves a state x (nx) by entry i of a tangent vector noise[i] (ndx) times a number in [-1, 1) that the seed
// decides: 53 bits of the generator of Matsumoto & Nishimura 1998 in its form of 64 bits, one draw an entry.
void perturb_state(const World& w, const double* noise, std::uint64_t seed, double* x);

class Batch {
public:
    // All environments begin in x0 (nx) with the parameters theta (np). The world, and what the options point
    // to, must outlive the batch. Throws std::invalid_argument as control_step_schedule does, and NoThread.
    Batch(const World& w, const VecX<double>& theta, const VecX<double>& x0, const BatchOptions& options);
    ~Batch();
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

    // What a batch takes: states, parameters, gradients and checkpoints. Not the workspaces, one a thread:
    // they grow with the contacts that they meet.
    static size_t bytes(const World& w, const BatchOptions& o);

    const World& world() const { return world_; }
    const BatchOptions& options() const { return options_; }
    size_t n_env() const { return options_.n_env; }
    size_t nx() const { return world_.nx(); }
    size_t ndx() const { return world_.ndx(); }
    size_t nu() const { return world_.nu(); }
    size_t np() const { return world_.np(); }
    // numbers of covectors: (ndx) and (6) where the coordinates are tangent
    size_t state_bar_width() const { return coordinates_.state_width(world_); }
    size_t pose_bar_width() const { return coordinates_.pose_width(); }

    // False in a process that does not have the threads of this batch, after fork().
    bool is_here() const;
    // Asked by the calling thread between control steps, every 20 ms: whether `step`, `rollout`, `backward`
    // or `jacobian` ends with CallInterrupted. Empty: never.
    void set_interrupt(Interrupt interrupt);
    // Told the same way how far `rollout`, `run`, `backward`, `run_backward`, `run_jvp`, `run_hvp` and `jacobian` are,
    // and once at their end; they end with CallInterrupted if it returns true. Reverses count what is pulled back.
    void set_progress(BatchProgress progress);

    // Parameters of all calls after it: one set theta (np), or with own_parameters theta (n_env x np).
    void set_parameters(const double* theta);
    void set_own_parameters(const double* theta);
    const double* parameters(size_t e) const { return theta_.data() + e * theta_stride_; }  // (np)

    // The batch's own states x (n_env x nx), and which have diverged since their last reset (n_env).
    const std::vector<double>& states() const { return x_; }
    const std::vector<EnvironmentStatus>& status() const { return status_; }
    // The environments envs (n <= n_env; null: the first n) begin anew: start(k, x) writes the state x (nx)
    // of envs[k], its quaternions of length 1. If it throws, no environment has changed.
    template <class Start> void reset(const int* envs, size_t n, const Start& start) {
        assert(n <= n_env());
        for (size_t k = 0; k < n; ++k)
            start(k, x_next_.data() + k * nx());
        for (size_t k = 0; k < n; ++k)
            begin_anew(envs ? envs[k] : k, x_next_.data() + k * nx());
    }

    // One control step: from x (n_env x nx), quaternions of any length, and u (n_env x nu) to x_next (n_env x
    // nx). If x is null the batch's own states move on, but those that have diverged; then x_next may be
    // null. Returns how many have diverged; outcome() says which.
    int step(const double* x, const double* u, double* x_next);

    // `steps` control steps: from x (n_env x nx; null as above) and u (steps x n_env x nu) to states (steps x
    // n_env x nx), those after each. completed (n_env), or null: how many steps an environment made before it
    // diverged, `steps` if it did not. Returns how many have diverged.
    int rollout(int steps, const double* x, const double* u, double* states, int* completed);

    // What the last `step`, `rollout` or `backward` made of each environment (n_env).
    const std::vector<EnvironmentStatus>& outcome() const { return outcome_; }
    // How the solver left the time steps of the last `step` or `rollout`: the largest residual, m/s, and how
    // many time steps it left without a solution (n_env).
    const std::vector<double>& residual() const { return residual_; }
    const std::vector<int>& unconverged() const { return unconverged_; }

    // Where gradients by parameters go: their sum over environments (np), in the order of a SumPlan
    // (adjoint/batch/sum_plan.hpp), or each its own (n_env x np).
    enum class ThetaBar { sum, each };

    // Reverse of `rollout`, and with steps = 1 of `step`: the gradient of a function of all states, pulled
    // back. Each control step is run again from the state in which it began. An environment that diverges, or
    // whose gradient would not be finite, has gradients of zero; returns how many those are.
    int backward(int steps,
                 const double* x,           // (steps x n_env x nx) in which control steps begin
                 const double* u,           // (steps x n_env x nu)
                 const int* completed,      // (n_env) as `rollout` gave it; null: `steps`. No others count
                 const double* states_bar,  // (steps x n_env x state_bar_width) of states after each step
                 double* x_bar,             // out (n_env x state_bar_width) of the first states, or null
                 double* u_bar,             // out (steps x n_env x nu), or null
                 double* theta_bar,         // out, shaped as `of` says, or null
                 ThetaBar of = ThetaBar::sum);

    // The Jacobian of one control step from x (n_env x nx; null: the batch's own states) under u (n_env x nu),
    // in tangent coordinates, whatever the coordinates of covectors. Environments with which[e] = 0 are left
    // out, with their rows untouched (null: none). One that diverges has Jacobians of zero; returns how many.
    // Columns that are left out stay untouched, too. Where the Jacobian of a time step has a closed form, they are
    // not computed: in the first time step of a control step, and those of controls in all.
    int jacobian(const double* x, const double* u,
                 const unsigned char* which,  // (n_env), or null
                 double* by_x,                // out (n_env x ndx x ndx), or null
                 double* by_u,                // out (n_env x ndx x nu), or null
                 double* by_theta,            // out (n_env x ndx x np), or null
                 const JacobianColumns& columns = {});

    // visit(e, y) for the first time step of a control step from x (n_env x nx; null: the batch's own states) under
    // u (n_env x nu), with its observation, by the thread that makes it; not for environments that diverge.
    // Returns how many diverge.
    using VisitStep = std::function<void(size_t e, const Observation<double>& y)>;
    int observe_steps(const double* x, const double* u, const VisitStep& visit);

    // The sensors of states x (n_env x nx; null: the batch's own) under u (n_env x nu) and wrenches (n_env x
    // bodies x 6; null: none), in the first time step of a control step: y (n_env x ny). Returns how many
    // environments diverge in it; their sensors are zero.
    int sensors(const double* x, const double* u, const double* wrenches, double* y);
    // Reverse of `sensors`, of y_bar (n_env x ny). of.u_bar and of.wrenches_bar have one control step.
    int sensors_backward(const double* x, const double* u, const double* wrenches, const double* y_bar,
                         const BatchGradients& out, ThetaBar of = ThetaBar::sum);
    // The Jacobians of the sensors in tangent coordinates, as `jacobian` has those of control steps:
    // by_x (n_env x ny x ndx), by_u (n_env x ny x nu), by_theta (n_env x ny x np).
    int sensors_jacobian(const double* x, const double* u, const unsigned char* which, double* by_x,
                         double* by_u, double* by_theta);

    // `rollout` with external wrenches and sensors.
    int run(const BatchRun& run);
    // Reverse of `run`, without the states of its steps: they are computed again from those that fit into so
    // many bytes (0: all), with the same bits. run.states and run.y are not written. Throws
    // std::invalid_argument if the bytes hold no state of all environments.
    int run_backward(const BatchRun& run, const BatchSeeds& seeds, const BatchGradients& out, size_t bytes,
                     ThetaBar of = ThetaBar::sum);
    // The derivative of `run` along a direction, by dual numbers: states_dot (steps x n_env x ndx), y_dot
    // (steps x n_env x ny), in tangent coordinates. Environments that diverge have zeros from there on.
    int run_jvp(const BatchRun& run, const BatchDirection& along, double* states_dot, double* y_dot);
    // The derivative along a direction of the gradient that `backward` returns, for states_bar (steps x n_env x
    // ndx) and its own derivative states_bar_dot (null: 0): Hessian-vector products, by the reverse on dual
    // numbers, in tangent coordinates. x_bar is that of a tangent at x, evaluated at 0, as in
    // adjoint/check/hessian.hpp. Each thread stores the states of all time steps of an environment, twice.
    int run_hvp(const BatchRun& run, const BatchDirection& along, const double* states_bar,
                const double* states_bar_dot, const BatchGradients& out_dot, ThetaBar of = ThetaBar::sum);

    // Where frames are in states x (n_env x nx; null: the batch's own): frames (n) are bodies, counted from
    // 0, then sites, counted on from the number of bodies. Either output may be null.
    void poses(const double* x, const int* frames, size_t n,
               double* poses,        // out (n_env x n x 7) origin, m, world axes, and quaternion, w >= 0
               double* velocities);  // out (n_env x n x 6) of the origin, m/s, and angular, rad/s, world axes
    // Reverse of `poses`; covectors that are null are zero.
    void poses_backward(const double* x, const int* frames, size_t n,
                        const double* poses_bar,       // (n_env x n x pose_bar_width)
                        const double* velocities_bar,  // (n_env x n x 6)
                        double* x_bar,                 // out (n_env x state_bar_width), or null
                        double* theta_bar,             // out, shaped as `of` says, or null
                        ThetaBar of = ThetaBar::sum);

private:
    struct RunReverse;
    // worker.forward, and worker.reverse: adjoint/batch/control_steps.cpp
    void make_control_steps(Worker& worker);
    bool control_step_in_lanes(Worker& worker, ControlStep* jobs);
    bool control_step_alone(Worker& worker, const ControlStep& job);
    void pull_back_control_steps(Worker& worker);
    bool pull_back_in_lanes(Worker& worker, ReverseStep* jobs);
    bool pull_back_alone(Worker& worker, ReverseStep& job);
    void write_gradient(const Gradient& g, ReverseStep& job) const;
    template <class Job> void set_lane_parameters(Worker& worker, const Job* jobs) const;
    bool read_sensors(Worker& worker, size_t e, const double* x, const double* u, const double* wrenches,
                      double* y) const;
    bool pull_back_sensors(Worker& worker, size_t e, const double* x, const double* u, const double* wrenches,
                           const double* y_bar, double* x_bar, double* u_bar, double* wrenches_bar,
                           double* theta_bar) const;
    size_t wrenches_width() const { return 6 * world_.model.bodies.size(); }
    struct ChosenColumns;
    bool control_step_jacobian(Worker& worker, size_t e, const double* x, const double* u,
                               const ChosenColumns& columns) const;
    int finish_step(bool own);
    void finish_backward(size_t e, int steps, int completed, const double* x, double* x_bar, double* u_bar,
                         double* theta_rows);
    int count_diverged() const;
    void begin_anew(size_t e, const double* x);
    void observe_state(Worker& worker, size_t e, const double* x) const;
    double* theta_bar_rows(double* theta_bar, ThetaBar of);
    void sum_theta_bar(double* theta_bar, ThetaBar of);

    const World& world_;
    const BatchOptions options_;
    const CovectorCoordinates& coordinates_;
    std::vector<double> x_, x_next_;  // (n_env x nx) the own states; those that a call is making
    std::vector<EnvironmentStatus> status_, outcome_;  // (n_env)
    std::vector<double> residual_;                     // (n_env) m/s
    std::vector<int> unconverged_;                     // (n_env)
    std::vector<std::uint64_t> branches_;              // (n_env) of the last time step of each
    std::vector<double> theta_;                        // (np), or (n_env x np)
    size_t theta_stride_ = 0;                          // from the parameters of an environment to the next
    std::vector<double> theta_bar_;                    // (n_env x np) to be summed
    std::vector<double> first_bar_;                    // (n_env x ndx) of states, on their way back
    std::unique_ptr<WorkspacePool> own_workspaces_;    // where none are shared
    std::unique_ptr<Workers> workers_;
};

}  // namespace costate
