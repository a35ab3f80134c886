// Definitions of the templates of adjoint/objective/objective.hpp, for the files that instantiate them:
// adjoint/objective/objective.cpp for double and Dual<double>.
#pragma once

#include <cassert>

#include "adjoint/objective/objective.hpp"
#include "core/dynamics/integrate.hpp"

namespace costate {

namespace {

// The norm of a term's residual r.
template <class R> typename R::Scalar norm_value(const Term& term, const R& r) {
    switch (term.norm) {
        case TermNorm::squared: return r.squaredNorm();
        case TermNorm::distance: return safe_sqrt(r.squaredNorm());
        case TermNorm::component: break;
    }
    return r[term.component];
}
// r_bar += ..., where r_bar may be a view
template <class R, class Rbar, class T>
void norm_value_adj(const Term& term, const R& r, const T& value_bar, Rbar&& r_bar) {
    const T squared = r.squaredNorm();
    switch (term.norm) {
        case TermNorm::squared: r_bar += (T(2) * value_bar) * r; break;
        case TermNorm::distance:
            if (value_of(squared) > 0) r_bar += (value_bar / safe_sqrt(squared)) * r;
            break;
        case TermNorm::component: r_bar[term.component] += value_bar; break;
    }
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

// difference(target, q), (nv)
template <class T> VecX<T> configuration_residual(const World& w, const Term& term, const T* x) {
    VecX<T> d(w.nv());
    difference<T>(w.model, cast<T>(term.q_target).eval().data(), x, d.data());
    return d;
}

// r of terms with three numbers: axes o (y - target), or a rotation vector.
template <class T>
Vec3<T> vector_residual(const World& w, const Term& term, const T* theta, const StepScratch<T>& s) {
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
            return quaternion_difference(target, orientation(k.X[term.body]));
        }
        default: assert(false);
    }
    return cast<T>(term.axes).cwiseProduct(y - cast<T>(term.target));
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
            quaternion_difference_adj(target, orientation(k.X[term.body]), r_bar, target_bar, turn_bar);
            orientation_adj(k.X[term.body], turn_bar, s.bar.X[term.body]);
            break;
        }
        default: assert(false);
    }
}

}  // namespace

template <class T>
T term_value(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u,
             const StepScratch<T>& s) {
    switch (term.kind) {
        case TermKind::position:
        case TermKind::velocity:
        case TermKind::angular_velocity:
        case TermKind::orientation:
        case TermKind::centre_of_mass:
        case TermKind::linear_momentum:
        case TermKind::angular_momentum: return norm_value(term, vector_residual(w, term, theta, s));
        case TermKind::kinetic_energy: return kinetic_energy(s.kinematics, term.bodies);
        case TermKind::potential_energy: return potential_energy(w.model, theta, s.kinematics, term.bodies);
        case TermKind::configuration: return norm_value(term, configuration_residual(w, term, x)(term.dofs));
        case TermKind::joint_velocity: return norm_value(term, entries(x + w.nq(), w.nv(), term.dofs));
        case TermKind::effort: return norm_value(term, entries(u, w.nu(), term.controls));
        case TermKind::height:
            return common_origin(w.model, s.kinematics, term.body).z() + term_point(w, term, theta, s).z();
        case TermKind::impulse: return normal_impulse(s, term.shape);
        case TermKind::recording:
            return norm_value(term, recording_residual(w, term.recording, t, theta, x, u, s));
    }
    return T(0);
}

template <class T>
void term_value_adj(const World& w, const Term& term, int t, const T* theta, const T* x, const T* u,
                    const T& value_bar, StepScratch<T>& s, T* theta_bar, T* x_bar, T* u_bar) {
    switch (term.kind) {
        case TermKind::position:
        case TermKind::velocity:
        case TermKind::angular_velocity:
        case TermKind::orientation:
        case TermKind::centre_of_mass:
        case TermKind::linear_momentum:
        case TermKind::angular_momentum: {
            Vec3<T> r_bar = Vec3<T>::Zero();
            norm_value_adj(term, vector_residual(w, term, theta, s), value_bar, r_bar);
            vector_residual_adj<T>(w, term, theta, r_bar, s, theta_bar);
            break;
        }
        case TermKind::kinetic_energy: kinetic_energy_adj(s.kinematics, term.bodies, value_bar, s.bar); break;
        case TermKind::potential_energy:
            potential_energy_adj(w.model, theta, s.kinematics, term.bodies, value_bar, s.bar, theta_bar);
            break;
        case TermKind::configuration: {
            VecX<T> d_bar = VecX<T>::Zero(w.nv()), unused = VecX<T>::Zero(w.nv());
            norm_value_adj(term, configuration_residual(w, term, x)(term.dofs), value_bar, d_bar(term.dofs));
            difference_adj<T>(w.model, cast<T>(term.q_target).eval().data(), x, d_bar.data(), unused.data(),
                              x_bar);
            break;
        }
        case TermKind::joint_velocity:
            norm_value_adj(term, entries(x + w.nq(), w.nv(), term.dofs), value_bar,
                           entries(x_bar + w.nv(), w.nv(), term.dofs));
            break;
        case TermKind::effort:
            norm_value_adj(term, entries(u, w.nu(), term.controls), value_bar,
                           entries(u_bar, w.nu(), term.controls));
            break;
        case TermKind::height:
            term_point_adj<T>(w, term, theta, Vec3<T>(T(0), T(0), value_bar), s, theta_bar);
            break;
        case TermKind::impulse: normal_impulse_adj(s, term.shape, value_bar); break;
        case TermKind::recording: {
            const VecX<T> r = recording_residual(w, term.recording, t, theta, x, u, s);
            VecX<T> r_bar = VecX<T>::Zero(r.size());
            norm_value_adj(term, r, value_bar, r_bar);
            recording_residual_adj(w, term.recording, t, theta, x, s, r_bar.data(), theta_bar, x_bar, u_bar);
            break;
        }
    }
}

template <class T>
T objective_value(const World& w, const Objective& objective, bool running, int t, const T* theta, const T* x,
                  const T* u, const StepScratch<T>& s) {
    T sum(0);
    for (const Term& term : objective) {
        if (term.running != running) continue;
        const T value = T(term.weight) * term_value(w, term, t, theta, x, u, s);
        sum += running && traits_of(term.kind).per_second ? w.h(theta) * value : value;
    }
    return sum;
}

template <class T>
void objective_value_adj(const World& w, const Objective& objective, bool running, int t, const T* theta,
                         const T* x, const T* u, const T& value_bar, StepScratch<T>& s, T* theta_bar,
                         T* x_bar, T* u_bar) {
    for (const Term& term : objective) {
        if (term.running != running) continue;
        T term_bar = T(term.weight) * value_bar;
        if (running && traits_of(term.kind).per_second) {
            w.h(theta_bar) += term_bar * term_value(w, term, t, theta, x, u, s);
            term_bar *= w.h(theta);
        }
        term_value_adj(w, term, t, theta, x, u, term_bar, s, theta_bar, x_bar, u_bar);
    }
}

}  // namespace costate
