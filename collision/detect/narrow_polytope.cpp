// Two polytopes, or a polytope and a point or segment: finds the axis of largest separation among face
// normals and cross products of edges (Gottschalk, Lin, Manocha, "OBBTree", 1996; edges selected by the Gauss
// map after Gregorius, "The separating axis test between convex polyhedra", 2013), then the contact points of
// a face or of two edges, or, if no axis gives the distance, of a vertex and the nearest part. For small
// polytopes all faces and edges are tested; for large ones GJK and EPA find the closest parts.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "collision/contact/placed_feature.hpp"
#include "collision/detect/epa.hpp"
#include "collision/detect/narrow_parts.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double separation_tie = 1e-9;         // m; smaller differences of separations count as ties
constexpr double parallel_edges_sine2 = 1e-12;  // edges with a squared sine up to this count as parallel
constexpr double contact_distance = 1e-7;       // m; vertices closer than this do not define a normal
constexpr double separation_accuracy = 1e-9;    // m, and relative: accuracy of a separation
// relative to the size: tolerance of vertices to the plane of their face, see convex_hull
constexpr double face_tolerance = 3e-6;
// accuracy of overlaps by EPA, relative to the size of both polytopes
constexpr double exact_overlap = 1e-12;
constexpr size_t few_pairs = 100;  // up to this number of edge pairs, testing all is not slower than GJK

struct Axis {
    double separation = -std::numeric_limits<double>::infinity();
    Vec n = Vec::UnitZ();      // from b to a
    int on_a = -1, on_b = -1;  // one face, or two edges
};

// A subset of the parts of one kind, in the order of their indices.
struct Parts {
    const int* numbers;  // null: all
    int count;
    int operator[](int i) const { return numbers == nullptr ? i : numbers[i]; }
};

// The parts of a polytope to test.
struct Asked {
    Parts vertices, edges, faces;
    explicit Asked(const Solid& s)
        : vertices{nullptr, static_cast<int>(s.hull.vertices.size())},
          edges{nullptr, static_cast<int>(s.hull.edges.size())},
          faces{nullptr, s.face_count()} {}
    Asked(const Parts& v, const Parts& e, const Parts& f) : vertices(v), edges(e), faces(f) {}
};

struct PolytopePair {
    const Solid &a, &b;
    ContactList& list;
    Asked of_a = Asked(a), of_b = Asked(b);
    // the separation, if it is known to round-off
    double known = -std::numeric_limits<double>::infinity();
    bool asks_all = false;       // also the edges where a face is certain to separate most
    bool gjk_is_faster = false;  // than the test of all pairs of edges

    // Of the largest separation, or one of at least `beyond`.
    Axis face_axis(double beyond) const {
        Axis best;
        const auto on_a = [&] {
            for (int i = 0; i < of_a.faces.count && best.separation < beyond; ++i) {
                const int f = of_a.faces[i];
                const Vec n = -a.normal(f);
                const double s = n.dot(a.face_point(f) - b.support(n));
                if (s > best.separation + separation_tie &&
                    (b.triangle < 0 || b.allows(n, vertex_feature(b.support_vertex(n)))))
                    best = {s, n, f, -1};
            }
        };
        const auto on_b = [&] {
            for (int i = 0; i < of_b.faces.count && best.separation < beyond; ++i) {
                const int f = of_b.faces[i];
                const Vec n = b.normal(f);
                const double s = n.dot(a.support(-n) - b.face_point(f));
                if (s > best.separation + separation_tie) best = {s, n, -1, f};
            }
        };
        if (b.triangle >= 0) {  // for a terrain, the face of the triangle takes precedence
            on_b();
            on_a();
        } else {
            on_a();
            on_b();
        }
        return best;
    }

    // A direction u, transformed for products with the normals of a hull's faces at unit scale.
    static Vec for_normals(const Solid& s, const Vec& u) {
        return (turns_with_size(s.type()) ? cofactors(s.scale) : Vec(1, 1, 1))
            .cwiseProduct(s.X.R.transpose() * u);
    }
    // True if the direction l (from for_normals) crosses the planes of both faces at the edge. Otherwise no
    // axis normal to it is in the edge's normal cone.
    static bool faces_straddle(const Solid& s, const HullEdge& e, const Vec& l) {
        if (e.left < 0) return true;
        return s.hull.faces[e.left].normal.dot(l) * s.hull.faces[e.right].normal.dot(l) < 0;
    }

