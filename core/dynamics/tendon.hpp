// Fixed tendons: a tendon has the length l = sum of c_i q_i over joints with an axis. A force f along it acts
// on joint i with c_i f (MuJoCo documentation, "fixed").
#pragma once

#include "core/model/model.hpp"

namespace costate {

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

// f = stiffness (rest - l)
template <class T> void tendon_spring(const Model& m, const T* theta, const T* q, int n, T* tau) {
    const T& k = theta[m.tendon_stiffness.at(n)];
    pull_tendon<T>(m.tendons[n], theta,
                   k * (theta[m.tendon_rest.at(n)] - tendon_length(m.tendons[n], theta, q)), tau);
}
template <class T>
void tendon_spring_adj(const Model& m, const T* theta, const T* q, int n, const T* tau_bar, T* theta_bar,
                       T* q_bar) {
    const T& k = theta[m.tendon_stiffness.at(n)];
    const T stretch = theta[m.tendon_rest.at(n)] - tendon_length(m.tendons[n], theta, q);
    T f_bar(0);
    pull_tendon_adj<T>(m.tendons[n], theta, k * stretch, tau_bar, theta_bar, f_bar);
    theta_bar[m.tendon_stiffness.at(n)] += f_bar * stretch;
    theta_bar[m.tendon_rest.at(n)] += f_bar * k;
    tendon_length_adj<T>(m.tendons[n], theta, q, -f_bar * k, theta_bar, q_bar);
}

}  // namespace costate
