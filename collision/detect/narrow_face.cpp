// Contact points over a face: vertices of the other shape within it, crossings of the other's edges with its
// sides, its own vertices over the other's face, and the lowest points of curves.
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <limits>

#include "collision/contact/contact.hpp"
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

    FacePolygon() {}  // empty; its many sides stay uninitialized
    void set(const Solid& s, int face) {
        solid_ = &s;
        first_ = s.hull.faces[face].first;
        count_ = s.hull.faces[face].count;
        along_x_ = s.edge_direction(s.hull.sides[first_].edge).normalized();
        along_y_ = s.normal(face).cross(along_x_);
        const int stored = std::min<int>(count_, kept);
        Seen tail = corner(s.hull.sides[first_].tail);
        for (int k = 0; k < stored; ++k) {
            middle_.x += tail.x / stored;
            middle_.y += tail.y / stored;
            const Seen head = corner(s.hull.sides[first_ + k].head);
            sides_[k] = side_between(tail, head);
            tail = head;
        }
        for (int k = 0; k < stored; ++k)
            inner_ = std::min(inner_, -beyond(k, middle_) - on_side);
        if (stored < count_) inner_ = 0;
    }
    bool empty() const { return solid_ == nullptr; }
    int count() const { return count_; }
    Seen see(const Vec& x) const { return {along_x_.dot(x), along_y_.dot(x)}; }
    // Distance of the point beyond the line through a side, m.
    double beyond(int k, const Seen& p) const {
        const Side side = k < kept ? sides_[k] : make_side(k);
        return side.x * p.x + side.y * p.y - side.offset;
    }
    // True if the point is in the largest circle about the middle, and further inside than round-off.
    bool surely_contains(const Seen& p) const {
        const double x = p.x - middle_.x, y = p.y - middle_.y;
        return inner_ > 0 && x * x + y * y < inner_ * inner_;
    }
    bool contains(const Vec& x) const {
        const Seen p = see(x);
        if (surely_contains(p)) return true;
        for (int k = 0; k < count_; ++k)
            if (beyond(k, p) > on_side) return false;
        return true;
    }

private:
    static constexpr int kept = 512;  // further sides are made again for every point
    struct Side {
        double x, y, offset;  // outward unit normal in the plane, m
    };
    Seen corner(int vertex) const { return see(solid_->vertex(vertex)); }
    Side make_side(int k) const {
        const HullSide& it = solid_->hull.sides[first_ + k];
        return side_between(corner(it.tail), corner(it.head));
    }
    static Side side_between(const Seen& tail, const Seen& head) {
        const double x = head.y - tail.y, y = tail.x - head.x, length = std::sqrt(x * x + y * y);
        return {x / length, y / length, (x * tail.x + y * tail.y) / length};
    }
    const Solid* solid_ = nullptr;
    int first_ = 0, count_ = 0;
    Vec along_x_, along_y_;
    Seen middle_{0, 0};
    double inner_ = std::numeric_limits<double>::infinity();  // radius of the circle, m
    std::array<Side, kept> sides_;
};

struct FaceQuery {
    const Solid &ref, &other;
    int face;
    bool ref_is_a;
    ContactList& list;
    Vec n;      // outward normal of the face
    Vec below;  // a point on the face
    RoundedFeature<double> placed;
    FacePolygon polygon_of_ref;

    FaceQuery(const Solid& r, int f, const Solid& o, bool first, ContactList& points)
        : ref(r),
          other(o),
          face(f),
          ref_is_a(first),
          list(points),
          n(r.normal(f)),
          below(r.face_point(f)),
          placed(place_feature(*r.shape, r.named(face_feature(f)), r.X, r.size)) {
        if (r.type() != ShapeType::plane) polygon_of_ref.set(r, f);
    }

    void offer(const Feature& on_ref, const Feature& on_other) const {
        if (ref_is_a)
            list.offer(ref, other, on_ref, on_other, -n);
        else
            list.offer(other, ref, on_other, on_ref, n);
    }
    // The same for vertex i of `of`, at x, and a face of the other solid; `reversed`: the face is of the first shape.
    void offer_vertex(const Solid& of, int i, const Vec& x, const Solid& on, int face_on,
                      const RoundedFeature<double>& there, bool reversed) const {
        const Contact<double> c = meet<double>(Meeting::vertex_face, {x, Vec::Zero(), of.radius}, there);
        const Feature vertex = of.named(vertex_feature(i)), flat = on.named(face_feature(face_on));
        if (reversed)
            list.add(flat, vertex, exchanged(c));
        else
            list.add(vertex, flat, c);
    }
    bool near(const Vec& x) const { return n.dot(x - below) - other.radius < list.reach(); }

