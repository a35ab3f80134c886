// Minimization of the objective of a scene, and the feedback law around a rollout.
#include <algorithm>
#include <cstring>

#include "adjoint/batch/thread_pool.hpp"
#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "adjoint/optimize/feedback.hpp"
#include "adjoint/optimize/restarts.hpp"
#include "apps/c_api/options.hpp"
#include "apps/c_api/rows.hpp"
#include "apps/c_api/scene_run.hpp"
#include "scenes/format/names.hpp"

namespace costate::c_api {
namespace {

void write_losses(const OptimizeResult& r, const costate_optimize_options& options) {
    for (size_t i = 0; i < r.losses.size() && i < options.n_losses; ++i)
        options.losses[i] = r.losses[i];
}

// True if the caller, who is told how far the optimization is, wants to end it.
bool report_progress(int iterations, int of, const costate_optimize_options& options) {
    const costate_progress* progress = options.progress;
    return progress && progress->report &&
           progress->report(progress->data, static_cast<std::uint64_t>(std::max(0, iterations)),
                            static_cast<std::uint64_t>(std::max(0, of))) != 0;
}

OptimizeResult minimize(SceneRun& run, const OptimizeSettings& settings,
                        const costate_optimize_options& options) {
    const std::unique_ptr<LossFunction> other = run.other_loss(options.cost, true);
    bool ends = false;
    Pauses pauses;
    pauses.progress = [&](const OptimizeResult& r) {
        run.caller().check();
        if (options.progress) write_losses(r, options);
        ends = report_progress(r.iterations, iterations_of(settings), options) || ends;
    };
    pauses.interrupted = [&] { return ends; };
    if (!other) return optimize(run.rollout(), run.variables(), run.scene().constraints, settings, pauses);
    return optimize(*other, run.variables(), settings, pauses);
}

OptimizeResult minimize_from_starts(SceneRun& run, const OptimizeSettings& settings,
                                    const costate_optimize_options& options) {
    const Scene& s = run.scene();
    const int threads = std::min(thread_count(options.threads), options.restarts);
    const Schedule schedule = environment_schedule(s, threads);
    bool ends = false;
    RestartPauses pauses;
    pauses.progress = [&](int iterations, int of, double best) {
        run.caller().check();
        for (size_t i = 0; i <= static_cast<size_t>(iterations) && i < options.n_losses; ++i)
            options.losses[i] = best;
        ends = report_progress(iterations, of, options) || ends;
    };
    pauses.interrupted = [&] { return ends; };
    Restarted found =
        optimize_from_starts({s.world, s.objective, s.constraints, s.plan, run.variables(), schedule},
                             settings, {options.restarts, threads}, pauses);
    if (options.restart_losses) std::ranges::copy(found.losses, options.restart_losses);
    return std::move(found.best);
}

// What the file says, with the changes of the caller.
OptimizeSettings read_settings(const Scene& scene, const costate_optimize_options& given) {
    OptimizeSettings settings = scene.optimize;
    if (given.method) {
        const std::vector<std::string>& names = method_names();
        const auto it = std::ranges::find(names, given.method);
        if (it == names.end())
            throw Failure(COSTATE_BAD_ARGUMENT, "there is no method \"" + std::string(given.method) + "\"" +
                                                    suggestion(given.method, names));
        settings.method = static_cast<Method>(it - names.begin());
    }
    if (given.iterations < 0 || given.max_loss_evaluations < 0 || !(given.learning_rate >= 0))
        throw Failure(COSTATE_BAD_ARGUMENT, "iterations, losses and rates must be 0 or more");
    if (given.iterations > 0) settings.iterations = given.iterations;
    if (given.max_loss_evaluations > 0) settings.max_loss_evaluations = given.max_loss_evaluations;
    if (given.learning_rate > 0) settings.learning_rate = given.learning_rate;
    if (given.restarts < 0 || given.threads < 0 || !(given.sigma >= 0))
        throw Failure(COSTATE_BAD_ARGUMENT, "restarts, threads and sigma must be 0 or more");
    if (given.seed > 0) settings.seed = given.seed;
    if (given.sigma > 0) settings.sigma = given.sigma;
    return settings;
}

// Fails if a method, of the settings or of a stage, cannot minimize this objective, with a cost of the caller, over
// these variables.
void check_method(const Scene& scene, const OptimizeSettings& settings, Method method, bool with_cost) {
    const std::string name = method_names()[static_cast<size_t>(method)];
    const auto refuse = [&](const std::string& why) {
        throw Failure(COSTATE_BAD_ARGUMENT, name + " cannot minimize this objective: " + why);
    };
    if (scene.batch.environments > 0 && needs_one_rollout(method))
        refuse("the scene has a \"batch\", and it optimizes one rollout; use lbfgs or adam");
    if (with_cost && needs_one_rollout(method))
        refuse("a cost of the caller has a gradient alone; use lbfgs, gradient_descent, momentum or adam");
    if (!scene.constraints.empty()) {
        const char* const terms = "; write its \"constraints\" as terms with \"lower\" and \"upper\"";
        if (scene.batch.environments > 0) refuse(std::string("the scene has a \"batch\"") + terms);
        if (with_cost) refuse(std::string("there is a cost of the caller") + terms);
        if (const std::string why = why_no_constraints(scene.world, scene.parameters); !why.empty())
            refuse(why + terms);
    }
    const Objective objective = augmented_objective(scene.objective, scene.constraints);
    switch (method) {
        case Method::cmaes:
            if (!have_cmaes()) refuse("CMA-ES is a method of the program costate alone; use lbfgs");
            break;
        case Method::gauss_newton: try { check_least_squares(objective);
            } catch (const std::invalid_argument& e) {
                refuse(e.what());
            }
            if (residual_components(objective).size() >
                static_cast<size_t>(settings.max_gradient_evaluations))
                refuse("\"max_gradient_evaluations\" is too small for one Jacobian");
            break;
        case Method::ilqr:
        case Method::multiple_shooting:
        case Method::receding_horizon: {
            const std::string why = why_no_shooting(scene.plan, scene.parameters, scene.initial_state);
            if (!why.empty()) refuse(why);
            break;
        }
        default: break;
    }
}

void check_restarts(const Scene& scene, const OptimizeSettings& settings,
                    const costate_optimize_options& given) {
    const auto refuse = [](const std::string& why) {
        throw Failure(COSTATE_BAD_ARGUMENT, "restarts are for one rollout: " + why);
    };
    if (given.restarts > 100'000) refuse("give at most 100000");
    if (given.cost) refuse("leave out the cost of the caller");
    if (scene.batch.environments > 0) refuse("leave out the \"batch\"");
    if (settings.method == Method::receding_horizon) refuse("choose another method than receding_horizon");
}

Feedback feedback_law(const SceneRun& run, const VecX<double>& y) {
    const Scene& s = run.scene();
    try {
        return feedback(s.world, s.objective, s.plan, run.variables(), y, s.steps);
    } catch (const FeedbackError& e) {
        throw Failure(COSTATE_DIVERGED, e.what());
    } catch (const std::invalid_argument& e) {
        throw Failure(COSTATE_BAD_ARGUMENT, e.what());
    }
}

void write_result(const OptimizeResult& r, const costate_optimize_options& options,
                  costate_optimize_result* out) {
    write_losses(r, options);
    if (!out) return;
    *out = {};
    out->initial_loss = r.initial_loss;
    out->final_loss = r.final_loss;
    out->seconds = r.seconds;
    out->iterations = r.iterations;
    out->loss_evaluations = r.loss_evaluations;
    out->gradient_evaluations = r.gradient_evaluations;
    const std::string stopped = (infeasibility(r.violations) > 1 ? "constraints not met; " : "") + r.stopped;
    std::strncpy(out->stopped, stopped.c_str(), sizeof out->stopped - 1);
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_scene_optimize(const costate_model* model, const costate_optimize_options* options, double* y,
                           costate_optimize_result* result) {
    return with_scene(__func__, [&]() -> int {
        const costate_optimize_options given =
            options ? known_options("costate_optimize_options", *options) : costate_optimize_options{};
        SceneRun run(model, true, given.interrupt);
        const OptimizeSettings settings = read_settings(run.scene(), given);
        for (const Method method : methods_of(settings))
            check_method(run.scene(), settings, method, given.cost);
        check_given("losses", given.losses, given.n_losses);
        if (run.variables().size() == 0)
            throw Failure(COSTATE_BAD_ARGUMENT,
                          "nothing to optimize: the file marks no control, parameter or initial state with "
                          "\"optimize\"");
        check_given("y", y);
        const bool restarts = given.restarts > 1;
        if (restarts) check_restarts(run.scene(), settings, given);
        const OptimizeResult r =
            restarts ? minimize_from_starts(run, settings, given) : minimize(run, settings, given);
        if (!restarts && given.restarts == 1 && given.restart_losses) *given.restart_losses = r.final_loss;
        write(r.y, y);
        write_result(r, given, result);
        return COSTATE_OK;
    });
}

int costate_scene_feedback(const costate_model* model, const double* y, double* K, double* V_x,
                           double* V_xx) {
    return with_scene(__func__, [&]() -> int {
        const SceneRun run(model, false);
        const Scene& s = run.scene();
        const std::string why = why_no_shooting(s.plan, s.parameters, s.initial_state);
        if (!why.empty() || run.variables().size() == 0)
            throw Failure(COSTATE_BAD_ARGUMENT, "a feedback law needs \"per_step\" controls alone, but " +
                                                    (why.empty() ? "nothing is optimized" : why));
        check_finite("y", y, run.variables().size());
        const VecX<double> at = Eigen::Map<const VecX<double>>(y, run.variables().size());
        const Feedback law = feedback_law(run, at);
        for (size_t t = 0; t < law.V_x.size(); ++t) {
            if (K && t < law.K.size()) K = write_rows(law.K[t], K);
            if (V_x) V_x = write_rows(law.V_x[t].transpose(), V_x);
            if (V_xx) V_xx = write_rows(law.V_xx[t], V_xx);
        }
        return static_cast<int>(law.free.size());
    });
}
}
