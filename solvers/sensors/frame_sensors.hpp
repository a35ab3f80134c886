// Sensors of a frame: a site, or the frame of a body.
#pragma once

#include "solvers/sensors/motion.hpp"

namespace costate {

// Pose X_CS of a frame in the common frame of its tree.
template <class T> Transform<T> sensor_frame(const SensorInputs<T>& in, const SensorFrame& f) {
    return f.site < 0 ? in.k().X[f.body] : site_frame(in.w.model, in.theta, in.k(), f.site);
}
template <class T>
void sensor_frame_adj(const SensorInputs<T>& in, const SensorFrame& f, const Transform<T>& X,
                      const Force<T>& X_bar, const SensorBars<T>& bar) {
    if (f.site < 0)
        bar.s.bar.X[f.body] += X_bar;
    else
        site_frame_adj(in.w.model, in.theta, in.k(), f.site, X, X_bar, bar.s.bar, bar.theta);
}
template <class T> Transform<T> sensor_frame(const SensorInputs<T>& in, const Sensor& s) {
    return sensor_frame(in, SensorFrame{s.body, s.site});
}
template <class T>
void sensor_frame_adj(const SensorInputs<T>& in, const Sensor& s, const Transform<T>& X,
                      const Force<T>& X_bar, const SensorBars<T>& bar) {
    sensor_frame_adj(in, SensorFrame{s.body, s.site}, X, X_bar, bar);
}

template <class T> void write3(const Vec3<T>& v, T* out) { std::copy(v.data(), v.data() + 3, out); }

// y = R^T z in the axes of the frame:  z_bar = R y_bar,   X_bar.ang += z_bar x z; returns z_bar
template <class T>
Vec3<T> pull_back_axes(const Transform<T>& X, const Vec3<T>& z, const T* y_bar, Force<T>& X_bar) {
    const Vec3<T> z_bar = X.R * load3(y_bar);
    X_bar.ang += z_bar.cross(z);
    return z_bar;
}

template <class T> void frame_position(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3<T>(common_origin(in.w.model, in.k(), s.body) + sensor_frame(in, s).p, y);
}
template <class T>
void frame_position_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                        const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    sensor_frame_adj(in, s, X, point_force(X.p, load3(y_bar)), bar);
}

template <class T> void frame_quaternion(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Quaternion<T> q = orientation(sensor_frame(in, s));
    y[0] = q.w;
    write3(q.v, y + 1);
}
// q <- q exp(d): dw = -v . d/2,   dv = (w d + v x d)/2
template <class T>
void frame_quaternion_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                          const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    const Quaternion<T> q = orientation(X);
    Force<T> X_bar = Force<T>::zero();
    orientation_adj(X, quaternion_numbers_bar(q, y_bar), X_bar);
    sensor_frame_adj(in, s, X, X_bar, bar);
}

template <class T> void frame_axis(const SensorInputs<T>& in, const Sensor& s, int axis, T* y) {
    write3<T>(sensor_frame(in, s).R.col(axis), y);
}
template <class T>
void frame_axis_adj(const SensorInputs<T>& in, const Sensor& s, int axis, const T* y_bar,
                    const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    const Vec3<T> a = X.R.col(axis);
    sensor_frame_adj(in, s, X, Force<T>{a.cross(load3(y_bar)), Vec3<T>::Zero()}, bar);
}
template <class T> void frame_x_axis(const SensorInputs<T>& in, const Sensor& s, T* y) {
    frame_axis(in, s, 0, y);
}
template <class T>
void frame_x_axis_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    frame_axis_adj(in, s, 0, y_bar, bar);
}
template <class T> void frame_y_axis(const SensorInputs<T>& in, const Sensor& s, T* y) {
    frame_axis(in, s, 1, y);
}
template <class T>
void frame_y_axis_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    frame_axis_adj(in, s, 1, y_bar, bar);
}
template <class T> void frame_z_axis(const SensorInputs<T>& in, const Sensor& s, T* y) {
    frame_axis(in, s, 2, y);
}
template <class T>
void frame_z_axis_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    frame_axis_adj(in, s, 2, y_bar, bar);
}

template <class T> void frame_linear_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3(point_velocity(in.k().V[s.body], sensor_frame(in, s).p), y);
}
template <class T>
void frame_linear_velocity_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                               const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    Vec3<T> p_bar = Vec3<T>::Zero();
    point_velocity_adj(in.k().V[s.body], X.p, load3(y_bar), bar.s.bar.V[s.body], p_bar);
    sensor_frame_adj(in, s, X, point_force(X.p, p_bar), bar);
}

