// The threads of a batch and what each of them works in. What a worker computes for an environment depends on
// nothing that it did before, so results have the same bits whichever worker computes them.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "adjoint/batch/control_steps.hpp"
#include "adjoint/batch/interrupt.hpp"
#include "adjoint/batch/thread_pool.hpp"
#include "adjoint/batch/workspace.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "solvers/step/jacobian.hpp"

namespace costate {

// The time steps of a control step, as a Rollout runs them. Its loss is <end_bar, x_end>: pulled back is a
// covector of the state in which they end.
class TimeSteps {
public:
    TimeSteps(const World& w, StepScratch<double>& scratch)
        : world_(w),
          scratch_(scratch),
          by_theta_(w.np()) {}
    int nx() const { return world_.nx(); }
    int ndx() const { return world_.ndx(); }
    int nu() const { return world_.nu(); }
    int np() const { return world_.np(); }
    long runs() const { return runs_; }

    double run(int, const double* theta, const double* x, const double* u, double* x_next) {
        ++runs_;
        step(world_, {theta, x, u, wrenches}, scratch_, x_next);
        return 0;
    }
    void run_adj(int, const double* theta, const double* x, const double* u, const double* x_next_bar,
                 double* theta_bar, double* x_bar, double* u_bar) {
        scratch_.clear_bars();
        by_theta_.setZero();
        step_adj(world_, {theta, x, u, wrenches}, scratch_, x_next_bar,
                 {by_theta_.data(), x_bar, u_bar, wrenches_bar});
        for (int i = 0; i < np(); ++i)
            theta_bar[i] += by_theta_[i];
    }
    double finish(int, const double*, const double*) { return 0; }
    void finish_adj(int, const double*, const double*, double*, double* x_bar) {
        for (int i = 0; i < ndx(); ++i)
            x_bar[i] += end_bar[i];
    }

    const double* end_bar = nullptr;   // (ndx)
    const double* wrenches = nullptr;  // (bodies x 6) that act during the control step, or null
    double* wrenches_bar = nullptr;    // (bodies x 6) +=, or null

private:
    const World& world_;
    StepScratch<double>& scratch_;
    VecX<double> by_theta_;  // (np) of one time step: what is summed has the bits of steps called one by one
    long runs_ = 0;
};

// The Jacobians of the last time step, of whole states (step_by_x, step_by_u) with a warm start alone, and chosen
// columns of that of all time steps of a control step up to it: by_x, by_u, by_theta (ndx x columns).
struct ControlStepJacobian {
    using Matrix = StepJacobian::Matrix;
    StepJacobian closed_form;
    Matrix step_by_x, step_by_u, step_by_theta;
    Matrix by_x, by_u, by_theta;
    Matrix product;  // work
    explicit ControlStepJacobian(const World& w) : closed_form(w) {}
};

// What a thread works in.
struct Worker {
    BorrowedWorkspace workspace;
    TimeSteps steps;
    Rollout<TimeSteps> rollout;  // of one control step
    Gradient gradient;
    VecX<double> theta;                // (np) of the environment
    VecX<double> x0, u;                // (nx), (nu)
    VecX<double> x_bar, end_bar;       // (ndx) of the states in which a control step began and ended
    std::vector<ControlStep> forward;  // to be made together
    std::vector<ReverseStep> reverse;
    std::unique_ptr<LaneBlock> lanes;             // null: environments are stepped one by one
    bool has_lane_parameters = false;             // those of all environments, set in this call
    std::optional<ControlStepJacobian> jacobian;  // made where one is first asked for
    std::exception_ptr error;

    Worker(const World& w, WorkspacePool& workspaces, const ControlPlan& plan, const Schedule& schedule,
           int n_env);  // that it takes at once
    // How many numbers a worker allocates but for its workspace, with checkpoints in so many slots.
    static size_t numbers(const World& w, int slots);
    // For lanes, and for so many environments taken at once.
    static size_t lane_bytes(const World& w, int n_env, int slots);
    int width() const { return lanes ? lanes->width() : 1; }
};

// n controls, each held for so many time steps.
ControlPlan held_controls(int n, int steps);

class Workers {
public:
    // `threads` workers for control steps of so many time steps as the schedule has. Throws NoThread.
    Workers(const World& w, WorkspacePool& workspaces, const Schedule& schedule, int threads, int n_env = 1);

    // work(worker, i) for each i < n. What one of them throws is thrown here, after all others are done.
    template <class Work> void for_each(size_t n, const Work& work) {
        begin_call();
        pool_->run(static_cast<int>(n), [&](int thread, int i) {
            Worker& worker = *workers_[thread];
            if (worker.error) return;
            try {
                work(worker, i);
            } catch (...) {
                worker.error = std::current_exception();
            }
        });
        rethrow();
    }

    // The same for chunks of environments: work(worker, first, last), for first <= e < last of n.
    template <class Work> void for_each_chunk(size_t n, const Work& work) {
        const size_t chunk = chunk_of(n, workers_.size());
        for_each((n + chunk - 1) / chunk,
                 [&](Worker& worker, size_t i) { work(worker, i * chunk, std::min(n, (i + 1) * chunk)); });
    }

    // How many of n environments a thread takes at once: enough to find some that take the same branches.
    static size_t chunk_of(size_t n, size_t threads) {
        return std::min<size_t>(64, (n + threads - 1) / threads);
    }

    bool is_here() const { return pool_->is_here(); }

    // `interrupt` is asked by the calling thread, every 20 ms. None: an empty function.
    void set_interrupt(Interrupt interrupt);
    // `progress` is told the same way how far a CountedCall is, and once at its end.
    void set_progress(BatchProgress progress);
    void advance(std::uint64_t control_steps) { done_.fetch_add(control_steps, std::memory_order_relaxed); }
    // To be called by `work` between control steps. Throws CallInterrupted once `interrupt` or `progress` has
    // returned true.
    void check_interrupt(const Worker& worker) {
        if (!asks()) return;
        if (&worker == workers_.front().get()) ask_interrupt();
        if (interrupted_.load(std::memory_order_relaxed)) throw CallInterrupted();
    }

private:
    friend class CountedCall;
    bool asks() const { return interrupt_ || progress_; }
    void set_idle();
    void begin_call();
    void ask_interrupt();
    void rethrow();

    const ControlPlan plan_;  // one control, held
    std::vector<std::unique_ptr<Worker>> workers_;
    OwnedThreadPool pool_;
    Interrupt interrupt_;
    BatchProgress progress_;
    std::uint64_t expected_ = 0;  // 0: nothing is reported
    std::atomic<std::uint64_t> done_{0};
    std::atomic<bool> interrupted_{false};
    std::chrono::steady_clock::time_point asked_;  // by the calling thread, which alone reads and writes it
};

// A call that makes so many control steps of single environments; its work says so by Workers::advance.
class CountedCall {
public:
    CountedCall(Workers& workers, std::uint64_t control_steps) : workers_(workers) {
        workers_.done_ = 0;
        workers_.expected_ = control_steps;
        workers_.asked_ = std::chrono::steady_clock::now();
    }
    ~CountedCall() { workers_.expected_ = 0; }
    CountedCall(const CountedCall&) = delete;
    CountedCall& operator=(const CountedCall&) = delete;
    void finish() const {
        if (workers_.progress_) workers_.progress_(workers_.expected_, workers_.expected_);
    }

private:
    Workers& workers_;
};

}  // namespace costate
