// Two polytopes, or one and a point or a segment: the axis of largest separation among the normals of faces
// and the products of edges (Gottschalk, Lin, Manocha, "OBBTree", 1996; the choice of edges by the Gauss map
// after Gregorius, "The separating axis test between convex polyhedra", 2013), then the points of a face, of
// two edges, or, beyond all axes, of a vertex and the nearest part.
#include <cmath>
#include <limits>

#include "collision/contact/placed_feature.hpp"
#include "collision/detect/narrow_parts.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double tie = 1e-9;              // m; a better axis is better by more than this
constexpr double parallel_sine2 = 1e-12;  // squared sine of the angle up to which edges are parallel
constexpr double closed = 1e-7;           // m; vertices closer than this have no normal of their own
constexpr double exact = 1e-9;            // m, and relative: to what a separation is known
// of the size; how far vertices may be out of their face, see convex_hull
constexpr double flat = 3e-6;

struct Axis {
    double separation = -std::numeric_limits<double>::infinity();
    Vec n = Vec::UnitZ();      // from b to a
    int on_a = -1, on_b = -1;  // one face, or two edges
};

struct PolytopePair {
    const Solid &a, &b;
    ContactList& list;

    Axis face_axis() const {
        Axis best;
        const auto on_a = [&] {
            for (int f = 0; f < a.face_count(); ++f) {
                const Vec n = -a.normal(f);
                const double s = n.dot(a.face_point(f) - b.support(n));
                if (s > best.separation + tie && b.allows(n, vertex_feature(b.support_vertex(n))))
                    best = {s, n, f, -1};
            }
        };
        const auto on_b = [&] {
            for (int f = 0; f < b.face_count(); ++f) {
                const Vec n = b.normal(f);
                const double s = n.dot(a.support(-n) - b.face_point(f));
                if (s > best.separation + tie) best = {s, n, -1, f};
            }
        };
        if (b.triangle >= 0) {  // of a terrain the face comes first
            on_b();
            on_a();
        } else {
            on_a();
            on_b();
        }
        return best;
    }

    // Whether the planes of both faces at the edge are cut by the direction u: else no axis at right angles
    // to u is in its cone.
    static bool faces_straddle(const Solid& s, const HullEdge& e, const Vec& u) {
        if (e.left < 0) return true;
        const Vec l = (turns_with_size(s.type()) ? cofactors(s.scale) : Vec(1, 1, 1))
                          .cwiseProduct(s.X.R.transpose() * u);
        return s.hull.faces[e.left].normal.dot(l) * s.hull.faces[e.right].normal.dot(l) < 0;
    }

    // Whether the two edges are what comes closest along the axis. Of slivers, whose normals are known to few
    // digits, the cones may only seem to meet: then other vertices lie beyond the edges, as far as the shapes
    // are large.
    bool on_support(const Axis& axis) const {
        return axis.separation - separation(a, b, axis.n) <
               exact + flat * (bounding_radius(*a.shape, a.size) + bounding_radius(*b.shape, b.size));
    }

    Axis edge_axis() const {
        Axis best;
        for (size_t i = 0; i < a.hull.edges.size(); ++i) {
            const HullEdge& e = a.hull.edges[i];
            const Vec u = a.edge_direction(static_cast<int>(i)), tail = a.vertex(e.tail),
                      in_a = a.X.R * a.scale.cwiseProduct(e.inward);
            for (size_t j = 0; j < b.hull.edges.size(); ++j) {
                const HullEdge& f = b.hull.edges[j];
                if (!b.sharp_side(static_cast<int>(j)) || !faces_straddle(b, f, u)) continue;
                const Vec w = b.edge_direction(static_cast<int>(j));
                if (!faces_straddle(a, e, w)) continue;
                Vec n = u.cross(w);
                const double length2 = n.squaredNorm();
                if (!(length2 > parallel_sine2 * u.squaredNorm() * w.squaredNorm())) continue;
                n /= std::sqrt(length2);
                const Vec in_b = b.X.R * b.scale.cwiseProduct(f.inward);
                if (n.dot(f.left < 0 ? Vec(-in_a) : in_b) > 0) n = -n;
                if (n.dot(in_a) < 0) continue;  // the cones of the two edges do not meet
                const double s = n.dot(tail - b.vertex(f.tail));
                const Axis axis{s, n, static_cast<int>(i), static_cast<int>(j)};
                // the least overlap of two polytopes is on both edges, that of a part of a surface need not
                // be
                if (s > best.separation + tie && b.allows(n, edge_feature(axis.on_b)) &&
                    (b.triangle < 0 || edges_cross(axis)) && on_support(axis))
                    best = axis;
            }
        }
        return best;
    }