template <class T> void frame_angular_velocity(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3(in.k().V[s.body].ang, y);
}
template <class T>
void frame_angular_velocity_adj(const SensorInputs<T>&, const Sensor& s, const T* y_bar,
                                const SensorBars<T>& bar) {
    bar.s.bar.V[s.body].ang += load3(y_bar);
}

template <class T> void frame_linear_acceleration(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3(point_acceleration(in.k().V[s.body], in.scratch.A[s.body], sensor_frame(in, s).p), y);
}
template <class T>
void frame_linear_acceleration_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar,
                                   const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    Vec3<T> p_bar = Vec3<T>::Zero();
    point_acceleration_adj(in.k().V[s.body], in.scratch.A[s.body], X.p, load3(y_bar), bar.s.bar.V[s.body],
                           bar.scratch.A_bar[s.body], p_bar);
    sensor_frame_adj(in, s, X, point_force(X.p, p_bar), bar);
}

template <class T> void frame_angular_acceleration(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3(in.scratch.A[s.body].ang, y);
}
template <class T>
void frame_angular_acceleration_adj(const SensorInputs<T>&, const Sensor& s, const T* y_bar,
                                    const SensorBars<T>& bar) {
    bar.scratch.A_bar[s.body].ang += load3(y_bar);
}

template <class T> void velocimeter(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Transform<T> X = sensor_frame(in, s);
    write3<T>(X.R.transpose() * point_velocity(in.k().V[s.body], X.p), y);
}
template <class T>
void velocimeter_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    const Motion<T>& V = in.k().V[s.body];
    Force<T> X_bar = Force<T>::zero();
    Vec3<T> p_bar = Vec3<T>::Zero();
    const Vec3<T> z_bar = pull_back_axes(X, point_velocity(V, X.p), y_bar, X_bar);
    point_velocity_adj(V, X.p, z_bar, bar.s.bar.V[s.body], p_bar);
    sensor_frame_adj(in, s, X, X_bar + point_force(X.p, p_bar), bar);
}

template <class T> void gyro(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3<T>(sensor_frame(in, s).R.transpose() * in.k().V[s.body].ang, y);
}
template <class T>
void gyro_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    Force<T> X_bar = Force<T>::zero();
    bar.s.bar.V[s.body].ang += pull_back_axes(X, in.k().V[s.body].ang, y_bar, X_bar);
    sensor_frame_adj(in, s, X, X_bar, bar);
}

template <class T> void accelerometer(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Transform<T> X = sensor_frame(in, s);
    write3<T>(X.R.transpose() * point_acceleration(in.k().V[s.body], in.scratch.A[s.body], X.p), y);
}
template <class T>
void accelerometer_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    const Motion<T>&V = in.k().V[s.body], &A = in.scratch.A[s.body];
    Force<T> X_bar = Force<T>::zero();
    Vec3<T> p_bar = Vec3<T>::Zero();
    const Vec3<T> z_bar = pull_back_axes(X, point_acceleration(V, A, X.p), y_bar, X_bar);
    point_acceleration_adj(V, A, X.p, z_bar, bar.s.bar.V[s.body], bar.scratch.A_bar[s.body], p_bar);
    sensor_frame_adj(in, s, X, X_bar + point_force(X.p, p_bar), bar);
}

template <class T> void force(const SensorInputs<T>& in, const Sensor& s, T* y) {
    write3<T>(sensor_frame(in, s).R.transpose() * in.scratch.F[s.body].lin, y);
}
template <class T>
void force_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    Force<T> X_bar = Force<T>::zero();
    bar.scratch.F_bar[s.body].lin += pull_back_axes(X, in.scratch.F[s.body].lin, y_bar, X_bar);
    sensor_frame_adj(in, s, X, X_bar, bar);
}

// The moment about the frame's origin: n - p x f
template <class T> void torque(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Transform<T> X = sensor_frame(in, s);
    const Force<T>& F = in.scratch.F[s.body];
    write3<T>(X.R.transpose() * (F.ang - X.p.cross(F.lin)), y);
}
template <class T>
void torque_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    const Force<T>& F = in.scratch.F[s.body];
    Force<T> X_bar = Force<T>::zero();
    const Vec3<T> n_bar = pull_back_axes<T>(X, F.ang - X.p.cross(F.lin), y_bar, X_bar);
    bar.scratch.F_bar[s.body] += Motion<T>{n_bar, X.p.cross(n_bar)};
    sensor_frame_adj(in, s, X, X_bar + point_force<T>(X.p, n_bar.cross(F.lin)), bar);
}

}  // namespace costate
