#include "apps/cli/optimize/setup.hpp"

#include "adjoint/objective/residuals.hpp"
#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "apps/cli/batch_loss.hpp"
#include "apps/cli/optimize/closed_loop.hpp"
#include "apps/cli/optimize/constraints.hpp"
#include "apps/cli/optimize/restarts.hpp"
#include "apps/cli/shared_run.hpp"
#include "apps/io/scene_inputs.hpp"
#include "scenes/format/names.hpp"

namespace costate {

namespace {

Method method_named(const std::string& name) {
    const std::vector<std::string>& all = method_names();
    const auto it = std::find(all.begin(), all.end(), name);
    if (it == all.end()) throw UsageError("unknown method '" + name + "'" + suggestion(name, all));
    return static_cast<Method>(it - all.begin());
}

void check_gauss_newton(const Scene& s) {
    const Objective objective = augmented_objective(s.objective, s.constraints);
    try {
        check_least_squares(objective);
    } catch (const std::invalid_argument& error) {
        throw UsageError(s.file.string() + ": gauss_newton cannot minimize the objective: " + error.what() +
                         "; use lbfgs");
    }
    const size_t residuals = residual_components(objective).size();
    if (residuals > static_cast<size_t>(s.optimize.max_gradient_evaluations))
        throw UsageError(s.file.string() +
                         ": \"max_gradient_evaluations\" is too small for one Jacobian: allow " +
                         std::to_string(residuals) + " or more");
}

void check_shooting(const Scene& s, Method method) {
    const std::string why = why_no_shooting(s.plan, s.parameters, s.initial_state);
    if (!why.empty())
        throw UsageError(s.file.string() + ": " + method_names()[static_cast<size_t>(method)] +
                         " optimizes only \"per_step\" controls, but " + why +
                         "; write \"optimize\": \"per_step\" or use lbfgs");
}

// Fails if the method, of the scene or of one of its stages, cannot optimize the scene.
void check_method(const Scene& s, Method method) {
    switch (method) {
        case Method::cmaes:
            if (!have_cmaes())
                throw UsageError("this build has no CMA-ES: install libpagmo-dev, configure and build again");
            return;
        case Method::gauss_newton: return check_gauss_newton(s);
        case Method::ilqr:
        case Method::multiple_shooting:
        case Method::receding_horizon: return check_shooting(s, method);
        case Method::gradient_descent:
        case Method::momentum:
        case Method::adam:
        case Method::lbfgs: return;
    }
}

// Replaces per-step controls by knots spread evenly over the rollout, for methods that need few variables.
void thin(Scene& s, int knots) {
    std::vector<ControlChannel> channels = s.plan.channels();
    std::vector<double> values;
    const double h = s.world.settings.time_step, duration = s.steps * h;
    for (ControlChannel& c : channels) {
        const double* from = s.z0.data() + c.offset;
        if (!c.per_step || !c.optimize) {
            values.insert(values.end(), from, from + c.size);
            continue;
        }
        c.per_step = false;
        c.times.clear();
        for (int k = 0; k < knots; ++k) {
            c.times.push_back(duration * k / (knots - 1));
            values.push_back(from[std::min(c.size - 1, c.size * k / (knots - 1))]);
        }
    }
    s.plan = ControlPlan(std::move(channels), s.steps, h);
    s.z0 = Eigen::Map<const VecX<double>>(values.data(), static_cast<Eigen::Index>(values.size()));
}

// The changes that the command line makes to a scene's settings.
std::function<void(OptimizeSettings&)> chosen_settings(const Arguments& a) {
    const std::optional<std::string> name = a.text("method");
    const Method method = name ? method_named(*name) : Method::lbfgs;
    const int iterations = a.integer("iterations", -1, 0), losses = a.integer("losses", -1, 1),
              seed = a.integer("seed", -1, 0);
    const double sigma = a.nonnegative("sigma").value_or(-1);
    if (sigma == 0) throw UsageError("--sigma takes a number above 0, not '0'");
    const bool plant = wants_plant(a), noisy = a.text("noise").has_value(),
               restarts = a.text("restarts").has_value();
    const auto draws = [restarts](const OptimizeSettings& s) {
        return restarts || std::ranges::count(methods_of(s), Method::cmaes) > 0;
    };
    return [=, named = name.has_value()](OptimizeSettings& s) {
        if (named) s.method = method;
        if (!draws(s) && (sigma > 0 || (seed >= 0 && !noisy)))
            throw UsageError("--sigma, and --seed without --noise, require --method cmaes or --restarts");
        if (s.method != Method::receding_horizon && plant)
            throw UsageError("--plant, --noise, --delay and --push require --method receding_horizon");
        if (iterations >= 0) s.iterations = iterations;
        if (losses >= 0) s.max_loss_evaluations = losses;
        if (seed >= 0) s.seed = static_cast<unsigned>(seed);
        if (sigma > 0) s.sigma = sigma;
    };
}

void check_batch(const Arguments& a, const Scene& s) {
    const std::vector<Method> methods = methods_of(s.optimize);
    check_batch_options(a, s, {"landscape", "plant", "noise", "delay", "push"},
                        std::ranges::count(methods, Method::cmaes) > 0 || a.text("restarts"));
    for (const Method method : methods)
        if (s.batch.environments > 0 && needs_one_rollout(method))
            throw UsageError(s.file.string() + ": " + method_names()[static_cast<size_t>(method)] +
                             " optimizes one rollout, but the scene has a \"batch\"; use lbfgs or adam");
    if (wants_plant(a) && !s.optimize.stages.empty())
        throw UsageError(s.file.string() +
                         ": \"stages\" precede an optimization, but a plant runs in closed loop; "
                         "leave them out");
}

}  // namespace

OptimizeSetup set_up_optimization(const Arguments& a) {
    const bool first = joined_ranks().rank() == 0;
    const std::optional<std::string> out = a.text("out"), page = a.text("report"), plots = a.text("plots");
    const auto settings = chosen_settings(a);
    OptimizeSetup setup{a.load(!first), {}, a.integer("landscape", 0, 2, 10000)};
    Scene& scene = setup.scene;
    settings(scene.optimize);
    choose_environments(a, scene);
    setup.restarts = chosen_restarts(a, scene);
    check_batch(a, scene);
    check_constraints(a, scene);
    if (const int knots = a.integer("knots", 0, 2, 1'000'000); knots > 0) thin(scene, knots);
    if (const auto from = a.text("from")) start_from(scene, *from);
    for (const std::string& file : a.texts("compare"))
        setup.others.push_back(read_comparison(file));
    if (!page && !plots && (setup.landscape_points > 0 || !setup.others.empty()))
        throw UsageError("--compare and --landscape require --report or --plots");
    for (const Method method : methods_of(scene.optimize))
        check_method(scene, method);
    if (page && !have_viewer())
        throw UsageError(
            "this build has no viewer, which reports need: install npm and zlib, configure and build "
            "again");
    if (out && first) check_directory(*out);
    if (plots && first) check_directory(*plots);
    if (page && first) check_file(*page);
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    if (variables.size() == 0)
        throw UsageError("nothing to optimize: " + scene.file.string() +
                         " has no control, parameter or initial state with \"optimize\"");
    return setup;
}

}  // namespace costate
