// Forces of contacts on the body of a frame, and between the shapes of a pair. On a body, a contact counts if it is
// within the sensor's radius of the frame's origin, or in its zone, without derivative.
#pragma once

#include <algorithm>

#include "solvers/sensors/frame_sensors.hpp"
#include "solvers/sensors/zone.hpp"

namespace costate {

// False: it waits for others to push first, and does not push.
template <class T> bool has_rows(const SensorInputs<T>& in, int c) { return in.s.rows.contact_row[c] >= 0; }

// 1 if contact c pushes the sensor's body as body a, -1 as body b, 0 if it does not count.
template <class T> int contact_side(const SensorInputs<T>& in, const Sensor& s, int c) {
    const ContactPoint<T>& p = in.s.contacts.points[c];
    if (!has_rows(in, c) || (p.body_a != s.body && p.body_b != s.body)) return 0;
    const int side = p.body_a == s.body ? 1 : -1;
    if (s.radius > 0 || s.zone) {
        const Vec3<T> to_body = common_origin(in.w.model, in.k(), s.body),
                      to_point = common_origin(in.w.model, in.k(), p.body_a);
        const Transform<T> X = sensor_frame(in, s);
        const Vec3<T> apart = to_point + p.geometry.point - to_body - X.p;
        if (s.radius > 0 && value_of(apart.squaredNorm()) > s.radius * s.radius) return 0;
        if (s.zone) {
            const auto value = [](const T& entry) { return value_of(entry); };
            const Vec3<T> point = X.R.transpose() * apart,
                          out_of_body = X.R.transpose() * (T(-side) * p.geometry.normal);
            if (!ray_meets(*s.zone, point.unaryExpr(value), out_of_body.unaryExpr(value))) return 0;
        }
    }
    return side;
}

// sum lambda_n / h
template <class T> void touch(const SensorInputs<T>& in, const Sensor& s, T* y) {
    y[0] = T(0);
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c)
        if (contact_side(in, s, c) != 0) y[0] += contact_normal_impulse(in.s, c) / in.w.h(in.theta);
}
template <class T>
void touch_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const T& h = in.w.h(in.theta);
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c) {
        if (contact_side(in, s, c) == 0) continue;
        contact_normal_impulse_adj<T>(bar.s, c, y_bar[0] / h);
        in.w.h(bar.theta) -= y_bar[0] * contact_normal_impulse(in.s, c) / (h * h);
    }
}

template <class T> void contact_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    Vec3<T> sum = Vec3<T>::Zero();
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c)
        if (const int side = contact_side(in, s, c); side != 0)
            sum += T(side) * contact_force_on_a(in.w, in.theta, in.s, c);
    write3(sum, y);
}
template <class T>
void contact_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c)
        if (const int side = contact_side(in, s, c); side != 0)
            contact_force_on_a_adj<T>(in.w, in.theta, bar.s, c, T(side) * load3(y_bar), bar.theta);
}

// 1 if contact c has a shape of the sensor's first as shape a, -1 as shape b, 0 if it is not of the sensor's pair.
template <class T> int pair_side(const SensorInputs<T>& in, const Sensor& s, int c) {
    const FeaturePair& f = in.s.contacts.points[c].features;
    const auto of = [](const std::vector<int>& shapes, int n) {
        return std::ranges::find(shapes, n) != shapes.end();
    };
    if (of(s.shapes_a, f.a) && of(s.shapes_b, f.b)) return 1;
    return of(s.shapes_a, f.b) && of(s.shapes_b, f.a) ? -1 : 0;
}

// Number of contacts with lambda_n > 0 or gap < 0
template <class T> void contact_count(const SensorInputs<T>& in, const Sensor& s, T* y) {
    int count = 0;
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c)
        count +=
            pair_side(in, s, c) != 0 && (value_of(in.s.contacts.points[c].geometry.gap) < 0 ||
                                         (has_rows(in, c) && value_of(contact_normal_impulse(in.s, c)) > 0));
    y[0] = T(count);
}
template <class T>
void contact_count_adj(const SensorInputs<T>&, const Sensor&, const T* /*y_bar*/, const SensorBars<T>&) {}

template <class T> void pair_contact_force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    Vec3<T> sum = Vec3<T>::Zero();
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c)
        if (const int side = pair_side(in, s, c); side != 0 && has_rows(in, c))
            sum += T(side) * contact_force_on_a(in.w, in.theta, in.s, c);
    write3(sum, y);
}
template <class T>
void pair_contact_force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                            const SensorBars<T>& bar) {
    for (int c = 0; c < static_cast<int>(in.s.contacts.points.size()); ++c)
        if (const int side = pair_side(in, s, c); side != 0 && has_rows(in, c))
            contact_force_on_a_adj<T>(in.w, in.theta, bar.s, c, T(side) * load3(y_bar), bar.theta);
}

}  // namespace costate
