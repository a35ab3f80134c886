#include "adjoint/batch/control_steps.hpp"

#include <algorithm>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/lane_jobs.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"
#include "core/math/lanes.hpp"

namespace costate {
double LaneTimeSteps::run(int, const double*, const double* x, const double* u, double* x_next) {
    ++runs_;
    if (!step_.step(x, u, x_next, wrenches)) throw LanesPart();
    return 0;
}
void LaneTimeSteps::run_adj(int, const double*, const double* x, const double* u, const double* x_next_bar,
                            double* theta_bar, double* x_bar, double* u_bar) {
    if (!step_.step_adj(x, u, x_next_bar, theta_bar, x_bar, u_bar, wrenches, wrenches_bar)) throw LanesPart();
}

LaneBlock::LaneBlock(const World& w, LaneStep& lanes, const Schedule& schedule)
    : step(lanes),
      plan(held_controls(w.nu() * lanes.width(), schedule.steps())),
      steps(w, lanes),
      rollout(steps, plan, schedule),
      theta(w.np() * lanes.width()),
      x(w.nx() * lanes.width()),
      x_next(x),
      u(w.nu() * lanes.width()),
      wrenches(6 * static_cast<int>(w.model.bodies.size()) * lanes.width()),
      wrenches_bar(wrenches),
      end_bar(w.ndx() * lanes.width()),
      one(w.nx()),
      one_bar(w.ndx()),
      outcome(lanes.width()),
      unconverged(lanes.width()),
      parameters(lanes.width()) {
    gradient.controls.resize(u.size());
    gradient.initial_state.resize(end_bar.size());
    gradient.parameters.resize(theta.size());
}

size_t LaneBlock::bytes(const World& w, int width, int slots) {
    const size_t nx = w.nx(), ndx = w.ndx(), nu = w.nu(), np = w.np(), lanes = width;
    const size_t numbers = (slots + 4) * nx + 2 * nu + 2 * ndx  // rollout
                           + nu + ndx + np                      // gradient
                           + np + 2 * nx + nu + ndx + 12 * w.model.bodies.size();
    return lanes * (numbers * sizeof(double) + nu * (sizeof(ControlChannel) + sizeof(double)) +
                    sizeof(SolverOutcome) + sizeof(int) + sizeof(double*)) +
           (nx + ndx) * sizeof(double) + sizeof(LaneBlock);
}

// The parameters of the environments of a block. Those that all share are set once a call.
template <class Job> void Batch::set_lane_parameters(Worker& worker, const Job* jobs) const {
    LaneBlock& block = *worker.lanes;
    if (theta_stride_ == 0 && worker.has_lane_parameters) return;
    for (int i = 0; i < block.width(); ++i)
        block.parameters[i] = parameters(jobs[i].e);
    block.step.set_parameters(block.parameters.data());
    worker.has_lane_parameters = true;
}

// False if the lanes part or one diverges; nothing has changed then.
bool Batch::control_step_in_lanes(Worker& worker, ControlStep* jobs) {
    LaneBlock& block = *worker.lanes;
    const int width = block.width();
    set_lane_parameters(worker, jobs);
    const bool pushed = jobs[0].wrenches != nullptr;
    for (int i = 0; i < width; ++i) {
        put_lane(jobs[i].from, nx(), i, width, block.x.data());
        put_lane(jobs[i].u, nu(), i, width, block.u.data());
        if (pushed) put_lane(jobs[i].wrenches, wrenches_width(), i, width, block.wrenches.data());
        block.outcome[i] = {};
        block.unconverged[i] = 0;
    }
    for (int k = 0; k < options_.substeps; ++k, block.x.swap(block.x_next)) {
        if (!block.step.step(block.x.data(), block.u.data(), block.x_next.data(),
                             pushed ? block.wrenches.data() : nullptr) ||
            !block.x_next.allFinite())
            return false;
        SolverOutcome solved[max_lanes];
        block.step.outcomes(solved);
        for (int i = 0; i < width; ++i) {
            block.outcome[i].residual = std::max(block.outcome[i].residual, solved[i].residual);
            block.unconverged[i] += solved[i].converged ? 0 : 1;
        }
    }
    for (int i = 0; i < width; ++i) {
        const size_t e = jobs[i].e;
        get_lane(block.x.data(), nx(), i, width, jobs[i].to);
        residual_[e] = std::max(residual_[e], block.outcome[i].residual);
        unconverged_[e] += block.unconverged[i];
        branches_[e] = block.step.branches();
        jobs[i].goes_on = true;
    }
    return true;
}

// From one state to another; `to` is unchanged if the environment diverges.
bool Batch::control_step_alone(Worker& worker, const ControlStep& job) {
    VecX<double>& x = worker.workspace->x;
    VecX<double>& x_next = worker.workspace->x_next;
    for (int k = 0; k < options_.substeps; ++k, x.swap(x_next)) {
        costate::step(world_, {parameters(job.e), k == 0 ? job.from : x.data(), job.u, job.wrenches},
                      worker.workspace->step, x_next.data());
        if (!x_next.allFinite()) return false;
        const SolverOutcome solved = solver_outcome(world_, worker.workspace->step);
        residual_[job.e] = std::max(residual_[job.e], solved.residual);
        if (!solved.converged) ++unconverged_[job.e];
    }
    std::copy_n(x.data(), nx(), job.to);
    if (worker.lanes) branches_[job.e] = shared_branches(worker.workspace->step);
    return true;
}

void Batch::make_control_steps(Worker& worker) {
    workers_->check_interrupt(worker);
    in_lanes(
        worker.forward, branches_, worker.width(),
        [&](ControlStep* jobs) { return worker.lanes && control_step_in_lanes(worker, jobs); },
        [&](ControlStep& job) { job.goes_on = control_step_alone(worker, job); });
}

bool Batch::pull_back_in_lanes(Worker& worker, ReverseStep* jobs) try {
    LaneBlock& block = *worker.lanes;
    const int width = block.width();
    set_lane_parameters(worker, jobs);
    const bool pushed = jobs[0].wrenches != nullptr;
    if (std::any_of(jobs, jobs + width, [](const ReverseStep& job) { return job.sensors_bar != nullptr; }))
        return false;
    for (int i = 0; i < width; ++i) {
        normalize_state(world_, jobs[i].x, block.one.data());
        put_lane(block.one.data(), nx(), i, width, block.x.data());
        put_lane(jobs[i].u, nu(), i, width, block.u.data());
        if (pushed) put_lane(jobs[i].wrenches, wrenches_width(), i, width, block.wrenches.data());
    }
    block.steps.wrenches = pushed ? block.wrenches.data() : nullptr;
    block.steps.wrenches_bar = pushed ? block.wrenches_bar.data() : nullptr;
    block.wrenches_bar.setZero();
    block.rollout.forward(block.theta, block.x, block.u);
    if (block.rollout.divergence()) return false;
    for (int i = 0; i < width; ++i) {
        block.one_bar.setZero();
        get_lane(block.rollout.last_state().data(), nx(), i, width, block.one.data());
        if (jobs[i].states_bar)
            coordinates_.read_state_bar(world_, block.one.data(), jobs[i].states_bar, block.one_bar.data());
        if (jobs[i].next_bar)
            block.one_bar += Eigen::Map<const VecX<double>>(jobs[i].next_bar, block.one_bar.size());
        put_lane(block.one_bar.data(), ndx(), i, width, block.end_bar.data());
    }
    block.steps.end_bar = block.end_bar.data();
    Gradient& g = block.gradient;
    block.rollout.backward(block.theta, block.u, g);
    const std::uint64_t branches = block.step.branches();
    Gradient& one = worker.gradient;
    for (int i = 0; i < width; ++i) {
        get_lane(g.initial_state.data(), ndx(), i, width, one.initial_state.data());
        get_lane(g.controls.data(), nu(), i, width, one.controls.data());
        get_lane(g.parameters.data(), np(), i, width, one.parameters.data());
        if (jobs[i].wrenches_bar)
            get_lane(block.wrenches_bar.data(), wrenches_width(), i, width, jobs[i].wrenches_bar);
        write_gradient(one, jobs[i]);
        branches_[jobs[i].e] = branches;
    }
    return true;
} catch (const LanesPart&) {
    return false;
}

bool Batch::pull_back_alone(Worker& worker, ReverseStep& job) {
    VecX<double>& x0 = worker.x0;
    normalize_state(world_, job.x, x0.data());
    worker.theta = Eigen::Map<const VecX<double>>(parameters(job.e), worker.theta.size());
    worker.u = Eigen::Map<const VecX<double>>(job.u, worker.u.size());
    worker.steps.wrenches = job.wrenches;
    worker.steps.wrenches_bar = job.wrenches ? job.wrenches_bar : nullptr;
    if (job.wrenches_bar) std::fill_n(job.wrenches_bar, wrenches_width(), 0.0);
    worker.rollout.forward(worker.theta, x0, worker.u);
    if (worker.rollout.divergence()) return false;
    worker.end_bar.setZero();
    if (job.states_bar)
        coordinates_.read_state_bar(world_, worker.rollout.last_state().data(), job.states_bar,
                                    worker.end_bar.data());
    if (job.next_bar) worker.end_bar += Eigen::Map<const VecX<double>>(job.next_bar, worker.end_bar.size());
    worker.steps.end_bar = worker.end_bar.data();
    Gradient& g = worker.gradient;
    worker.rollout.backward(worker.theta, worker.u, g);
    if (worker.lanes) branches_[job.e] = shared_branches(worker.workspace->step);
    if (job.sensors_bar) {
        VecX<double> values(world_.ny()), unused(static_cast<Eigen::Index>(wrenches_width()));
        read_sensors(worker, job.e, x0.data(), job.u, job.wrenches, values.data());
        pull_back_sensors(worker, job.e, x0.data(), job.u, job.wrenches, job.sensors_bar,
                          g.initial_state.data(), g.controls.data(),
                          job.wrenches_bar ? job.wrenches_bar : unused.data(), g.parameters.data());
    }
    write_gradient(g, job);
    return job.finite;
}

void Batch::write_gradient(const Gradient& g, ReverseStep& job) const {
    std::ranges::copy(g.initial_state, job.x_bar);
    if (job.u_bar) std::ranges::copy(g.controls, job.u_bar);
    if (job.theta_bar) {
        Eigen::Map<VecX<double>> sum(job.theta_bar, g.parameters.size());
        if (job.adds)
            sum += g.parameters;
        else
            sum = g.parameters;
    }
    job.finite = g.controls.allFinite() && g.initial_state.allFinite() && g.parameters.allFinite();
}

void Batch::pull_back_control_steps(Worker& worker) {
    workers_->check_interrupt(worker);
    in_lanes(
        worker.reverse, branches_, worker.width(),
        [&](ReverseStep* jobs) { return worker.lanes && pull_back_in_lanes(worker, jobs); },
        [&](ReverseStep& job) { job.finite = pull_back_alone(worker, job); });
}

}  // namespace costate
