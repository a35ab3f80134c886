// The objective of a scene as a function of its variables, and its minimization.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "adjoint/expectation/expected_loss.hpp"
#include "adjoint/objective/objective.hpp"
#include "adjoint/optimize/augmented_lagrangian.hpp"
#include "adjoint/optimize/feedback.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/optimize/own_cost.hpp"
#include "adjoint/optimize/restarts.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "apps/c_api/model.hpp"
#include "apps/c_api/options.hpp"
#include "apps/c_api/rows.hpp"
#include "scenes/format/names.hpp"
#include "scenes/memory.hpp"

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

// The caller during a call: asked whether to end it, and told how many time steps of all that are expected are done, each
// at most every 20 ms.
class Caller {
public:
    explicit Caller(const costate_interrupt* interrupt, const costate_progress* progress = nullptr)
        : interrupt_(interrupt && interrupt->ask ? *interrupt : costate_interrupt{}),
          progress_(progress && progress->report ? *progress : costate_progress{}) {}
    void expect(std::uint64_t steps) {
        expected_ = steps;
        done_ = 0;
    }
    void note(std::uint64_t steps = 1) {
        done_ = std::min(done_ + steps, expected_);
        check();
    }
    void check() {
        constexpr std::chrono::milliseconds pause(20);
        if (!interrupt_.ask && !progress_.report) return;
        const auto now = std::chrono::steady_clock::now();
        if (now - last_ < pause) return;
        last_ = now;
        if (interrupt_.ask && interrupt_.ask(interrupt_.data) != 0)
            throw Failure(COSTATE_INTERRUPTED, "interrupted");
        if (progress_.report && expected_ > 0 && progress_.report(progress_.data, done_, expected_) != 0)
            throw Failure(COSTATE_INTERRUPTED, "ended by the function that is told of progress");
    }
    // At the end of the call, which has written its outputs.
    void finish() const {
        if (progress_.report) progress_.report(progress_.data, expected_, expected_);
    }

private:
    const costate_interrupt interrupt_;
    const costate_progress progress_;
    std::uint64_t expected_ = 0, done_ = 0;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The rollout of a scene with the parameters that the model has now, for one call.
class SceneRun {
public:
    // pulls_back: if not, `rollout_` keeps no states for a backward pass
    SceneRun(const costate_model* handle, bool pulls_back, const costate_interrupt* interrupt = nullptr,
             const costate_progress* progress = nullptr)
        : model_(models().get(handle)),
          caller_(interrupt, progress),
          variables_(scene().world, scene().plan, scene().parameters, scene().initial_state,
                     {*model_->parameters(), scene().x0, scene().z0}),
          simulation_(scene().world, scene().objective),
          rollout_(simulation_, scene().plan,
                   pulls_back ? checkpoint_schedule(scene()) : Schedule::forward_only(scene().steps)) {
        check_result("a variable of the parameters", variables_.start());
    }
    const Scene& scene() const { return model_->scene; }
    const Variables& variables() const { return variables_; }

    // Runs one rollout with the variables y (n); visits every step with its state and controls.
    template <class Visit> double forward(const double* y, const Visit& visit) {
        set(y);
        const double loss = rollout_.forward(inputs_.theta, inputs_.x0, inputs_.z,
                                             [&](int t, const double* x, const double* u) {
                                                 caller_.note();
                                                 visit(t, x, u);
                                             });
        if (rollout_.divergence()) throw DivergenceError(scene().world.model, rollout_.divergence());
        return loss;
    }
    // What `out` asks for at out.y (n).
    void evaluate(const costate_scene_run& out) {
        const bool pulls_back = out.gradient != nullptr, stores = out.states || out.controls;
        set(out.y);
        Gradient g;
        double loss = 0;
        const auto environments =
            static_cast<std::uint64_t>(std::max(std::int64_t{1}, scene().batch.environments));
        const std::unique_ptr<LossFunction> other = other_loss(out.cost, pulls_back);
        caller_.expect(sweep() * (environments * (pulls_back ? 2 : 1) + (other && stores ? 1 : 0)));
        if (other) {
            loss = other->value(inputs_);
            other->complain();
            if (pulls_back) other->gradient(inputs_, g);
        }
        if (!other || stores) {
            const double of_rollout =
                forward(out.y, [&](int t, const double* x, const double* u) { store(t, x, u, out); });
            if (!other) {
                loss = of_rollout;
                if (pulls_back)
                    rollout_.backward(inputs_.theta, inputs_.z, g,
                                      [&](int, const double*, const double*) { caller_.note(); });
            }
        }
        if (pulls_back) {
            const VecX<double> pulled_back = variables_.pull_back(y_, g);
            check_result("the gradient", pulled_back);
            write(pulled_back, out.gradient);
        }
        if (out.loss) *out.loss = loss;
        caller_.finish();
    }
    OptimizeResult minimize(const OptimizeSettings& settings, const costate_optimize_options& options) {
        const costate_cost* cost = options.cost;
        const std::unique_ptr<LossFunction> other = other_loss(cost, true);
        bool ends = false;
        Pauses pauses;
        pauses.progress = [&](const OptimizeResult& r) {
            caller_.check();
            if (options.progress) write_losses(r, options);
            ends = report_progress(r.iterations, iterations_of(settings), options) || ends;
        };
        pauses.interrupted = [&] { return ends; };
        if (!other) return optimize(rollout_, variables_, scene().constraints, settings, pauses);
        return optimize(*other, variables_, settings, pauses);
    }
    OptimizeResult minimize_from_starts(const OptimizeSettings& settings,
                                        const costate_optimize_options& options) {
        const Scene& s = scene();
        const int threads = std::min(thread_count(options.threads), options.restarts);
        const Schedule schedule = environment_schedule(s, threads);
        bool ends = false;
        RestartPauses pauses;
        pauses.progress = [&](int iterations, int of, double best) {
            caller_.check();
            for (size_t i = 0; i <= static_cast<size_t>(iterations) && i < options.n_losses; ++i)
                options.losses[i] = best;
            ends = report_progress(iterations, of, options) || ends;
        };
        pauses.interrupted = [&] { return ends; };
        Restarted found =
            optimize_from_starts({s.world, s.objective, s.constraints, s.plan, variables_, schedule},
                                 settings, {options.restarts, threads}, pauses);
        if (options.restart_losses) std::ranges::copy(found.losses, options.restart_losses);
        return std::move(found.best);
    }

