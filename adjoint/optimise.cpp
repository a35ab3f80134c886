#include "adjoint/optimise.hpp"

#include <chrono>

#include "adjoint/gradcheck.hpp"

#ifdef COSTATE_HAVE_NLOPT
#include <nlopt.hpp>
#endif

namespace costate {

namespace {

// What is minimised as a function of y: the loss or half its square. Counts what it costs and keeps the best.
class Problem {
public:
    Problem(Rollout<Simulation>& rollout, const Variables& variables, bool square) : rollout_(rollout), variables_(variables), square_(square) {}

    double value(const VecX<double>& y) {
        loss_ = loss(y);
        return square_ ? 0.5 * loss_ * loss_ : loss_;
    }
    // At the y of the last call of `value`.
    VecX<double> gradient(const VecX<double>& y) {
        ++result.gradient_evaluations;
        rollout_.backward(inputs_.theta, inputs_.z, gradient_);
        return (square_ ? loss_ : 1.0) * variables_.pull_back(y, gradient_);
    }
    void end_iteration() { ++result.iterations, result.losses.push_back(result.final_loss); }

    OptimizeResult result;

private:
    double loss(const VecX<double>& y) {
        inputs_ = variables_.inputs(y);
        double value = rollout_.forward(inputs_.theta, inputs_.x0, inputs_.z);
        if (rollout_.divergence() && result.loss_evaluations == 0) throw DivergenceError(rollout_.step().world().model, rollout_.divergence());
        if (rollout_.divergence()) value = unlimited;
        if (++result.loss_evaluations == 1) result.initial_loss = result.final_loss = value, result.y = y;
        if (value < result.final_loss) result.final_loss = value, result.y = y;
        return value;
    }

