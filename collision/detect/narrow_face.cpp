// Contact points over a face: vertices of the other shape within it, crossings of the other's edges with its
// sides, its own vertices over the other's face, and the lowest points of curves.
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>

#include "collision/contact/support.hpp"
#include "collision/detect/narrow_parts.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double on_side = 1e-9;  // m; a crossing this close to a vertex counts as the vertex
// sine of the angle between axis and face normal below which a cylinder has no unique lowest point
constexpr double upright_sine = 1e-3;
constexpr double flat_sine = 0.3;  // up to this sine of the angle, a cap or a side lies on a face
// up to this cosine between axis and normal, the lowest line of the cylinder's side crosses the sides of the
// face
constexpr double side_line_cosine = 0.01;
constexpr double parallel_cosine = 0.99;  // faces with opposite normals to this cosine count as parallel
constexpr double near_cosine = 0.999;     // an axis may be replaced by a face normal within this cosine
// relative difference allowed between the gaps of that face's points and the separation
constexpr double near_gap = 1e-3;
constexpr double near_gap_floor = 1e-7;  // m

struct FaceQuery {
    const Solid &ref, &other;
    int face;
    bool ref_is_a;
    ContactList& list;
    Vec n;      // outward normal of the face
    Vec below;  // a point on the face

    FaceQuery(const Solid& r, int f, const Solid& o, bool first, ContactList& points)
        : ref(r),
          other(o),
          face(f),
          ref_is_a(first),
          list(points),
          n(r.normal(f)),
          below(r.face_point(f)) {}

    void offer(const Feature& on_ref, const Feature& on_other) const {
        if (ref_is_a)
            list.offer(ref, other, on_ref, on_other, -n);
        else
            list.offer(other, ref, on_other, on_ref, n);
    }
    bool near(const Vec& x) const { return n.dot(x - below) - other.radius < list.reach(); }

    int sides() const { return ref.type() == ShapeType::plane ? 0 : ref.hull.faces[face].count; }
    int side(int k) const { return ref.hull.faces[face].first + k; }

    void vertex(int i) const {
        const Vec x = other.vertex(i);
        if (near(x) && other.sharp_vertex(i) && ref.within(face_feature(face), x))
            offer(face_feature(face), vertex_feature(i));
    }

    // Finds the vertices of a large hull near the plane, in the order of their indices. They are connected by
    // edges, so a walk from the lowest vertex reaches all of them. False if there are too many.
    bool vertices_by_walk() const {
        constexpr size_t most_numbers = 1 << 14;
        const HullView& hull = other.hull;
        if (hull.paths == nullptr || hull.vertices.size() > most_numbers) return false;
        std::bitset<most_numbers> met;
        std::array<int, 512> walk;
        size_t count = 0;
        const auto meet = [&](int v) {
            if (met[v]) return true;
            met[v] = true;
            if (!near(other.vertex(v))) return true;
            if (count == walk.size()) return false;
            walk[count++] = v;
            return true;
        };
        meet(other.support_vertex(-n));
        for (size_t i = 0; i < count; ++i)
            for (const int v : hull.paths->neighbours.of(walk[i]))
                if (!meet(v)) return false;
        std::sort(walk.begin(), walk.begin() + static_cast<std::ptrdiff_t>(count));
        for (size_t i = 0; i < count; ++i)
            vertex(walk[i]);
        return true;
    }

    // The crossings of the segment from x to y with the sides, by clipping (Cyrus and Beck).
    void crossings(const Vec& x, const Vec& y, const Feature& edge) const {
        double from = 0, to = 1;
        int enters = -1, leaves = -1;
        for (int k = 0; k < sides(); ++k) {
            const HullSide& it = ref.hull.sides[side(k)];
            const Vec tail = ref.vertex(it.tail), out = (ref.vertex(it.head) - tail).cross(n);
            const double start = out.dot(x - tail), rate = out.dot(y - x);
            if (std::abs(rate) <= on_side * out.norm()) {
                if (start > on_side * out.norm()) return;
                continue;
            }
            const double t = -start / rate;
            if (rate < 0 && t > from) {
                from = t;
                enters = k;
            }
            if (rate > 0 && t < to) {
                to = t;
                leaves = k;
            }
        }
        const double length = (y - x).norm();
        if ((to - from) * length <= on_side) return;
        if (enters >= 0 && from * length > on_side && ref.sharp_side(side(enters)))
            offer(side_feature(side(enters)), edge);
        if (leaves >= 0 && (1 - to) * length > on_side && ref.sharp_side(side(leaves)))
            offer(side_feature(side(leaves)), edge);
    }

