// A time step with external wrenches and sensors.
#include "adjoint/batch/outputs.hpp"
#include "apps/c_api/model.hpp"

namespace costate::c_api {
namespace {

int wrench_numbers(const World& w) { return 6 * static_cast<int>(w.model.bodies.size()); }

// What is given, checked; the state is in the workspace.
StepInputs<double> read_inputs(Use& use, const double* x, const double* u, const double* wrenches,
                               bool step) {
    const World& w = use.world();
    read_state(w, "x", x, use.workspace().x.data());
    if (u || step || w.sensors_read(SensorReads::control)) check_finite("u", u, w.nu());
    if (wrenches) check_finite("wrenches", wrenches, wrench_numbers(w));
    return {use.theta(), use.workspace().x.data(), u, wrenches};
}

void read_direction(const char* name, const double* given, VecX<double>& out) {
    const int n = static_cast<int>(out.size());
    if (given) out = Eigen::Map<const VecX<double>>(check_finite(name, given, n), n);
}

// The step from the state in the workspace; y (ny), or null.
void run(Use& use, const StepInputs<double>& in, bool step, double* y) {
    if (!run_outputs(use.world(), in, step, use.workspace(), y))
        throw Failure(COSTATE_DIVERGED, "the next state would not be finite");
}

struct Gradients {
    VecX<double> theta, x, u, wrenches;
    explicit Gradients(const World& w)
        : theta(VecX<double>::Zero(w.np())),
          x(VecX<double>::Zero(w.ndx())),
          u(VecX<double>::Zero(w.nu())),
          wrenches(VecX<double>::Zero(wrench_numbers(w))) {}
    StepInputBars<double> pointers() { return {theta.data(), x.data(), u.data(), wrenches.data()}; }
    void check() const {
        check_result("a gradient", x);
        check_result("u_bar", u);
        check_result("wrenches_bar", wrenches);
        check_result("theta_bar", theta);
    }
};

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_observe(const costate_model* model, const double* x, const double* u, const double* wrenches,
                    double* x_next, double* y) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const bool step = x_next != nullptr;
        const StepInputs<double> in = read_inputs(use, x, u, wrenches, step);
        VecX<double> values(use.world().ny());
        run(use, in, step, values.data());
        check_result("a sensor", values);
        write(values, y);
        if (step) write(use.workspace().x_next, x_next);
        return COSTATE_OK;
    });
}

int costate_observe_vjp(const costate_model* model, const double* x, const double* u, const double* wrenches,
                        const double* x_next_bar, const double* y_bar, double* x_bar, double* u_bar,
                        double* wrenches_bar, double* theta_bar) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        const bool step = x_next_bar != nullptr;
        StepInputs<double> in = read_inputs(use, x, u, wrenches, step);
        const VecX<double> none = VecX<double>::Zero(wrench_numbers(w));
        if (wrenches_bar && !wrenches) in.wrenches = none.data();
        if (step) check_finite("x_next_bar", x_next_bar, w.ndx());
        if (y_bar) check_finite("y_bar", y_bar, w.ny());
        VecX<double> values(w.ny());
        run(use, in, step, values.data());
        Gradients out(w);
        pull_back_outputs(w, in, step, use.workspace(), x_next_bar, y_bar, out.pointers());
        out.check();
        write(out.x, x_bar);
        write(out.u, u_bar);
        write(out.wrenches, wrenches_bar);
        write(out.theta, theta_bar);
        return COSTATE_OK;
    });
}

int costate_observe_jvp(const costate_model* model, const double* x, const double* u, const double* wrenches,
                        const double* x_dot, const double* u_dot, const double* wrenches_dot,
                        const double* theta_dot, double* x_next_dot, double* y_dot) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        const bool step = x_next_dot != nullptr;
        StepInputs<double> in = read_inputs(use, x, u, wrenches, step);
        StepDirection along(w);
        read_direction("x_dot", x_dot, along.x);
        read_direction("u_dot", u_dot, along.u);
        read_direction("wrenches_dot", wrenches_dot, along.wrenches);
        read_direction("theta_dot", theta_dot, along.theta);
        const VecX<double> none = VecX<double>::Zero(along.wrenches.size());
        if (wrenches_dot && !wrenches) in.wrenches = none.data();
        VecX<double> next_dot = VecX<double>::Zero(w.ndx()), values_dot(w.ny());
        push_outputs(w, in, step, along, use.workspace(), step ? next_dot.data() : nullptr,
                     values_dot.data());
        check_result("the change of the next state", next_dot);
        check_result("the change of a sensor", values_dot);
        if (step) write(next_dot, x_next_dot);
        write(values_dot, y_dot);
        return COSTATE_OK;
    });
}

int costate_observe_jacobian(const costate_model* model, const double* x, const double* u, double* by_x,
                             double* by_u, double* by_theta) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const World& w = use.world();
        const StepInputs<double> in = read_inputs(use, x, u, nullptr, false);
        VecX<double> values(w.ny()), y_bar = VecX<double>::Zero(w.ny());
        run(use, in, false, values.data());
        std::vector<Gradients> rows;
        for (int i = 0; i < w.ny(); ++i) {
            rows.emplace_back(w);
            y_bar[i] = 1;
            pull_back_outputs(w, in, false, use.workspace(), nullptr, y_bar.data(), rows.back().pointers());
            y_bar[i] = 0;
            rows.back().check();
        }
        for (size_t i = 0; i < rows.size(); ++i) {
            write(rows[i].x, by_x ? by_x + i * static_cast<size_t>(w.ndx()) : nullptr);
            write(rows[i].u, by_u ? by_u + i * static_cast<size_t>(w.nu()) : nullptr);
            write(rows[i].theta, by_theta ? by_theta + i * static_cast<size_t>(w.np()) : nullptr);
        }
        return COSTATE_OK;
    });
}
}
