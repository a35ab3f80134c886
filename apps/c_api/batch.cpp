// Batches as such: options, memory, states.
#include "apps/c_api/batch.hpp"

#include <algorithm>

#include "adjoint/checkpoints/schedule.hpp"
#include "core/dynamics/integrate.hpp"

namespace costate::c_api {
namespace {

constexpr int most_environments = 1 << 24, most_threads = 1024, most_substeps = 1000000;

int in_range(const char* name, int value, int least, int most) {
    if (value < least || value > most)
        throw Failure(COSTATE_BAD_ARGUMENT, std::string(name) + " is " + std::to_string(value) +
                                                ", it may be " + std::to_string(least) + " to " +
                                                std::to_string(most));
    return value;
}

Schedule checkpoint_schedule(const World& w, size_t bytes, int threads, int substeps) {
    if (bytes == 0) return Schedule::every_step(substeps);
    const size_t state = static_cast<size_t>(w.nx()) * sizeof(double),
                 each = bytes / static_cast<size_t>(threads);
    if (each < state)
        throw Failure(COSTATE_BAD_ARGUMENT,
                      "checkpoint_bytes is " + std::to_string(bytes) + "; the least is " +
                          std::to_string(state * static_cast<size_t>(threads)) + ", a state for each thread");
    return Schedule::within(static_cast<std::int64_t>(std::min<size_t>(each, INT64_MAX)),
                            static_cast<std::int64_t>(state), substeps);
}

ControlPlan held_controls(const World& w, int steps) {
    ControlChannel held;
    held.times = {0};
    return ControlPlan(std::vector<ControlChannel>(w.nu(), held), steps, 1);
}

const costate_batch_options& given_options(const costate_batch_options* options) {
    check_given("options", options);
    return *options;
}

int thread_count(const costate_batch_options& o) {
    const int n_env = in_range("n_env", o.n_env, 1, most_environments);
    const int threads = in_range("n_threads", o.n_threads, 0, most_threads);
    return std::min(
        n_env, threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

}  // namespace

Handles<costate_batch, Batch>& batches() {
    static auto& table = *new Handles<costate_batch, Batch>;  // never destroyed: threads may outlive main
    return table;
}

BatchOptions::BatchOptions(const World& w, const costate_batch_options* given)
    : n_env(given_options(given).n_env),
      threads(thread_count(*given)),
      substeps(std::max(1, in_range("substeps", given->substeps, 0, most_substeps))),
      own_parameters(in_range("own_parameters", given->own_parameters, 0, 1) != 0),
      ambient(in_range("ambient", given->ambient, 0, 1) != 0),
      schedule(checkpoint_schedule(w, given->checkpoint_bytes, threads, substeps)) {}

Lane::Lane(const World& w, const ControlPlan& plan, const Schedule& schedule)
    : steps(w),
      rollout(steps, plan, schedule),
      theta(w.np()),
      u(w.nu()),
      x_bar(w.ndx()),
      end_bar(w.ndx()) {
    gradient.controls.resize(w.nu()), gradient.initial_state.resize(w.ndx()),
        gradient.parameters.resize(w.np());
}

size_t Lane::numbers(const World& w, int slots) {
    const size_t nx = w.nx(), ndx = static_cast<size_t>(w.ndx()), nu = static_cast<size_t>(w.nu()),
                 np = static_cast<size_t>(w.np());
    return (static_cast<size_t>(slots) + 4) * nx + 2 * nu + 2 * ndx  // rollout
           + np                                                      // steps
           + nu + ndx + np                                           // gradient
           + np + nu + 2 * ndx;
}

size_t Batch::bytes(const World& w, const BatchOptions& o) {
    const size_t n = o.n_env, nx = w.nx(), np = static_cast<size_t>(w.np());
    const size_t numbers = n * (2 * nx + np + 1) + o.parameter_rows() * np;
    return sizeof(double) *
               (numbers + static_cast<size_t>(o.threads) * Lane::numbers(w, o.schedule.slots())) +
           sizeof(int) * 3 * n;
}

Batch::Batch(std::shared_ptr<SharedModel> shared, const BatchOptions& o)
    : model(std::move(shared)),
      options(o),
      x(static_cast<size_t>(o.n_env) * nx()),
      x_next(x.size()),
      status(static_cast<size_t>(o.n_env), COSTATE_OK),
      next_status(status.size()),
      residual(status.size()),
      unconverged(status.size()),
      theta(o.parameter_rows() * np()),
      theta_bar(static_cast<size_t>(o.n_env) * np()),
      plan_(held_controls(world(), o.substeps)),
      pool_(o.threads) {
    for (int i = 0; i < o.threads; ++i)
        lanes_.push_back(std::make_unique<Lane>(world(), plan_, o.schedule));
    refresh_workspaces();
    for (size_t e = 0; e < status.size(); ++e)
        write(model->scene.x0, x.data() + e * nx());
}

Batch::~Batch() {
    for (const std::unique_ptr<Lane>& lane : lanes_)
        if (lane->workspace) model->give_back(std::move(lane->workspace));
}

void Batch::begin() {
    model_theta_ = model->parameters();
    call_theta_ = rows_ == Rows::shared ? theta.data() : model_theta_->data();
}

void Batch::refresh_workspaces() {
    for (const std::unique_ptr<Lane>& lane : lanes_) {
        if (!lane->workspace) lane->workspace = model->take_workspace();
        lane->steps.scratch = &lane->workspace->step;
    }
}

void Batch::rethrow() {
    std::exception_ptr first;
    for (const std::unique_ptr<Lane>& lane : lanes_) {
        if (!lane->error) continue;
        if (!first) first = lane->error;
        lane->error = nullptr;
    }
    if (first) std::rethrow_exception(first);
}

void check_rows(const char* name, const double* values, size_t times, size_t rows, size_t width) {
    check_given(name, values, times * rows * width);
    if (Eigen::Map<const VecX<double>>(values, static_cast<Eigen::Index>(times * rows * width)).allFinite())
        return;
    for (size_t i = 0; i < times * rows * width; ++i) {
        if (std::isfinite(values[i])) continue;
        std::string at = name;
        if (times > 1) at.append("[").append(std::to_string(i / width / rows)).append("]");
        at.append("[")
            .append(std::to_string(i / width % rows))
            .append("][")
            .append(std::to_string(i % width))
            .append("]");
        throw Failure(COSTATE_BAD_ARGUMENT, at + " is not finite");
    }
}

size_t read_step_count(int n_steps) {
    if (n_steps < 1)
        throw Failure(COSTATE_BAD_ARGUMENT, "n_steps is " + std::to_string(n_steps) + ", the least is 1");
    return static_cast<size_t>(n_steps);
}

void check_states(const Batch& batch, const char* name, const double* x, size_t times) {
    const size_t rows = batch.options.n_env;
    check_rows(name, x, times, rows, batch.nx());
    for (size_t i = 0; i < times * rows; ++i)
        for_each_coordinate(
            batch.world().model, [](int, int) {},
            [&](int iq, int) {
                if (!has_direction(x + i * batch.nx() + iq))
                    throw Failure(COSTATE_BAD_ARGUMENT,
                                  std::string(name) + " of environment " + std::to_string(i % rows) +
                                      " has a quaternion without direction at " + std::to_string(iq));
            });
}

}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_bytes(const costate_model* model, const costate_batch_options* options, size_t* bytes) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        check_given("bytes", bytes);
        const World& w = shared->scene.world;
        *bytes = Batch::bytes(w, BatchOptions(w, options));
        return COSTATE_OK;
    });
}