    // True if the two edges are the closest parts along the axis. The normals of slivers are inaccurate, so
    // normal cones may intersect only apparently; then other vertices are far beyond the edges.
    bool on_support(const Axis& axis) const {
        return axis.separation - separation(a, b, axis.n) < tolerance();
    }
    double tolerance() const {
        return separation_accuracy +
               face_tolerance * (bounding_radius(*a.shape, a.size) + bounding_radius(*b.shape, b.size));
    }

    Axis edge_axis() const {
        Axis best;
        for (int k = 0; k < of_a.edges.count; ++k) {
            const int i = of_a.edges[k];
            const HullEdge& e = a.hull.edges[i];
            const Vec u = a.edge_direction(i), tail = a.vertex(e.tail),
                      in_a = a.X.R * a.scale.cwiseProduct(e.inward);
            const Vec u_on_b = for_normals(b, u);
            for (int l = 0; l < of_b.edges.count; ++l) {
                const int j = of_b.edges[l];
                const HullEdge& f = b.hull.edges[j];
                if (!b.sharp_side(j) || !faces_straddle(b, f, u_on_b)) continue;
                const Vec w = b.edge_direction(j);
                if (!faces_straddle(a, e, for_normals(a, w))) continue;
                Vec n = u.cross(w);
                const double length2 = n.squaredNorm();
                if (!(length2 > parallel_edges_sine2 * u.squaredNorm() * w.squaredNorm())) continue;
                n /= std::sqrt(length2);
                const Vec in_b = b.X.R * b.scale.cwiseProduct(f.inward);
                if (n.dot(f.left < 0 ? Vec(-in_a) : in_b) > 0) n = -n;
                if (n.dot(in_a) < 0) continue;  // the normal cones of the two edges do not intersect
                const double s = n.dot(tail - b.vertex(f.tail));
                const Axis axis{s, n, i, j};
                // the least overlap of two polytopes is on both edges; for part of a surface this need not
                // hold
                if (s > best.separation + separation_tie && b.allows(n, edge_feature(axis.on_b)) &&
                    (b.triangle < 0 || edges_cross(axis)) && on_support(axis))
                    best = axis;
            }
        }
        return best;
    }

    // True if the closest points of the lines through two edges are on the edges.
    bool edges_cross(const Axis& axis) const {
        const RoundedFeature<double> on_a =
            place_feature(*a.shape, a.named(edge_feature(axis.on_a)), a.X, a.size);
        const RoundedFeature<double> on_b =
            place_feature(*b.shape, b.named(edge_feature(axis.on_b)), b.X, b.size);
        const PointPair<double> x = closest_of_lines(on_a.point, on_a.direction, on_b.point, on_b.direction);
        return a.within(edge_feature(axis.on_a), x.a) && b.within(edge_feature(axis.on_b), x.b);
    }

    // A vertex and its nearest vertex or edge.
    struct Nearest {
        double distance = std::numeric_limits<double>::infinity();
        Vec n = Vec::UnitZ();
        Feature on_a, on_b;
    };

