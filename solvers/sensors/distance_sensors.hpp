// The signed distance of two bodies, without margins as in MuJoCo, and the height of a frame over the ground.
#pragma once

#include <optional>

#include "collision/detect/narrow.hpp"
#include "solvers/sensors/frame_sensors.hpp"

namespace costate {

// The poses of two shapes in the common frame of a's tree, and their sizes.
template <class T> struct PlacedPair {
    Vec3<T> to_b;  // origin of b's common frame in a's
    Transform<T> X_a, X_b;
    Vec3<T> size_a, size_b;
};
template <class T> PlacedPair<T> placed_pair(const SensorInputs<T>& in, int a, int b) {
    const ShapeSet& set = in.w.shapes;
    PlacedPair<T> p;
    p.to_b = common_origin(in.w.model, in.k(), set.shapes[b].body) -
             common_origin(in.w.model, in.k(), set.shapes[a].body);
    p.X_a = shape_pose(in.w, in.theta, in.k(), a);
    p.X_b = shape_pose(in.w, in.theta, in.k(), b);
    p.X_b.p += p.to_b;
    p.size_a = load3(in.theta + set.size.at(a));
    p.size_b = load3(in.theta + set.size.at(b));
    return p;
}

// The features of two shapes with the smallest gap, by values; none if no gap is below `reach`.
template <class T>
std::optional<FeaturePair> nearest_features(const SensorInputs<T>& in, int a, int b, double reach,
                                            double& gap) {
    const ShapeSet& set = in.w.shapes;
    const PlacedPair<T> p = placed_pair(in, a, b);
    const auto pose = [](const Transform<T>& X) {
        return Transform<double>{X.R.unaryExpr([](const T& x) { return value_of(x); }), values(X.p)};
    };
    const Transform<double> X_a = pose(p.X_a), X_b = pose(p.X_b);
    const Vec3<double> size_a = values(p.size_a), size_b = values(p.size_b);
    const FeatureList list = closest_features(set.shapes[a], set.shapes[b], X_a, X_b, size_a, size_b, reach);
    std::optional<FeaturePair> nearest;
    gap = reach;
    for (int i = 0; i < list.count; ++i) {
        const FeaturePair f = list.pair(i, a, b);
        const double g = contact(set.shapes[a], set.shapes[b], f, X_a, X_b, size_a, size_b).gap;
        if (g >= gap) continue;
        gap = g;
        nearest = f;
    }
    return nearest;
}

// The nearest features of all pairs of the sensor; none if no gap is below its cutoff.
template <class T> std::optional<FeaturePair> nearest_features(const SensorInputs<T>& in, const Sensor& s) {
    std::optional<FeaturePair> nearest;
    double least = s.cutoff;
    for (const int a : s.shapes_a)
        for (const int b : s.shapes_b) {
            if (!pair_supported(in.w.shapes.shapes[a].type, in.w.shapes.shapes[b].type)) continue;
            double gap = 0;
            const auto found = nearest_features(in, a, b, least, gap);
            if (!found) continue;
            least = gap;
            nearest = found;
        }
    return nearest;
}

template <class T> void distance(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const std::optional<FeaturePair> f = nearest_features(in, s);
    y[0] = T(s.cutoff);
    if (!f) return;
    const ShapeSet& set = in.w.shapes;
    const PlacedPair<T> p = placed_pair(in, f->a, f->b);
    y[0] = contact(set.shapes[f->a], set.shapes[f->b], *f, p.X_a, p.X_b, p.size_a, p.size_b).gap;
}
template <class T>
void distance_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const std::optional<FeaturePair> f = nearest_features(in, s);
    if (!f) return;
    const ShapeSet& set = in.w.shapes;
    const PlacedPair<T> p = placed_pair(in, f->a, f->b);
    const Contact<T> gap_bar{Vec3<T>::Zero(), Vec3<T>::Zero(), y_bar[0]};
    Force<T> a_bar = Force<T>::zero(), b_bar = Force<T>::zero();
    Vec3<T> size_a_bar = Vec3<T>::Zero(), size_b_bar = Vec3<T>::Zero();
    contact_adj(set.shapes[f->a], set.shapes[f->b], *f, p.X_a, p.X_b, p.size_a, p.size_b, gap_bar, a_bar,
                b_bar, size_a_bar, size_b_bar);
    add3(bar.theta + set.size.at(f->a), size_a_bar);
    add3(bar.theta + set.size.at(f->b), size_b_bar);
    const Transform<T> X_b{p.X_b.R, p.X_b.p - p.to_b};
    b_bar.ang -= p.to_b.cross(b_bar.lin);  // the wrench about the origin of b's frame
    shape_pose_adj(in.w, in.theta, in.k(), f->a, p.X_a, a_bar, bar.s.bar, bar.theta);
    shape_pose_adj(in.w, in.theta, in.k(), f->b, X_b, b_bar, bar.s.bar, bar.theta);
}

