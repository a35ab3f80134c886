#include "collision/detect/solid.hpp"

#include <cmath>
#include <limits>

#include "collision/contact/placed_feature.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double within_side =
    1e-9;                           // m; a point up to this distance beyond a side or an end counts as within
constexpr double rise_sine = 1e-6;  // sine of the angle from which a neighbour counts as rising

}  // namespace

TriangleTables::TriangleTables(const Terrain& terrain, int triangle) {
    const Vec middle =
        (terrain.corner(triangle, 0) + terrain.corner(triangle, 1) + terrain.corner(triangle, 2)) / 3;
    const Vec normal = terrain.normal(triangle).normalized();
    for (int k = 0; k < 3; ++k) {
        const int next = (k + 1) % 3;
        const Vec tail = terrain.corner(triangle, k), head = terrain.corner(triangle, next);
        vertices[k] = tail;
        edges[k] = {k, next, 0, 1, head - tail, middle - 0.5 * (tail + head)};
        sides[k] = {k, next, k, 0};
        sides[3 + k] = {(3 - k) % 3, 2 - k, 2 - k, 1};
    }
    faces[0] = {normal, middle, 0, 3};
    faces[1] = {-normal, middle, 3, 3};
}

int farthest_vertex(const HullView& hull, const Vec& d) {
    if (hull.paths != nullptr) return hull.paths->farthest(hull.vertices, d);
    int best = 0;
    double farthest = -std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < hull.vertices.size(); ++i)
        if (const double along = d.dot(hull.vertices[i]); along > farthest) {
            farthest = along;
            best = static_cast<int>(i);
        }
    return best;
}

Solid::Solid(const Shape& s, const Transform<double>& pose, const Vec& numbers)
    : shape(&s),
      X(pose),
      size(numbers),
      scale(shape_scale(s.type, numbers)),
      radius(is_round(s.type) ? numbers.x() : 0) {
    if (const Hull* tables = hull_of(s)) hull = tables->view();
}

Vec Solid::own_normal(int face) const {
    const Vec n = hull.faces[face].normal;
    return turns_with_size(type()) ? normalise<double>(n.cwiseProduct(cofactors(scale))) : n;
}

Vec Solid::normal(int face) const {
    return type() == ShapeType::plane ? Vec(X.R.col(2)) : Vec(X.R * own_normal(face));
}

Vec Solid::face_point(int face) const {
    if (type() == ShapeType::plane) return X.p;
    return X.R * scale.cwiseProduct(hull.faces[face].origin) + X.p;
}

int Solid::face_count() const {
    if (triangle >= 0) return only_side < 0 ? 1 : 0;
    return type() == ShapeType::cylinder ? 2 : static_cast<int>(hull.faces.size());
}

int Solid::face_along(const Vec& d) const {
    int best = -1;
    double most = -2;
    const auto attempt = [&](int f) {
        if (const double cosine = normal(f).dot(d); cosine > most) {
            most = cosine;
            best = f;
        }
    };
    if (hull.paths != nullptr)
        for (const int f : hull.paths->faces.of(support_vertex(d)))
            attempt(f);
    else
        for (int f = 0; f < face_count(); ++f)
            attempt(f);
    return best;
}

Vec Solid::centre() const {
    return type() == ShapeType::mesh ? Vec(X.R * scale.cwiseProduct(shape->hull->centre) + X.p) : X.p;
}

Vec Solid::support(const Vec& d) const {
    const auto support = shape_kind(type()).support;
    if (support == nullptr) return vertex(support_vertex(d));
    return X.R * support(size, X.R.transpose() * d) + X.p;
}

Feature Solid::feature_along(const Vec& d, double tol) const {
    const double along_axis = d.dot(X.R.col(2));
    if (type() == ShapeType::sphere) return vertex_feature(0);
    if (is_smooth()) return curve_feature(0);
    if (type() == ShapeType::capsule)
        return std::abs(along_axis) < tol ? edge_feature(0) : vertex_feature(along_axis < 0 ? 0 : 1);
    const int face = face_along(d);
    if (face >= 0 && normal(face).cross(d).norm() < tol && normal(face).dot(d) > 0) return face_feature(face);
    if (type() == ShapeType::cylinder)
        return std::abs(along_axis) < tol ? edge_feature(cylinder_axis)
                                          : curve_feature(along_axis < 0 ? 0 : 1);
    const int v = support_vertex(d);
    double least = tol;
    Feature feature = vertex_feature(v);
    const auto attempt = [&](int e) {
        const Vec u = edge_direction(e);
        const double sine = std::abs(u.dot(d)) / u.norm();
        if (sine < least) {
            least = sine;
            feature = edge_feature(e);
        }
    };
    if (hull.paths != nullptr) {
        for (const int e : hull.paths->edges.of(v))
            attempt(e);
        return feature;
    }
    for (size_t e = 0; e < hull.edges.size(); ++e)
        if (hull.edges[e].tail == v || hull.edges[e].head == v) attempt(static_cast<int>(e));
    return feature;
}

