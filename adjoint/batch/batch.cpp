// What a batch is made of; its time goes on in rollouts.cpp.
#include "adjoint/batch/batch.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>

#include "adjoint/batch/sum_plan.hpp"
#include "adjoint/batch/workers.hpp"
#include "adjoint/rollout/state.hpp"

namespace costate {
namespace {

const CovectorCoordinates tangent_coordinates;

size_t parameter_rows(const BatchOptions& o) { return o.own_parameters ? static_cast<size_t>(o.n_env) : 1; }

const BatchOptions& checked(const BatchOptions& o) {
    assert(o.n_env >= 1 && o.threads >= 0 && o.substeps >= 1);
    return o;
}

}  // namespace

int thread_count(const BatchOptions& o) { return std::min(o.n_env, thread_count(o.threads)); }

Schedule control_step_schedule(const World& w, const BatchOptions& o) {
    if (o.checkpoint_bytes == 0) return Schedule::every_step(o.substeps);
    const size_t state = w.nx() * sizeof(double);
    const size_t threads = thread_count(o), each = o.checkpoint_bytes / threads;
    if (each < state)
        throw std::invalid_argument("checkpoint_bytes is " + std::to_string(o.checkpoint_bytes) +
                                    "; the least is " + std::to_string(state * threads) +
                                    ", a state for each thread");
    return Schedule::within(static_cast<std::int64_t>(std::min<size_t>(each, INT64_MAX)),
                            static_cast<std::int64_t>(state), o.substeps);
}

void perturb_state(const World& w, const double* noise, std::uint64_t seed, double* x) {
    std::mt19937_64 bits(seed);
    VecX<double> d(w.ndx());
    for (int i = 0; i < w.ndx(); ++i)
        d[i] = noise[i] * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1);
    const VecX<double> start = Eigen::Map<const VecX<double>>(x, w.nx());
    retract_state(w, start.data(), d.data(), x);
}

Batch::Batch(const World& w, const VecX<double>& theta, const VecX<double>& x0, const BatchOptions& o)
    : world_(w),
      options_(checked(o)),
      coordinates_(o.coordinates ? *o.coordinates : tangent_coordinates),
      x_(n_env() * nx()),
      x_next_(x_.size()),
      status_(n_env(), EnvironmentStatus::ok),
      outcome_(status_),
      residual_(n_env()),
      unconverged_(n_env()),
      branches_(n_env()),
      theta_(parameter_rows(o) * np()),
      theta_bar_(n_env() * np()),
      first_bar_(n_env() * ndx()),
      own_workspaces_(o.workspaces ? nullptr : std::make_unique<WorkspacePool>(w)),
      workers_(std::make_unique<Workers>(w, o.workspaces ? *o.workspaces : *own_workspaces_,
                                         control_step_schedule(w, o), thread_count(o), o.n_env)) {
    assert(theta.size() == w.np() && x0.size() == w.nx());
    set_parameters(theta.data());
    for (size_t e = 0; e < n_env(); ++e)
        begin_anew(e, x0.data());
}

Batch::~Batch() = default;

size_t Batch::bytes(const World& w, const BatchOptions& o) {
    const size_t n = checked(o).n_env, nx = w.nx(), np = w.np(), ndx = w.ndx();
    const size_t threads = thread_count(o), slots = control_step_schedule(w, o).slots();
    const size_t numbers = n * (2 * nx + np + ndx + 1) + parameter_rows(o) * np;
    const int chunk = static_cast<int>(Workers::chunk_of(n, threads));
    return sizeof(double) * (numbers + threads * Worker::numbers(w, static_cast<int>(slots))) +
           threads * Worker::lane_bytes(w, chunk, static_cast<int>(slots)) +
           (2 * sizeof(EnvironmentStatus) + sizeof(int) + sizeof(std::uint64_t)) * n;
}

bool Batch::is_here() const { return workers_->is_here(); }

void Batch::set_interrupt(Interrupt interrupt) { workers_->set_interrupt(std::move(interrupt)); }

void Batch::set_progress(BatchProgress progress) { workers_->set_progress(std::move(progress)); }

void Batch::set_parameters(const double* theta) {
    std::copy_n(theta, np(), theta_.begin());
    theta_stride_ = 0;
}

void Batch::set_own_parameters(const double* theta) {
    assert(options_.own_parameters);
    std::copy_n(theta, n_env() * np(), theta_.begin());
    theta_stride_ = np();
}

void Batch::begin_anew(size_t e, const double* x) {
    std::copy_n(x, nx(), x_.data() + e * nx());
    status_[e] = EnvironmentStatus::ok;
}

int Batch::count_diverged() const {
    return static_cast<int>(std::count(outcome_.begin(), outcome_.end(), EnvironmentStatus::diverged));
}

// Gradients by parameters on their way to where the caller wants them: rows of environments (n_env x np),
// which may be summed in the end. Null where they are not wanted.
double* Batch::theta_bar_rows(double* theta_bar, ThetaBar of) {
    return theta_bar && of == ThetaBar::sum ? theta_bar_.data() : theta_bar;
}

void Batch::sum_theta_bar(double* theta_bar, ThetaBar of) {
    if (!theta_bar || of == ThetaBar::each) return;
    const SumPlan plan{options_.n_env};
    workers_->for_each(plan.blocks(), [&](Worker&, size_t b) {
        sum_block(theta_bar_.data(), plan, static_cast<std::int64_t>(b), np());
    });
    sum_blocks(theta_bar_.data(), plan, np());
    std::copy_n(theta_bar_.data(), np(), theta_bar);
}

}  // namespace costate
