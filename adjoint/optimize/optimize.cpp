#include "adjoint/optimize/problem.hpp"
#include "adjoint/optimize/stages.hpp"

#include "core/math/elementary.hpp"

namespace costate {

namespace {

// Steepest descent with backtracking until the Armijo condition holds; the next iteration starts with a
// longer step. With momentum (heavy ball), the direction is a decaying sum of gradients, reset if it does not
// descend.
struct Descent {
    VecX<double> y, direction;
    double value, rate;
    template <class Archive> void transfer(Archive& a) { a(y, direction, value, rate); }
};

void descend(Problem& p, bool momentum) {
    const Variables& v = p.variables;
    const OptimizeSettings& o = p.settings;
    Descent state{v.start(), VecX<double>::Zero(v.size()), 0, o.learning_rate};
    auto& [y, direction, value, rate] = state;
    if (p.resume(state))
        p.revisit(y);
    else
        value = p.value(y);
    while (true) {
        if (p.result.iterations > 0 && p.result.loss_evaluations >= o.max_loss_evaluations)
            return void(p.result.stopped = "loss evaluations used");
        const VecX<double> g = p.gradient(y);
        if (const char* why = p.reason_to_stop(g)) return void(p.result.stopped = why);
        direction = (momentum ? o.momentum : 0.0) * direction - g;
        if (direction.dot(g) >= 0) direction = -g;
        double next = unlimited;
        VecX<double> trial;
        for (; p.result.loss_evaluations < o.max_loss_evaluations && rate > 1e-16; rate *= 0.25) {
            trial = (y + rate * direction).cwiseMax(v.lower()).cwiseMin(v.upper());
            next = p.value(trial);
            if (next <= value + 1e-4 * g.dot(trial - y)) break;
        }
        if (!(next < value)) return void(p.result.stopped = "no descent along the direction");
        y = trial;
        value = next;
        rate *= 2;
        p.end_iteration(state);
    }
}

struct Moments {
    VecX<double> y, m, s;
    template <class Archive> void transfer(Archive& a) { a(y, m, s); }
};

// Kingma & Ba 2015, algorithm 1.
void adam(Problem& p) {
    constexpr double decay1 = 0.9, decay2 = 0.999, epsilon = 1e-12;
    const Variables& v = p.variables;
    Moments state{v.start(), VecX<double>::Zero(v.size()), VecX<double>::Zero(v.size())};
    auto& [y, m, s] = state;
    if (p.resume(state))
        p.revisit(y);
    else
        p.value(y);
    while (true) {
        const int t = p.result.iterations + 1;
        const VecX<double> g = p.gradient(y);
        if (const char* why = p.reason_to_stop(g)) return void(p.result.stopped = why);
        m = decay1 * m + (1 - decay1) * g;
        s = decay2 * s + (1 - decay2) * g.cwiseAbs2();
        const double m_scale = 1 / (1 - exp(t * log(decay1))), s_scale = 1 / (1 - exp(t * log(decay2)));
        y.array() -=
            p.settings.learning_rate * (m_scale * m).array() / ((s_scale * s).array().sqrt() + epsilon);
        y = y.cwiseMax(v.lower()).cwiseMin(v.upper());
        if (p.value(y) == unlimited) return void(p.result.stopped = "the rollout diverged");
        p.end_iteration(state);
    }
}

void (*lbfgs_method)(Problem&) = lbfgs;
void (*cmaes_method)(Problem&) = nullptr;

}  // namespace

void set_lbfgs(void (*method)(Problem&)) { lbfgs_method = method; }
void set_cmaes(void (*method)(Problem&)) { cmaes_method = method; }

bool have_cmaes() { return cmaes_method != nullptr; }

const std::vector<std::string>& method_names() {
    static const std::vector<std::string> names{
        "gradient_descent",  "momentum",         "adam", "lbfgs", "gauss_newton", "ilqr",
        "multiple_shooting", "receding_horizon", "cmaes"};
    return names;
}

Variables::Variables(const World& w, const ControlPlan& plan, const ParameterMap& parameters,
                     const std::vector<int>& initial_state, const RolloutInputs& start)
    : world_(w),
      base_(start),
      parameters_(parameters),
      initial_state_(initial_state) {
    for (size_t n = 0; n < plan.channels().size(); ++n)
        for (int i = 0; plan.channels()[n].optimize && i < plan.channels()[n].size; ++i) {
            controls_.push_back(plan.channels()[n].offset + i);
            actuators_.push_back(static_cast<int>(n));
        }
    const int moving = size_of(parameters_);
    const auto n = static_cast<Eigen::Index>(controls_.size() + initial_state_.size()) + moving;
    start_.setZero(n);
    lower_.setConstant(n, -unlimited);
    upper_.setConstant(n, unlimited);
    bound_controls();
    const auto k = static_cast<Eigen::Index>(controls_.size());
    for (Eigen::Index i = 0; i < k; ++i)
        start_[i] = std::clamp(base_.z[controls_[i]], lower_[i], upper_[i]);
    start_.segment(k, moving) = variables_of(w.model, parameters_, base_.theta);
    lower_.segment(k, moving) = lower_bounds(parameters_);
    upper_.segment(k, moving) = upper_bounds(parameters_);
}

// Beyond its limits a control has no effect and a zero gradient.
void Variables::bound_controls() {
    for (size_t k = 0; k < actuators_.size(); ++k) {
        const ParameterInterval& limits = world_.model.actuators[actuators_[k]].control;
        if (limits.lower < 0) continue;
        lower_[static_cast<Eigen::Index>(k)] = base_.theta[limits.lower];
        upper_[static_cast<Eigen::Index>(k)] = base_.theta[limits.upper];
    }
}

Variables Variables::with_parameters(const std::vector<std::pair<int, double>>& values) const {
    Variables other = *this;
    for (const auto& [index, value] : values)
        other.base_.theta[index] = value;
    other.bound_controls();
    other.start_ = start_.cwiseMax(other.lower_).cwiseMin(other.upper_);
    return other;
}

RolloutInputs Variables::inputs(const VecX<double>& y) const {
    RolloutInputs in = base_;
    Eigen::Index k = 0;
    for (const int i : controls_)
        in.z[i] = y[k++];
    place_parameters(world_.model, parameters_, y.data() + k, in.theta.data());
    k += size_of(parameters_);
    const int nv = world_.nv();
    VecX<double> d = VecX<double>::Zero(world_.own_ndx());
    for (const int i : initial_state_)
        d[i] = y[k++];
    retract(world_.model, base_.x0.data(), d.data(), in.x0.data());
    const Eigen::Index behind = d.size() - nv;
    in.x0.segment(world_.nq(), behind) = base_.x0.segment(world_.nq(), behind) + d.tail(behind);
    return in;
}

VecX<double> Variables::pull_back(const VecX<double>& y, const Gradient& g) const {
    VecX<double> y_bar = VecX<double>::Zero(size());
    Eigen::Index k = 0;
    for (const int i : controls_)
        y_bar[k++] = g.controls[i];
    place_parameters_adj(world_.model, parameters_, y.data() + k, g.parameters.data(), y_bar.data() + k);
    k += size_of(parameters_);
    // pulls the covector at retract(x0, d) back to d
    const int nv = world_.nv();
    VecX<double> d = VecX<double>::Zero(world_.own_ndx()), d_bar = d, unused = VecX<double>::Zero(nv);
    Eigen::Index first = k;
    for (const int i : initial_state_)
        d[i] = y[k++];
    retract_adj(world_.model, base_.x0.data(), d.data(), g.initial_state.data(), unused.data(), d_bar.data());
    const Eigen::Index behind = d.size() - nv;
    d_bar.tail(behind) = g.initial_state.segment(nv, behind);
    for (const int i : initial_state_)
        y_bar[first++] = d_bar[i];
    return y_bar;
}

namespace {

void run(Problem& p, bool saved) {
    switch (p.settings.method) {
        case Method::gradient_descent: return descend(p, false);
        case Method::momentum: return descend(p, true);
        case Method::adam: return adam(p);
        case Method::gauss_newton: return gauss_newton(p);
        case Method::ilqr:
        case Method::multiple_shooting: return shoot(p);
        case Method::receding_horizon: return recede(p);
        case Method::cmaes:
            if (!cmaes_method)
                throw std::runtime_error("CMA-ES is not linked; choose a method with gradients");
            return cmaes_method(p);
        case Method::lbfgs: return saved ? lbfgs(p) : lbfgs_method(p);
    }
}

OptimizeResult run(Problem& p, const Pauses& pauses) {
    try {
        run(p, pauses.save || !pauses.resume.empty());
    } catch (const Interruption&) {
        p.result.stopped = "interrupted";
    }
    p.result.seconds = p.seconds();
    return std::move(p.result);
}

OptimizeResult run_stages(LossFunction& loss, Rollout<Simulation>* rollout, const Variables& variables,
                          const OptimizeSettings& settings, const Pauses& pauses) {
    return in_stages(loss, variables, settings, pauses,
                     [&](const Variables& start, const OptimizeSettings& stage, const Pauses& within) {
                         assert(rollout || !needs_one_rollout(stage.method));
                         Problem p(loss, rollout, start, stage, within);
                         return run(p, within);
                     });
}

}  // namespace

OptimizeResult joined(const OptimizeResult& before, const OptimizeResult& next) {
    OptimizeResult all = before;
    all.final_loss = next.final_loss;
    all.y = next.y;
    all.iterations += next.iterations;
    all.loss_evaluations += next.loss_evaluations;
    all.gradient_evaluations += next.gradient_evaluations;
    all.seconds += next.seconds;
    for (size_t k = before.losses.empty() ? 0 : 1; k < next.losses.size(); ++k) {
        all.losses.push_back(next.losses[k]);
        all.loss_seconds.push_back(before.seconds + next.loss_seconds[k]);
    }
    for (size_t k = 0; k < next.gradient_norms.size(); ++k) {
        all.gradient_norms.push_back(next.gradient_norms[k]);
        all.gradient_iterations.push_back(before.iterations + next.gradient_iterations[k]);
    }
    return all;
}

Pauses pauses_of_next(const OptimizeResult& before, const Pauses& all, const std::vector<char>& resume,
                      const std::function<void(ArchiveWriter&)>& transfer) {
    Pauses next = all;
    next.resume = resume;
    if (all.progress)
        next.progress = [&before, progress = all.progress](const OptimizeResult& r) {
            if (before.losses.empty() || r.losses.size() > 1) progress(joined(before, r));
        };
    if (all.save)
        next.save = [transfer, save = all.save](const std::function<std::vector<char>()>& bytes, bool last) {
            const auto both = [&] {
                ArchiveWriter writer;
                transfer(writer);
                writer(bytes());
                return std::move(writer.bytes);
            };
            save(both, last);
        };
    return next;
}

std::vector<char> resumed_run(const std::vector<char>& bytes,
                              const std::function<void(ArchiveReader&)>& transfer) {
    std::vector<char> run;
    try {
        ArchiveReader reader(bytes);
        transfer(reader);
        reader(run);
        if (!reader.at_end()) throw std::runtime_error("it is longer than a run of this scene");
    } catch (const std::runtime_error& e) {
        throw ResumeError(e.what());
    }
    return run;
}

OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const OptimizeSettings& settings, const Pauses& pauses) {
    RolloutLoss loss(rollout, settings.threads, settings.ranks);
    return run_stages(loss, &rollout, variables, settings, pauses);
}

