// Many environments of one model: their states and parameters, and threads that step them. What a thread
// computes for an environment depends on nothing else, so neither does any bit of it.
#pragma once

#include <exception>
#include <span>

#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "apps/c_api/model.hpp"
#include "apps/c_api/pool.hpp"
#include "solvers/step/step.hpp"

namespace costate::c_api {

// The time steps of a control step, for Rollout; pulled back is a covector of the state they end in.
class TimeSteps {
public:
    explicit TimeSteps(const World& w) : world_(w), by_theta_(w.np()) {}
    int nx() const { return world_.nx(); }
    int ndx() const { return world_.ndx(); }
    int nu() const { return world_.nu(); }
    int np() const { return world_.np(); }

    double run(int, const double* theta, const double* x, const double* u, double* x_next) {
        ++runs_;
        step(world_, theta, x, u, *scratch, x_next);
        return 0;
    }
    long runs() const { return runs_; }
    void run_adj(int, const double* theta, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar) {
        scratch->clear_bars();
        by_theta_.setZero();
        step_adj(world_, theta, x, u, *scratch, x_next_bar, by_theta_.data(), x_bar, u_bar);
        for (int i = 0; i < np(); ++i)
            theta_bar[i] += by_theta_[i];
    }
    double finish(int, const double*, const double*) { return 0; }
    void finish_adj(int, const double*, const double*, double*, double* x_bar) {
        for (int i = 0; i < ndx(); ++i)
            x_bar[i] += end_bar[i];
    }

    StepScratch<double>* scratch = nullptr;
    const double* end_bar = nullptr;  // (ndx)

private:
    const World& world_;
    // (np) of one step, as costate_step_vjp gives it: sums have the bits of sums of those
    VecX<double> by_theta_;
    long runs_ = 0;
};

// What a thread works in.
struct Lane {
    std::unique_ptr<Workspace> workspace;
    TimeSteps steps;
    Rollout<TimeSteps> rollout;  // of one control step
    Gradient gradient;
    VecX<double> theta;    // (np) of the environment
    VecX<double> u;        // (nu)
    VecX<double> x_bar;    // (ndx) of the state in which a control step began
    VecX<double> end_bar;  // (ndx) of the one in which it ended
    std::exception_ptr error;

    Lane(const World& w, const ControlPlan& plan, const Schedule& schedule);
    // That a lane allocates but for its workspace, with checkpoints in so many slots.
    static size_t numbers(const World& w, int slots);
};

struct BatchOptions {
    int n_env, threads, substeps;
    bool own_parameters, ambient;
    Schedule schedule;  // of a control step
    BatchOptions(const World& w, const costate_batch_options* given);
    size_t parameter_rows() const { return own_parameters ? static_cast<size_t>(n_env) : 1; }
};

class Batch {
public:
    Batch(std::shared_ptr<SharedModel> model, const BatchOptions& options);
    ~Batch();
    static size_t bytes(const World& w, const BatchOptions& options);

    const World& world() const { return model->scene.world; }
    size_t nx() const { return static_cast<size_t>(world().nx()); }
    size_t ndx() const { return static_cast<size_t>(world().ndx()); }
    size_t nu() const { return static_cast<size_t>(world().nu()); }
    size_t np() const { return static_cast<size_t>(world().np()); }
    // numbers of a state's covector at the boundary
    size_t n_bar() const { return options.ambient ? nx() : ndx(); }

    // Parameters of environment e, as they are in this call; after `begin`.
    const double* parameters(size_t e) const {
        return rows_ == Rows::each ? theta.data() + e * np() : call_theta_;
    }
    void begin();  // of a call that needs parameters

    // work(lane, e) for all environments. What one of them throws is thrown here, after all others are done.
    template <class Work> void for_each(const Work& work) {
        refresh_workspaces();
        pool_.run(options.n_env, [&](int thread, int e) {
            Lane& lane = *lanes_[thread];
            if (lane.error) return;
            try {
                work(lane, static_cast<size_t>(e));
            } catch (...) {
                lane.error = std::current_exception();
            }
        });
        rethrow();
    }

    enum class Rows { of_model, shared, each };
    void use_rows(Rows rows) { rows_ = rows; }

    const std::shared_ptr<SharedModel> model;
    const BatchOptions options;
    std::mutex mutex;                      // held by the one call that runs
    std::vector<double> x, x_next;         // (n_env x nx) the own states; those that a call is making
    std::vector<int> status, next_status;  // (n_env)
    // (n_env) the largest that the solver left in the last step or rollout, m/s
    std::vector<double> residual;
    std::vector<int> unconverged;   // (n_env) and how many time steps it left without a solution
    std::vector<double> theta;      // (parameter_rows x np) that are set
    std::vector<double> theta_bar;  // (n_env x np) to be summed

private:
    void refresh_workspaces();
    void rethrow();

    ControlPlan plan_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    ThreadPool pool_;
    Rows rows_ = Rows::of_model;
    std::shared_ptr<const VecX<double>> model_theta_;
    const double* call_theta_ = nullptr;
};

Handles<costate_batch, Batch>& batches();

// Runs a call on a batch while no other does.
template <class Call> int with_batch(const char* function, costate_batch* handle, const Call& call) noexcept {
    return guarded(function, [&]() -> int {
        const std::shared_ptr<Batch> batch = batches().get(handle);
        const std::lock_guard lock(batch->mutex);
        return call(*batch);
    });
}

// An argument of rows: all finite, else a failure that names row and column, of (t, environment, entry) where
// there are `times`.
void check_rows(const char* name, const double* values, size_t times, size_t rows, size_t width);
// The same of states, whose quaternions have a direction.
void check_states(const Batch& batch, const char* name, const double* x, size_t times);

size_t read_step_count(int n_steps);

// The control step of environment e from one state (nx) to another, which may have the same place; false if
// it diverges, and then `to` is as it was. The environment's residual and its count of unconverged time steps
// take in what the solver leaves.
bool control_step(Batch& batch, Lane& lane, size_t e, const double* u, const double* from, double* to);

// Gradients by parameters on their way to where the caller wants them: rows of environments, or their sum.
class ParameterGradient {
public:
    ParameterGradient(Batch& batch, double* out, size_t size);
    bool wanted() const { return rows_ != nullptr; }
    double* row(size_t e) const { return rows_ + e * batch_.np(); }  // (np)
    void finish() const;

private:
    const Batch& batch_;
    double* out_;
    double* rows_ = nullptr;
    bool summed_ = false;
};

// Covectors of states at the boundary (n_bar) from and to those of the tangent (ndx), at x (nx).
void read_state_bar(const Batch& b, const double* x, const double* given, double* tangent);
void write_state_bar(const Batch& b, const double* x, const double* tangent, double* out);

}  // namespace costate::c_api
