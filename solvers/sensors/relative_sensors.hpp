// Sensors of a frame F in another, the reference R, as of an observer who moves with R.
#pragma once

#include "solvers/sensors/frame_sensors.hpp"

namespace costate {

template <class T> struct RelativeFrames {
    Transform<T> F, R;  // in the common frames of their trees
    Vec3<T> origin;     // of F, in the common frame of R's tree
};
template <class T> RelativeFrames<T> relative_frames(const SensorInputs<T>& in, const Sensor& s) {
    const Transform<T> F = sensor_frame(in, s), R = sensor_frame(in, s.reference);
    const Vec3<T> origin =
        F.p + common_origin(in.w.model, in.k(), s.body) - common_origin(in.w.model, in.k(), s.reference.body);
    return {F, R, origin};
}
template <class T>
void relative_frames_adj(const SensorInputs<T>& in, const Sensor& s, const RelativeFrames<T>& frames,
                         const Force<T>& F_bar, const Force<T>& R_bar, const SensorBars<T>& bar) {
    sensor_frame_adj(in, s, frames.F, F_bar, bar);
    sensor_frame_adj(in, s.reference, frames.R, R_bar, bar);
}

template <class T> void relative_position(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const auto [F, R, origin] = relative_frames(in, s);
    write3<T>(R.R.transpose() * (origin - R.p), y);
}
template <class T>
void relative_position_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                           const SensorBars<T>& bar) {
    const RelativeFrames<T> at = relative_frames(in, s);
    Force<T> R_bar = Force<T>::zero();
    const Vec3<T> d_bar = pull_back_axes<T>(at.R, at.origin - at.R.p, y_bar, R_bar);
    R_bar -= point_force(at.R.p, d_bar);
    relative_frames_adj(in, s, at, point_force(at.F.p, d_bar), R_bar, bar);
}

// R_R^T R_F
template <class T> Transform<T> relative_axes(const RelativeFrames<T>& at) {
    return {at.R.R.transpose() * at.F.R, Vec3<T>::Zero()};
}
template <class T> void relative_quaternion(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Quaternion<T> q = orientation(relative_axes(relative_frames(in, s)));
    y[0] = q.w;
    write3(q.v, y + 1);
}
template <class T>
void relative_quaternion_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                             const SensorBars<T>& bar) {
    const RelativeFrames<T> at = relative_frames(in, s);
    const Transform<T> axes = relative_axes(at);
    Force<T> axes_bar = Force<T>::zero();
    orientation_adj(axes, quaternion_numbers_bar(orientation(axes), y_bar), axes_bar);
    const Force<T> turn_bar{at.R.R * axes_bar.ang, Vec3<T>::Zero()};
    relative_frames_adj(in, s, at, turn_bar, T(-1) * turn_bar, bar);
}

template <class T> void relative_axis(const SensorInputs<T>& in, const Sensor& s, int axis, T* y) {
    const RelativeFrames<T> at = relative_frames(in, s);
    write3<T>(at.R.R.transpose() * at.F.R.col(axis), y);
}
template <class T>
void relative_axis_adj(const SensorInputs<T>& in, const Sensor& s, int axis, const T* y_bar,
                       const SensorBars<T>& bar) {
    const RelativeFrames<T> at = relative_frames(in, s);
    const Vec3<T> a = at.F.R.col(axis);
    Force<T> R_bar = Force<T>::zero();
    const Vec3<T> a_bar = pull_back_axes(at.R, a, y_bar, R_bar);
    relative_frames_adj(in, s, at, Force<T>{a.cross(a_bar), Vec3<T>::Zero()}, R_bar, bar);
}
template <class T> void relative_x_axis(const SensorInputs<T>& in, const Sensor& s, T* y) {
    relative_axis(in, s, 0, y);
}
template <class T>
void relative_x_axis_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                         const SensorBars<T>& bar) {
    relative_axis_adj(in, s, 0, y_bar, bar);
}
template <class T> void relative_y_axis(const SensorInputs<T>& in, const Sensor& s, T* y) {
    relative_axis(in, s, 1, y);
}
template <class T>
void relative_y_axis_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                         const SensorBars<T>& bar) {
    relative_axis_adj(in, s, 1, y_bar, bar);
}
template <class T> void relative_z_axis(const SensorInputs<T>& in, const Sensor& s, T* y) {
    relative_axis(in, s, 2, y);
}
template <class T>
void relative_z_axis_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                         const SensorBars<T>& bar) {
    relative_axis_adj(in, s, 2, y_bar, bar);
}

// R_R^T (velocity of F's origin - that of the point of R's body in the same place)
template <class T> void relative_linear_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const auto [F, R, origin] = relative_frames(in, s);
    const Vec3<T> v =
        point_velocity(in.k().V[s.body], F.p) - point_velocity(in.k().V[s.reference.body], origin);
    write3<T>(R.R.transpose() * v, y);
}
template <class T>
void relative_linear_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                                  const SensorBars<T>& bar) {
    const RelativeFrames<T> at = relative_frames(in, s);
    const int r = s.reference.body;
    const Motion<T>&V_F = in.k().V[s.body], &V_R = in.k().V[r];
    Force<T> R_bar = Force<T>::zero();
    Vec3<T> p_bar = Vec3<T>::Zero();  // of F's origin
    const Vec3<T> v = point_velocity(V_F, at.F.p) - point_velocity(V_R, at.origin);
    const Vec3<T> v_bar = pull_back_axes(at.R, v, y_bar, R_bar);
    point_velocity_adj(V_F, at.F.p, v_bar, bar.s.bar.V[s.body], p_bar);
    point_velocity_adj(V_R, at.origin, Vec3<T>(-v_bar), bar.s.bar.V[r], p_bar);
    relative_frames_adj(in, s, at, point_force(at.F.p, p_bar), R_bar, bar);
}

template <class T> void relative_angular_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Transform<T> R = sensor_frame(in, s.reference);
    write3<T>(R.R.transpose() * (in.k().V[s.body].ang - in.k().V[s.reference.body].ang), y);
}
template <class T>
void relative_angular_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                                   const SensorBars<T>& bar) {
    const Transform<T> R = sensor_frame(in, s.reference);
    Force<T> R_bar = Force<T>::zero();
    const Vec3<T> w = in.k().V[s.body].ang - in.k().V[s.reference.body].ang;
    const Vec3<T> w_bar = pull_back_axes(R, w, y_bar, R_bar);
    bar.s.bar.V[s.body].ang += w_bar;
    bar.s.bar.V[s.reference.body].ang -= w_bar;
    sensor_frame_adj(in, s.reference, R, R_bar, bar);
}

}  // namespace costate
