#include "adjoint/batch/workers.hpp"

namespace costate {

ControlPlan held_controls(int n, int steps) {
    ControlChannel held;
    held.times = {0};
    return ControlPlan(std::vector<ControlChannel>(n, held), steps, 1);
}

Worker::Worker(const World& w, WorkspacePool& workspaces, const ControlPlan& plan, const Schedule& schedule,
               int n_env)
    : workspace(workspaces),
      steps(w, workspace->step),
      rollout(steps, plan, schedule),
      theta(w.np()),
      x0(w.nx()),
      u(w.nu()),
      x_bar(w.ndx()),
      end_bar(w.ndx()) {
    forward.reserve(n_env);
    reverse.reserve(n_env);
    if (LaneStep* step = n_env > 1 ? workspace->lane_step(w) : nullptr; step && n_env >= step->width())
        lanes = std::make_unique<LaneBlock>(w, *step, schedule);
    gradient.controls.resize(w.nu());
    gradient.initial_state.resize(w.ndx());
    gradient.parameters.resize(w.np());
}

size_t Worker::numbers(const World& w, int slots) {
    const size_t nx = w.nx(), ndx = w.ndx(), nu = w.nu(), np = w.np();
    return (slots + 4) * nx + 2 * nu + 2 * ndx  // rollout
           + np                                 // steps
           + nu + ndx + np                      // gradient
           + np + nx + nu + 2 * ndx;
}

size_t Worker::lane_bytes(const World& w, int n_env, int slots) {
    const int width = lane_width(w);
    return n_env * (sizeof(ControlStep) + sizeof(ReverseStep)) +
           (width > 1 && n_env >= width ? LaneBlock::bytes(w, width, slots) : 0);
}

Workers::Workers(const World& w, WorkspacePool& workspaces, const Schedule& schedule, int threads, int n_env)
    : plan_(held_controls(w.nu(), schedule.steps())),
      pool_(new ThreadPool(threads)) {
    for (int i = 0; i < threads; ++i)
        workers_.push_back(std::make_unique<Worker>(w, workspaces, plan_, schedule,
                                                    static_cast<int>(chunk_of(n_env, threads))));
}

void Workers::set_interrupt(Interrupt interrupt) {
    interrupt_ = std::move(interrupt);
    set_idle();
}

void Workers::set_progress(BatchProgress progress) {
    progress_ = std::move(progress);
    set_idle();
}

void Workers::set_idle() {
    pool_->set_idle(asks() ? std::function<void()>([this] { ask_interrupt(); }) : nullptr);
}

void Workers::begin_call() {
    for (const std::unique_ptr<Worker>& worker : workers_)
        worker->has_lane_parameters = false;
    if (!asks()) return;
    interrupted_ = false;
    if (expected_ == 0) asked_ = std::chrono::steady_clock::now();
}

void Workers::ask_interrupt() {
    constexpr std::chrono::milliseconds pause(20);
    const auto now = std::chrono::steady_clock::now();
    if (interrupted_ || now - asked_ < pause) return;
    if (interrupt_ && interrupt_()) interrupted_ = true;
    if (progress_ && expected_ > 0 && progress_(done_.load(std::memory_order_relaxed), expected_))
        interrupted_ = true;
    asked_ = now;
}

void Workers::rethrow() {
    std::exception_ptr first;
    for (const std::unique_ptr<Worker>& worker : workers_) {
        if (!worker->error) continue;
        if (!first) first = worker->error;
        worker->error = nullptr;
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace costate
