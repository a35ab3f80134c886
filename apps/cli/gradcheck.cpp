#include "adjoint/check/gradcheck.hpp"

#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/command.hpp"
#include "apps/cli/replay.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"
#include "apps/io/terminal.hpp"
#include "scenes/memory.hpp"

namespace costate {

namespace {

Report to_report(const GradcheckKind& k) {
    return {{"max_relative_error", k.checked() ? Report(k.max_relative_error) : Report()},
            {"taylor_order", k.taylor_order},
            {"at_roundoff", k.at_roundoff},
            {"checked", k.checked()},
            {"rejected", k.rejected},
            {"stencils", k.stencils},
            {"worst", k.worst}};
}

void print_row(const char* name, const GradcheckKind& k) {
    if (k.stencils == 0) return void(std::printf("%-15s none\n", name));
    if (!k.checked())
        return void(std::printf("%-15s not checked: all %d stencils change a branch\n", name, k.stencils));
    std::printf("%-15s %-11.3g %.2f%-12s %6.2f %%  %8d   %s\n", name, k.max_relative_error, k.taylor_order,
                k.at_roundoff ? " (round-off)" : "", 100 * k.rejected, k.stencils, k.worst.c_str());
}

// The last configuration of the scene's rollout.
VecX<double> end_of(const Scene& scene) {
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, checkpoint_schedule(scene));
    rollout.forward(scene.theta, scene.x0, scene.z0);
    if (rollout.divergence()) report_divergence(scene, {scene.theta, scene.x0, scene.z0}, rollout);
    return rollout.last_state().head(scene.world.nq());
}

// The kinds of variables whose stencils were all rejected.
std::string unchecked(const GradcheckReport& r) {
    std::string names;
    const auto add = [&](const char* name, const GradcheckKind& k) {
        if (!k.checked()) names += (names.empty() ? "" : ", ") + std::string(name);
    };
    add("controls", r.controls);
    add("initial state", r.initial_state);
    add("parameters", r.parameters);
    add("optimized variables", r.optimized);
    return names;
}

int check(const Arguments& a) {
    GradcheckOptions options;
    options.components = a.integer("components", options.components, 1);
    options.directions = a.integer("directions", options.directions, 0);
    options.seed = static_cast<unsigned>(a.integer("seed", 1, 0));
    if (const auto step = a.positive("step")) options.step = *step;
    if (options.step > 0.001)
        throw UsageError("--step takes a number up to 0.001, not '" + *a.text("step") +
                         "': differences are also taken at 1000 times this step");
    const std::optional<double> max_error = a.nonnegative("max-error");
    Scene scene = a.load();
    const bool random = scene.objective.empty();
    if (random) scene.objective = random_linear_objective(scene.world, end_of(scene), options.seed);

    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, checkpoint_schedule(scene));
    options.optimized = scene.parameters;
    Progress progress("gradcheck " + scene.name);
    options.progress = [&](int stencils, int total) {
        if (progress.due()) progress.draw(static_cast<double>(stencils) / total);
    };
    GradcheckReport r;
    try {
        r = gradcheck(rollout, scene.theta, scene.x0, scene.z0, options);
    } catch (const DivergenceError&) {
        report_divergence(scene, {scene.theta, scene.x0, scene.z0}, rollout);
    }
    const double seconds = progress.finish();

    const GradcheckKind worst = r.worst();
    if (a.json()) {
        Report report{{"name", scene.name},
                      {"steps", scene.steps},
                      {"loss", r.loss},
                      {"objective", random ? "random" : "of the scene"},
                      {"seed", options.seed}};
        report.update(to_report(worst));
        report["variables"] = {{"controls", to_report(r.controls)},
                               {"initial_state", to_report(r.initial_state)},
                               {"parameters", to_report(r.parameters)},
                               {"optimized", to_report(r.optimized)}};
        report["seconds"] = seconds;
        std::fputs(to_text(report).c_str(), stdout);
    } else {
        std::printf("%s: %d steps, loss %.10g, checked in %.3g s\n", scene.name.c_str(), scene.steps, r.loss,
                    seconds);
        if (random)
            std::printf(
                "the scene has no objective; the loss is a random linear function of the final state (seed "
                "%u)\n",
                options.seed);
        std::printf("\n");
        std::printf("%-15s %-11s %-16s %-9s %-10s %s\n", "variables", "error", "Taylor order", "rejected",
                    "stencils", "worst component");
        print_row("controls", r.controls);
        print_row("initial state", r.initial_state);
        print_row("parameters", r.parameters);
        if (r.optimized.stencils > 0) print_row("optimized", r.optimized);
    }
    if (!r.checked()) {
        tell(Message::error, "the gradient with respect to " + unchecked(r) +
                                 " was not checked, because all of its stencils change a branch of a step; "
                                 "try fewer --steps, or another initial state");
        return check_failed;
    }
    if (!max_error || worst.max_relative_error <= *max_error) return done;
    char line[96];
    std::snprintf(line, sizeof line, "the error of the gradient, %.3g, exceeds %.3g",
                  worst.max_relative_error, *max_error);
    tell(Message::error, line);
    return check_failed;
}

}  // namespace

const Command gradcheck_command{
    "gradcheck",
    "compare the gradient with central differences",
    "costate gradcheck go1_stand --steps 100",
    {check_failed, diverged},
    {{"max-error", "X", "exit with 1 if the largest relative error exceeds X"},
     {"components", "N", "number of components to check of each kind of variable (default 64)"},
     {"directions", "N", "number of random directions to check of each kind (default 16)"},
     {"step", "X", "smallest step of a difference, relative to the variable, up to 0.001 (default 1e-6)"},
     {"seed", "N", "random seed (default 1)"},
     memory_option},
    check};

}  // namespace costate
