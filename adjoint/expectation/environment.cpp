#include "adjoint/expectation/environment.hpp"

#include "core/dynamics/integrate.hpp"

namespace costate {
namespace {

using Of = EnvironmentNumbers::Of;

double factor_of(const RandomParameter& p, const EnvironmentNumbers& numbers) {
    const double middle = 0.5 * (p.lower + p.upper), half = 0.5 * (p.upper - p.lower);
    return middle + half * numbers(Of::parameter, static_cast<std::uint64_t>(p.offset));
}

VecX<double> displacement(const Randomization& r, const EnvironmentNumbers& numbers) {
    VecX<double> d = r.start;
    for (int i = 0; i < d.size(); ++i)
        d[i] *= numbers(Of::start, static_cast<std::uint64_t>(i));
    return d;
}

}  // namespace

RolloutInputs environment_inputs(const World& w, const Randomization& r, std::int64_t e,
                                 const RolloutInputs& shared) {
    const EnvironmentNumbers numbers(r.seed, e);
    RolloutInputs in = shared;
    for (const RandomParameter& p : r.parameters)
        for (int k = 0; k < p.width; ++k) {
            if (p.factor) {
                in.theta[p.offset + k] *= factor_of(p, numbers);
            } else {
                RandomParameter own = p;
                own.offset += k;
                in.theta[p.offset + k] += factor_of(own, numbers);
            }
        }
    if (r.start.size() == 0) return in;
    const VecX<double> d = displacement(r, numbers);
    retract(w.model, shared.x0.data(), d.data(), in.x0.data());
    in.x0.segment(w.nq(), w.nv() + w.na()) += d.tail(w.nv() + w.na());
    return in;
}

void pull_back_environment(const World& w, const Randomization& r, std::int64_t e,
                           const RolloutInputs& shared, Gradient& g) {
    const EnvironmentNumbers numbers(r.seed, e);
    for (const RandomParameter& p : r.parameters)
        if (p.factor) g.parameters.segment(p.offset, p.width) *= factor_of(p, numbers);
    if (r.start.size() == 0) return;
    const VecX<double> d = displacement(r, numbers);
    VecX<double> q_bar = VecX<double>::Zero(w.nv()), d_bar = q_bar;
    retract_adj(w.model, shared.x0.data(), d.data(), g.initial_state.data(), q_bar.data(), d_bar.data());
    g.initial_state.head(w.nv()) = q_bar;
}

void noisy_control(const Randomization& r, const EnvironmentNumbers& numbers, int t,
                   Eigen::Ref<const VecX<double>> u, double* noisy) {
    const auto nu = static_cast<std::uint64_t>(u.size());
    for (int n = 0; n < u.size(); ++n) {
        noisy[n] = u[n];
        if (r.controls.size() > 0)
            noisy[n] += r.controls[n] * numbers(Of::control, static_cast<std::uint64_t>(t) * nu + n);
    }
}

}  // namespace costate