    // The face's vertices over face g of the other shape, measured along the normal of g, which is nearly
    // opposite.
    void own_vertices(int g) const {
        if (!(n.dot(other.normal(g)) < -parallel_cosine)) return;
        for (int k = 0; k < sides(); ++k) {
            const int v = ref.hull.sides[side(k)].tail;
            if (ref.sharp_vertex(v) && other.within(face_feature(g), ref.vertex(v)))
                offer(vertex_feature(v), face_feature(g));
        }
    }

    void polygon(int g) const {
        const HullFace& over = other.hull.faces[g];
        for (int j = 0; j < over.count; ++j) {
            const HullSide& it = other.hull.sides[over.first + j];
            vertex(it.tail);
            if (sides() > 0 && other.sharp_side(it.edge))
                crossings(other.vertex(it.tail), other.vertex(it.head), edge_feature(it.edge));
        }
        if (sides() > 0) own_vertices(g);
    }

    void curve(int i) const {
        const Vec x = support_point<double>(*other.shape, curve_feature(i), other.X, other.size, -n);
        if (ref.within(face_feature(face), x)) offer(face_feature(face), curve_feature(i));
    }

    // For an upright cylinder: the corners of the inscribed prism's cap and the lowest point of the rim. For
    // a lying cylinder: the lowest points of both rims and the crossings of its lowest line.
    void cylinder() const {
        const Vec z = other.X.R.col(2);
        const double cosine = z.dot(n), sine = z.cross(n).norm();
        const int lower = cosine > 0 ? 0 : 1;
        if (sine > upright_sine) curve(lower);
        if (sine < flat_sine) polygon(lower);
        if (std::abs(cosine) < flat_sine) curve(1 - lower);
        if (std::abs(cosine) < side_line_cosine && sides() > 0)
            crossings(other.X.p - other.size.y() * z, other.X.p + other.size.y() * z,
                      edge_feature(cylinder_axis));
    }
};

}  // namespace

void face_points(const Solid& ref, int face, const Solid& other, bool ref_is_a, ContactList& list) {
    const FaceQuery query(ref, face, other, ref_is_a, list);
    if (other.is_smooth()) return query.curve(0);
    if (other.type() == ShapeType::cylinder) return query.cylinder();
    if (const int g = other.face_along(-query.n); g >= 0 && ref.type() != ShapeType::plane) {
        query.vertex(other.support_vertex(-query.n));  // need not belong to the face g
        return query.polygon(g);
    }
    if (query.vertices_by_walk()) return;
    for (size_t i = 0; i < other.hull.vertices.size(); ++i)
        query.vertex(static_cast<int>(i));
    if (query.sides() > 0 && !other.hull.edges.empty())
        query.crossings(other.vertex(0), other.vertex(1), edge_feature(0));
}

bool near_face_points(const Solid& a, const Solid& b, const Vec& n, double separation, ContactList& list) {
    const int face_a = a.face_along(-n), face_b = b.face_along(n);
    const double cosine_a = face_a < 0 ? -1 : -n.dot(a.normal(face_a)),
                 cosine_b = face_b < 0 ? -1 : n.dot(b.normal(face_b));
    const bool a_refers = cosine_a > cosine_b - 1e-9;
    if (!(std::max(cosine_a, cosine_b) > near_cosine)) return false;
    const int before = list.count();
    if (a_refers)
        face_points(a, face_a, b, true, list);
    else
        face_points(b, face_b, a, false, list);
    const double excess = list.least_gap(before) + a.radius + b.radius - separation;
    if (excess < near_gap * std::abs(separation) + near_gap_floor) return true;
    list.cut(before);
    return false;
}

}  // namespace costate
