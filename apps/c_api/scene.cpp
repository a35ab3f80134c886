// The objective of a scene as a function of its variables.
#include "apps/c_api/options.hpp"
#include "apps/c_api/scene_run.hpp"

namespace costate::c_api {
namespace {

int evaluate(const char* function, const costate_model* model, const costate_scene_run& run) {
    return with_scene(function, [&]() -> int {
        SceneRun(model, run.gradient != nullptr, run.interrupt, run.progress).evaluate(run);
        return COSTATE_OK;
    });
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_scene_steps(const costate_model* model) {
    return guarded(__func__, [&] { return models().get(model)->scene.steps; });
}

int costate_scene_variables(const costate_model* model, double* y, double* lower, double* upper) {
    return with_scene(__func__, [&]() -> int {
        const SceneRun run(model, false);
        write(run.variables().start(), y);
        write(run.variables().lower(), lower);
        write(run.variables().upper(), upper);
        return run.variables().size();
    });
}

int costate_scene_evaluate(const costate_model* model, const costate_scene_run* run) {
    return guarded(__func__, [&]() -> int {
        if (!run) throw Failure(COSTATE_BAD_ARGUMENT, "run is null");
        return evaluate(__func__, model, known_options("costate_scene_run", *run));
    });
}

int costate_scene_gradient(const costate_model* model, const double* y, double* loss, double* gradient,
                           const costate_interrupt* interrupt) {
    return costate_scene_gradient_with(model, nullptr, y, loss, gradient, interrupt);
}

int costate_scene_gradient_with(const costate_model* model, const costate_cost* cost, const double* y,
                                double* loss, double* gradient, const costate_interrupt* interrupt) {
    costate_scene_run run{};
    run.y = y;
    run.loss = loss;
    run.gradient = gradient;
    run.cost = cost;
    run.interrupt = interrupt;
    return evaluate(__func__, model, run);
}

int costate_scene_rollout(const costate_model* model, const double* y, double* states, double* controls,
                          const costate_interrupt* interrupt) {
    return with_scene(__func__, [&]() -> int {
        SceneRun run(model, false, interrupt);
        check_given("states", states);
        costate_scene_run out{};
        out.y = y;
        out.states = states;
        out.controls = controls;
        run.store_rollout(out);
        return COSTATE_OK;
    });
}
}
