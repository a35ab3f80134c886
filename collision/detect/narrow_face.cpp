// Contact points over a face: vertices of the other shape within it, crossings of the other's edges with its
// sides, its own vertices over the other's face, and the lowest points of curves.
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <optional>

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

// The sides of a face, in the plane of the face.
class FacePolygon {
public:
    // A point seen along the normal of the face.
    struct Seen {
        double x, y;
    };

    FacePolygon(const Solid& s, int face)
        : solid_(s),
          first_(s.hull.faces[face].first),
          count_(s.hull.faces[face].count),
          normal_(s.normal(face)),
          along_x_(s.edge_direction(s.hull.sides[first_].edge).normalized()),
          along_y_(normal_.cross(along_x_)) {
        for (int k = 0; k < std::min<int>(count_, kept); ++k)
            sides_[k] = make_side(k);
    }
    int count() const { return count_; }
    Seen see(const Vec& x) const { return {along_x_.dot(x), along_y_.dot(x)}; }
    // Distance of the point beyond the line through a side, m.
    double beyond(int k, const Seen& p) const {
        const Side side = k < kept ? sides_[k] : make_side(k);
        return side.x * p.x + side.y * p.y - side.offset;
    }
    bool contains(const Vec& x) const {
        const Seen p = see(x);
        for (int k = 0; k < count_; ++k)
            if (beyond(k, p) > on_side) return false;
        return true;
    }

private:
    static constexpr int kept = 512;  // further sides are made again for every point
    struct Side {
        double x, y, offset;  // outward unit normal in the plane, m
    };
    Side make_side(int k) const {
        const HullSide& it = solid_.hull.sides[first_ + k];
        const Seen tail = see(solid_.vertex(it.tail)), head = see(solid_.vertex(it.head));
        const double x = head.y - tail.y, y = tail.x - head.x, length = std::sqrt(x * x + y * y);
        return {x / length, y / length, (x * tail.x + y * tail.y) / length};
    }
    const Solid& solid_;
    int first_, count_;
    Vec normal_, along_x_, along_y_;
    std::array<Side, kept> sides_;
};

struct FaceQuery {
    const Solid &ref, &other;
    int face;
    bool ref_is_a;
    ContactList& list;
    Vec n;      // outward normal of the face
    Vec below;  // a point on the face
    std::optional<FacePolygon> polygon_of_ref;

    FaceQuery(const Solid& r, int f, const Solid& o, bool first, ContactList& points)
        : ref(r),
          other(o),
          face(f),
          ref_is_a(first),
          list(points),
          n(r.normal(f)),
          below(r.face_point(f)) {
        if (r.type() != ShapeType::plane) polygon_of_ref.emplace(r, f);
    }

    void offer(const Feature& on_ref, const Feature& on_other) const {
        if (ref_is_a)
            list.offer(ref, other, on_ref, on_other, -n);
        else
            list.offer(other, ref, on_other, on_ref, n);
    }
    bool near(const Vec& x) const { return n.dot(x - below) - other.radius < list.reach(); }

    bool has_sides() const { return polygon_of_ref.has_value(); }
    int side(int k) const { return ref.hull.faces[face].first + k; }
    bool within(const Vec& x) const {
        const bool circle = ref.type() == ShapeType::cylinder;
        return circle || !has_sides() ? ref.within(face_feature(face), x) : polygon_of_ref->contains(x);
    }

    void vertex(int i) const {
        const Vec x = other.vertex(i);
        if (near(x) && other.sharp_vertex(i) && within(x)) offer(face_feature(face), vertex_feature(i));
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
        if (!near(x) && !near(y)) return;
        const FacePolygon::Seen start = polygon_of_ref->see(x), end = polygon_of_ref->see(y);
        double from = 0, to = 1;
        int enters = -1, leaves = -1;
        for (int k = 0; k < polygon_of_ref->count(); ++k) {
            const double at_start = polygon_of_ref->beyond(k, start), at_end = polygon_of_ref->beyond(k, end),
                         rate = at_end - at_start;
            if (std::abs(rate) <= on_side) {
                if (at_start > on_side) return;
                continue;
            }
            const double t = -at_start / rate;
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
        const FacePolygon over(other, g);
        for (int k = 0; k < polygon_of_ref->count(); ++k) {
            const int v = ref.hull.sides[side(k)].tail;
            const bool circle = other.type() == ShapeType::cylinder;
            const Vec x = ref.vertex(v);
            if (ref.sharp_vertex(v) && (circle ? other.within(face_feature(g), x) : over.contains(x)))
                offer(vertex_feature(v), face_feature(g));
        }
    }

    void polygon(int g) const {
        const HullFace& over = other.hull.faces[g];
        for (int j = 0; j < over.count; ++j) {
            const HullSide& it = other.hull.sides[over.first + j];
            vertex(it.tail);
            if (has_sides() && other.sharp_side(it.edge))
                crossings(other.vertex(it.tail), other.vertex(it.head), edge_feature(it.edge));
        }
        if (has_sides()) own_vertices(g);
    }

    void curve(int i) const {
        const Vec x = support_point<double>(*other.shape, curve_feature(i), other.X, other.size, -n);
        if (within(x)) offer(face_feature(face), curve_feature(i));
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
        if (std::abs(cosine) < side_line_cosine && has_sides())
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
    if (query.has_sides() && !other.hull.edges.empty())
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