    // Tests the vertices of v with the edges of e; `side` is 1 if v is a. Skips vertices whose distance along
    // the axis exceeds the nearest distance so far.
    void vertices_near(const Solid& v, const Parts& vertices, const Solid& e, const Parts& edges, double side,
                       const Vec& axis, Nearest& best) const {
        const Vec outward = side * axis;
        const double surface = outward.dot(e.support(outward));
        for (int k = 0; k < vertices.count; ++k) {
            const int i = vertices[k];
            const Vec x = v.vertex(i);
            if (outward.dot(x) - surface > best.distance) continue;
            for (int l = 0; l < edges.count; ++l) {
                const int j = edges[l];
                const HullEdge& edge = e.hull.edges[j];
                const Vec tail = e.vertex(edge.tail), u = e.edge_direction(j);
                const double t = u.dot(x - tail) / u.squaredNorm();
                const Vec y = tail + std::min(std::max(t, 0.0), 1.0) * u;
                const double distance = (x - y).norm();
                if (!(distance < best.distance - separation_tie)) continue;
                const Feature on_v = vertex_feature(i);
                const Feature on_e = t <= 0 ? vertex_feature(edge.tail)
                                            : (t >= 1 ? vertex_feature(edge.head) : edge_feature(j));
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
        // if the shapes overlap, or the face is part of a larger one, the axis suffices; otherwise the
        // closest point along the axis must be within the face
        const bool axis_counts = axis.separation <= 0 || (b.triangle >= 0 && axis.on_b >= 0);
        if (axis_counts ? list.count() > before
                        : found <= axis.separation + separation_accuracy + 1e-3 * axis.separation)
            return true;
        list.cut(before);
        return false;
    }

    void offer_support(const Axis& axis) const {
        if (b.triangle >= 0) {
            // points of the triangle's face must not be deeper than the least overlap
            const int before = list.count();
            face_points(b, 0, a, false, list);
            list.drop_if(before, [&](const ContactList::Point& p) {
                return p.gap + a.radius < axis.separation - contact_distance;
            });
            return;
        }
        if (axis.on_a >= 0)
            list.offer(a, b, face_feature(axis.on_a), vertex_feature(b.support_vertex(axis.n)), axis.n);
        else
            list.offer(a, b, vertex_feature(a.support_vertex(-axis.n)), face_feature(axis.on_b), axis.n);
    }

    // False, without adding points, if the tested parts do not have the known separation.
    bool offer_points() const {
        const double beyond = list.reach() + a.radius + b.radius;
        const Axis face = face_axis(beyond);
        if (face.separation >= beyond) return true;
        const bool on_a = face.on_a >= 0,
                   certain = !asks_all && b.triangle < 0 && (on_a || face.on_b >= 0) &&
                             separates_most(a, b, face.n, on_a ? a : b, on_a ? face.on_a : face.on_b);
        if (!certain && gjk_is_faster && gjk(PolytopeDifference(a, b), beyond).beyond(beyond)) return true;
        const Axis edges = certain ? Axis() : edge_axis();
        const bool edges_lead = edges.separation > face.separation + separation_tie;
        const Axis& lead = edges_lead ? edges : face;
        if (lead.separation >= beyond) return true;
        // for separate polytopes, the distance of a vertex to the nearest part may exceed that of every axis
        if (lead.separation < (known > contact_distance ? 0 : known - tolerance())) return false;
        if (!edges_lead && offer_face(face)) return true;
        if (edges_lead && (lead.separation <= 0 || edges_cross(edges))) {
            if (!near_face_points(a, b, edges.n, edges.separation, list)) offer_edges(edges);
            return true;
        }
        if (lead.separation > contact_distance) {
            Nearest near;
            vertices_near(a, of_a.vertices, b, of_b.edges, 1, lead.n, near);
            vertices_near(b, of_b.vertices, a, of_a.edges, -1, lead.n, near);
            const bool closest =
                near.distance > contact_distance &&
                separation(a, b, near.n) > near.distance - separation_accuracy * (1 + near.distance);
            if (closest) {
                if (!b.allows(near.n, near.on_b)) return true;
                if (!near_face_points(a, b, near.n, near.distance, list))
                    list.offer(a, b, near.on_a, near.on_b, near.n);
                return true;
            }
        }
        if (lead.separation < known - tolerance()) return false;
        if (edges_lead)
            offer_edges(edges);
        else
            offer_support(face);
        return true;
    }
};

// The faces and edges at some vertices of a large hull whose normals may be near a direction.
class Zone {
public:
    // outward: direction from the solid to the other
    Zone(const Solid& s, const Vec& outward) : solid_(s) { turn(outward); }
    void turn(const Vec& outward) {
        outward_ = outward;
        if (solid_.hull.paths != nullptr) add(solid_.support_vertex(outward));
    }
    void add(int vertex) {
        const HullPaths* paths = solid_.hull.paths;
        if (paths == nullptr || !vertices_.insert(vertex)) return;
        for (const int e : paths->edges.of(vertex))
            if (const Vec u = solid_.edge_direction(e); std::abs(u.dot(outward_)) < lean_of_edge * u.norm())
                edges_.insert(e);
        for (const int f : paths->faces.of(vertex))
            if (solid_.normal(f).dot(outward_) > least_cosine_of_face) faces_.insert(f);
    }
    Asked asked() const {
        if (solid_.hull.paths == nullptr) return Asked(solid_);
        return {vertices_.parts(), edges_.parts(), faces_.parts()};
    }

private:
    static constexpr double lean_of_edge = 0.3, least_cosine_of_face = 0.9;

    // A sorted set of indices with limited capacity; further indices are ignored.
    class Set {
    public:
        bool insert(int number) {
            const auto end = numbers_.begin() + count_, at = std::lower_bound(numbers_.begin(), end, number);
            if ((at != end && *at == number) || count_ == static_cast<int>(numbers_.size())) return false;
            std::copy_backward(at, end, end + 1);
            *at = number;
            ++count_;
            return true;
        }
        Parts parts() const { return {numbers_.data(), count_}; }

    private:
        int count_ = 0;
        std::array<int, 256> numbers_;
    };
    const Solid& solid_;
    Vec outward_;
    Set vertices_, edges_, faces_;
};

// The closest points of two polytopes by GJK or EPA.
struct ClosestPoints {
    bool beyond = false;  // farther apart than `enough`; the other members are then not set
    bool found = false;
    Vec n;              // unit, from b to a
    double separation;  // along n, m
    DifferencePoint points[4];
    int count = 0;  // number of points of the difference whose hull contains its nearest point

    ClosestPoints(const Solid& a, const Solid& b, double enough) {
        const PolytopeDifference difference(a, b);
        const Apart apart = gjk(difference, enough);
        beyond = apart.beyond(enough);
        if (beyond) return;
        if (apart.distance > 0)
            keep(apart.n, apart.distance, apart.points, apart.count);
        else if (const Overlap overlap = epa(difference, apart, exact_overlap); overlap.found)
            keep(overlap.n, overlap.separation, overlap.points, 3);
    }

private:
    void keep(const Vec& normal, double along, const DifferencePoint* from, int number) {
        found = true;
        n = normal;
        separation = along;
        count = number;
        std::copy_n(from, number, points);
    }
};

// Adds the points where two polytopes are closest, using the faces and edges at which GJK or EPA ends. False
// if these are uncertain.
bool offer_closest(const Solid& a, const Solid& b, ContactList& list) {
    const ClosestPoints closest(a, b, list.reach() + a.radius + b.radius);
    if (closest.beyond) return true;
    if (!closest.found) return false;
    Zone on_a(a, -closest.n), on_b(b, closest.n);
    for (int k = 0; k < closest.count; ++k) {
        on_a.add(closest.points[k].on_a);
        on_b.add(closest.points[k].on_b);
    }
    return PolytopePair{a, b, list, on_a.asked(), on_b.asked(), closest.separation}.offer_points();
}

// A large hull and a triangle: the lowest part of the hull over the face, and, if the surface has a sharp
// edge or vertex there, the closest parts.
void offer_on_triangle(const Solid& a, const Solid& triangle, ContactList& list) {
    Zone zone(a, -triangle.normal(0));
    const int sides = triangle.only_side < 0 ? 3 : 1;
    bool sharp = false;
    for (int k = 0; k < sides; ++k)
        sharp = sharp || triangle.sharp_side(k);
    if (sharp) {
        const ClosestPoints closest(a, triangle, list.reach() + a.radius);
        if (closest.beyond) return;
        if (closest.found) {
            zone.turn(-closest.n);
            for (int k = 0; k < closest.count; ++k)
                zone.add(closest.points[k].on_a);
        }
    }
    PolytopePair{a, triangle, list, zone.asked(), Asked(triangle)}.offer_points();
}

}  // namespace

void all_polytope_points(const Solid& a, const Solid& b, ContactList& list) {
    PolytopePair pair{a, b, list};
    pair.asks_all = true;
    pair.offer_points();
}

void polytope_points(const Solid& a, const Solid& b, ContactList& list) {
    const bool large = a.hull.paths != nullptr || b.hull.paths != nullptr,
               many = a.hull.edges.size() * b.hull.edges.size() > few_pairs;
    if (b.triangle >= 0 && a.hull.paths != nullptr) return offer_on_triangle(a, b, list);
    if (large && b.triangle < 0 && offer_closest(a, b, list)) return;
    PolytopePair pair{a, b, list};
    pair.gjk_is_faster = many && !large && b.triangle < 0;
    pair.offer_points();
}

}  // namespace costate