    // The states and controls of out at out.y (n).
    void rollout(const costate_scene_run& out) {
        forward(out.y, [&](int t, const double* x, const double* u) { store(t, x, u, out); });
    }

private:
    // Calls of `note` in one pass of a rollout, forward or backward.
    std::uint64_t sweep() const { return static_cast<std::uint64_t>(scene().steps) + 1; }
    // What is not the loss of one rollout: the mean of a "batch", on all cores, or the objective plus a cost of the caller;
    // otherwise null.
    std::unique_ptr<LossFunction> other_loss(const costate_cost* cost, bool gradients) {
        const Scene& s = scene();
        if (cost) return with_cost(*cost);
        if (s.batch.environments == 0) return nullptr;
        ExpectedLossOptions o;
        o.threads = 0;
        o.gradients = gradients;
        const std::uint64_t steps = sweep() * (gradients ? 2 : 1);  // of one environment
        o.between = [this, steps, before = std::int64_t{0}](const EnvironmentProgress& now) mutable {
            // a call after another begins again
            const std::int64_t more = now.done < before ? now.done : now.done - before;
            before = now.done;
            caller_.note(static_cast<std::uint64_t>(more) * steps);
        };
        return std::make_unique<ExpectedLoss>(
            s.world, s.objective, s.plan, s.batch,
            environment_schedule(
                s, std::int64_t{ExpectedLoss::thread_count(o)} * ExpectedLoss::group_size(s.batch, o)),
            o);
    }
    std::unique_ptr<LossFunction> with_cost(const costate_cost& cost) {
        if (!cost.evaluate) throw Failure(COSTATE_BAD_ARGUMENT, "cost.evaluate is null");
        if (scene().batch.environments > 0)
            throw Failure(COSTATE_BAD_ARGUMENT,
                          "a cost of the caller is of one rollout, but the scene has a \"batch\"");
        const auto evaluate = [cost](const double* states, const double* controls, double* states_bar,
                                     double* controls_bar) {
            double value = 0;
            if (cost.evaluate(cost.data, states, controls, &value, states_bar, controls_bar) != 0)
                throw Failure(COSTATE_INTERRUPTED, "ended by the cost of the caller");
            return value;
        };
        return std::make_unique<OwnCostLoss>(scene().world, scene().objective, scene().plan,
                                             checkpoint_schedule(scene()), evaluate,
                                             [this] { caller_.note(); });
    }
    void store(int t, const double* x, const double* u, const costate_scene_run& out) const {
        const World& w = scene().world;
        if (out.states) std::copy_n(x, w.nx(), out.states + static_cast<size_t>(t) * w.nx());
        if (out.controls && u) std::copy_n(u, w.nu(), out.controls + static_cast<size_t>(t) * w.nu());
    }
    void set(const double* y) {
        check_finite("y", y, variables_.size());
        y_ = Eigen::Map<const VecX<double>>(y, variables_.size());
        inputs_ = variables_.inputs(y_);
        check_parameters(*model_, inputs_.theta.data());
    }

    const std::shared_ptr<SharedModel> model_;
    Caller caller_;
    const Variables variables_;
    Simulation simulation_;
    Rollout<Simulation> rollout_;
    VecX<double> y_;
    RolloutInputs inputs_;
};

// A call on a scene, whose divergence has a status of its own.
template <class Call> int with_scene(const char* function, const Call& call) noexcept {
    return guarded(function, [&]() -> int {
        try {
            return call();
        } catch (const DivergenceError& e) {
            throw Failure(COSTATE_DIVERGED, e.what());
        } catch (const OwnCostError& e) {
            throw Failure(COSTATE_DIVERGED, e.what());
        }
    });
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

int evaluate(const char* function, const costate_model* model, const costate_scene_run& run) {
    return with_scene(function, [&]() -> int {
        SceneRun(model, run.gradient != nullptr, run.interrupt, run.progress).evaluate(run);
        return COSTATE_OK;
    });
}

// Fails if a method, of the settings or of a stage, cannot minimize this objective, with a cost of the caller, over these
// variables.
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
        run.rollout(out);
        return COSTATE_OK;
    });
}

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
            restarts ? run.minimize_from_starts(settings, given) : run.minimize(settings, given);
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