    bool has_sides() const { return !polygon_of_ref.empty(); }
    int side(int k) const { return ref.hull.faces[face].first + k; }
    bool within(const Vec& x) const {
        const bool circle = ref.type() == ShapeType::cylinder;
        return circle || !has_sides() ? ref.within(face_feature(face), x) : polygon_of_ref.contains(x);
    }

    void vertex(int i) const {
        const Vec x = other.vertex(i);
        if (near(x) && other.sharp_vertex(i) && within(x))
            offer_vertex(other, i, x, ref, face, placed, ref_is_a);
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
        const FacePolygon::Seen start = polygon_of_ref.see(x), end = polygon_of_ref.see(y);
        if (polygon_of_ref.surely_contains(start) && polygon_of_ref.surely_contains(end)) return;
        double from = 0, to = 1;
        int enters = -1, leaves = -1;
        for (int k = 0; k < polygon_of_ref.count(); ++k) {
            const double at_start = polygon_of_ref.beyond(k, start), at_end = polygon_of_ref.beyond(k, end),
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
        FacePolygon over;  // empty for a cylinder, whose face is a circle
        if (other.type() != ShapeType::cylinder) over.set(other, g);
        const RoundedFeature<double> face_g =
            place_feature(*other.shape, other.named(face_feature(g)), other.X, other.size);
        for (int k = 0; k < polygon_of_ref.count(); ++k) {
            const int v = ref.hull.sides[side(k)].tail;
            const Vec x = ref.vertex(v);
            if (ref.sharp_vertex(v) && (over.empty() ? other.within(face_feature(g), x) : over.contains(x)))
                offer_vertex(ref, v, x, other, g, face_g, !ref_is_a);
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

namespace {

// A few points of a face of a solid: a part of it that counts, with all corners of a triangle or rectangle.
struct Corners {
    static constexpr int most = 8;
    std::array<Vec, most> at;
    int count = 0;
    void add(const Vec& x) { at[count++] = x; }
    static Corners of_face(const Solid& s, int face) {
        Corners c;
        const HullFace& f = s.hull.faces[face];
        const int step = (f.count + most - 1) / most;
        for (int k = 0; k < f.count; k += step)
            c.add(s.vertex(s.hull.sides[f.first + k].tail));
        return c;
    }
    // How far the other polygon reaches into this one at least, by its sides. n: this one's outward normal.
    double least_depth(const Vec& n, const Corners& other) const {
        double depth = std::numeric_limits<double>::infinity();
        for (int k = 0; k < count; ++k) {
            const Vec out = (at[(k + 1) % count] - at[k]).cross(n).normalized();
            double farthest_in = -std::numeric_limits<double>::infinity();
            for (int i = 0; i < other.count; ++i)
                farthest_in = std::max(farthest_in, out.dot(at[k] - other.at[i]));
            depth = std::min(depth, farthest_in);
        }
        return depth;
    }
};

constexpr double level = 1e-9;  // m; corners this close to the lowest point of a solid are its lowest points

}  // namespace

bool separates_most(const Solid& a, const Solid& b, const Vec& n, const Solid& s, int face) {
    const bool of_a = &s == &a;
    const Solid& other = of_a ? b : a;
    const Vec out = of_a ? Vec(-n) : n, x = other.support(-out);
    // The lowest points of the other solid along the normal of the face: of a parallel face or line, or one point.
    Corners lowest;
    if (const int g = other.face_along(-out); g >= 0 && !other.hull.faces.empty()) {
        lowest = Corners::of_face(other, g);
        for (int i = 0; i < lowest.count; ++i)
            if (out.dot(lowest.at[i] - x) > level) lowest.count = 0;
    }
    if (lowest.count == 0) lowest.add(x);
    if (const Vec z = other.X.R.col(2);
        lowest.count == 1 && (other.type() == ShapeType::cylinder || other.type() == ShapeType::capsule)) {
        const Vec far_end = x - 2 * z.dot(x - other.X.p) * z;
        if (out.dot(far_end - x) <= level) lowest.add(far_end);
    }
    const Corners sides = Corners::of_face(s, face);
    double r = sides.least_depth(out, lowest);
    if (lowest.count > 1) r = std::min(r, lowest.least_depth(-out, sides));
    if (!(r >= 0)) return false;
    const double d = -out.dot(x - s.face_point(face));
    if (d <= 0) return true;
    // The differences p - y of points of a and b include a disc of radius r about -d n. So at the angle t from n the
    // separation is at most -d cos t - r sin t, which is more than -d only within 2 atan(d/r) of -n, and there it
    // is at most that of the points that are farthest along n.
    const double k = d / r;
    if (!(k < 1)) return false;
    const Vec w = a.support(n) - b.support(-n);
    const double thick = w.dot(n), aside = (w - thick * n).norm();
    return thick * (1 - k * k) - 2 * k * aside >= d * (1 + k * k);
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