bool Solid::within(const Feature& f, const Vec& x) const {
    if (f.kind == FeatureKind::edge) {
        const bool axis = is_swept(type(), f);
        const Vec u = axis ? Vec(X.R.col(2)) : edge_direction(static_cast<int>(f.index));
        const Vec tail = axis ? Vec(X.p - size.y() * u) : vertex(hull.edges[f.index].tail);
        const double length = axis ? 2 * size.y() : u.norm(), along = u.dot(x - tail) / (axis ? 1 : length);
        return along >= -within_side && along <= length + within_side;
    }
    if (f.kind != FeatureKind::face || type() == ShapeType::plane) return true;
    if (type() == ShapeType::cylinder) {
        const Vec z = X.R.col(2);
        return (x - X.p - z * z.dot(x - X.p)).norm() <= size.x() + within_side;
    }
    const HullFace& face = hull.faces[f.index];
    const Vec n = normal(static_cast<int>(f.index));
    for (int k = 0; k < face.count; ++k) {
        const HullSide& side = hull.sides[face.first + k];
        const Vec tail = vertex(side.tail), out = (vertex(side.head) - tail).cross(n);
        if (out.dot(x - tail) > within_side * out.norm()) return false;
    }
    return true;
}

Feature Solid::in_triangle(const Feature& f) const {
    if (only_side < 0) return f;
    return f.kind == FeatureKind::edge ? edge_feature(only_side)
                                       : vertex_feature((only_side + static_cast<int>(f.index)) % 3);
}

Feature Solid::named(const Feature& f) const {
    if (triangle < 0) return f;
    const Terrain& t = *shape->terrain;
    const size_t first = 3 * static_cast<size_t>(triangle), index = in_triangle(f).index;
    switch (f.kind) {
        case FeatureKind::vertex: return vertex_feature(t.triangles[triangle][index]);
        case FeatureKind::edge: return edge_feature(t.edge_of_side[first + index]);
        case FeatureKind::side: return side_feature(static_cast<int>(first + index));
        default: return face_feature(triangle);
    }
}

bool Solid::sharp_side(int edge) const {
    return triangle < 0 ||
           shape->terrain
               ->sharp_side[3 * static_cast<size_t>(triangle) + in_triangle(edge_feature(edge)).index];
}

bool Solid::sharp_vertex(int v) const {
    if (triangle < 0) return true;
    return shape->terrain->sharp_vertex[named(vertex_feature(v)).index];
}

bool Solid::allows(const Vec& n, const Feature& f) const {
    if (triangle < 0) return true;
    const Terrain& t = *shape->terrain;
    const Vec l = scale.cwiseProduct(X.R.transpose() * n);  // for products with points at unit scale
    const auto rises = [&](int from, int to) {
        const Vec way = t.vertices[to] - t.vertices[from];
        return l.dot(way) > rise_sine * l.norm() * way.norm();
    };
    const auto faces = [&](const Vec& outward) {
        return n.dot(X.R * outward.cwiseProduct(cofactors(scale))) > 0;
    };
    if (f.kind == FeatureKind::edge) {
        const auto& corners = t.triangles[triangle];
        const size_t k = in_triangle(f).index;
        const int from = corners[k], to = t.beyond[3 * static_cast<size_t>(triangle) + k];
        if (to < 0) return faces(t.normal(triangle));
        const Vec tail = t.vertices[from], way = t.vertices[to] - tail;
        const Vec beyond = way.cross(t.vertices[corners[(k + 1) % 3]] - tail);
        return !rises(from, to) && faces(t.normal(triangle).normalized() + beyond.normalized());
    }
    if (f.kind != FeatureKind::vertex) return faces(t.normal(triangle));
    const int v = static_cast<int>(named(f).index);
    if (!faces(t.up[v])) return false;
    for (int k = t.first_neighbour[v]; k < t.first_neighbour[v + 1]; ++k)
        if (rises(v, t.neighbours[k])) return false;
    return true;
}

}  // namespace costate