    // Whether the closest points of the lines of two edges are on the edges.
    bool edges_cross(const Axis& axis) const {
        const RoundedFeature<double> on_a =
            place_feature(*a.shape, a.named(edge_feature(axis.on_a)), a.X, a.size);
        const RoundedFeature<double> on_b =
            place_feature(*b.shape, b.named(edge_feature(axis.on_b)), b.X, b.size);
        const PointPair<double> x = closest_of_lines(on_a.point, on_a.direction, on_b.point, on_b.direction);
        return a.within(edge_feature(axis.on_a), x.a) && b.within(edge_feature(axis.on_b), x.b);
    }

    // A vertex and the vertex or edge nearest to it.
    struct Nearest {
        double distance = std::numeric_limits<double>::infinity();
        Vec n = Vec::UnitZ();
        Feature on_a, on_b;
    };

    // The vertices of v against the edges of e; `side` is 1 if v is a. A vertex that is farther along the
    // axis than the nearest yet is left out.
    void vertices_near(const Solid& v, const Solid& e, double side, const Vec& axis, Nearest& best) const {
        const Vec outward = side * axis;
        const double surface = outward.dot(e.support(outward));
        for (size_t i = 0; i < v.hull.vertices.size(); ++i) {
            const Vec x = v.vertex(static_cast<int>(i));
            if (outward.dot(x) - surface > best.distance) continue;
            for (size_t j = 0; j < e.hull.edges.size(); ++j) {
                const HullEdge& edge = e.hull.edges[j];
                const Vec tail = e.vertex(edge.tail), u = e.edge_direction(static_cast<int>(j));
                const double t = u.dot(x - tail) / u.squaredNorm();
                const Vec y = tail + std::min(std::max(t, 0.0), 1.0) * u;
                const double distance = (x - y).norm();
                if (!(distance < best.distance - tie)) continue;
                const Feature on_v = vertex_feature(static_cast<int>(i));
                const Feature on_e =
                    t <= 0 ? vertex_feature(edge.tail)
                           : (t >= 1 ? vertex_feature(edge.head) : edge_feature(static_cast<int>(j)));
                best = {distance, side * (x - y) / distance, side > 0 ? on_v : on_e, side > 0 ? on_e : on_v};
            }
        }
    }

    void offer_edges(const Axis& axis) const {
        list.offer(a, b, edge_feature(axis.on_a), edge_feature(axis.on_b), axis.n);
    }

    bool offer_face(const Axis& axis) const {
        const int before = list.count();
        if (axis.on_a >= 0)
            face_points(a, axis.on_a, b, true, list);
        else
            face_points(b, axis.on_b, a, false, list);
        const double found = list.least_gap(before) + a.radius + b.radius;
        // where the shapes overlap, or the face is a part of a larger one, the axis alone counts; apart, the
        // point that comes closest along it must be within the face
        const bool axis_counts = axis.separation <= 0 || (b.triangle >= 0 && axis.on_b >= 0);
        if (axis_counts ? list.count() > before : found <= axis.separation + exact + 1e-3 * axis.separation)
            return true;
        list.cut(before);
        return false;
    }

    void offer_support(const Axis& axis) const {
        if (b.triangle >= 0) {
            // no point of the triangle's face is deeper than the least overlap
            const int before = list.count();
            face_points(b, 0, a, false, list);
            list.drop_if(before, [&](const ContactList::Point& p) {
                return p.gap + a.radius < axis.separation - closed;
            });
            return;
        }
        if (axis.on_a >= 0)
            list.offer(a, b, face_feature(axis.on_a), vertex_feature(b.support_vertex(axis.n)), axis.n);
        else
            list.offer(a, b, vertex_feature(a.support_vertex(-axis.n)), face_feature(axis.on_b), axis.n);
    }

    void offer_points() const {
        const Axis face = face_axis(), edges = edge_axis();
        const bool edges_lead = edges.separation > face.separation + tie;
        const Axis& lead = edges_lead ? edges : face;
        if (lead.separation - a.radius - b.radius >= list.reach()) return;
        if (!edges_lead && offer_face(face)) return;
        if (edges_lead && (lead.separation <= 0 || edges_cross(edges))) {
            if (!near_face_points(a, b, edges.n, edges.separation, list)) offer_edges(edges);
            return;
        }
        if (lead.separation > closed) {
            Nearest near;
            vertices_near(a, b, 1, lead.n, near);
            vertices_near(b, a, -1, lead.n, near);
            const bool closest = near.distance > closed &&
                                 separation(a, b, near.n) > near.distance - exact * (1 + near.distance);
            if (closest) {
                if (!b.allows(near.n, near.on_b)) return;
                if (!near_face_points(a, b, near.n, near.distance, list))
                    list.offer(a, b, near.on_a, near.on_b, near.n);
                return;
            }
        }
        if (edges_lead)
            offer_edges(edges);
        else
            offer_support(face);
    }
};

}  // namespace

void polytope_points(const Solid& a, const Solid& b, ContactList& list) {
    PolytopePair{a, b, list}.offer_points();
}

}  // namespace costate
