#include "adjoint/batch/workers.hpp"

namespace costate {
namespace {

ControlPlan held_controls(const World& w, int steps) {
    ControlChannel held;
    held.times = {0};
    return ControlPlan(std::vector<ControlChannel>(w.nu(), held), steps, 1);
}

}  // namespace

Worker::Worker(const World& w, WorkspacePool& workspaces, const ControlPlan& plan, const Schedule& schedule)
    : workspace(workspaces),
      steps(w, workspace->step),
      rollout(steps, plan, schedule),
      theta(w.np()),
      u(w.nu()),
      x_bar(w.ndx()),
      end_bar(w.ndx()) {
    gradient.controls.resize(w.nu());
    gradient.initial_state.resize(w.ndx());
    gradient.parameters.resize(w.np());
}

size_t Worker::numbers(const World& w, int slots) {
    const size_t nx = w.nx(), ndx = w.ndx(), nu = w.nu(), np = w.np();
    return (slots + 4) * nx + 2 * nu + 2 * ndx  // rollout
           + np                                 // steps
           + nu + ndx + np                      // gradient
           + np + nu + 2 * ndx;
}

Workers::Workers(const World& w, WorkspacePool& workspaces, const Schedule& schedule, int threads)
    : plan_(held_controls(w, schedule.steps())),
      pool_(new ThreadPool(threads)) {
    for (int i = 0; i < threads; ++i)
        workers_.push_back(std::make_unique<Worker>(w, workspaces, plan_, schedule));
}

void Workers::set_interrupt(Interrupt interrupt) {
    interrupt_ = std::move(interrupt);
    pool_->set_idle(interrupt_ ? std::function<void()>([this] { ask_interrupt(); }) : nullptr);
}

void Workers::begin_call() {
    if (!interrupt_) return;
    interrupted_ = false;
    asked_ = std::chrono::steady_clock::now();
}

void Workers::ask_interrupt() {
    constexpr std::chrono::milliseconds pause(20);
    const auto now = std::chrono::steady_clock::now();
    if (interrupted_ || now - asked_ < pause) return;
    if (interrupt_()) interrupted_ = true;
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
