// Sensors of batches; runs with wrenches and sensors, backwards within a budget of bytes, and along directions.
#include "apps/c_api/batch.hpp"
#include "apps/c_api/options.hpp"

namespace costate::c_api {
namespace {

size_t wrench_numbers(const Batch& b) { return 6 * b.world().model.bodies.size(); }

// States, controls and wrenches of one control step.
void check_inputs(const Batch& b, const double* x, const double* u, const double* wrenches) {
    if (x) check_states(b, "x", x, 1);
    if (u || b.world().sensors_read(SensorReads::control)) check_rows("u", u, 1, b.n_env(), b.nu());
    if (wrenches) check_rows("wrenches", wrenches, 1, b.n_env(), wrench_numbers(b));
}

BatchRun read_run(const Batch& b, const costate_run* given) {
    check_given("run", given);
    const costate_run run = known_options("costate_run", *given);
    const auto steps = static_cast<size_t>(check_step_count(run.n_steps));
    if (run.x) check_states(b, "x", run.x, 1);
    check_rows("u", run.u, steps, b.n_env(), b.nu());
    if (run.wrenches) check_rows("wrenches", run.wrenches, steps, b.n_env(), wrench_numbers(b));
    return {run.n_steps, run.x, run.u, run.wrenches, run.states, run.y, run.completed};
}

BatchDirection read_direction(const Batch& b, const BatchRun& run, const double* x_dot, const double* u_dot,
                              const double* theta_dot) {
    if (x_dot) check_rows("x_dot", x_dot, 1, b.n_env(), b.ndx());
    if (u_dot) check_rows("u_dot", u_dot, static_cast<size_t>(run.steps), b.n_env(), b.nu());
    if (theta_dot) check_finite("theta_dot", theta_dot, b.world().np());
    return {x_dot, u_dot, theta_dot};
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_sensors(costate_batch* batch, const double* x, const double* u, const double* wrenches,
                          double* y, int* status) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        check_inputs(b, x, u, wrenches);
        check_given("y", y, static_cast<size_t>(b.world().ny()));
        const int diverged = s.with_parameters().sensors(x, u, wrenches, y);
        write_status(b.outcome(), status);
        return diverged;
    });
}

int costate_batch_sensors_vjp(costate_batch* batch, const double* x, const double* u, const double* wrenches,
                              const double* y_bar, double* x_bar, double* u_bar, double* wrenches_bar,
                              double* theta_bar, size_t theta_size) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        check_inputs(b, x, u, wrenches);
        check_rows("y_bar", y_bar, 1, b.n_env(), static_cast<size_t>(b.world().ny()));
        const Batch::ThetaBar of = check_theta_bar(b, theta_bar, theta_size);
        return s.with_parameters().sensors_backward(x, u, wrenches, y_bar,
                                                    {x_bar, u_bar, wrenches_bar, theta_bar}, of);
    });
}

int costate_batch_sensors_jacobian(costate_batch* batch, const double* x, const double* u,
                                   const unsigned char* which, double* by_x, double* by_u, double* by_theta,
                                   int* status) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        check_inputs(b, x, u, nullptr);
        const int diverged = s.with_parameters().sensors_jacobian(x, u, which, by_x, by_u, by_theta);
        write_status(b.outcome(), status);
        return diverged;
    });
}

int costate_batch_run(costate_batch* batch, const costate_run* run) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const BatchRun given = read_run(s.batch, run);
        return s.with_parameters().run(given);
    });
}

int costate_batch_run_vjp(costate_batch* batch, const costate_run* run,
                          const costate_run_gradient* gradient) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        const BatchRun given = read_run(b, run);
        check_given("gradient", gradient);
        const costate_run_gradient g = known_options("costate_run_gradient", *gradient);
        const auto steps = static_cast<size_t>(given.steps), ny = static_cast<size_t>(b.world().ny());
        if (g.states_bar) check_rows("states_bar", g.states_bar, steps, b.n_env(), b.state_bar_width());
        if (g.y_bar) check_rows("y_bar", g.y_bar, steps, b.n_env(), ny);
        const Batch::ThetaBar of = check_theta_bar(b, g.theta_bar, g.theta_size);
        BatchSeeds seeds{g.states_bar, g.y_bar, {}};
        if (g.seed)
            seeds.at = [&](int t, const double* states, const double* y, double* states_bar, double* y_bar) {
                if (g.seed(g.data, t, states, y, states_bar, y_bar) != 0) return false;
                check_rows("states_bar of seed", states_bar, 1, b.n_env(), b.state_bar_width());
                check_rows("y_bar of seed", y_bar, 1, b.n_env(), ny);
                return true;
            };
        try {
            return s.with_parameters().run_backward(
                given, seeds, {g.x_bar, g.u_bar, g.wrenches_bar, g.theta_bar}, g.max_bytes, of);
        } catch (const std::invalid_argument& e) {
            throw Failure(COSTATE_BAD_ARGUMENT, std::string("max_bytes: ") + e.what());
        }
    });
}

int costate_batch_jvp(costate_batch* batch, const costate_run* run, const double* x_dot, const double* u_dot,
                      const double* theta_dot, double* states_dot, double* y_dot) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const BatchRun given = read_run(s.batch, run);
        const BatchDirection along = read_direction(s.batch, given, x_dot, u_dot, theta_dot);
        return s.with_parameters().run_jvp(given, along, states_dot, y_dot);
    });
}

int costate_batch_hvp(costate_batch* batch, const costate_run* run, const double* x_dot, const double* u_dot,
                      const double* theta_dot, const double* states_bar, const double* states_bar_dot,
                      double* x_bar_dot, double* u_bar_dot, double* theta_bar_dot, size_t theta_size) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        const BatchRun given = read_run(b, run);
        const BatchDirection along = read_direction(b, given, x_dot, u_dot, theta_dot);
        const auto steps = static_cast<size_t>(given.steps);
        check_rows("states_bar", states_bar, steps, b.n_env(), b.ndx());
        if (states_bar_dot) check_rows("states_bar_dot", states_bar_dot, steps, b.n_env(), b.ndx());
        const Batch::ThetaBar of = check_theta_bar(b, theta_bar_dot, theta_size);
        return s.with_parameters().run_hvp(given, along, states_bar, states_bar_dot,
                                           {x_bar_dot, u_bar_dot, nullptr, theta_bar_dot}, of);
    });
}
}
