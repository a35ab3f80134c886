// Features placed in the common frame: points, directions and support points of the parts of a shape, with
// their adjoints.
#pragma once

#include "collision/contact/closest.hpp"
#include "collision/contact/feature.hpp"

namespace costate {

// A feature placed in the common frame.
template <class T> struct RoundedFeature {
    Vec3<T> point;      // a point on it, m
    Vec3<T> direction;  // unit: along an edge, outward normal of a face; 0 for a vertex
    T radius;           // m
    static RoundedFeature zero() { return {Vec3<T>::Zero(), Vec3<T>::Zero(), T(0)}; }
};

template <> struct BarOf<Shape> { using type = NoBar; };
template <> struct BarOf<ShapeType> { using type = NoBar; };
template <> struct BarOf<Feature> { using type = NoBar; };

// Scale factors from the unit shape to its size, along its axes; 0 for shapes that are a point or a plane
// with a radius.
template <class T> Vec3<T> shape_scale(const ShapeType& type, const Vec3<T>& size) {
    switch (type) {
        case ShapeType::capsule: return {T(0), T(0), size.y()};
        case ShapeType::cylinder: return {size.x(), size.x(), size.y()};
        case ShapeType::box:
        case ShapeType::mesh:
        case ShapeType::terrain: return size;
        case ShapeType::plane:
        case ShapeType::sphere:
        case ShapeType::ellipsoid: break;
    }
    return Vec3<T>::Zero();
}
// size_bar += (d scale/d size)^T scale_bar
template <class T>
void shape_scale_adj(const ShapeType& type, const Vec3<T>&, const Vec3<T>& scale_bar, NoBar&,
                     Vec3<T>& size_bar) {
    switch (type) {
        case ShapeType::capsule: size_bar.y() += scale_bar.z(); break;
        case ShapeType::cylinder:
            size_bar.x() += scale_bar.x() + scale_bar.y();
            size_bar.y() += scale_bar.z();
            break;
        case ShapeType::box:
        case ShapeType::mesh:
        case ShapeType::terrain: size_bar += scale_bar; break;
        case ShapeType::plane:
        case ShapeType::sphere:
        case ShapeType::ellipsoid: break;
    }
}

// A feature at unit scale: a point on it, and the direction of an edge or normal of a face. The direction has
// unit length unless it depends on the size (turns_with_size).
struct FeatureGeometry {
    Vec3<double> origin = Vec3<double>::Zero(), direction = Vec3<double>::Zero();
};

inline FeatureGeometry terrain_feature(const Terrain& t, const Feature& f) {
    const int i = static_cast<int>(f.index);
    if (f.kind == FeatureKind::vertex) return {t.vertices[f.index], Vec3<double>::Zero()};
    if (f.kind == FeatureKind::face) return {t.corner(i, 0), t.normal(i)};
    const Vec3<double> tail = t.corner(i / 3, i % 3), head = t.corner(i / 3, (i + 1) % 3);
    return {0.5 * (tail + head), head - tail};
}

inline FeatureGeometry hull_feature(const Hull& hull, const Feature& f) {
    if (f.kind == FeatureKind::vertex) return {hull.vertices[f.index], Vec3<double>::Zero()};
    if (f.kind == FeatureKind::face) return {hull.faces[f.index].origin, hull.faces[f.index].normal};
    const HullEdge& edge = hull.edges[f.index];
    const Vec3<double>&tail = hull.vertices[edge.tail], &head = hull.vertices[edge.head];
    return {0.5 * (tail + head), edge.direction};
}

inline FeatureGeometry box_feature(const Feature& f) {
    const Vec3<double> side = box_side(f);
    if (f.kind == FeatureKind::edge) return {side, Vec3<double>::Unit(static_cast<int>(f.index & 15) / 4)};
    return {side, side};
}

// For a rim: its centre and axis.
inline FeatureGeometry feature_geometry(const Shape& shape, Feature f) {
    f.index &= ~reversed_normal;
    switch (shape.type) {
        case ShapeType::plane: return {Vec3<double>::Zero(), Vec3<double>::UnitZ()};
        case ShapeType::sphere:
        case ShapeType::ellipsoid: return {};
        case ShapeType::capsule:
            return {{0, 0, f.kind == FeatureKind::edge ? 0.0 : (f.index == 0 ? -1.0 : 1.0)},
                    Vec3<double>::UnitZ()};
        case ShapeType::box: return box_feature(f);
        case ShapeType::cylinder: {
            if (f.kind == FeatureKind::curve)
                return {{0, 0, f.index == 0 ? -1.0 : 1.0}, Vec3<double>::UnitZ()};
            if (f.kind == FeatureKind::edge && f.index == cylinder_axis)
                return {Vec3<double>::Zero(), Vec3<double>::UnitZ()};
            const FeatureGeometry g = hull_feature(prism_hull(), f);
            return {g.origin, f.kind == FeatureKind::vertex ? g.direction : g.direction.normalized()};
        }
        case ShapeType::mesh: return hull_feature(*shape.hull, f);
        case ShapeType::terrain: return terrain_feature(*shape.terrain, f);
    }
    return {};
}

// True if the directions of edges and faces depend on the scale.
inline bool turns_with_size(ShapeType type) { return shape_kind(type).turns_with_size; }

// (s1 s2, s2 s0, s0 s1): scales normals if s scales points
template <class T> Vec3<T> cofactors(const Vec3<T>& s) {
    return {s.y() * s.z(), s.z() * s.x(), s.x() * s.y()};
}

// The direction before normalization: edges scaled by s, normals by the cofactors of s.
template <class T>
Vec3<T> stretched_direction(const Feature& f, const Vec3<double>& direction, const Vec3<T>& s) {
    return cast<T>(direction).cwiseProduct(f.kind == FeatureKind::face ? cofactors(s) : s);
}

// The feature f of a shape at X, in the frame of X: (X (origin o scale), R direction, radius)
template <class T>
RoundedFeature<T> place_feature(const Shape& shape, const Feature& f, const Transform<T>& X,
                                const Vec3<T>& size) {
    if (shape.type == ShapeType::plane) return {X.p, X.R.col(2), T(0)};
    if (shape.type == ShapeType::sphere) return {X.p, Vec3<T>::Zero(), size.x()};
    const FeatureGeometry g = feature_geometry(shape, f);
    const Vec3<T> scale = shape_scale(shape.type, size);
    const Vec3<T> point = transform_point<T>(X, cast<T>(g.origin).cwiseProduct(scale));
    const T radius = is_swept(shape.type, f) ? size.x() : T(0);
    if (f.kind == FeatureKind::vertex) return {point, Vec3<T>::Zero(), radius};
    if (!turns_with_size(shape.type)) return {point, rotate<T>(X, cast<T>(g.direction)), radius};
    return {point, rotate(X, normalise(stretched_direction(f, g.direction, scale))), radius};
}
// X_bar += (point x point_bar + direction x direction_bar, point_bar),
// scale_bar = origin o R^T point_bar, and for meshes a term of the direction;
// size_bar follows from scale_bar, and size_bar[0] += radius_bar for a swept feature
template <class T>
void place_feature_adj(const Shape& shape, const Feature& f, const Transform<T>& X, const Vec3<T>& size,
                       const RoundedFeature<T>& out_bar, NoBar&, NoBar&, Force<T>& X_bar, Vec3<T>& size_bar) {
    if (is_swept(shape.type, f)) size_bar.x() += out_bar.radius;
    if (shape.type == ShapeType::plane) X_bar.ang += X.R.col(2).cross(out_bar.direction);
    if (shape.type == ShapeType::plane || shape.type == ShapeType::sphere) {
        X_bar += point_force(X.p, out_bar.point);
        return;
    }
    NoBar none;
    const FeatureGeometry g = feature_geometry(shape, f);
    const Vec3<T> scale = shape_scale(shape.type, size);
    Vec3<T> scale_bar = Vec3<T>::Zero(), offset_bar = Vec3<T>::Zero(), direction_bar = Vec3<T>::Zero();
    if (f.kind != FeatureKind::vertex && !turns_with_size(shape.type)) {
        rotate_adj<T>(X, cast<T>(g.direction), out_bar.direction, X_bar, direction_bar);
    } else if (f.kind != FeatureKind::vertex) {
        const Vec3<T> stretched = stretched_direction(f, g.direction, scale);
        Vec3<T> stretched_bar = Vec3<T>::Zero();
        rotate_adj(X, normalise(stretched), out_bar.direction, X_bar, direction_bar);
        normalise_adj(stretched, direction_bar, stretched_bar);
        const Vec3<T> k = cast<T>(g.direction).cwiseProduct(stretched_bar);
        if (f.kind == FeatureKind::edge)
            scale_bar += k;
        else
            scale_bar += Vec3<T>(k.y() * scale.z() + k.z() * scale.y(), k.x() * scale.z() + k.z() * scale.x(),
                                 k.x() * scale.y() + k.y() * scale.x());
    }
    transform_point_adj<T>(X, cast<T>(g.origin).cwiseProduct(scale), out_bar.point, X_bar, offset_bar);
    scale_bar += cast<T>(g.origin).cwiseProduct(offset_bar);
    shape_scale_adj(shape.type, size, scale_bar, none, size_bar);
}

}  // namespace costate