OptimizeResult optimize(LossFunction& loss, const Variables& variables, const OptimizeSettings& settings,
                        const Pauses& pauses) {
    return run_stages(loss, nullptr, variables, settings, pauses);
}

OptimizeResult optimize(Rollout<Simulation>& rollout, const Variables& variables,
                        const OptimizeSettings& settings, const OptimizeProgress& progress) {
    return optimize(rollout, variables, settings, Pauses{progress, {}, {}, {}});
}

double infeasibility(const std::vector<Violation>& violations) {
    double most = 0;
    for (const Violation& v : violations)
        most = std::max(most, v.largest / v.tolerance);
    return most;
}

bool is_better(const OptimizeResult& a, const OptimizeResult& b) {
    const double of_a = std::max(1.0, infeasibility(a.violations)),
                 of_b = std::max(1.0, infeasibility(b.violations));
    return of_a < of_b || (of_a == of_b && a.final_loss < b.final_loss);
}

std::vector<Method> methods_of(const OptimizeSettings& settings) {
    std::vector<Method> all;
    for (const OptimizeStage& stage : settings.stages)
        all.push_back(stage.method);
    all.push_back(settings.method);
    return all;
}

bool has_gradients(const OptimizeSettings& settings) {
    return std::ranges::any_of(methods_of(settings), [](Method m) { return m != Method::cmaes; });
}

int iterations_of(const OptimizeSettings& settings) {
    double all = settings.iterations;
    for (const OptimizeStage& stage : settings.stages)
        all += stage.iterations;
    return static_cast<int>(std::min<double>(all, std::numeric_limits<int>::max()));
}

bool needs_one_rollout(Method method) {
    switch (method) {
        case Method::gauss_newton:
        case Method::ilqr:
        case Method::multiple_shooting:
        case Method::receding_horizon: return true;
        case Method::gradient_descent:
        case Method::momentum:
        case Method::adam:
        case Method::lbfgs:
        case Method::cmaes: return false;
    }
    return true;
}

std::string why_not_saved(Method method) {
    return method == Method::cmaes ? "pagmo keeps the state of CMA-ES to itself" : "";
}

}  // namespace costate
