// Contacts that are felt from a distance, in the reverse pass only (after Paulus, Geist, Schumacher, Musil,
// Rappenecker, Martius, Differentiable Simulation of Hard Contacts with Soft Gradients for Learning and Control,
// ICLR 2026, arXiv 2506.14186: there, too, the gradient is that of a softer law than the motion's).
//
// To the gradient, a contact without force at the start of a step whose gap g is within 0 < g < D is a spring
// that has just no force: the step has
//
//   tau(q) = tau - J_n^T kappa (g(q) - g),   kappa = k (1 - g/D)
//
// with the gradient of its normal row J_n, so that tau_bar gives gap_bar = -kappa J_n tau_bar. The motion is
// unchanged, and so is the gradient of contacts with a force. Without friction and damping; J_n and kappa are
// held.
#pragma once

#include "solvers/step/observation.hpp"

namespace costate {

template <class T> bool has_force(const StepScratch<T>& s, const FeaturePair& f) {
    for (size_t c = 0; c < s.contacts.points.size(); ++c)
        if (s.rows.contact_row[c] >= 0 && s.contacts.points[c].features == f)
            return value_of(contact_normal_impulse(s, static_cast<int>(c))) > 0;
    return false;
}

// Input: s.tau_bar of the whole step. Adds to s.bar and to theta_bar (np). Settings::felt_distance is above 0.
template <class T>
void feel_distant_contacts(const World& w, const T* theta, StepScratch<T>& s, T* theta_bar) {
    if constexpr (is_lanes<T>) {
        throw LanesPart();
    } else {
        DistantContacts<T>& far = s.distant_contacts;
        far.theta.resize(w.np());
        far.no_wrenches.assign(w.model.bodies.size(), Force<T>::zero());
        far.twists.assign(w.model.bodies.size(), Motion<T>::zero());
        for (size_t i = 0; i < far.theta.size(); ++i)
            far.theta[i] = value_of(theta[i]);
        const double reach = w.settings.felt_distance;
        detect(w.shapes, far.theta.data(), s.contacts.X_WS.data(), s.contacts.V_WS.data(), 0, far.detection,
               reach);
        // the velocities of bodies that move by tau_bar
        apply_wrenches_adj(w.model, s.kinematics, far.no_wrenches, s.tau_bar.data(), s.bar, far.twists);
        for (const FeaturePair& f : far.detection.features) {
            const ContactPoint<T> c = contact_point(w, theta, s.kinematics, s.contacts, f);
            const T& gap = c.geometry.gap;
            if (value_of(gap) <= 0 || value_of(gap) >= reach || has_force(s, f)) continue;
            Vec3<T> moves = Vec3<T>::Zero();
            if (c.body_a >= 0) moves += point_velocity(far.twists[c.body_a], c.geometry.point);
            if (c.body_b >= 0) moves -= point_velocity<T>(far.twists[c.body_b], c.geometry.point - c.to_b);
            ContactPointBar<T> c_bar = ContactPointBar<T>::zero();
            c_bar.geometry.gap =
                -T(w.settings.felt_stiffness) * (T(1) - gap / T(reach)) * c.geometry.normal.dot(moves);
            contact_point_adj(w, theta, s.kinematics, s.contacts, c, c_bar, s.bar, theta_bar);
        }
    }
}

}  // namespace costate
