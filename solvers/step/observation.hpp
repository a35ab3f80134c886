// The observation y of a step: its results besides the next state. Objectives, recordings, the C API and the
// viewer read y and not the scratch of a step.
#pragma once

#include "solvers/step/step.hpp"

namespace costate {

template <class T> struct ContactObservation {
    FeaturePair features;   // of two shapes
    int body_a, body_b;     // -1: the world
    Vec3<T> point, normal;  // m, in world axes; the normal points from b to a
    T gap;                  // m
    Vec3<T> impulse;        // on a, in world axes, N s
};
// Covectors of point, normal, gap and impulse.
template <class T> struct ContactObservationBar {
    Vec3<T> point, normal;
    T gap;
    Vec3<T> impulse;
};

// Contact n of the step, in the order of detection.
template <class T> ContactObservation<T> observe_contact(const World& w, const StepScratch<T>& s, int n) {
    const ContactPoint<T>& c = s.contacts.points[n];
    const int row = s.rows.contact_row[n];
    ContactObservation<T> y;
    y.features = c.features;
    y.body_a = c.body_a;
    y.body_b = c.body_b;
    y.point = common_origin(w.model, s.kinematics, c.body_a) + c.geometry.point;
    y.normal = c.geometry.normal;
    y.gap = c.geometry.gap;
    y.impulse.setZero();
    for (int i = 0; row >= 0 && i < 3; ++i)
        y.impulse += impulse_along(c, &s.impulses.lambda[row], i) * c.direction(i);
    return y;
}
// Seeds the covectors of contact points and impulses. The origin of a common frame does not depend on the
// configuration, because covectors of poses are taken in this frame.
template <class T> void observe_contact_adj(StepScratch<T>& s, int n, const ContactObservationBar<T>& y_bar) {
    const ContactPoint<T>& c = s.contacts.points[n];
    ContactPointBar<T>& bar = s.contacts.points_bar[n];
    const int row = s.rows.contact_row[n];
    for (int i = 0; row >= 0 && i < 3; ++i) {
        const T* lambda = &s.impulses.lambda[row];
        impulse_along_adj<T>(c, lambda, i, c.direction(i).dot(y_bar.impulse), &s.impulses.lambda_bar[row],
                             bar);
        bar.direction(i) += impulse_along(c, lambda, i) * y_bar.impulse;
    }
    bar.geometry.point += y_bar.point;
    bar.geometry.normal += y_bar.normal;
    bar.geometry.gap += y_bar.gap;
}

// The couple of torsional and rolling friction of contact n on a, in world axes, N m s
template <class T> Vec3<T> contact_couple(const StepScratch<T>& s, int n) {
    const ContactPoint<T>& c = s.contacts.points[n];
    const int row = s.rows.contact_row[n];
    Vec3<T> couple = Vec3<T>::Zero();
    for (int i = 3; row >= 0 && i < c.directions; ++i)
        couple += impulse_along(c, &s.impulses.lambda[row], i) * couple_arm(c, i) * c.direction(i);
    return couple;
}

// The normal impulse of contact n, N s; 0 if it has no rows
template <class T> T contact_normal_impulse(const StepScratch<T>& s, int n) {
    const int row = s.rows.contact_row[n];
    return row < 0 ? T(0) : impulse_along(s.contacts.points[n], &s.impulses.lambda[row], 0);
}
template <class T> void contact_normal_impulse_adj(StepScratch<T>& s, int n, const T& x_bar) {
    if (const int row = s.rows.contact_row[n]; row >= 0)
        impulse_along_adj(s.contacts.points[n], &s.impulses.lambda[row], 0, x_bar,
                          &s.impulses.lambda_bar[row], s.contacts.points_bar[n]);
}
// True if a contact pushes.
inline bool any_pushes(const StepScratch<double>& s) {
    for (int n = 0; n < static_cast<int>(s.contacts.points.size()); ++n)
        if (contact_normal_impulse(s, n) > 0) return true;
    return false;
}

// True if the shape is one of the pair. shape -1: always true.
inline bool touches(const FeaturePair& f, int shape) { return shape < 0 || f.a == shape || f.b == shape; }

// Sum of the normal impulses of the shape's contacts, N s
template <class T> T normal_impulse(const StepScratch<T>& s, int shape) {
    T sum(0);
    for (const RowBlock& b : s.rows.blocks)
        if (b.kind == RowKind::contact && touches(s.contacts.points[b.index].features, shape))
            sum += contact_normal_impulse(s, b.index);
    return sum;
}
template <class T> void normal_impulse_adj(StepScratch<T>& s, int shape, const T& sum_bar) {
    for (const RowBlock& b : s.rows.blocks)
        if (b.kind == RowKind::contact && touches(s.contacts.points[b.index].features, shape))
            contact_normal_impulse_adj<T>(
                s, b.index, where(lanes_in<T>(b.lanes), sum_bar, T(0)));  // rows that a lane has
}

// y of one step, valid until the next step with the same scratch.
template <class T> class Observation {
public:
    Observation(const World& w, const StepScratch<T>& s) : w_(w), s_(s) {}

    // poses at the start of the step
    Vec3<T> position(int body) const { return s_.kinematics.world_position(w_.model, body); }  // m
    const Mat3<T>& rotation(int body) const { return s_.kinematics.X[body].R; }

    int contacts() const { return static_cast<int>(s_.contacts.points.size()); }
    ContactObservation<T> contact(int i) const { return observe_contact(w_, s_, i); }
    Vec3<T> couple(int i) const { return contact_couple(s_, i); }  // of contact i on a, N m s
    T normal_impulse(int shape) const { return costate::normal_impulse(s_, shape); }  // N s; -1: all

    int rows() const { return s_.rows.count; }  // number of constraint rows
    SolverOutcome solver() const { return solver_outcome(w_, s_); }
    int sweeps() const { return solver_sweeps(s_); }  // maximum over the islands; 0 for exact solvers

private:
    const World& w_;
    const StepScratch<T>& s_;
};

}  // namespace costate
