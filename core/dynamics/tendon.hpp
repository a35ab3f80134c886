// Fixed tendons: a tendon has the length l = sum of c_i q_i over joints with an axis. A force f along it acts
// on joint i with c_i f (MuJoCo documentation, "fixed").
#pragma once

#include "core/math/dual.hpp"
#include "core/model/model.hpp"

namespace costate {

enum class Side : unsigned char { within, lower, upper };

// sum of c_i x_i, with x_i the coordinate or the velocity of joint i
template <class T, class At> T tendon_sum(const Tendon& tendon, const T* theta, const At& at) {
    T sum(0);
    for (size_t i = 0; i < tendon.joints.size(); ++i)
        sum += theta[tendon.coefficients + static_cast<int>(i)] * at(tendon.joints[i]);
    return sum;
}

template <class T> T tendon_length(const Tendon& tendon, const T* theta, const T* q) {
    return tendon_sum(tendon, theta, [&](const TendonJoint& joint) { return q[joint.q]; });
}
template <class T>
void tendon_length_adj(const Tendon& tendon, const T* theta, const T* q, const T& l_bar, T* theta_bar,
                       T* q_bar) {
    for (size_t i = 0; i < tendon.joints.size(); ++i) {
        const int c = tendon.coefficients + static_cast<int>(i);
        theta_bar[c] += l_bar * q[tendon.joints[i].q];
        q_bar[tendon.joints[i].v] += l_bar * theta[c];
    }
}

template <class T> T tendon_velocity(const Tendon& tendon, const T* theta, const T* v) {
    return tendon_sum(tendon, theta, [&](const TendonJoint& joint) { return v[joint.v]; });
}
template <class T>
void tendon_velocity_adj(const Tendon& tendon, const T* theta, const T* v, const T& l_bar, T* theta_bar,
                         T* v_bar) {
    for (size_t i = 0; i < tendon.joints.size(); ++i) {
        const int c = tendon.coefficients + static_cast<int>(i);
        theta_bar[c] += l_bar * v[tendon.joints[i].v];
        v_bar[tendon.joints[i].v] += l_bar * theta[c];
    }
}

// tau_i += c_i f
template <class T> void pull_tendon(const Tendon& tendon, const T* theta, const T& f, T* tau) {
    for (size_t i = 0; i < tendon.joints.size(); ++i)
        tau[tendon.joints[i].v] += theta[tendon.coefficients + static_cast<int>(i)] * f;
}
template <class T>
void pull_tendon_adj(const Tendon& tendon, const T* theta, const T& f, const T* tau_bar, T* theta_bar,
                     T& f_bar) {
    for (size_t i = 0; i < tendon.joints.size(); ++i) {
        const int c = tendon.coefficients + static_cast<int>(i);
        const T& t = tau_bar[tendon.joints[i].v];
        theta_bar[c] += t * f;
        f_bar += t * theta[c];
    }
}

// The side on which the spring of tendon n pulls at the length l: below rest, above rest + slack, or within.
template <class T> Side spring_side(const Model& m, const T* theta, int n, const T& l) {
    const Value<T> length = value_of(l), rest = value_of(theta[m.tendon_rest.at(n)]),
                   slack = value_of(theta[m.tendon_slack.at(n)]);
    return length <= rest ? Side::lower : length >= rest + slack ? Side::upper : Side::within;
}

// The force of the spring and the damper along tendon n, N or N m, at the length l and the rate l':
//   f = stiffness (end - l) - damping l'
// end: rest, or rest + slack of a longer tendon. The spring has no force in between. At an end, the derivative
// is that of the spring.
template <class T> T tendon_force(const Model& m, const T* theta, int n, const T& l, const T& rate) {
    const Side side = spring_side(m, theta, n, l);
    T f(0);
    if (side != Side::within) {
        T end = theta[m.tendon_rest.at(n)];
        if (side == Side::upper) end += theta[m.tendon_slack.at(n)];
        f = theta[m.tendon_stiffness.at(n)] * (end - l);
    }
    return f - theta[m.tendon_damping.at(n)] * rate;
}
template <class T>
void tendon_force_adj(const Model& m, const T* theta, int n, const T& l, const T& rate, const T& f_bar,
                      T* theta_bar, T& l_bar, T& rate_bar) {
    const int damping = m.tendon_damping.at(n), stiffness = m.tendon_stiffness.at(n);
    theta_bar[damping] -= f_bar * rate;
    rate_bar -= f_bar * theta[damping];
    const Side side = spring_side(m, theta, n, l);
    if (side == Side::within) return;
    T end = theta[m.tendon_rest.at(n)];
    const T end_bar = f_bar * theta[stiffness];
    if (side == Side::upper) {
        end += theta[m.tendon_slack.at(n)];
        theta_bar[m.tendon_slack.at(n)] += end_bar;
    }
    theta_bar[stiffness] += f_bar * (end - l);
    theta_bar[m.tendon_rest.at(n)] += end_bar;
    l_bar -= end_bar;
}

// Adds the force of spring and damper of the fixed tendon n. The damper is explicit: its force couples the
// joints of the tendon, and the implicit damping of a step is diagonal.
template <class T>
void passive_tendon(const Model& m, const T* theta, const T* q, const T* v, int n, T* tau) {
    const Tendon& tendon = m.tendons[n];
    pull_tendon<T>(
        tendon, theta,
        tendon_force<T>(m, theta, n, tendon_length(tendon, theta, q), tendon_velocity(tendon, theta, v)),
        tau);
}
template <class T>
void passive_tendon_adj(const Model& m, const T* theta, const T* q, const T* v, int n, const T* tau_bar,
                        T* theta_bar, T* q_bar, T* v_bar) {
    const Tendon& tendon = m.tendons[n];
    const T l = tendon_length(tendon, theta, q), rate = tendon_velocity(tendon, theta, v);
    T f_bar(0), l_bar(0), rate_bar(0);
    pull_tendon_adj<T>(tendon, theta, tendon_force(m, theta, n, l, rate), tau_bar, theta_bar, f_bar);
    tendon_force_adj(m, theta, n, l, rate, f_bar, theta_bar, l_bar, rate_bar);
    tendon_length_adj(tendon, theta, q, l_bar, theta_bar, q_bar);
    tendon_velocity_adj(tendon, theta, v, rate_bar, theta_bar, v_bar);
}

}  // namespace costate
