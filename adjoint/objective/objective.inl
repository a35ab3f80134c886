// Definitions of the templates of adjoint/objective/objective.hpp, for the files that instantiate them:
// adjoint/objective/objective.cpp for double and Dual<double>.
#pragma once

#include <cassert>

#include "adjoint/objective/objective.hpp"
#include "core/dynamics/integrate.hpp"
#include "core/math/elementary.hpp"
#include "core/math/lanes.hpp"
#include "solvers/sensors/sensors.hpp"

namespace costate {

namespace {

// A residual of one number.
template <class T> using Single = Eigen::Matrix<T, 1, 1>;
template <class T> using Vec2 = Eigen::Matrix<T, 2, 1>;

// The norm of a residual r, or of its excess. In the adjoints, r_bar may be a view.
template <class R> typename R::Scalar norm_value(const Term& term, const R& r) {
    using T = typename R::Scalar;
    T sum(0);
    switch (norm_of(term)) {
        case TermNorm::standard:
        case TermNorm::squared: return r.squaredNorm();
        case TermNorm::distance: return safe_sqrt(r.squaredNorm());
        case TermNorm::linear: return r.sum();
        case TermNorm::huber:
            for (Eigen::Index k = 0; k < r.size(); ++k) {
                const T size = where(r[k] < T(0), T(-r[k]), T(r[k])), d(term.threshold);
                sum += where(size <= d, T(size * size), T(d * (T(2) * size - d)));
            }
            return sum;
        case TermNorm::component: break;
    }
    return r[term.component];
}
template <class R, class Rbar, class T>
void norm_value_adj(const Term& term, const R& r, const T& value_bar, Rbar&& r_bar) {
    const T squared = r.squaredNorm(), d(term.threshold);
    switch (norm_of(term)) {
        case TermNorm::standard:
        case TermNorm::squared: r_bar += (T(2) * value_bar) * r; break;
        case TermNorm::distance:
            if (value_of(squared) > 0) r_bar += (value_bar / safe_sqrt(squared)) * r;
            break;
        case TermNorm::linear:
            for (Eigen::Index k = 0; k < r.size(); ++k)
                r_bar[k] += value_bar;
            break;
        case TermNorm::huber:
            for (Eigen::Index k = 0; k < r.size(); ++k)
                r_bar[k] += (T(2) * value_bar) * clamp_value<T>(r[k], T(-d), d);
            break;
        case TermNorm::component: r_bar[term.component] += value_bar; break;
    }
}

// The excess of a residual at step t, with its shift, over the bounds of the term, by components.
template <class T> T shifted(const Term& term, int t, const T& r, Eigen::Index k) {
    return term.shift.empty() ? r : T(r + T(term.shift.at(t)[k]));
}
template <class R> typename R::PlainObject excess(const Term& term, int t, const R& r) {
    using T = typename R::Scalar;
    typename R::PlainObject e = r;
    for (Eigen::Index k = 0; k < r.size(); ++k) {
        const T y = shifted<T>(term, t, r[k], k);
        const T below = T(term.lower[k]) - y, above = y - T(term.upper[k]);
        e[k] = where(above > T(0), above, where(below > T(0), below, T(0)));
    }
    return e;
}
template <class R, class Ebar, class Rbar>
void excess_adj(const Term& term, int t, const R& r, const Ebar& e_bar, Rbar&& r_bar) {
    using T = typename R::Scalar;
    for (Eigen::Index k = 0; k < r.size(); ++k) {
        const T y = shifted<T>(term, t, r[k], k);
        const T up = r_bar[k] + e_bar[k], down = r_bar[k] - e_bar[k], same = r_bar[k];
        r_bar[k] = where(value_of(y) > Value<T>(term.upper[k]), up,
                         where(value_of(y) < Value<T>(term.lower[k]), down, same));
    }
}

template <class R> typename R::Scalar bounded_value(const Term& term, int t, const R& r) {
    return term.bounded() ? norm_value(term, excess(term, t, r)) : norm_value(term, r);
}
template <class R, class Rbar, class T>
void bounded_value_adj(const Term& term, int t, const R& r, const T& value_bar, Rbar&& r_bar) {
    if (!term.bounded()) return norm_value_adj(term, r, value_bar, r_bar);
    const typename R::PlainObject e = excess(term, t, r);
    typename R::PlainObject e_bar = e;
    e_bar.setZero();
    norm_value_adj(term, e, value_bar, e_bar);
    excess_adj(term, t, r, e_bar, r_bar);
}

// The value of a term with the residual r at step t.
template <class R> typename R::Scalar residual_value(const Term& term, int t, const R& r) {
    if (!term.length) return bounded_value(term, t, r);
    return bounded_value(term, t, Single<typename R::Scalar>(safe_sqrt(r.squaredNorm())));
}
template <class R, class Rbar, class T>
void residual_value_adj(const Term& term, int t, const R& r, const T& value_bar, Rbar&& r_bar) {
    if (!term.length) return bounded_value_adj(term, t, r, value_bar, r_bar);
    const Single<T> length(safe_sqrt(r.squaredNorm()));
    Single<T> length_bar(T(0));
    bounded_value_adj(term, t, length, value_bar, length_bar);
    if (value_of(length[0]) > 0) r_bar += (length_bar[0] / length[0]) * r;
}

// The value of a term that compares the numbers y with its reference: r = factors o (y - reference).
inline bool has_reference(const Term& term) { return !term.reference.empty() || term.factors.size() > 0; }
template <class Y> typename Y::PlainObject compared(const Term& term, int t, const Y& y) {
    using T = typename Y::Scalar;
    typename Y::PlainObject r = y;
    for (Eigen::Index k = 0; k < r.size(); ++k) {
        if (!term.reference.empty()) r[k] -= T(term.reference.at(t)[k]);
        if (term.factors.size() > 0) r[k] *= T(term.factors[k]);
    }
    return r;
}
template <class Y> typename Y::Scalar compared_value(const Term& term, int t, const Y& y) {
    return has_reference(term) ? residual_value(term, t, compared(term, t, y)) : residual_value(term, t, y);
}
template <class Y, class Ybar, class T>
void compared_value_adj(const Term& term, int t, const Y& y, const T& value_bar, Ybar&& y_bar) {
    if (!has_reference(term)) return residual_value_adj(term, t, y, value_bar, y_bar);
    const typename Y::PlainObject r = compared(term, t, y);
    typename Y::PlainObject r_bar = r;
    r_bar.setZero();
    residual_value_adj(term, t, r, value_bar, r_bar);
    for (Eigen::Index k = 0; k < r.size(); ++k)
        y_bar[k] += term.factors.size() > 0 ? T(T(term.factors[k]) * r_bar[k]) : r_bar[k];
}

// The entries `indices` of the n numbers at p.
template <class T> auto entries(T* p, int n, const std::vector<int>& indices) {
    return Eigen::Map<std::conditional_t<std::is_const_v<T>, const VecX<std::remove_const_t<T>>, VecX<T>>>(
        p, n)(indices);
}

// The point of a position, velocity or height term: in its body, and in the common frame of the body's tree.
template <class T> Vec3<T> body_point(const World& w, const Term& term, const T* theta) {
    return term.site < 0 ? Vec3<T>(cast<T>(term.point)) : load3(theta + w.model.site_position.at(term.site));
}
template <class T>
Vec3<T> term_point(const World& w, const Term& term, const T* theta, const StepScratch<T>& s) {
    return transform_point<T>(s.kinematics.X[term.body], body_point(w, term, theta));
}
template <class T>
void term_point_adj(const World& w, const Term& term, const T* theta, const Vec3<T>& p_bar, StepScratch<T>& s,
                    T* theta_bar) {
    const size_t body = term.body;
    Vec3<T> point_bar = Vec3<T>::Zero();
    transform_point_adj<T>(s.kinematics.X[body], body_point(w, term, theta), p_bar, s.bar.X[body], point_bar);
    if (term.site >= 0) add3<T>(theta_bar + w.model.site_position.at(term.site), point_bar);
}

// The number of terms with one.
template <class T>
T scalar_number(const World& w, const Term& term, const T* theta, const StepScratch<T>& s) {
    const Kinematics<T>& k = s.kinematics;
    switch (term.kind) {
        case TermKind::height:
            return common_origin(w.model, k, term.body).z() + term_point(w, term, theta, s).z();
        case TermKind::kinetic_energy: return kinetic_energy(k, term.bodies);
        case TermKind::potential_energy: return potential_energy(w.model, theta, k, term.bodies);
        case TermKind::impulse: return normal_impulse(s, term.shape);
        default: assert(false);
    }
    return T(0);
}
template <class T>
void scalar_number_adj(const World& w, const Term& term, const T* theta, const T& y_bar, StepScratch<T>& s,
                       T* theta_bar) {
    switch (term.kind) {
        case TermKind::height:
            return term_point_adj<T>(w, term, theta, Vec3<T>(T(0), T(0), y_bar), s, theta_bar);
        case TermKind::kinetic_energy: return kinetic_energy_adj(s.kinematics, term.bodies, y_bar, s.bar);
        case TermKind::potential_energy:
            return potential_energy_adj(w.model, theta, s.kinematics, term.bodies, y_bar, s.bar, theta_bar);
        case TermKind::impulse: return normal_impulse_adj(s, term.shape, y_bar);
        default: assert(false);
    }
}

// The configuration (nq) that a term aims at.
template <class T> VecX<T> target_configuration(const World& w, const Term& term, int t) {
    if (term.reference.empty()) return cast<T>(term.q_target);
    return Eigen::Map<const VecX<double>>(term.reference.at(t), w.nq()).cast<T>();
}
// difference(target, q), (nv)
template <class T> VecX<T> configuration_residual(const World& w, const Term& term, int t, const T* x) {
    VecX<T> d(w.nv());
    difference<T>(w.model, target_configuration<T>(w, term, t).data(), x, d.data());
    return d;
}

// The numbers of a term's sensors.
template <class T>
VecX<T> sensor_numbers(const World& w, const Term& term, const StepInputs<T>& in, const StepScratch<T>& s,
                       SensorScratch<T>& scratch) {
    VecX<T> y(term.sensors.back().offset + term.sensors.back().size);
    sensor_values(w, term.sensors, in, s, scratch, y.data());
    return y;
}
// f v of each actuator, from the numbers (f, v, f, v, ...)
template <class T> VecX<T> products(const VecX<T>& y) {
    VecX<T> p(y.size() / 2);
    for (Eigen::Index k = 0; k < p.size(); ++k)
        p[k] = y[2 * k] * y[2 * k + 1];
    return p;
}
template <class T> VecX<T> products_bar(const VecX<T>& y, const VecX<T>& p_bar) {
    VecX<T> y_bar(y.size());
    for (Eigen::Index k = 0; k < p_bar.size(); ++k) {
        y_bar[2 * k] = p_bar[k] * y[2 * k + 1];
        y_bar[2 * k + 1] = p_bar[k] * y[2 * k];
    }
    return y_bar;
}

// Pose of the body or the site of an orientation, in the common frame.
template <class T>
Transform<T> term_frame(const World& w, const Term& term, const T* theta, const Kinematics<T>& k) {
    return term.site < 0 ? k.X[term.body] : site_frame(w.model, theta, k, term.site);
}
template <class T>
void term_frame_adj(const World& w, const Term& term, const T* theta, const Kinematics<T>& k,
                    const Transform<T>& X, const Force<T>& X_bar, KinematicsBar<T>& bar, T* theta_bar) {
    if (term.site < 0)
        bar.X[term.body] += X_bar;
    else
        site_frame_adj(w.model, theta, k, term.site, X, X_bar, bar, theta_bar);
}

// r of a clearance: v_xy s(z) with s = (1 + e^(z/c))^(-1/2), ds/dz = -s (1 - s^2)/(2 c)
template <class T> struct Clearance {
    Vec3<T> point, velocity;  // in the common frame; world axes
    T share;                  // s
};
template <class T>
Clearance<T> clearance_of(const World& w, const Term& term, const T* theta, const StepScratch<T>& s) {
    using std::sqrt;
    const Kinematics<T>& k = s.kinematics;
    Clearance<T> c;
    c.point = term_point(w, term, theta, s);
    c.velocity = point_velocity<T>(k.V[term.body], c.point);
    const T z = common_origin(w.model, k, term.body).z() + c.point.z();
    const T ratio = z / T(term.clearance), size = where(ratio < T(0), T(-ratio), ratio);
    c.share = where(ratio > T(0), T(exp(T(-0.5) * size)), T(1)) / sqrt(T(1) + exp(-size));
    return c;
}
template <class T>
Vec2<T> clearance_residual(const World& w, const Term& term, const T* theta, const StepScratch<T>& s) {
    const Clearance<T> c = clearance_of(w, term, theta, s);
    return c.share * c.velocity.template head<2>();
}
template <class T>
void clearance_residual_adj(const World& w, const Term& term, const T* theta, const Vec2<T>& r_bar,
                            StepScratch<T>& s, T* theta_bar) {
    const Clearance<T> c = clearance_of(w, term, theta, s);
    const Vec3<T> v_bar(c.share * r_bar[0], c.share * r_bar[1], T(0));
    const T slope = -c.share * (T(1) - c.share * c.share) / T(2 * term.clearance);
    Vec3<T> p_bar(T(0), T(0), slope * r_bar.dot(c.velocity.template head<2>()));
    point_velocity_adj(s.kinematics.V[term.body], c.point, v_bar, s.bar.V[term.body], p_bar);
    term_point_adj<T>(w, term, theta, p_bar, s, theta_bar);
}

// r of a symmetry
template <class T> VecX<T> symmetry_residual(const World& w, const Term& term, const T* u) {
    return entries(u, w.nu(), term.controls) -
           cast<T>(term.mirror).cwiseProduct(entries(u, w.nu(), term.partners));
}
template <class T> void symmetry_residual_adj(const Term& term, const VecX<T>& r_bar, T* u_bar) {
    for (Eigen::Index k = 0; k < r_bar.size(); ++k) {
        u_bar[term.controls[k]] += r_bar[k];
        u_bar[term.partners[k]] -= T(term.mirror[k]) * r_bar[k];
    }
}

// r of terms with three numbers: axes o (y - target), or a rotation vector.
template <class T>
Vec3<T> vector_residual(const World& w, const Term& term, int t, const T* theta, const StepScratch<T>& s) {
    const Kinematics<T>& k = s.kinematics;
    Vec3<T> y = Vec3<T>::Zero();
    switch (term.kind) {
        case TermKind::position:
            y = common_origin(w.model, k, term.body) + term_point(w, term, theta, s);
            break;
        case TermKind::velocity: y = point_velocity<T>(k.V[term.body], term_point(w, term, theta, s)); break;
        case TermKind::angular_velocity: y = k.V[term.body].ang; break;
        case TermKind::linear_momentum: y = momentum(w.model, k, term.bodies).lin; break;
        case TermKind::angular_momentum: y = momentum(w.model, k, term.bodies).ang; break;
        case TermKind::centre_of_mass: y = centre_of_mass(w.model, k, term.bodies); break;
        case TermKind::orientation: {
            const Quaternion<T> target{T(term.orientation.w), cast<T>(term.orientation.v)};
            return quaternion_difference(target, orientation(term_frame(w, term, theta, k)));
        }
        default: assert(false);
    }
    const Vec3<double> target = term.reference.empty() ? term.target : load3(term.reference.at(t));
    return cast<T>(term.axes).cwiseProduct(y - cast<T>(target));
}
template <class T>
void vector_residual_adj(const World& w, const Term& term, const T* theta, const Vec3<T>& r_bar,
                         StepScratch<T>& s, T* theta_bar) {
    const Kinematics<T>& k = s.kinematics;
    const Vec3<T> y_bar = cast<T>(term.axes).cwiseProduct(r_bar), zero = Vec3<T>::Zero();
    switch (term.kind) {
        case TermKind::position: term_point_adj<T>(w, term, theta, y_bar, s, theta_bar); break;
        case TermKind::velocity: {
            Vec3<T> p_bar = zero;
            point_velocity_adj(k.V[term.body], term_point(w, term, theta, s), y_bar, s.bar.V[term.body],
                               p_bar);
            term_point_adj<T>(w, term, theta, p_bar, s, theta_bar);
            break;
        }
        case TermKind::angular_velocity: s.bar.V[term.body].ang += y_bar; break;
        case TermKind::linear_momentum: momentum_adj<T>(w.model, k, term.bodies, {zero, y_bar}, s.bar); break;
        case TermKind::angular_momentum:
            momentum_adj<T>(w.model, k, term.bodies, {y_bar, zero}, s.bar);
            break;
        case TermKind::centre_of_mass: centre_of_mass_adj(w.model, k, term.bodies, y_bar, s.bar); break;
        case TermKind::orientation: {
            const Quaternion<T> target{T(term.orientation.w), cast<T>(term.orientation.v)};
            Vec3<T> target_bar = zero, turn_bar = zero;
            const Transform<T> X = term_frame(w, term, theta, k);
            Force<T> X_bar = Force<T>::zero();
            quaternion_difference_adj(target, orientation(X), r_bar, target_bar, turn_bar);
            orientation_adj(X, turn_bar, X_bar);
            term_frame_adj(w, term, theta, k, X, X_bar, s.bar, theta_bar);
            break;
        }
        default: assert(false);
    }
}

}  // namespace

template <class T>
T term_value(const World& w, const Term& term, int t, const StepInputs<T>& in, const StepScratch<T>& s) {
    const T *theta = in.theta, *x = in.x, *u = in.u;
    switch (term.kind) {
        case TermKind::position:
        case TermKind::velocity:
        case TermKind::angular_velocity:
        case TermKind::orientation:
        case TermKind::centre_of_mass:
        case TermKind::linear_momentum:
        case TermKind::angular_momentum:
            return residual_value(term, t, vector_residual(w, term, t, theta, s));
        case TermKind::height:
        case TermKind::impulse:
        case TermKind::kinetic_energy:
        case TermKind::potential_energy:
            return compared_value(term, t, Single<T>(scalar_number(w, term, theta, s)));
        case TermKind::configuration:
            return residual_value(term, t, configuration_residual(w, term, t, x)(term.dofs));
        case TermKind::joint_velocity: return compared_value(term, t, entries(x + w.nq(), w.nv(), term.dofs));
        case TermKind::effort: return compared_value(term, t, entries(u, w.nu(), term.controls));
        case TermKind::clearance: return compared_value(term, t, clearance_residual(w, term, theta, s));
        case TermKind::symmetry: return compared_value(term, t, symmetry_residual(w, term, u));
        case TermKind::recording:
            return residual_value(term, t, recording_residual(w, term.recording, t, in, s));
        case TermKind::sensor:
        case TermKind::power:
            if constexpr (is_lanes<T>) {
                throw LanesPart();  // sensors are not computed in lanes
            } else {
                SensorScratch<T> scratch(w);
                const VecX<T> y = sensor_numbers(w, term, in, s, scratch);
                return compared_value(term, t, term.kind == TermKind::power ? products(y) : y);
            }
    }
    return T(0);
}

template <class T>
void term_value_adj(const World& w, const Term& term, int t, const StepInputs<T>& in, const T& value_bar,
                    StepScratch<T>& s, const StepInputBars<T>& bar) {
    const T *theta = in.theta, *x = in.x, *u = in.u;
    switch (term.kind) {
        case TermKind::position:
        case TermKind::velocity:
        case TermKind::angular_velocity:
        case TermKind::orientation:
        case TermKind::centre_of_mass:
        case TermKind::linear_momentum:
        case TermKind::angular_momentum: {
            Vec3<T> r_bar = Vec3<T>::Zero();
            residual_value_adj(term, t, vector_residual(w, term, t, theta, s), value_bar, r_bar);
            vector_residual_adj<T>(w, term, theta, r_bar, s, bar.theta);
            break;
        }
        case TermKind::height:
        case TermKind::impulse:
        case TermKind::kinetic_energy:
        case TermKind::potential_energy: {
            Single<T> y_bar(T(0));
            compared_value_adj(term, t, Single<T>(scalar_number(w, term, theta, s)), value_bar, y_bar);
            scalar_number_adj<T>(w, term, theta, y_bar[0], s, bar.theta);
            break;
        }
        case TermKind::configuration: {
            VecX<T> d_bar = VecX<T>::Zero(w.nv()), unused = VecX<T>::Zero(w.nv());
            residual_value_adj(term, t, configuration_residual(w, term, t, x)(term.dofs), value_bar,
                               d_bar(term.dofs));
            difference_adj<T>(w.model, target_configuration<T>(w, term, t).data(), x, d_bar.data(),
                              unused.data(), bar.x);
            break;
        }
        case TermKind::joint_velocity:
            compared_value_adj(term, t, entries(x + w.nq(), w.nv(), term.dofs), value_bar,
                               entries(bar.x + w.nv(), w.nv(), term.dofs));
            break;
        case TermKind::effort:
            compared_value_adj(term, t, entries(u, w.nu(), term.controls), value_bar,
                               entries(bar.u, w.nu(), term.controls));
            break;
        case TermKind::clearance: {
            Vec2<T> r_bar = Vec2<T>::Zero();
            compared_value_adj(term, t, clearance_residual(w, term, theta, s), value_bar, r_bar);
            clearance_residual_adj<T>(w, term, theta, r_bar, s, bar.theta);
            break;
        }
        case TermKind::symmetry: {
            const VecX<T> r = symmetry_residual(w, term, u);
            VecX<T> r_bar = VecX<T>::Zero(r.size());
            compared_value_adj(term, t, r, value_bar, r_bar);
            symmetry_residual_adj(term, r_bar, bar.u);
            break;
        }
        case TermKind::recording: {
            const VecX<T> r = recording_residual(w, term.recording, t, in, s);
            VecX<T> r_bar = VecX<T>::Zero(r.size());
            residual_value_adj(term, t, r, value_bar, r_bar);
            recording_residual_adj(w, term.recording, t, in, s, r_bar.data(), bar);
            break;
        }
        case TermKind::sensor:
        case TermKind::power:
            if constexpr (is_lanes<T>) {
                throw LanesPart();
            } else {
                SensorScratch<T> scratch(w);
                const VecX<T> y = sensor_numbers(w, term, in, s, scratch);
                const bool multiply = term.kind == TermKind::power;
                const VecX<T> out = multiply ? products(y) : y;
                VecX<T> y_bar = VecX<T>::Zero(out.size());
                compared_value_adj(term, t, out, value_bar, y_bar);
                if (multiply) y_bar = products_bar(y, y_bar);
                sensor_values_adj(w, term.sensors, in, s, scratch, y_bar.data(), bar);
            }
            break;
    }
}

template <class T>
T term_share(const World& w, const Term& term, bool running, int t, const StepInputs<T>& in,
             const StepScratch<T>& s) {
    if (!counts(term, running, t)) return T(0);
    const T value = T(term.weight) * term_value(w, term, t, in, s);
    return is_integral(term) ? T(w.h(in.theta) * value) : value;
}

template <class T>
T objective_value(const World& w, const Objective& objective, bool running, int t, const StepInputs<T>& in,
                  const StepScratch<T>& s) {
    T sum(0);
    for (const Term& term : objective)
        sum += term_share(w, term, running, t, in, s);
    return sum;
}

template <class T>
void objective_value_adj(const World& w, const Objective& objective, bool running, int t,
                         const StepInputs<T>& in, const T& value_bar, StepScratch<T>& s,
                         const StepInputBars<T>& bar) {
    for (const Term& term : objective) {
        if (!counts(term, running, t)) continue;
        T term_bar = T(term.weight) * value_bar;
        if (is_integral(term)) {
            w.h(bar.theta) += term_bar * term_value(w, term, t, in, s);
            term_bar *= w.h(in.theta);
        }
        term_value_adj(w, term, t, in, term_bar, s, bar);
    }
}

}  // namespace costate