// The highest piece of ground on the vertical through (x, y): a plane or a triangle of a terrain of the world.
struct GroundPiece {
    int shape = -1, triangle = -1;
};
GroundPiece ground_below(const ShapeSet& set, const Transform<double>* X, const Vec3<double>* size, double x,
                         double y);

// A point of a piece of ground and its normal, not of unit length, in the axes of the shape; size: its factors.
template <class T> struct GroundPlane { Vec3<T> point, normal; };
template <class T> GroundPlane<T> ground_plane(const Shape& shape, int triangle, const Vec3<T>& size) {
    if (triangle < 0) return {Vec3<T>::Zero(), Vec3<T>::UnitZ()};
    const Vec3<T> n = cast<T>(shape.terrain->normal(triangle)),
                  c = cast<T>(shape.terrain->corner(triangle, 0));
    return {size.cwiseProduct(c),
            n.cwiseProduct(Vec3<T>(size.y() * size.z(), size.z() * size.x(), size.x() * size.y()))};
}
template <class T>
void ground_plane_adj(const Shape& shape, int triangle, const Vec3<T>& size, const GroundPlane<T>& out_bar,
                      Vec3<T>& size_bar) {
    if (triangle < 0) return;
    const Vec3<T> n = cast<T>(shape.terrain->normal(triangle)).cwiseProduct(out_bar.normal);
    size_bar += cast<T>(shape.terrain->corner(triangle, 0)).cwiseProduct(out_bar.point) +
                Vec3<T>(n.y() * size.z() + n.z() * size.y(), n.z() * size.x() + n.x() * size.z(),
                        n.x() * size.y() + n.y() * size.x());
}

// Height at (x, y) of the plane through the point p with the normal n: z = p_z - (n_x (x - p_x) + n_y (y -
// p_y))/n_z
template <class T> T plane_height(const Vec3<T>& p, const Vec3<T>& n, const T& x, const T& y) {
    return p.z() - (n.x() * (x - p.x()) + n.y() * (y - p.y())) / n.z();
}
template <class T>
void plane_height_adj(const Vec3<T>& p, const Vec3<T>& n, const T& x, const T& y, const T& z_bar,
                      Vec3<T>& p_bar, Vec3<T>& n_bar, T& x_bar, T& y_bar) {
    const T slope_x = n.x() / n.z(), slope_y = n.y() / n.z(), over = z_bar / n.z();
    p_bar += z_bar * Vec3<T>(slope_x, slope_y, T(1));
    n_bar += over * Vec3<T>(p.x() - x, p.y() - y, slope_x * (x - p.x()) + slope_y * (y - p.y()));
    x_bar -= z_bar * slope_x;
    y_bar -= z_bar * slope_y;
}

// The horizontal direction of the frame's x axis: unit (c, s); (1, 0), without derivative, if it is vertical.
template <class T> Eigen::Matrix<T, 2, 1> heading(const Transform<T>& X) {
    const Vec3<T> d = normalise(Vec3<T>(X.R(0, 0), X.R(1, 0), T(0)));
    return value_of(d.z()) == 0 ? Eigen::Matrix<T, 2, 1>(d.x(), d.y()) : Eigen::Matrix<T, 2, 1>(T(1), T(0));
}
template <class T>
void heading_adj(const Transform<T>& X, const Eigen::Matrix<T, 2, 1>& h_bar, Force<T>& X_bar) {
    const Vec3<T> flat(X.R(0, 0), X.R(1, 0), T(0));
    Vec3<T> flat_bar = Vec3<T>::Zero();
    normalise_adj(flat, Vec3<T>(h_bar.x(), h_bar.y(), T(0)), flat_bar);
    const Vec3<T> axis = X.R.col(0);
    X_bar.ang += axis.cross(Vec3<T>(flat_bar.x(), flat_bar.y(), T(0)));
}

// Where point n of the grid is from the frame's origin in heading axes: rows along x, columns along y.
inline Eigen::Vector2d scan_offset(const Sensor& s, int n) {
    return {s.spacing_x * (n / s.columns - 0.5 * (s.rows - 1)),
            s.spacing_y * (n % s.columns - 0.5 * (s.columns - 1))};
}