int costate_batch_create(const costate_model* model, const costate_batch_options* options,
                         costate_batch** batch) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        check_given("batch", batch);
        *batch = batches().add(std::make_shared<Batch>(shared, BatchOptions(shared->scene.world, options)));
        return COSTATE_OK;
    });
}

int costate_batch_free(costate_batch* batch) {
    return guarded(__func__, [&]() -> int {
        if (batch) batches().remove(batch);
        return COSTATE_OK;
    });
}

int costate_batch_set_parameters(costate_batch* batch, const double* theta, size_t n) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        if (!theta && n == 0) return b.use_rows(Batch::Rows::of_model), COSTATE_OK;
        check_given("theta", theta);
        const size_t all = static_cast<size_t>(b.options.n_env) * b.np();
        const bool each = b.options.own_parameters && n == all;
        if (n != b.np() && n != all) check_size("theta", n, b.world().np());
        if (n == all && n != b.np() && !each)
            throw Failure(
                COSTATE_BAD_ARGUMENT,
                "the batch has no room for parameters of each environment; create it with own_parameters");
        for (size_t from = 0; from < n; from += b.np())
            check_parameters(*b.model, theta + from);
        std::copy(theta, theta + n, b.theta.begin());
        b.use_rows(each ? Batch::Rows::each : Batch::Rows::shared);
        return COSTATE_OK;
    });
}

int costate_batch_state(costate_batch* batch, double* x, int* status) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        if (x) std::copy(b.x.begin(), b.x.end(), x);
        if (status) std::copy(b.status.begin(), b.status.end(), status);
        return static_cast<int>(std::count(b.status.begin(), b.status.end(), COSTATE_DIVERGED));
    });
}

int costate_batch_residuals(costate_batch* batch, double* residual, int* unconverged) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        if (residual) std::copy(b.residual.begin(), b.residual.end(), residual);
        if (unconverged) std::copy(b.unconverged.begin(), b.unconverged.end(), unconverged);
        return static_cast<int>(std::ranges::count_if(b.unconverged, [](int n) { return n > 0; }));
    });
}
}
