#include "adjoint/check/gradcheck.hpp"

#include "core/math/random.hpp"

#include <algorithm>
#include <functional>
#include <numbers>
#include <numeric>
#include <optional>

namespace costate {

namespace {

struct Sample {
    double loss = 0;
    std::uint64_t hash = 0;
};

// A kind of variable: its rollout as a function of a displacement, its gradient, the scales of its entries,
// their scales in random directions, and their least displacements: where parameters leave their range, a model means
// nothing.
struct Variable {
    std::function<Sample(const VecX<double>&)> rollout;
    VecX<double> gradient;
    VecX<double> scale, weight, least;
    std::function<std::string(int)> name;
};

Sample sample(Rollout<Simulation>& rollout, const VecX<double>& theta, const VecX<double>& x0,
              const VecX<double>& z) {
    Sample s;
    const StepScratch<double>& scratch = rollout.step().scratch();
    s.loss = rollout.forward(theta, x0, z, [&](int, const double*, const double* u) {
        if (u != nullptr) s.hash = (s.hash ^ branch_hash(scratch)) * 0x9e3779b97f4a7c15u + 1;
    });
    if (rollout.divergence()) s.hash = ~s.hash;
    return s;
}

bool in_range(const Variable& v, const VecX<double>& d) { return (d.array() >= v.least.array()).all(); }

// d with the entries that are at the end of their range pointing inwards.
VecX<double> inwards(const Variable& v, const VecX<double>& d) {
    return (v.least.array() == 0).select(d.cwiseAbs(), d);
}

struct Difference {
    double value = 0, error = unlimited;  // the derivative, and a bound of its round-off and truncation
};

// Difference along one displacement, with the best of several steps: central, or one-sided at the end of a range. None
// if the smallest step changes a branch.
std::optional<Difference> difference(const Variable& v, const Sample& base, const VecX<double>& d,
                                     double smallest) {
    constexpr int steps = 4;
    double fd[steps], step[steps];
    int valid = 0;
    for (double e = smallest; valid < steps; ++valid, e *= 10) {
        const bool central = in_range(v, -e * d);
        if (!in_range(v, (central ? e : 2 * e) * d)) break;
        const Sample near = v.rollout(e * d), other = v.rollout((central ? -e : 2 * e) * d);
        if (near.hash != base.hash || other.hash != base.hash) break;
        step[valid] = e;
        fd[valid] = central ? (near.loss - other.loss) / (2 * e)
                            : (4 * (near.loss - base.loss) - (other.loss - base.loss)) / (2 * e);
    }
    if (valid == 0) return std::nullopt;
    // error(step) <= noise/step + curvature step^2. Differences of estimates give noise at small steps and
    // curvature at large steps; the split between small and large steps is chosen with the least bound of the
    // error.
    Difference best;
    for (int change = 1; change <= valid; ++change) {
        double noise = 4e-16 * std::abs(base.loss), curvature = 0;
        for (int k = 1; k < valid; ++k) {
            const double moved = std::abs(fd[k] - fd[k - 1]);
            if (k < change)
                noise = std::max(noise, moved * step[k - 1]);
            else
                curvature = std::max(curvature, moved / (step[k] * step[k]));
        }
        for (int k = 0; k < valid; ++k) {
            const double error = noise / step[k] + curvature * step[k] * step[k];
            if (error < best.error) best = {fd[k], error};
        }
    }
    return best;
}

struct Comparison {
    double difference = 0, magnitude = 0, known_to = 0;
    int worst = -1;
    void add(int index, double adjoint, const Difference& fd) {
        if (std::abs(adjoint - fd.value) > difference || worst < 0) {
            difference = std::abs(adjoint - fd.value);
            worst = index;
        }
        magnitude = std::max(magnitude, std::abs(fd.value));
        known_to = std::max(known_to, fd.error);
    }
    double error(double loss) const {
        const double zero = std::max(known_to, 1e-10 * std::max(1.0, std::abs(loss)));
        return magnitude < zero ? difference : difference / magnitude;
    }
};

double log2(double x) { return log(x) * std::numbers::log2e; }

// Slope of y over x by least squares, and the root mean square of the residuals.
std::pair<double, double> fit_line(const double* x, const double* y, int n) {
    const double mx = std::accumulate(x, x + n, 0.0) / n, my = std::accumulate(y, y + n, 0.0) / n;
    double xy = 0, xx = 0, left = 0;
    for (int i = 0; i < n; ++i) {
        xy += (x[i] - mx) * (y[i] - my);
        xx += (x[i] - mx) * (x[i] - mx);
    }
    for (int i = 0; i < n; ++i) {
        const double beside = y[i] - my - xy / xx * (x[i] - mx);
        left += beside * beside;
    }
    return {xy / xx, std::sqrt(left / n)};
}

void check_taylor(const Variable& v, const Sample& base, const VecX<double>& d, GradcheckKind& kind) {
    constexpr int points = 5, halvings = 38;
    constexpr double least_remainder = 1e-300;
    const double slope = v.gradient.dot(d);
    std::vector<double> log_e, log_remainder;  // for the steps without branch changes, from the largest
    double roundoff = std::max(least_remainder, 1e-16 * std::abs(base.loss));
    for (int k = 0; k < halvings; ++k) {
        const double e = std::ldexp(0.25, -k);
        if (!in_range(v, e * d)) continue;
        const Sample s = v.rollout(e * d);
        if (s.hash != base.hash) {
            log_e.clear();
            log_remainder.clear();
            continue;
        }
        const double remainder = std::abs(s.loss - base.loss - e * slope);
        if (k >= halvings - 8) roundoff = std::max(roundoff, remainder);
        log_e.push_back(log2(e));
        log_remainder.push_back(log2(std::max(remainder, least_remainder)));
    }
    double best_fit = 0.15;  // largest deviation of a window from a line, in powers of two
    for (size_t i = 0; i + points <= log_e.size() && log_remainder[i + points - 1] > log2(8 * roundoff);
         ++i) {
        const auto [order, left] = fit_line(&log_e[i], &log_remainder[i], points);
        if (left < best_fit) {
            best_fit = left;
            kind.taylor_order = order;
            kind.at_roundoff = false;
        }
    }
}

using Done = std::function<void()>;  // called after every stencil

GradcheckKind check_kind(const Variable& v, const Sample& base, const GradcheckOptions& o, unsigned salt,
                         const Done& done) {
    GradcheckKind kind;
    const int n = static_cast<int>(v.gradient.size());
    if (n == 0) return kind;
    Random random(o.seed + salt);
    int rejected = 0;

    std::vector<int> chosen(n);
    std::iota(chosen.begin(), chosen.end(), 0);
    std::shuffle(chosen.begin(), chosen.end(), random.bits());
    chosen.resize(std::min(n, o.components));
    Comparison components, directions;
    for (const int i : chosen) {
        ++kind.stencils;
        done();
        if (const auto fd = difference(v, base, VecX<double>::Unit(n, i), o.step * v.scale[i]))
            components.add(i, v.gradient[i], *fd);
        else
            ++rejected;
    }
    const auto random_direction = [&] {
        VecX<double> d(n);
        for (double& x : d)
            x = random.normal();
        return inwards(v, d.cwiseProduct(v.weight));
    };
    for (int k = 0; k < o.directions; ++k) {
        const VecX<double> d = random_direction();  // entries of about one scale each
        ++kind.stencils;
        done();
        if (const auto fd = difference(v, base, d, o.step))
            directions.add(k, v.gradient.dot(d), *fd);
        else
            ++rejected;
    }
    kind.rejected = static_cast<double>(rejected) / kind.stencils;
    kind.max_relative_error = std::max(components.error(base.loss), directions.error(base.loss));
    if (components.worst >= 0) kind.worst = v.name(components.worst);
    check_taylor(v, base, random_direction(), kind);
    return kind;
}

// The scale of every entry of theta: the largest magnitude in its parameter.
VecX<double> parameter_scales(const ParameterLayout& layout, const VecX<double>& theta) {
    VecX<double> scale(theta.size());
    for (const ParameterLayout::Entry& e : layout.entries()) {
        const double largest = theta.segment(e.offset, e.width).cwiseAbs().maxCoeff();
        scale.segment(e.offset, e.width).setConstant(largest > 0 ? largest : 0.01);
    }
    return scale;
}

// Weights of parameters in random directions. Tilts have small weights: in a closed loop, the loss has a
// large curvature in the product of a tilt and a displacement (divided by the compliance), which would
// dominate a stencil.
VecX<double> parameter_weights(const ParameterLayout& layout) {
    VecX<double> weight = VecX<double>::Ones(layout.size());
    for (const ParameterLayout::Entry& e : layout.entries())
        if (e.path.ends_with("rotation")) weight.segment(e.offset, e.width).setConstant(1e-6);
    return weight;
}

// How far the numbers of theta may move down within their ranges.
VecX<double> room_below(const ParameterLayout& layout, const VecX<double>& theta) {
    VecX<double> room = VecX<double>::Constant(theta.size(), unlimited);
    for (const ParameterLayout::Entry& e : layout.entries())
        if (e.range != ParameterRange::any && e.range != ParameterRange::interval)
            room.segment(e.offset, e.width) = theta.segment(e.offset, e.width);
    return room;
}

// The least displacements of optimizer variables.
VecX<double> least_displacements(const ParameterMap& map, const VecX<double>& room) {
    VecX<double> least = VecX<double>::Constant(size_of(map), -unlimited);
    Eigen::Index k = 0;
    for (const ParameterVariable& v : map) {
        if (v.scale == ParameterScale::linear) least[k] = -room[v.index];
        k += v.size();
    }
    return least;
}

// Scales of optimizer variables: the magnitude of the parameter, or 1 for logarithmic scales.
VecX<double> variable_scales(const ParameterMap& map, const VecX<double>& y) {
    VecX<double> scale = VecX<double>::Ones(y.size());
    Eigen::Index k = 0;
    for (const ParameterVariable& v : map) {
        if (v.scale == ParameterScale::linear) scale[k] = y[k] != 0 ? std::abs(y[k]) : 0.01;
        k += v.size();
    }
    return scale;
}

}  // namespace

GradcheckKind GradcheckReport::worst() const {
    GradcheckKind w = controls;
    for (const GradcheckKind* k : {&initial_state, &parameters, &optimized}) {
        if (k->stencils == 0) continue;
        if (w.stencils == 0) w = *k;
        if (k->max_relative_error > w.max_relative_error) {
            w.max_relative_error = k->max_relative_error;
            w.worst = k->worst;
        }
        w.taylor_order = std::min(w.taylor_order, k->taylor_order);
        w.at_roundoff = w.at_roundoff && k->at_roundoff;
        w.rejected = std::max(w.rejected, k->rejected);
        w.stencils += k->stencils;
    }
    return w;
}

Objective random_linear_objective(const World& w, const VecX<double>& q_end, unsigned seed) {
    Term position;
    position.name = "random weights of positions";
    position.kind = TermKind::configuration;
    position.q_target = q_end;
    position.dofs.resize(w.nv());
    std::iota(position.dofs.begin(), position.dofs.end(), 0);
    Term velocity = position;
    velocity.name = "random weights of velocities";
    velocity.kind = TermKind::joint_velocity;
    Objective objective = residual_components({position, velocity});
    Random random(seed);
    for (Term& term : objective)
        term.weight = random.normal();
    return objective;
}

GradcheckReport gradcheck(Rollout<Simulation>& rollout, const VecX<double>& theta, const VecX<double>& x0,
                          const VecX<double>& z, const GradcheckOptions& options) {
    const World& w = rollout.step().world();
    const Model& m = w.model;
    const Sample base = sample(rollout, theta, x0, z);
    if (rollout.divergence()) throw DivergenceError(m, rollout.divergence());
    Gradient g;
    rollout.backward(theta, z, g);

    const Variable controls{[&](const VecX<double>& d) { return sample(rollout, theta, x0, z + d); },
                            g.controls,
                            z.cwiseAbs().cwiseMax(1.0),
                            z.cwiseAbs().cwiseMax(1.0),
                            VecX<double>::Constant(z.size(), -unlimited),
                            [](int i) { return "control variable " + std::to_string(i); }};
    VecX<double> state_scale = VecX<double>::Ones(w.own_ndx());
    for (const Body& b : m.bodies)
        if (b.nv == 1) state_scale[b.v0] = std::max(1.0, std::abs(x0[b.q0]));
    const int linear = m.nv + w.na();  // velocities and activations
    state_scale.tail(linear) = x0.segment(m.nq, linear).cwiseAbs().cwiseMax(1.0);
    const auto moved = [&](const VecX<double>& d) {
        VecX<double> x = x0;
        retract(m, x0.data(), d.data(), x.data());
        x.segment(m.nq, linear) += d.tail(linear);
        return x;
    };
    const Variable initial_state{
        [&](const VecX<double>& d) { return sample(rollout, theta, moved(d), z); },
        g.initial_state.head(w.own_ndx()),
        state_scale,
        state_scale,
        VecX<double>::Constant(w.own_ndx(), -unlimited),
        [&](int i) {
            return i >= 2 * m.nv
                       ? "activation of " + m.actuators[m.activations[i - 2 * m.nv].actuator].name
                       : std::string(i < m.nv ? "position " : "velocity ") + std::to_string(i % m.nv);
        }};
    // with respect to y, where theta = theta + scale y
    const VecX<double> scale = parameter_scales(m.layout, theta), room = room_below(m.layout, theta);
    const Variable parameters{
        [&](const VecX<double>& d) { return sample(rollout, theta + scale.cwiseProduct(d), x0, z); },
        g.parameters.cwiseProduct(scale),
        VecX<double>::Ones(theta.size()),
        parameter_weights(m.layout),
        -room.cwiseQuotient(scale),
        [&](int i) { return m.layout.element_name(i); }};
    // with respect to the variables of an optimizer
    const ParameterMap& map = options.optimized;
    const VecX<double> y = variables_of(m, map, theta);
    VecX<double> y_bar = VecX<double>::Zero(y.size());
    place_parameters_adj(m, map, y.data(), g.parameters.data(), y_bar.data());
    const auto placed = [&](const VecX<double>& d) {
        VecX<double> moved_theta = theta;
        place_parameters(m, map, VecX<double>(y + d).data(), moved_theta.data());
        return moved_theta;
    };
    const Variable optimized{[&](const VecX<double>& d) { return sample(rollout, placed(d), x0, z); },
                             y_bar,
                             variable_scales(map, y),
                             VecX<double>::Ones(y.size()),
                             least_displacements(map, room),
                             [&](int i) { return variable_name(m, map, i); }};
    int stencils = 0, total = 0;
    for (const Variable* v : {&controls, &initial_state, &parameters, &optimized})
        if (v->gradient.size() > 0)
            total += std::min(options.components, static_cast<int>(v->gradient.size())) + options.directions;
    const Done done = [&] {
        if (options.progress) options.progress(++stencils, total);
    };
    return {base.loss, check_kind(controls, base, options, 0, done),
            check_kind(initial_state, base, options, 1, done), check_kind(parameters, base, options, 2, done),
            check_kind(optimized, base, options, 3, done)};
}

}  // namespace costate
