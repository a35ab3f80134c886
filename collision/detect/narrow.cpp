#include "collision/detect/narrow.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "collision/detect/narrow_parts.hpp"

namespace costate {
namespace {

// The features that the cases select:
//
// on a plane    both ends of a capsule; the four lowest vertices of a box
// sphere, box   face, edge or vertex by the region of the centre; inside the box, the nearest face
// sphere, cylinder   side, cap or rim by the region of the centre; inside, the nearer of side and cap. Ties,
//               and centres on the axis, go to the cap.
// capsules      both edges if the closest points are inside both segments; otherwise an end and an edge,
//               or two ends. Segments within 1e-6 rad of parallel use the closest end instead of edges;
//               ties to 1e-9 of the distance go to a.
// capsule, box  the closest features, and each end that is over a face; if the segment intersects the
//               box, the features on the axis of least overlap among faces and crossed edges
//
// Other shapes on a plane: the lowest vertices, or the lowest points of curves. A cylinder stands on corners
// of its inscribed prism and lies on the lowest points of both rims. Polytopes, curves and terrains: see
// narrow_polytope.cpp, narrow_curved.cpp and narrow_terrain.cpp.

using Vec = Vec3<double>;
using Pose = Transform<double>;

constexpr double surface =
    1e-9;  // m; a centre up to this distance outside a box or cylinder counts as on its surface
constexpr double parallel_sine2 = 1e-12;  // segments with a squared sine up to this count as parallel
constexpr double distance2_tie =
    1e-9;  // squared distances with a relative difference up to this count as equal

// A shape with its pose in the common frame and its size, m.
struct Placed {
    const Shape& shape;
    const Pose& X;
    const Vec& size;
};

// The segment of a capsule along its axis.
struct Segment {
    Vec centre, direction;
    double half;
    explicit Segment(const Placed& s) : centre(s.X.p), direction(s.X.R.col(2)), half(s.size.y()) {}
    Segment(const Vec& c, const Vec& d, double h) : centre(c), direction(d), half(h) {}
    double parameter(const Vec& x) const { return std::clamp(direction.dot(x - centre), -half, half); }
    Vec at(double s) const { return centre + s * direction; }
    Vec end(int i) const { return at(i == 0 ? -half : half); }
    Feature feature(double s) const {
        return s <= -half ? vertex_feature(0) : (s >= half ? vertex_feature(1) : edge_feature(0));
    }
};

FeatureList sphere_on_plane(const Placed&, const Placed&) {
    FeatureList list;
    list.add(vertex_feature(0), face_feature(0));
    return list;
}

FeatureList sphere_on_sphere(const Placed&, const Placed&) {
    FeatureList list;
    list.add(vertex_feature(0), vertex_feature(0));
    return list;
}

FeatureList capsule_on_plane(const Placed&, const Placed&) {
    FeatureList list;
    list.add(vertex_feature(0), face_feature(0));
    list.add(vertex_feature(1), face_feature(0));
    return list;
}

FeatureList box_on_plane(const Placed& box, const Placed& plane) {
    const Vec n = box.X.R.transpose() * plane.X.R.col(2);  // the plane's normal in the box
    double height[8];
    int order[8];
    for (int i = 0; i < 8; ++i) {
        height[i] = n.dot(box_side(vertex_feature(i)).cwiseProduct(box.size));
        order[i] = i;
    }
    FeatureList list;
    for (int k = 0; k < 4; ++k) {
        int lowest = k;
        for (int i = k + 1; i < 8; ++i)
            if (height[order[i]] < height[order[lowest]]) lowest = i;
        std::rotate(order + k, order + lowest, order + lowest + 1);
        list.add(vertex_feature(order[k]), face_feature(0));
    }
    return list;
}

// The feature of a box that is nearest to the point c, in box coordinates.
Feature nearest_on_box(const Vec& c, const Vec& size) {
    const Vec excess = c.cwiseAbs() - size;
    int outside = 0, inside_axis = 0, nearest = 0;
    for (int k = 0; k < 3; ++k) {
        if (excess[k] > surface)
            ++outside;
        else
            inside_axis = k;
        if (excess[k] > excess[nearest]) nearest = k;
    }
    const auto side = [&](int k) { return c[k % 3] < 0 ? 0 : 1; };
    if (outside <= 1) return face_feature(2 * nearest + side(nearest));
    if (outside == 2)
        return edge_feature(4 * inside_axis + side(inside_axis + 1) + 2 * side(inside_axis + 2));
    return vertex_feature(side(0) + 2 * side(1) + 4 * side(2));
}

FeatureList sphere_on_box(const Placed& sphere, const Placed& box) {
    FeatureList list;
    list.add(vertex_feature(0), nearest_on_box(box.X.R.transpose() * (sphere.X.p - box.X.p), box.size));
    return list;
}

FeatureList sphere_on_cylinder(const Placed& sphere, const Placed& cylinder) {
    const Vec c = cylinder.X.R.transpose() * (sphere.X.p - cylinder.X.p);
    const double across = c.head<2>().norm();
    const double beside = across - cylinder.size.x(), over = std::abs(c.z()) - cylinder.size.y();
    const int cap = c.z() < 0 ? 0 : 1;
    FeatureList list;
    if (beside > surface && over > surface) {
        const double outward = beside / across;
        const Vec from_rim(outward * c.x(), outward * c.y(), cap == 0 ? -over : over);
        list.add(vertex_feature(0), curve_feature(cap), cylinder.X.R * from_rim.normalized());
    } else if (beside > over && across > degenerate_length) {
        list.add(vertex_feature(0), edge_feature(cylinder_axis));
    } else {
        list.add(vertex_feature(0), face_feature(cap));
    }
    return list;
}

FeatureList sphere_on_capsule(const Placed& sphere, const Placed& capsule) {
    const Segment b(capsule);
    FeatureList list;
    list.add(vertex_feature(0), b.feature(b.parameter(sphere.X.p)));
    return list;
}

// Keeps the closest of the offered candidates; ties go to the first.
struct Closest {
    FeatureList list;
    double distance2 = 0;
    void offer(const Vec& difference, const Feature& on_a, const Feature& on_b) {
        const double d2 = difference.squaredNorm();
        if (list.count > 0 && !(d2 < distance2 * (1 - distance2_tie))) return;
        distance2 = d2;
        list.count = 0;
        list.add(on_a, on_b);
    }
};

FeatureList parallel_capsules(const Segment& a, const Segment& b) {
    Closest closest;
    for (int i = 0; i < 2; ++i) {
        const double t = b.parameter(a.end(i));
        closest.offer(a.end(i) - b.at(t), vertex_feature(i), b.feature(t));
    }
    for (int i = 0; i < 2; ++i) {
        const double s = a.parameter(b.end(i));
        closest.offer(a.at(s) - b.end(i), a.feature(s), vertex_feature(i));
    }
    return closest.list;
}

bool parallel(const Segment& a, const Segment& b) {
    return !(a.direction.cross(b.direction).squaredNorm() > parallel_sine2);
}

// The parameters of the closest points of two segments that are not parallel    (Ericson, Real-Time Collision
// Detection, 5.1.9)
std::pair<double, double> closest_parameters(const Segment& a, const Segment& b) {
    const Vec normal = a.direction.cross(b.direction), r = b.centre - a.centre;
    const double s = std::clamp(r.cross(b.direction).dot(normal) / normal.squaredNorm(), -a.half, a.half);
    const double t = b.parameter(a.at(s));
    return {b.feature(t).kind == FeatureKind::edge ? s : a.parameter(b.at(t)), t};
}

// The feature of the second of two edges; its flag follows from the sign of the normal towards the first
// edge.
Feature oriented_edge(int index, const Segment& a, const Segment& b) {
    const bool reversed = a.direction.cross(b.direction).dot(a.centre - b.centre) < 0;
    return edge_feature(index, reversed);
}

FeatureList capsule_on_capsule(const Placed& capsule_a, const Placed& capsule_b) {
    const Segment a(capsule_a), b(capsule_b);
    if (parallel(a, b)) return parallel_capsules(a, b);
    const auto [s, t] = closest_parameters(a, b);
    const Feature on_a = a.feature(s), on_b = b.feature(t);
    const bool edges = on_a.kind == FeatureKind::edge && on_b.kind == FeatureKind::edge;
    FeatureList list;
    list.add(on_a, edges ? oriented_edge(0, a, b) : on_b);
    return list;
}

bool segment_meets_box(const Segment& a, const Vec& size) {
    double from = -a.half, to = a.half;
    for (int k = 0; k < 3; ++k) {
        const double c = a.centre[k], d = a.direction[k], h = size[k] + surface;
        if (std::abs(d) * a.half <= surface) {
            if (std::abs(c) > h) return false;
            continue;
        }
        from = std::max(from, std::min((-h - c) / d, (h - c) / d));
        to = std::min(to, std::max((-h - c) / d, (h - c) / d));
    }
    return from <= to;
}

// The features along the axis of least overlap of a segment that intersects a box, in box coordinates: faces
// are tried before edges. For a face, the other end of the segment is included if it is over this face.
FeatureList segment_in_box(const Segment& a, const Vec& size) {
    FeatureList list;
    double least = 0;
    for (int k = 0; k < 3; ++k) {
        const double c = a.centre[k], d = a.direction[k];
        const double separation = std::abs(c) - std::abs(d) * a.half - size[k];
        if (k > 0 && !(separation > least + surface)) continue;
        least = separation;
        list.count = 0;
        const int side = c < 0 ? 0 : 1, lower = (d < 0) == (side == 1) ? 1 : 0;
        list.add(vertex_feature(lower), face_feature(2 * k + side));
        const Vec excess = a.end(1 - lower).cwiseAbs() - size;
        if (excess[(k + 1) % 3] <= 0 && excess[(k + 2) % 3] <= 0)
            list.add(vertex_feature(1 - lower), face_feature(2 * k + side));
    }
    for (int k = 0; k < 3; ++k) {
        Vec n = a.direction.cross(Vec(Vec::Unit(k)));
        if (!(n.squaredNorm() > parallel_sine2)) continue;
        n.normalize();
        const bool reversed = n.dot(a.centre) < 0;
        if (reversed) n = -n;
        const double separation = n.dot(a.centre) - n.cwiseAbs().dot(size);
        if (!(separation > least + surface)) continue;
        least = separation;
        list.count = 0;
        const int side = (n[(k + 1) % 3] < 0 ? 0 : 1) + (n[(k + 2) % 3] < 0 ? 0 : 2);
        list.add(edge_feature(0), edge_feature(4 * k + side, reversed));
    }
    return list;
}

// The ends of the capsule that are over a face, and the closest features if they are not among these ends.
FeatureList capsule_on_box(const Placed& capsule, const Placed& box) {
    const Pose &X_a = capsule.X, &X_b = box.X;
    const Vec& size = box.size;
    const Segment a(X_b.R.transpose() * (X_a.p - X_b.p), X_b.R.transpose() * X_a.R.col(2), capsule.size.y());
    if (segment_meets_box(a, size)) return segment_in_box(a, size);
    Closest closest;
    FeatureList ends;
    for (int i = 0; i < 2; ++i) {
        const Vec x = a.end(i);
        const Feature on_b = nearest_on_box(x, size);
        closest.offer(x - x.cwiseMax(-size).cwiseMin(size), vertex_feature(i), on_b);
        if (on_b.kind == FeatureKind::face) ends.add(vertex_feature(i), on_b);
    }
    for (int j = 0; j < 12; ++j) {
        const Feature edge = edge_feature(j);
        const Segment b(box_side(edge).cwiseProduct(size), Vec::Unit(j / 4), size[j / 4]);
        if (parallel(a, b)) continue;
        const auto [s, t] = closest_parameters(a, b);
        if (a.feature(s).kind == FeatureKind::edge && b.feature(t).kind == FeatureKind::edge)
            closest.offer(a.at(s) - b.at(t), edge_feature(0), oriented_edge(j, a, b));
    }
    for (int j = 0; j < 8; ++j) {
        const Vec x = box_side(vertex_feature(j)).cwiseProduct(size);
        const double s = a.parameter(x);
        if (a.feature(s).kind == FeatureKind::edge)
            closest.offer(a.at(s) - x, edge_feature(0), vertex_feature(j));
    }
    const auto& [on_a, on_b, _] = closest.list.items[0];
    if (on_a.kind == FeatureKind::edge || on_b.kind != FeatureKind::face) ends.add(on_a, on_b);
    return ends;
}

// The list for the pair in swapped order.
FeatureList exchanged(FeatureList list) {
    for (int i = 0; i < list.count; ++i) {
        auto& [on_a, on_b, normal] = list.items[i];
        std::swap(on_a, on_b);
        normal = -normal;
        if (on_a.kind != FeatureKind::edge || on_b.kind != FeatureKind::edge) continue;
        // the flag belongs to the second edge and keeps its value: u x w and the normal both change sign
        on_b.index |= on_a.index & reversed_normal;
        on_a.index &= ~reversed_normal;
    }
    return list;
}

void points_on_plane(const Solid& a, const Solid& plane, ContactList& list) {
    face_points(plane, 0, a, false, list);
}

using Select = FeatureList (*)(const Placed& a, const Placed& b, double reach);

// How the closest features of a pair are found.
struct Selection {
    Select select;
    bool in_cases;     // a few cases decide, at any distance
    bool both_orders;  // takes the two shapes in either order
};

template <FeatureList (*decide)(const Placed&, const Placed&)>
FeatureList by_cases(const Placed& a, const Placed& b, double) {
    return decide(a, b);
}
template <void (*add_points)(const Solid&, const Solid&, ContactList&)>
FeatureList by_search(const Placed& a, const Placed& b, double reach) {
    const Solid solid_a(a.shape, a.X, a.size), solid_b(b.shape, b.X, b.size);
    ContactList list(a.shape, b.shape, reach);
    add_points(solid_a, solid_b, list);
    return list.chosen();
}

template <FeatureList (*decide)(const Placed&, const Placed&)>
inline constexpr Selection cases{by_cases<decide>, true, false};
template <void (*add_points)(const Solid&, const Solid&, ContactList&)>
inline constexpr Selection search{by_search<add_points>, false, true};
template <void (*add_points)(const Solid&, const Solid&, ContactList&)>
inline constexpr Selection search_in_order{by_search<add_points>, false, false};

struct PairRow {
    ShapeType a, b;
    int most_points;
    NormalForm normal;
    Selection selection;
};

using enum ShapeType;
using enum NormalForm;

// The table of pairs, each in one order. A pair without a row is unsupported.
constexpr PairRow pair_rows[] = {
    {sphere, plane, 1, closed, cases<sphere_on_plane>},
    {sphere, sphere, 1, closed, cases<sphere_on_sphere>},
    {sphere, capsule, 1, closed, cases<sphere_on_capsule>},
    {sphere, box, 1, closed, cases<sphere_on_box>},
    {sphere, cylinder, 1, closed, cases<sphere_on_cylinder>},
    {sphere, ellipsoid, 1, implicit, search<curved_points>},
    {sphere, mesh, 1, closed, search<polytope_points>},
    {sphere, terrain, 4, closed, search_in_order<terrain_points>},
    {capsule, plane, 2, closed, cases<capsule_on_plane>},
    {capsule, capsule, 1, closed, cases<capsule_on_capsule>},
    {capsule, box, 3, closed, cases<capsule_on_box>},
    {capsule, cylinder, 2, implicit, search<curved_points>},
    {capsule, ellipsoid, 1, implicit, search<curved_points>},
    {capsule, mesh, 2, closed, search<polytope_points>},
    {capsule, terrain, 4, closed, search_in_order<terrain_points>},
    {box, plane, 4, closed, cases<box_on_plane>},
    {box, box, 4, closed, search<polytope_points>},
    {box, cylinder, 4, implicit, search<curved_points>},
    {box, ellipsoid, 1, implicit, search<curved_points>},
    {box, mesh, 4, closed, search<polytope_points>},
    {box, terrain, 4, closed, search_in_order<terrain_points>},
    {cylinder, plane, 4, closed, search_in_order<points_on_plane>},
    {cylinder, cylinder, 4, implicit, search<curved_points>},
    {cylinder, ellipsoid, 1, implicit, search<curved_points>},
    {cylinder, mesh, 4, implicit, search<curved_points>},
    {cylinder, terrain, 4, implicit, search_in_order<terrain_points>},
    {ellipsoid, plane, 1, closed, search_in_order<points_on_plane>},
    {ellipsoid, ellipsoid, 1, implicit, search<curved_points>},
    {ellipsoid, mesh, 1, implicit, search<curved_points>},
    {ellipsoid, terrain, 4, implicit, search_in_order<terrain_points>},
    {mesh, plane, 4, closed, search_in_order<points_on_plane>},
    {mesh, mesh, 4, closed, search<polytope_points>},
    {mesh, terrain, 4, closed, search_in_order<terrain_points>},
};

// The row of a pair; `exchanged` if the row has the other order.
struct PairEntry {
    const PairRow* row = nullptr;
    bool exchanged = false;
};

constexpr size_t types = std::size(all_shape_types);

constexpr auto pair_entries = [] {
    std::array<std::array<PairEntry, types>, types> entries{};
    for (const PairRow& row : pair_rows) {
        const auto a = static_cast<size_t>(row.a), b = static_cast<size_t>(row.b);
        entries[b][a] = {&row, !row.selection.both_orders};
        entries[a][b] = {&row, false};
    }
    return entries;
}();

constexpr bool no_pair_has_two_rows() {
    for (const PairRow& row : pair_rows)
        for (const PairRow& other : pair_rows)
            if (&row != &other &&
                ((row.a == other.a && row.b == other.b) || (row.a == other.b && row.b == other.a)))
                return false;
    return true;
}
static_assert(no_pair_has_two_rows());

constexpr const PairEntry& entry_of(ShapeType a, ShapeType b) {
    return pair_entries[static_cast<size_t>(a)][static_cast<size_t>(b)];
}

constexpr bool every_bounded_shape_meets_all() {
    for (const ShapeKind& a : shape_kinds)
        for (const ShapeKind& b : shape_kinds)
            if (!a.unbounded && entry_of(a.type, b.type).row == nullptr) return false;
    return true;
}
static_assert(every_bounded_shape_meets_all());

}  // namespace

bool pair_supported(ShapeType a, ShapeType b) { return entry_of(a, b).row != nullptr; }

PairKind pair_kind(ShapeType a, ShapeType b) {
    assert(pair_supported(a, b));
    const PairRow& row = *entry_of(a, b).row;
    return {row.most_points, row.normal, row.selection.in_cases};
}

FeatureList closest_features(const Shape& sa, const Shape& sb, const Pose& X_a, const Pose& X_b,
                             const Vec& size_a, const Vec& size_b, double reach) {
    assert(pair_supported(sa.type, sb.type));
    const Placed a{sa, X_a, size_a}, b{sb, X_b, size_b};
    const PairEntry& entry = entry_of(sa.type, sb.type);
    const Select select = entry.row->selection.select;
    return entry.exchanged ? exchanged(select(b, a, reach)) : select(a, b, reach);
}

}  // namespace costate
