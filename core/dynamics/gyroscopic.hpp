// The gyroscopic torque of a free rigid body at the middle of a step. A step evaluates its bias force at its
// beginning, which lets a tumbling body gain energy: 18 % in ten seconds at 20 rad/s and steps of 1 ms. For
// Euler's equations, which are quadratic, one Newton step on the implicit midpoint rule is Kahan's
// discretization,
//
//   I (w+ - w)/h + (w x I w+ + w+ x I w)/2 = torque
//
// whose energy and momentum stay bounded (Hirota & Kimura, Discretization of the Euler top, J. Phys. Soc.
// Japan 69, 2000). The step already includes the bias w x I w at its beginning, so the correction added to
// the joint forces is the difference between both, without other torques:
//
//   tau = w x I w - I y,    K y = w x I w,   K y = I y + (h/2)(w x I y + y x I w),    y = -(w+ - w)/h
//
// It applies only to trees of one body on a free or a spherical joint, where w is the velocity of the three
// rotational dofs, in body axes. I is about the centre of mass for a free joint, and about the joint for a
// spherical joint.
#pragma once

#include <Eigen/LU>

#include "core/dynamics/kinematics.hpp"
#include "core/math/bar.hpp"

namespace costate {

enum class TurnsAbout : unsigned char { centre_of_mass, origin };
template <> struct BarOf<TurnsAbout> { using type = NoBar; };

// I_c, or I_c + m (|c|^2 1 - c c^T) about the origin of the body.
template <class T> Mat3<T> turning_inertia(const MassProperties<T>& B, TurnsAbout about) {
    if (about == TurnsAbout::centre_of_mass) return B.I;
    return B.I + B.m * (B.c.squaredNorm() * Mat3<T>::Identity() - B.c * B.c.transpose());
}

template <class T> Mat3<T> gyroscopic_matrix(const Mat3<T>& I, const Vec3<T>& w, const T& h) {
    const Vec3<T> Iw = I * w;
    return I + T(0.5) * h * (skew(w) * I - skew(Iw));
}

// tau, N m, at the angular velocity w, rad/s, in body axes, for a time step h, s
template <class T>
Vec3<T> gyroscopic_correction(const MassProperties<T>& B, const TurnsAbout& about, const Vec3<T>& w,
                              const T& h) {
    const Mat3<T> I = turning_inertia(B, about);
    const Vec3<T> Iw = I * w, g = w.cross(Iw);
    const Vec3<T> y = gyroscopic_matrix(I, w, h).inverse() * g;
    return g - I * y;
}
// z = -K^-T I tau_bar,   g_bar = tau_bar + z,   I_bar -= g_bar y^T;
// from g:  w_bar += I w x g_bar + I (g_bar x w);   from K y with y fixed:  -(h/2) z . (w x I y + y x I w)
template <class T>
void gyroscopic_correction_adj(const MassProperties<T>& B, const TurnsAbout& about, const Vec3<T>& w,
                               const T& h, const Vec3<T>& tau_bar, MassProperties<T>& B_bar, NoBar&,
                               Vec3<T>& w_bar, T& h_bar) {
    const Mat3<T> I = turning_inertia(B, about), K_inverse = gyroscopic_matrix(I, w, h).inverse();
    const Vec3<T> Iw = I * w, g = w.cross(Iw), y = K_inverse * g, Iy = I * y, I_tau = I * tau_bar;
    const Vec3<T> z = -(K_inverse.transpose() * I_tau), g_bar = tau_bar + z, k = T(-0.5) * h * z;
    const Vec3<T> g_w = g_bar.cross(w), k_w = k.cross(w), k_y = k.cross(y);
    w_bar += Iw.cross(g_bar) + Iy.cross(k) + I * (g_w + k_y);
    h_bar -= T(0.5) * z.dot(w.cross(Iy) + y.cross(Iw));
    const Mat3<T> I_bar = symmetric_part<T>((k_w - g_bar) * y.transpose() + (g_w + k_y) * w.transpose());
    B_bar.I += I_bar;
    if (about == TurnsAbout::centre_of_mass) return;
    const Vec3<T> c = I_bar.trace() * B.c - I_bar * B.c;
    B_bar.m += c.dot(B.c);
    B_bar.c += T(2) * B.m * c;
}

// Calls visit(body, dof, about) for every tree of one body on a free or spherical joint, with its first
// rotational dof.
template <class Visit> void for_each_free_rotation(const Model& m, const Visit& visit) {
    for (const Tree& tree : m.trees) {
        const Body& b = m.bodies[tree.body_begin];
        if (tree.body_end - tree.body_begin != 1) continue;
        if (b.joint == JointType::free) visit(tree.body_begin, b.v0 + 3, TurnsAbout::centre_of_mass);
        if (b.joint == JointType::spherical) visit(tree.body_begin, b.v0, TurnsAbout::origin);
    }
}

template <class T>
void gyroscopic_torques(const Model& m, const T* theta,
                        const T& h,  // s
                        const T* v,  // (nv)
                        T* tau) {    // (nv) +=, N m
    for_each_free_rotation(m, [&](int body, int dof, TurnsAbout about) {
        add3<T>(tau + dof,
                gyroscopic_correction<T>(mass_properties(m, theta, body), about, load3(v + dof), h));
    });
}
template <class T>
void gyroscopic_torques_adj(const Model& m, const T* theta, const T& h, const T* v,
                            const T* tau_bar,  // (nv)
                            T* theta_bar,      // (parameters) +=
                            T& h_bar,          // +=
                            T* v_bar) {        // (nv) +=
    for_each_free_rotation(m, [&](int body, int dof, TurnsAbout about) {
        MassProperties<T> B_bar = MassProperties<T>::zero();
        Vec3<T> w_bar = Vec3<T>::Zero();
        NoBar none;
        gyroscopic_correction_adj<T>(mass_properties(m, theta, body), about, load3(v + dof), h,
                                     load3(tau_bar + dof), B_bar, none, w_bar, h_bar);
        mass_properties_adj(m, body, B_bar, theta_bar);
        add3(v_bar + dof, w_bar);
    });
}

}  // namespace costate
