#include "adjoint/objective.hpp"

#include "core/dual.hpp"
#include "core/integrate.hpp"

namespace costate {

namespace {

// |r|^2 or |r|
template <class T> T norm_value(TermNorm norm, const T& squared) { return norm == TermNorm::squared ? squared : safe_sqrt(squared); }
// The factor of r in r_bar.
template <class T> T norm_factor(TermNorm norm, const T& squared, const T& value_bar) {
    if (norm == TermNorm::squared) return T(2) * value_bar;
    return value_of(squared) > 0 ? T(value_bar / safe_sqrt(squared)) : T(0);
}

// The point of a position, velocity or height term, relative to the common frame of its body's tree.
template <class T> Vec3<T> term_point(const Term& term, const StepScratch<T>& s) {
    return transform_point<T>(s.kinematics.X[static_cast<size_t>(term.body)], cast<T>(term.point));
}

// r of the terms about a point of a body.
template <class T> Vec3<T> point_residual(const World& w, const Term& term, const StepScratch<T>& s) {
    const Vec3<T> p = term_point(term, s);
    const Vec3<T> y = term.kind == TermKind::velocity ? point_velocity<T>(s.kinematics.V[static_cast<size_t>(term.body)], p)
                                                      : Vec3<T>(common_origin(w.model, s.kinematics, term.body) + p);
    return cast<T>(term.axes).cwiseProduct(y - cast<T>(term.target));
}
template <class T> void point_residual_adj(const Term& term, const Vec3<T>& r_bar, StepScratch<T>& s) {
    const size_t body = static_cast<size_t>(term.body);
    const Vec3<T> p = term_point(term, s), y_bar = cast<T>(term.axes).cwiseProduct(r_bar);
    Vec3<T> p_bar = Vec3<T>::Zero(), none = Vec3<T>::Zero();
    if (term.kind == TermKind::velocity) point_velocity_adj(s.kinematics.V[body], p, y_bar, s.bar.V[body], p_bar);
    else p_bar = y_bar;
    transform_point_adj<T>(s.kinematics.X[body], cast<T>(term.point), p_bar, s.bar.X[body], none);
}

// difference(target, q), (nv)
template <class T> VecX<T> configuration_residual(const World& w, const Term& term, const T* x) {
    VecX<T> d(w.nv());
    difference<T>(w.model, cast<T>(term.q_target).eval().data(), x, d.data());
    return d;
}

// r of the terms about bodies in sum.
template <class T> Vec3<T> sum_residual(const World& w, const Term& term, const StepScratch<T>& s) {
    Vec3<T> y;
    switch (term.kind) {
        case TermKind::linear_momentum: y = momentum(w.model, s.kinematics, term.bodies).lin; break;
        case TermKind::angular_momentum: y = momentum(w.model, s.kinematics, term.bodies).ang; break;
        default: y = centre_of_mass(w.model, s.kinematics, term.bodies); break;
    }
    return cast<T>(term.axes).cwiseProduct(y - cast<T>(term.target));
}
template <class T> void sum_residual_adj(const World& w, const Term& term, const Vec3<T>& r_bar, StepScratch<T>& s) {
    const Vec3<T> y_bar = cast<T>(term.axes).cwiseProduct(r_bar), zero = Vec3<T>::Zero();
    switch (term.kind) {
        case TermKind::linear_momentum: momentum_adj<T>(w.model, s.kinematics, term.bodies, {zero, y_bar}, s.bar); break;
        case TermKind::angular_momentum: momentum_adj<T>(w.model, s.kinematics, term.bodies, {y_bar, zero}, s.bar); break;
        default: centre_of_mass_adj(w.model, s.kinematics, term.bodies, y_bar, s.bar); break;
    }
}

bool counts(const Term& term, const FeaturePair& f) { return term.shape < 0 || f.a == term.shape || f.b == term.shape; }

}  // namespace

template <class T> T term_value(const World& w, const Term& term, const T* theta, const T* x, const T* u, const StepScratch<T>& s) {
    T squared(0);
    switch (term.kind) {
        case TermKind::position:
        case TermKind::velocity: squared = point_residual(w, term, s).squaredNorm(); break;
        case TermKind::centre_of_mass:
        case TermKind::linear_momentum:
        case TermKind::angular_momentum: squared = sum_residual(w, term, s).squaredNorm(); break;
        case TermKind::kinetic_energy: return kinetic_energy(s.kinematics, term.bodies);
        case TermKind::potential_energy: return potential_energy(w.model, theta, s.kinematics, term.bodies);
        case TermKind::configuration: {
            const VecX<T> d = configuration_residual(w, term, x);
            for (const int j : term.dofs) squared += d[j] * d[j];
            break;
        }
        case TermKind::joint_velocity:
            for (const int j : term.dofs) squared += x[w.nq() + j] * x[w.nq() + j];
            break;
        case TermKind::effort:
            for (const int n : term.controls) squared += u[n] * u[n];
            break;
        case TermKind::height: return common_origin(w.model, s.kinematics, term.body).z() + term_point(term, s).z();
        case TermKind::impulse: {
            T sum(0);
            for (const RowBlock& b : s.rows.blocks)
                if (b.kind == RowKind::contact && counts(term, s.contacts.points[static_cast<size_t>(b.index)].features)) sum += s.impulses.lambda[static_cast<size_t>(b.row)];
            return sum;
        }
    }
    return norm_value(term.norm, squared);
}

template <class T>
void term_value_adj(const World& w, const Term& term, const T* theta, const T* x, const T* u, const T& value_bar, StepScratch<T>& s, T* theta_bar,
                    T* x_bar, T* u_bar) {
    switch (term.kind) {
        case TermKind::centre_of_mass:
        case TermKind::linear_momentum:
        case TermKind::angular_momentum: {
            const Vec3<T> r = sum_residual(w, term, s);
            sum_residual_adj<T>(w, term, norm_factor<T>(term.norm, r.squaredNorm(), value_bar) * r, s);
            break;
        }
        case TermKind::kinetic_energy: kinetic_energy_adj(s.kinematics, term.bodies, value_bar, s.bar); break;
        case TermKind::potential_energy: potential_energy_adj(w.model, theta, s.kinematics, term.bodies, value_bar, s.bar, theta_bar); break;
        case TermKind::position:
        case TermKind::velocity: {
            const Vec3<T> r = point_residual(w, term, s);
            point_residual_adj<T>(term, norm_factor<T>(term.norm, r.squaredNorm(), value_bar) * r, s);
            break;
        }
        case TermKind::configuration: {
            VecX<T> d = configuration_residual(w, term, x), d_bar = VecX<T>::Zero(w.nv()), unused = VecX<T>::Zero(w.nv());
            T squared(0);
            for (const int j : term.dofs) squared += d[j] * d[j];
            const T factor = norm_factor(term.norm, squared, value_bar);
            for (const int j : term.dofs) d_bar[j] = factor * d[j];
            difference_adj<T>(w.model, cast<T>(term.q_target).eval().data(), x, d_bar.data(), unused.data(), x_bar);
            break;
        }
        case TermKind::joint_velocity: {
            T squared(0);
            for (const int j : term.dofs) squared += x[w.nq() + j] * x[w.nq() + j];
            const T factor = norm_factor(term.norm, squared, value_bar);
            for (const int j : term.dofs) x_bar[w.nv() + j] += factor * x[w.nq() + j];
            break;
        }
        case TermKind::effort: {
            T squared(0);
            for (const int n : term.controls) squared += u[n] * u[n];
            const T factor = norm_factor(term.norm, squared, value_bar);
            for (const int n : term.controls) u_bar[n] += factor * u[n];
            break;
        }
        case TermKind::height: {
            Vec3<T> none = Vec3<T>::Zero();
            const size_t body = static_cast<size_t>(term.body);
            transform_point_adj<T>(s.kinematics.X[body], cast<T>(term.point), Vec3<T>(T(0), T(0), value_bar), s.bar.X[body], none);
            break;
        }
        case TermKind::impulse:
            for (const RowBlock& b : s.rows.blocks)
                if (b.kind == RowKind::contact && counts(term, s.contacts.points[static_cast<size_t>(b.index)].features))
                    s.impulses.lambda_bar[static_cast<size_t>(b.row)] += value_bar;
            break;
    }
}

template <class T> T objective_value(const World& w, const Objective& objective, bool running, const T* theta, const T* x, const T* u, const StepScratch<T>& s) {
    T sum(0);
    for (const Term& term : objective) {
        if (term.running != running) continue;
        const T value = T(term.weight) * term_value(w, term, theta, x, u, s);
        sum += running && term.kind != TermKind::impulse ? theta[w.time_step.at(0)] * value : value;
    }
    return sum;
}

template <class T>
void objective_value_adj(const World& w, const Objective& objective, bool running, const T* theta, const T* x, const T* u, const T& value_bar,
                         StepScratch<T>& s, T* theta_bar, T* x_bar, T* u_bar) {
    for (const Term& term : objective) {
        if (term.running != running) continue;
        T term_bar = T(term.weight) * value_bar;
        if (running && term.kind != TermKind::impulse) {
            theta_bar[w.time_step.at(0)] += term_bar * term_value(w, term, theta, x, u, s);
            term_bar *= theta[w.time_step.at(0)];
        }
        term_value_adj(w, term, theta, x, u, term_bar, s, theta_bar, x_bar, u_bar);
    }
}

#define INSTANTIATE(T)                                                                                                                        \
    template T term_value(const World&, const Term&, const T*, const T*, const T*, const StepScratch<T>&);                                    \
    template void term_value_adj(const World&, const Term&, const T*, const T*, const T*, const T&, StepScratch<T>&, T*, T*, T*);            \
    template T objective_value(const World&, const Objective&, bool, const T*, const T*, const T*, const StepScratch<T>&);                    \
    template void objective_value_adj(const World&, const Objective&, bool, const T*, const T*, const T*, const T&, StepScratch<T>&, T*, T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