    Rollout<Simulation>& rollout_;
    const Variables& variables_;
    bool square_;
    double loss_ = 0;
    RolloutInputs inputs_;
    Gradient gradient_;
};

using Progress = std::function<void(int, double)>;

// Why to stop now, or nothing.
const char* reason_to_stop(const OptimizeResult& r, const OptimizeSettings& o, const VecX<double>& gradient) {
    if (r.final_loss <= o.target_loss) return "target loss reached";
    if (gradient.size() == 0 || gradient.cwiseAbs().maxCoeff() <= o.gradient_tolerance) return "gradient vanishes";
    if (r.iterations >= o.iterations) return "iterations used";
    if (r.loss_evaluations >= o.max_loss_evaluations) return "loss evaluations used";
    return nullptr;
}

// Steepest descent with backtracking until the Armijo condition holds; the accepted step length grows for the next iteration.
// With momentum, the heavy ball: the direction is the decaying sum of gradients, restarted where it does not descend.
void descend(Problem& p, const Variables& v, const OptimizeSettings& o, const Progress& progress, bool momentum) {
    VecX<double> y = v.start(), direction = VecX<double>::Zero(y.size());
    double value = p.value(y), rate = o.learning_rate;
    p.result.losses.push_back(p.result.initial_loss);
    while (true) {
        const VecX<double> g = p.gradient(y);
        if (const char* why = reason_to_stop(p.result, o, g)) return void(p.result.stopped = why);
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
        y = trial, value = next, rate *= 2;
        p.end_iteration();
        if (progress) progress(p.result.iterations, p.result.final_loss);
        if (p.result.loss_evaluations >= o.max_loss_evaluations) return void(p.result.stopped = "loss evaluations used");
    }
}

// Kingma & Ba 2015, algorithm 1.
void adam(Problem& p, const Variables& v, const OptimizeSettings& o, const Progress& progress) {
    constexpr double decay1 = 0.9, decay2 = 0.999, epsilon = 1e-12;
    VecX<double> y = v.start(), m = VecX<double>::Zero(y.size()), s = m;
    p.value(y);
    p.result.losses.push_back(p.result.initial_loss);
    for (int t = 1;; ++t) {
        const VecX<double> g = p.gradient(y);
        if (const char* why = reason_to_stop(p.result, o, g)) return void(p.result.stopped = why);
        m = decay1 * m + (1 - decay1) * g;
        s = decay2 * s + (1 - decay2) * g.cwiseAbs2();
        const double m_scale = 1 / (1 - std::pow(decay1, t)), s_scale = 1 / (1 - std::pow(decay2, t));
        y.array() -= o.learning_rate * (m_scale * m).array() / ((s_scale * s).array().sqrt() + epsilon);
        y = y.cwiseMax(v.lower()).cwiseMin(v.upper());
        if (p.value(y) == unlimited) return void(p.result.stopped = "the rollout diverged");
        p.end_iteration();
        if (progress) progress(p.result.iterations, p.result.final_loss);
    }
}

#ifdef COSTATE_HAVE_NLOPT
// NLopt's L-BFGS (Luksan) asks for value and gradient together; each such call after the first counts as an iteration. Scaling the
// problem by the learning rate scales its first step, which is along the gradient.
void lbfgs(Problem& p, const Variables& v, const OptimizeSettings& o, const Progress& progress) {
    const auto vector = [](const VecX<double>& x) { return std::vector<double>(x.begin(), x.end()); };
    nlopt::opt opt(nlopt::LD_LBFGS, static_cast<unsigned>(v.size()));
    opt.set_lower_bounds(vector(v.lower()));
    opt.set_upper_bounds(vector(v.upper()));
    std::exception_ptr failure;  // must not pass through the library
    const auto evaluate = [&](const VecX<double>& y, VecX<double>& gradient) {
        const bool first = p.result.loss_evaluations == 0;
        const double value = p.value(y);
        if (first) p.result.losses.push_back(p.result.initial_loss);
        else p.end_iteration();
        if (progress && !first) progress(p.result.iterations, p.result.final_loss);
        if (value == unlimited) return 1e300;
        gradient = p.gradient(y);
        if (const char* why = reason_to_stop(p.result, o, gradient)) p.result.stopped = why;
        gradient *= o.learning_rate;
        return o.learning_rate * value;
    };
    std::function<double(const std::vector<double>&, std::vector<double>&)> guarded = [&](const std::vector<double>& x, std::vector<double>& g) {
        double value = 0;
        VecX<double> gradient = VecX<double>::Zero(v.size());
        try {
            if (p.result.stopped.empty()) value = evaluate(Eigen::Map<const VecX<double>>(x.data(), v.size()), gradient);
        } catch (...) {
            failure = std::current_exception();
        }
        if (failure || !p.result.stopped.empty()) opt.force_stop();
        std::copy(gradient.begin(), gradient.end(), g.begin());
        return value;
    };
    opt.set_min_objective(
        [](const std::vector<double>& x, std::vector<double>& g, void* f) { return (*static_cast<decltype(guarded)*>(f))(x, g); }, &guarded);
    std::vector<double> y = vector(v.start());
    double value = 0;
    try {
        opt.optimize(y, value);
    } catch (const nlopt::forced_stop&) {
    } catch (const nlopt::roundoff_limited&) {
        p.result.stopped = "round-off limits progress";
    }
    if (failure) std::rethrow_exception(failure);
    if (p.result.stopped.empty()) p.result.stopped = "converged";
}
#endif

}  // namespace

bool have_lbfgs() {
#ifdef COSTATE_HAVE_NLOPT
    return true;
#else
    return false;
#endif
}

Variables::Variables(const World& w, const ControlPlan& plan, const std::vector<ParameterVariable>& parameters, const std::vector<int>& initial_state,
                     const RolloutInputs& start)
    : world_(w), base_(start), parameters_(parameters), initial_state_(initial_state) {
    for (const ControlChannel& c : plan.channels())
        for (int i = 0; c.optimise && i < c.size; ++i) controls_.push_back(c.offset + i);
    const auto n = static_cast<Eigen::Index>(controls_.size() + parameters_.size() + initial_state_.size());
    start_.setZero(n), lower_.setConstant(n, -unlimited), upper_.setConstant(n, unlimited);
    Eigen::Index k = 0;
    for (const int i : controls_) start_[k++] = base_.z[i];
    for (const ParameterVariable& v : parameters_) {
        const auto scale = [&](double x) { return v.log ? (x > 0 ? std::log(x) : -unlimited) : x; };
        start_[k] = scale(base_.theta[v.index]), lower_[k] = scale(v.lower), upper_[k] = scale(v.upper);
        ++k;
    }
}

RolloutInputs Variables::inputs(const VecX<double>& y) const {
    RolloutInputs in = base_;
    Eigen::Index k = 0;
    for (const int i : controls_) in.z[i] = y[k++];
    for (const ParameterVariable& v : parameters_) in.theta[v.index] = v.log ? std::exp(y[k]) : y[k], ++k;
    const int nv = world_.nv();
    VecX<double> d = VecX<double>::Zero(2 * nv);
    for (const int i : initial_state_) d[i] = y[k++];
    retract(world_.model, base_.x0.data(), d.data(), in.x0.data());
    in.x0.tail(nv) = base_.x0.tail(nv) + d.tail(nv);
    return in;
}

VecX<double> Variables::pull_back(const VecX<double>& y, const Gradient& g) const {
    VecX<double> y_bar = VecX<double>::Zero(size());
    Eigen::Index k = 0;
    for (const int i : controls_) y_bar[k++] = g.controls[i];
    for (const ParameterVariable& v : parameters_) y_bar[k] = g.parameters[v.index] * (v.log ? std::exp(y[k]) : 1.0), ++k;
    // retract(x0, d): the covector at its end, pulled back to d
    const int nv = world_.nv();
    VecX<double> d = VecX<double>::Zero(2 * nv), d_bar = VecX<double>::Zero(2 * nv), unused = VecX<double>::Zero(nv);
    Eigen::Index first = k;
    for (const int i : initial_state_) d[i] = y[k++];
    retract_adj(world_.model, base_.x0.data(), d.data(), g.initial_state.data(), unused.data(), d_bar.data());
    d_bar.tail(nv) = g.initial_state.tail(nv);
    for (const int i : initial_state_) y_bar[first++] = d_bar[i];
    return y_bar;
}

OptimizeResult optimise(Rollout<Simulation>& rollout, const Variables& variables, const OptimizeSettings& settings, const Progress& progress) {
    const auto begin = std::chrono::steady_clock::now();
    Problem p(rollout, variables, settings.square);
    switch (settings.method) {
        case Method::gradient_descent: descend(p, variables, settings, progress, false); break;
        case Method::momentum: descend(p, variables, settings, progress, true); break;
        case Method::adam: adam(p, variables, settings, progress); break;
        case Method::lbfgs:
#ifdef COSTATE_HAVE_NLOPT
            lbfgs(p, variables, settings, progress);
            break;
#else
            throw std::runtime_error("this build has no L-BFGS: NLopt was missing; choose adam, momentum or gradient_descent");
#endif
    }
    p.result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(p.result);
}

}  // namespace costate