// The piece of ground below a point.
template <class T> GroundPiece ground_below(const SensorInputs<T>& in, const T& x, const T& y) {
    const ShapeSet& set = in.w.shapes;
    thread_local std::vector<Transform<double>> X;
    thread_local std::vector<Vec3<double>> size;
    X.resize(set.shapes.size());
    size.resize(set.shapes.size());
    for (size_t n = 0; n < set.shapes.size(); ++n) {
        if (set.shapes[n].body >= 0) continue;
        const Transform<T> pose = shape_pose(in.w, in.theta, in.k(), static_cast<int>(n));
        X[n] = {pose.R.unaryExpr([](const T& value) { return value_of(value); }), values(pose.p)};
        size[n] = values<T>(load3(in.theta + set.size.at(static_cast<int>(n))));
    }
    return ground_below(set, X.data(), size.data(), value_of(x), value_of(y));
}

// y_n = height of the origin over the ground below point n, at most the cutoff
template <class T> void height_scan(const SensorInputs<T>& in, const Sensor& s, T* y) {
    const Transform<T> X = sensor_frame(in, s);
    const Vec3<T> o = common_origin(in.w.model, in.k(), s.body) + X.p;
    const Eigen::Matrix<T, 2, 1> along = heading(X);
    for (int n = 0; n < s.rows * s.columns; ++n) {
        const Eigen::Vector2d d = scan_offset(s, n);
        const T px = o.x() + along.x() * T(d.x()) - along.y() * T(d.y()),
                py = o.y() + along.y() * T(d.x()) + along.x() * T(d.y());
        const GroundPiece below = ground_below(in, px, py);
        y[n] = T(s.cutoff);
        if (below.shape < 0) continue;
        const Transform<T> S = shape_pose(in.w, in.theta, in.k(), below.shape);
        const GroundPlane<T> g = ground_plane(in.w.shapes.shapes[below.shape], below.triangle,
                                              load3(in.theta + in.w.shapes.size.at(below.shape)));
        const T height = o.z() - plane_height(transform_point(S, g.point), rotate(S, g.normal), px, py);
        if (value_of(height) < s.cutoff) y[n] = height;
    }
}
template <class T>
void height_scan_adj(const SensorInputs<T>& in, const Sensor& s, const T* y_bar, const SensorBars<T>& bar) {
    const Transform<T> X = sensor_frame(in, s);
    const Vec3<T> o = common_origin(in.w.model, in.k(), s.body) + X.p;
    const Eigen::Matrix<T, 2, 1> along = heading(X);
    Vec3<T> o_bar = Vec3<T>::Zero();
    Eigen::Matrix<T, 2, 1> along_bar(T(0), T(0));
    for (int n = 0; n < s.rows * s.columns; ++n) {
        const Eigen::Vector2d d = scan_offset(s, n);
        const T px = o.x() + along.x() * T(d.x()) - along.y() * T(d.y()),
                py = o.y() + along.y() * T(d.x()) + along.x() * T(d.y());
        const GroundPiece below = ground_below(in, px, py);
        if (below.shape < 0) continue;
        const Shape& shape = in.w.shapes.shapes[below.shape];
        const int at = in.w.shapes.size.at(below.shape);
        const Transform<T> S = shape_pose(in.w, in.theta, in.k(), below.shape);
        const GroundPlane<T> g = ground_plane(shape, below.triangle, load3(in.theta + at));
        const Vec3<T> p = transform_point(S, g.point), normal = rotate(S, g.normal);
        if (!(value_of(o.z() - plane_height(p, normal, px, py)) < s.cutoff)) continue;
        Vec3<T> p_bar = Vec3<T>::Zero(), normal_bar = p_bar, size_bar = p_bar;
        GroundPlane<T> g_bar{p_bar, p_bar};
        Force<T> S_bar = Force<T>::zero();
        T px_bar(0), py_bar(0);
        o_bar.z() += y_bar[n];
        plane_height_adj(p, normal, px, py, T(-y_bar[n]), p_bar, normal_bar, px_bar, py_bar);
        rotate_adj(S, g.normal, normal_bar, S_bar, g_bar.normal);
        transform_point_adj(S, g.point, p_bar, S_bar, g_bar.point);
        ground_plane_adj(shape, below.triangle, load3(in.theta + at), g_bar, size_bar);
        add3(bar.theta + at, size_bar);
        shape_pose_adj(in.w, in.theta, in.k(), below.shape, S, S_bar, bar.s.bar, bar.theta);
        o_bar.x() += px_bar;
        o_bar.y() += py_bar;
        along_bar.x() += px_bar * T(d.x()) + py_bar * T(d.y());
        along_bar.y() += py_bar * T(d.x()) - px_bar * T(d.y());
    }
    Force<T> X_bar = point_force(X.p, o_bar);
    heading_adj(X, along_bar, X_bar);
    sensor_frame_adj(in, s, X, X_bar, bar);
}

}  // namespace costate
