// Batches as such: options, memory, parameters, states.
#include "apps/c_api/batch.hpp"

#include <algorithm>

#include "adjoint/batch/thread_pool.hpp"

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

// What is given, checked; without workspaces and coordinates.
BatchOptions read_options(const World& w, const costate_batch_options* given) {
    check_given("options", given);
    BatchOptions o;
    o.n_env = in_range("n_env", given->n_env, 1, most_environments);
    o.threads = in_range("n_threads", given->n_threads, 0, most_threads);
    o.substeps = std::max(1, in_range("substeps", given->substeps, 0, most_substeps));
    o.own_parameters = in_range("own_parameters", given->own_parameters, 0, 1) != 0;
    in_range("ambient", given->ambient, 0, 1);
    o.checkpoint_bytes = given->checkpoint_bytes;
    try {
        control_step_schedule(w, o);
    } catch (const std::invalid_argument& e) {
        throw Failure(COSTATE_BAD_ARGUMENT, e.what());
    }
    return o;
}

BatchOptions shared_options(SharedModel& model, const CovectorCoordinates& ambient,
                            const costate_batch_options* given) {
    BatchOptions o = read_options(model.scene.world, given);
    o.workspaces = &model.workspaces;
    if (given->ambient) o.coordinates = &ambient;
    return o;
}

}  // namespace

Handles<costate_batch, SharedBatch>& batches() {
    static auto& table =
        *new Handles<costate_batch, SharedBatch>;  // never destroyed: threads may outlive main
    return table;
}

SharedBatch::SharedBatch(std::shared_ptr<SharedModel> m, const costate_batch_options* given)
    : model(std::move(m)),
      batch(model->scene.world, *model->parameters(), model->scene.x0,
            shared_options(*model, ambient, given)) {}

Batch& SharedBatch::with_parameters() {
    if (!of_model) return batch;
    std::shared_ptr<const VecX<double>> now = model->parameters();
    if (now != model_theta) {
        batch.set_parameters(now->data());
        model_theta = std::move(now);
    }
    return batch;
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

void check_states(const Batch& batch, const char* name, const double* x, size_t times) {
    const size_t rows = batch.n_env();
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

void write_status(const std::vector<EnvironmentStatus>& status, int* out) {
    if (!out) return;
    std::ranges::transform(status, out, [](EnvironmentStatus s) -> int {
        return s == EnvironmentStatus::ok ? COSTATE_OK : COSTATE_DIVERGED;
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
        *bytes = Batch::bytes(w, read_options(w, options));
        return COSTATE_OK;
    });
}

int costate_batch_create(const costate_model* model, const costate_batch_options* options,
                         costate_batch** batch) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        check_given("batch", batch);
        try {
            *batch = batches().add(std::make_shared<SharedBatch>(shared, options));
        } catch (const NoThread& e) {
            throw Failure(COSTATE_NO_MEMORY, e.what());
        }
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
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        Batch& b = s.batch;
        s.model_theta = nullptr;
        if (!theta && n == 0) {
            s.of_model = true;
            return COSTATE_OK;
        }
        check_given("theta", theta);
        const size_t all = b.n_env() * b.np();
        const bool each = b.options().own_parameters && n == all;
        if (n != b.np() && n != all) check_size("theta", n, b.world().np());
        if (n == all && n != b.np() && !each)
            throw Failure(
                COSTATE_BAD_ARGUMENT,
                "the batch has no room for parameters of each environment; create it with own_parameters");
        for (size_t from = 0; from < n; from += b.np())
            check_parameters(*s.model, theta + from);
        each ? b.set_own_parameters(theta) : b.set_parameters(theta);
        s.of_model = false;
        return COSTATE_OK;
    });
}

int costate_batch_set_interrupt(costate_batch* batch, const costate_interrupt* interrupt) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        if (!interrupt || !interrupt->ask)
            s.batch.set_interrupt({});
        else
            s.batch.set_interrupt([given = *interrupt] { return given.ask(given.data) != 0; });
        return COSTATE_OK;
    });
}

int costate_batch_set_progress(costate_batch* batch, const costate_progress* progress) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        if (!progress || !progress->report)
            s.batch.set_progress({});
        else
            s.batch.set_progress([given = *progress](std::uint64_t done, std::uint64_t total) {
                return given.report(given.data, done, total) != 0;
            });
        return COSTATE_OK;
    });
}

int costate_batch_state(costate_batch* batch, double* x, int* status) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (x) std::ranges::copy(b.states(), x);
        write_status(b.status(), status);
        return static_cast<int>(std::ranges::count(b.status(), EnvironmentStatus::diverged));
    });
}

int costate_batch_residuals(costate_batch* batch, double* residual, int* unconverged) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (residual) std::ranges::copy(b.residual(), residual);
        if (unconverged) std::ranges::copy(b.unconverged(), unconverged);
        return static_cast<int>(std::ranges::count_if(b.unconverged(), [](int n) { return n > 0; }));
    });
}
}
