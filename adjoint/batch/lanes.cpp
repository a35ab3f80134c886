#include "adjoint/batch/lanes.hpp"

namespace costate {
namespace {

ControlPlan held_controls(const World& w, int steps) {
    ControlChannel held;
    held.times = {0};
    return ControlPlan(std::vector<ControlChannel>(w.nu(), held), steps, 1);
}

}  // namespace

Lane::Lane(const World& w, WorkspacePool& workspaces, const ControlPlan& plan, const Schedule& schedule)
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

size_t Lane::numbers(const World& w, int slots) {
    const size_t nx = w.nx(), ndx = w.ndx(), nu = w.nu(), np = w.np();
    return (slots + 4) * nx + 2 * nu + 2 * ndx  // rollout
           + np                                 // steps
           + nu + ndx + np                      // gradient
           + np + nu + 2 * ndx;
}

Lanes::Lanes(const World& w, WorkspacePool& workspaces, const Schedule& schedule, int threads)
    : plan_(held_controls(w, schedule.steps())),
      pool_(new ThreadPool(threads)) {
    for (int i = 0; i < threads; ++i)
        lanes_.push_back(std::make_unique<Lane>(w, workspaces, plan_, schedule));
}

void Lanes::set_interrupt(Interrupt interrupt) {
    interrupt_ = std::move(interrupt);
    pool_->set_idle(interrupt_ ? std::function<void()>([this] { ask_interrupt(); }) : nullptr);
}

void Lanes::begin_call() {
    if (!interrupt_) return;
    interrupted_ = false;
    asked_ = std::chrono::steady_clock::now();
}

void Lanes::ask_interrupt() {
    constexpr std::chrono::milliseconds pause(20);
    const auto now = std::chrono::steady_clock::now();
    if (interrupted_ || now - asked_ < pause) return;
    if (interrupt_()) interrupted_ = true;
    asked_ = now;
}

void Lanes::rethrow() {
    std::exception_ptr first;
    for (const std::unique_ptr<Lane>& lane : lanes_) {
        if (!lane->error) continue;
        if (!first) first = lane->error;
        lane->error = nullptr;
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace costate
