// L-BFGS with bounds, by projection: the entries that their bounds hold are left out of the direction (Bertsekas
// 1982), and trial points are clamped to the bounds.
#include "adjoint/optimize/lbfgs.hpp"

#include "adjoint/optimize/problem.hpp"

namespace costate {

void InverseHessian::update(const VecX<double>& dy, const VecX<double>& dg) {
    if (!(dy.dot(dg) > 1e-12 * dy.norm() * dg.norm())) return;
    pairs_.push_back({dy, dg});
    if (pairs_.size() > most) pairs_.pop_front();
}

VecX<double> InverseHessian::apply(const VecX<double>& g,
                                   const Eigen::Array<bool, Eigen::Dynamic, 1>& free) const {
    // Nocedal & Wright 2006, algorithm 7.4, on the free entries
    const auto mask = [&](const VecX<double>& a) -> VecX<double> {
        return free.select(a.array(), 0.0).matrix();
    };
    struct Masked {
        VecX<double> dy, dg;
        double curvature, weight;
    };
    std::vector<Masked> used;
    for (const Pair& p : pairs_)
        if (Masked m{mask(p.dy), mask(p.dg), 0, 0}; m.dy.dot(m.dg) > 1e-12 * m.dy.norm() * m.dg.norm()) {
            m.curvature = m.dy.dot(m.dg);
            used.push_back(std::move(m));
        }
    VecX<double> r = mask(g);
    for (auto m = used.rbegin(); m != used.rend(); ++m) {
        m->weight = m->dy.dot(r) / m->curvature;
        r -= m->weight * m->dg;
    }
    r *= used.empty() ? scale_ : used.back().curvature / used.back().dg.squaredNorm();
    for (const Masked& m : used)
        r += (m.weight - m.dg.dot(r) / m.curvature) * m.dy;
    return r;
}

namespace {

struct Point {
    VecX<double> y, g;
    double value = unlimited;
};

// A search along the clamped line y + a d for enough decrease (Armijo), by quadratic interpolation; while the slope
// stays steep, it goes on by doubling (the weak Wolfe conditions). After a step that was too long it accepts the first
// decrease: beyond lies a kink or a jump of the loss, and halving towards it would cost a gradient each time.
class LineSearch {
public:
    explicit LineSearch(Problem& p) : p_(p) {}

    // Moves `at` to a lower point. False if there is none, or if result.stopped has been set.
    bool descend(Point& at, const VecX<double>& d) {
        const Variables& v = p_.variables;
        const double slope = at.g.dot(d);
        double a = 1, near = 0, far = unlimited;
        Point best = at;  // at `near`
        for (int trials = 0; trials < most_trials; ++trials) {
            Point trial;
            trial.y = (at.y + a * d).cwiseMax(v.lower()).cwiseMin(v.upper());
            if (trial.y == best.y) break;  // the bounds or rounding leave no way to go
            if (p_.result.loss_evaluations >= p_.settings.max_loss_evaluations) {
                p_.result.stopped = "loss evaluations used";
                break;
            }
            trial.value = p_.value(trial.y);
            if (!(trial.value <= at.value + decrease * at.g.dot(trial.y - at.y) && trial.value < at.value)) {
                // the minimum of the parabola through both ends with the slope at the near one
                const double rise = (trial.value - best.value) / (a - near),
                             start = near == 0 ? slope : moving_slope(best, d);
                const double inner = -0.5 * start / (rise - start);
                far = a;
                a = near + (far - near) * (std::isfinite(inner) ? std::clamp(inner, 0.1, 0.5) : 0.1);
                continue;
            }
            trial.g = p_.gradient(trial.y);
            best = trial;
            near = a;
            if (const char* why = p_.reason_to_stop(trial.g)) {
                p_.result.stopped = why;
                break;
            }
            if (far < unlimited || moving_slope(trial, d) >= curvature * slope) break;
            a *= 2;
        }
        const bool lower = best.value < at.value;
        at = best;
        return lower && p_.result.stopped.empty();
    }

private:
    // d's part of the gradient at the point, without entries that are held there
    double moving_slope(const Point& point, const VecX<double>& d) const {
        const Variables& v = p_.variables;
        const auto held = (d.array() < 0 && point.y.array() <= v.lower().array()) ||
                          (d.array() > 0 && point.y.array() >= v.upper().array());
        return held.select(0.0, point.g.array() * d.array()).sum();
    }
    static constexpr double decrease = 1e-4, curvature = 0.9;
    static constexpr int most_trials = 40;
    Problem& p_;
};

struct Lbfgs {
    Point at;
    InverseHessian inverse_hessian;
    explicit Lbfgs(double scale) : inverse_hessian(scale) {}
    template <class Archive> void transfer(Archive& a) {
        a(at.y, at.g, at.value);
        inverse_hessian.transfer(a);
    }
};

}  // namespace

// Each iteration is a line search. The first goes along the gradient, and its first trial is one learning rate long.
void lbfgs(Problem& p) {
    const Variables& v = p.variables;
    Lbfgs state(p.settings.learning_rate);
    auto& [at, inverse_hessian] = state;
    LineSearch search(p);
    if (!p.resume(state)) {
        at.y = v.start();
        at.value = p.value(at.y);
        at.g = p.gradient(at.y);
        if (const char* why = p.reason_to_stop(at.g)) return void(p.result.stopped = why);
    }
    while (true) {
        if (const char* why = p.budget_spent()) return void(p.result.stopped = why);
        const Eigen::Array<bool, Eigen::Dynamic, 1> free =
            !((at.y.array() <= v.lower().array() && at.g.array() > 0) ||
              (at.y.array() >= v.upper().array() && at.g.array() < 0));
        if ((free.select(at.g.array(), 0.0) == 0).all()) return void(p.result.stopped = "converged");
        const Point before = at;
        const VecX<double> d = -inverse_hessian.apply(at.g, free);
        const bool lower = search.descend(at, d);
        if (lower) inverse_hessian.update(at.y - before.y, at.g - before.g);
        if (at.value < before.value) p.end_iteration(state);
        if (!p.result.stopped.empty()) return;
        if (!lower) {
            // half of d g is the decrease that the quadratic model promises
            if (-0.5 * d.dot(at.g) <= 1e-12 * std::abs(at.value)) return void(p.result.stopped = "converged");
            if (inverse_hessian.empty()) return void(p.result.stopped = "the line search failed");
            inverse_hessian.clear();  // once more along the gradient
        }
    }
}

}  // namespace costate
