// Controllers: receding-horizon control of a scene from measured states.
#include <cmath>
#include <mutex>

#include "adjoint/optimize/control_table.hpp"
#include "adjoint/optimize/receding_horizon.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "apps/c_api/model.hpp"
#include "apps/c_api/options.hpp"
#include "apps/c_api/rows.hpp"

namespace costate::c_api {
namespace {

struct SharedController {
    std::mutex mutex;  // held by the one call that runs
    const std::shared_ptr<SharedModel> model;
    const VecX<double> theta;
    const Variables variables;
    const ControlTable table;
    const int horizon;
    RecedingHorizon control;

    SharedController(std::shared_ptr<SharedModel> m, int steps)
        : model(std::move(m)),
          theta(*model->parameters()),
          variables(scene().world, scene().plan, scene().parameters, scene().initial_state,
                    {theta, scene().x0, scene().z0}),
          table(scene().plan, variables, scene().steps),
          horizon(steps > 0 ? steps : scene().optimize.horizon),
          control(scene().world, scene().objective, theta, table.settings,
                  table.controls(variables.start())) {}
    const Scene& scene() const { return model->scene; }
};

Handles<costate_controller, SharedController>& controllers() {
    static auto& table =
        *new Handles<costate_controller, SharedController>;  // never destroyed: threads may outlive main
    return table;
}

// Fails unless the scene's variables are the controls of its steps, as a controller needs them.
void check_scene(const Scene& s) {
    std::string why = why_no_shooting(s.plan, s.parameters, s.initial_state);
    const auto is_free = [](const ControlChannel& c) { return c.optimize; };
    if (why.empty() && std::ranges::none_of(s.plan.channels(), is_free)) why = "nothing is optimized";
    if (why.empty() && s.world.settings.warm_start) why = "the scene has a \"warm_start\"";
    if (why.empty() && !s.constraints.empty())
        throw Failure(
            COSTATE_BAD_ARGUMENT,
            "a controller cannot keep \"constraints\": write them as terms with \"lower\" and \"upper\"");
    if (!why.empty())
        throw Failure(COSTATE_BAD_ARGUMENT, "a controller needs \"per_step\" controls alone, but " + why);
}

template <class Call>
int with_controller(const char* function, costate_controller* handle, const Call& call) {
    return guarded(function, [&]() -> int {
        const std::shared_ptr<SharedController> shared = controllers().get(handle);
        const std::lock_guard lock(shared->mutex);
        return call(*shared);
    });
}

// The measured state, with unit quaternions.
VecX<double> measured(const SharedController& c, double time, const double* x) {
    if (!(time >= 0 && time * (1 / c.scene().world.settings.time_step) < 1e9))
        throw Failure(COSTATE_BAD_ARGUMENT, "time must be 0 or more, s");
    VecX<double> state(c.scene().world.nx());
    read_state(c.scene().world, "x", x, state.data());
    return state;
}

PlanBudget read_budget(const costate_plan& given) {
    if (given.iterations < 0 || !(given.seconds >= 0))
        throw Failure(COSTATE_BAD_ARGUMENT, "iterations and seconds must be 0 or more");
    PlanBudget budget;
    if (given.iterations > 0) budget.iterations = given.iterations;
    if (given.seconds > 0) budget.seconds = given.seconds;
    return budget;
}

// Writes to the fields that the caller knows.
void write_plan(const Plan& made, costate_plan known, costate_plan* out) {
    known.iterations = made.iterations;
    known.seconds = made.seconds;
    known.cost = made.cost;
    write(made.states, known.states);
    write(made.controls, known.controls);
    if (double* gains = known.gains)
        for (const Eigen::MatrixXd& K : made.gains)
            gains = write_rows(K, gains);
    std::memcpy(out, &known, std::min(out->size, sizeof known));
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_controller_create(const costate_model* model, int horizon, costate_controller** controller) {
    return guarded(__func__, [&]() -> int {
        const auto shared = models().get(model);
        check_given("controller", controller);
        check_scene(shared->scene);
        if (horizon < 0 || horizon > 1'000'000)
            throw Failure(COSTATE_BAD_ARGUMENT, "horizon must be 0 or more, 1000000 at most");
        const auto made = std::make_shared<SharedController>(shared, horizon);
        *controller = controllers().add(made);
        return made->horizon;
    });
}

int costate_controller_free(costate_controller* controller) {
    return guarded(__func__, [&]() -> int {
        if (controller) controllers().remove(controller);
        return COSTATE_OK;
    });
}

int costate_controller_plan(costate_controller* controller, double time, const double* x,
                            costate_plan* plan) {
    return with_controller(__func__, controller, [&](SharedController& c) -> int {
        const costate_plan known = plan ? known_options("costate_plan", *plan) : costate_plan{};
        const PlanBudget budget = read_budget(known);
        try {
            const Plan& made = c.control.plan(measured(c, time, x), time, c.horizon, budget);
            if (plan) write_plan(made, known, plan);
        } catch (const DivergenceError& e) {
            throw Failure(COSTATE_DIVERGED, e.what());
        }
        return static_cast<int>(c.control.free().size());
    });
}

int costate_controller_control(costate_controller* controller, double time, const double* x, double* u) {
    return with_controller(__func__, controller, [&](SharedController& c) -> int {
        if (c.control.last().steps() == 0)
            throw Failure(COSTATE_BAD_ARGUMENT, "there is no plan yet: call costate_controller_plan first");
        check_given("u", u);
        const VecX<double> control = c.control.control(measured(c, time, x), time);
        check_result("u", control);
        write(control, u);
        return COSTATE_OK;
    });
}
}
