// Pairs with a cylinder or an ellipsoid: finds the unit n that maximizes the separation, and its features.
// Starting from an initial normal, selects the largest features whose normals are near, and computes n from
// their closed form. If the contact is beyond the ends of the features, or n is not among their normals,
// continues with smaller features or with the features at the new n.
#include <cmath>
#include <limits>

#include "collision/contact/contact.hpp"
#include "collision/detect/gjk.hpp"
#include "collision/detect/narrow_parts.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double first_tolerance = 0.02;  // rad; features with normals within this angle are tried first
constexpr double wide_tolerance = 0.2;    // rad; where these lead to none
constexpr double least_tolerance = 1e-9;  // rad
// accuracy of a separation, relative to the distance of the middles
constexpr double curved_accuracy = 1e-9;
constexpr double settled_normal =
    1e-8;                      // a normal has converged if another Newton step moves it by at most this
constexpr double lean = 0.05;  // rad; tilt of the normal away from a face that is not in contact
constexpr double parallel_sine = 0.05;  // up to this sine, lines also touch at their ends
constexpr int rounds = 24, newton_steps = 40;

struct CurvedPair {
    const Solid &a, &b;
    ContactList& list;

    bool touches_terrain() const { return b.triangle >= 0; }

    // The normal from the second to the first feature at which their separation is stationary, by Newton
    // steps from n that increase the separation.
    static Vec polished(const FeatureOf<double>& f1, const FeatureOf<double>& f2, Vec n) {
        const RoundedFeature<double> placed =
            f2.feature.kind == FeatureKind::curve ? RoundedFeature<double>::zero() : place(f2);
        const bool edge = f2.feature.kind == FeatureKind::edge;
        if (edge) n = normalise<double>(n - placed.direction * placed.direction.dot(n));
        const auto rest = [&](const Vec& m) {
            return Vec(support_point<double>(f1, -m) -
                       (f2.feature.kind == FeatureKind::curve ? support_point(f2, m) : placed.point));
        };
        for (int k = 0; k < newton_steps; ++k) {
            Vec ascent = rest(n);
            ascent -= n * n.dot(ascent);
            if (edge) ascent -= placed.direction * placed.direction.dot(ascent);
            Vec step = curve_normal(f1, f2, n) - n;
            if (step.dot(ascent) < 0) step = -step;
            if (step.norm() > 0.5) step *= 0.5 / step.norm();
            if (step.norm() < 1e-15) break;
            const double value = n.dot(rest(n));
            Vec next = normalise<double>(n + step);
            // near the solution the values agree to round-off, and the full step is taken
            for (int halved = 0; step.norm() > 1e-6 && halved < 12 && next.dot(rest(next)) < value;
                 ++halved) {
                step *= 0.5;
                next = normalise<double>(n + step);
            }
            n = next;
        }
        return n;
    }

    // The normal of two features, neither of them a face, computed from n.
    Vec normal_of(const Feature& on_a, const Feature& on_b, const Vec& n) const {
        const Feature named_a = a.named(on_a), named_b = b.named(on_b);
        const FeatureOf<double> f1{*a.shape, named_a, a.X, a.size}, f2{*b.shape, named_b, b.X, b.size};
        if (on_a.kind == FeatureKind::curve) return polished(f1, f2, n);
        if (on_b.kind == FeatureKind::curve) return -polished(f2, f1, -n);
        const RoundedFeature<double> x = place(f1), y = place(f2);
        if (on_a.kind == FeatureKind::edge && on_b.kind == FeatureKind::edge) {
            const Vec across = x.direction.cross(y.direction);
            if (!(across.squaredNorm() > degenerate_sine2))
                return normalise<double>(n - x.direction * x.direction.dot(n));
            return across.dot(n) < 0 ? Vec(-across.normalized()) : Vec(across.normalized());
        }
        const Vec& along = on_a.kind == FeatureKind::edge ? x.direction : y.direction;
        const Vec r = x.point - y.point - along * along.dot(x.point - y.point);
        // inside the radius of a cylinder's side, n has the opposite sign
        return r.dot(n) < 0 ? Vec(-normalise(r)) : normalise(r);
    }

    struct Touch {
        Feature on_a, on_b;
        Vec n = Vec::UnitZ();
        double separation = -std::numeric_limits<double>::infinity();
        bool found = false;    // the contact is within both features, and n is their normal
        bool offered = false;  // the points of its faces are in the list
    };

    // The contact point for the normal n, with which the ends of the features are tested; for a face, the
    // point of the other feature.
    Vec point_of(const Touch& t) const {
        const Feature named_a = a.named(t.on_a), named_b = b.named(t.on_b);
        if (t.on_a.kind == FeatureKind::face) return b.support(t.n);
        if (t.on_b.kind == FeatureKind::face) return a.support(-t.n);
        return contact(*a.shape, *b.shape, {0, 0, named_a, named_b, t.n}, a.X, b.X, a.size, b.size).point;
    }

    bool both_edges_parallel(const Touch& t) const {
        if (t.on_a.kind != FeatureKind::edge || t.on_b.kind != FeatureKind::edge) return false;
        return line(a, t.on_a).direction.cross(line(b, t.on_b).direction).norm() < parallel_sine;
    }

    void offer_faces(const Touch& t) const {
        if (t.on_a.kind == FeatureKind::face)
            face_points(a, static_cast<int>(t.on_a.index), b, true, list);
        else
            face_points(b, static_cast<int>(t.on_b.index), a, false, list);
    }

    // True if the points of two faces give the separation along their normal; the list then has these points.
    bool faces_overlap(const Touch& t) const {
        const int before = list.count();
        offer_faces(t);
        const double found = list.least_gap(before) + a.radius + b.radius;
        if (found <= t.separation + 1e-3 * std::abs(t.separation) + 1e-7) return true;
        list.cut(before);
        return false;
    }

    // True for a face of a or b with another kind of feature. Does not consider the neighbours of a triangle.
    bool on_one_face(const Touch& t) const {
        return !touches_terrain() && (t.on_a.kind == FeatureKind::face) != (t.on_b.kind == FeatureKind::face);
    }

    // If n is the normal of a face, every tolerance selects this face, even if the point x of the other solid
    // is beyond its sides. Tilts n towards x, which increases the separation, by more than the tolerance, so
    // that an edge or a vertex is selected next.
    Vec beyond_face(const Touch& t, const Vec& x) const {
        const bool of_a = t.on_a.kind == FeatureKind::face;
        const Solid& s = of_a ? a : b;
        const HullFace& face = s.hull.faces[(of_a ? t.on_a : t.on_b).index];
        Vec middle = Vec::Zero();
        for (int k = 0; k < face.count; ++k)
            middle += s.vertex(s.hull.sides[face.first + k].tail) / face.count;
        const Vec out = x - middle - t.n * t.n.dot(x - middle);
        return normalise<double>(t.n + (of_a ? -lean : lean) * normalise(out));
    }

    // A separation along any direction is a lower bound of the distance.
    bool out_of_reach(double apart) const { return apart - a.radius - b.radius >= list.reach(); }

    double accuracy() const { return curved_accuracy * (1 + (a.X.p - b.X.p).norm()); }

    // True if the closed form of the two features, neither of them a face, has the normal and the separation of
    // t. That of a curve starts from n and must return n: Newton's steps need not converge if n is not a maximum.
    bool is_settled(const Touch& t) const {
        const Contact<double> c = contact(*a.shape, *b.shape, {0, 0, a.named(t.on_a), b.named(t.on_b), t.n},
                                          a.X, b.X, a.size, b.size);
        const bool curve = t.on_a.kind == FeatureKind::curve || t.on_b.kind == FeatureKind::curve;
        if (curve && !((c.normal - t.n).norm() < settled_normal)) return false;
        return t.separation >= std::abs(c.gap + a.radius + b.radius) * (c.gap < 0 ? -1 : 1) - accuracy();
    }

    Touch touch(Vec n, double widest) const {
        Touch best, now;
        double tol_a = widest, tol_b = widest;
        for (int k = 0; k < rounds; ++k) {
            now.on_a = a.feature_along(-n, tol_a);
            now.on_b = b.feature_along(n, tol_b);
            if (now.on_a.kind == FeatureKind::face)
                now.n = -a.normal(static_cast<int>(now.on_a.index));
            else if (now.on_b.kind == FeatureKind::face)
                now.n = b.normal(static_cast<int>(now.on_b.index));
            else
                now.n = normal_of(now.on_a, now.on_b, n);
            now.separation = separation(a, b, now.n);
            if (now.separation > best.separation) best = now;
            if (out_of_reach(now.separation)) return now;
            now.found = both_edges_parallel(now);
            if (now.found) return now;
            const bool both_faces = now.on_a.kind == FeatureKind::face && now.on_b.kind == FeatureKind::face;
            const Vec x = point_of(now);
            const int before = list.count();
            const bool on_a = both_faces ? faces_overlap(now) : a.within(now.on_a, x),
                       on_b = both_faces ? on_a : b.within(now.on_b, x);
            if (on_a && on_b) {
                now.offered = both_faces;
                if (now.separation < best.separation - accuracy()) {
                    list.cut(before);
                    return best;
                }
                now.found = true;
                if (now.on_a.kind == FeatureKind::face || now.on_b.kind == FeatureKind::face) return now;
                if (is_settled(now)) return now;
                now.found = false;
                n = now.n;
            }
            if (on_one_face(now) && !(on_a && on_b) && (now.n - n).norm() < least_tolerance) {
                n = beyond_face(now, x);
            } else {
                if (!on_a) tol_a *= 0.1;
                if (!on_b) tol_b *= 0.1;
            }
            if (tol_a < least_tolerance || tol_b < least_tolerance) break;
        }
        return best;
    }

    struct Line {
        Vec centre, direction;
        double half;
    };
    static Line line(const Solid& s, const Feature& f) {
        if (is_swept(s.type(), f)) return {s.X.p, s.X.R.col(2), s.size.y()};
        const HullEdge& e = s.hull.edges[f.index];
        const Vec u = s.edge_direction(static_cast<int>(f.index));
        return {s.vertex(e.tail) + 0.5 * u, u.normalized(), 0.5 * u.norm()};
    }
    // The feature at an end of a line.
    static Feature end(const Solid& s, const Feature& f, int i) {
        if (s.type() == ShapeType::cylinder) return curve_feature(i);
        const HullEdge& e = s.hull.edges[f.index];
        return vertex_feature(i == 0 ? e.tail : e.head);
    }

    // Offers the ends of two nearly parallel lines that are over the other line.
    void offer_ends(const Touch& t) const {
        const Line on_a = line(a, t.on_a), on_b = line(b, t.on_b);
        for (int i = 0; i < 2; ++i) {
            const Vec x = on_a.centre + (i == 0 ? -on_a.half : on_a.half) * on_a.direction;
            const Feature f = end(a, t.on_a, i);
            if (std::abs(on_b.direction.dot(x - on_b.centre)) <= on_b.half)
                list.offer(a, b, f, t.on_b, normal_of(f, t.on_b, t.n));
        }
        for (int i = 0; i < 2; ++i) {
            const Vec x = on_b.centre + (i == 0 ? -on_b.half : on_b.half) * on_b.direction;
            const Feature f = end(b, t.on_b, i);
            if (std::abs(on_a.direction.dot(x - on_a.centre)) <= on_a.half)
                list.offer(a, b, t.on_a, f, normal_of(t.on_a, f, t.n));
        }
    }

    // The face along whose normal the cores overlap least, and the smallest feature over it. For a large
    // hull, only the faces at its support vertex along `towards` (from b to a) are considered.
    Touch deepest_face(const Vec& towards) const {
        Touch best;
        const auto attempt = [&](const Vec& n, int on_a, int on_b) {
            const double s = separation(a, b, n);
            if (!(s > best.separation)) return;
            best.n = n;
            best.separation = s;
            best.found = true;
            best.on_a = on_a >= 0 ? face_feature(on_a) : a.feature_along(-n, 0);
            best.on_b = on_b >= 0 ? face_feature(on_b) : b.feature_along(n, 0);
        };
        const auto each_face = [](const Solid& s, const Vec& outward, auto&& f) {
            if (s.hull.paths != nullptr)
                for (const int i : s.hull.paths->faces.of(s.support_vertex(outward)))
                    f(i);
            else
                for (int i = 0; i < s.face_count(); ++i)
                    f(i);
        };
        each_face(a, -towards, [&](int i) { attempt(-a.normal(i), i, -1); });
        each_face(b, towards, [&](int i) { attempt(b.normal(i), -1, i); });
        return best;
    }

    // Where the features near the first normal led to none, t: of t, the face of least overlap and the features
    // within a wider angle, those that separate the cores most.
    Touch after_none_found(const Touch& t, const Vec& first) const {
        Touch best = deepest_face(t.n);
        if (!best.found) best = t;
        for (const Touch& other : {t, touch(first, wide_tolerance)}) {
            const bool face = other.on_a.kind == FeatureKind::face || other.on_b.kind == FeatureKind::face;
            if (other.separation > best.separation && (other.found || face || is_settled(other)))
                best = other;
        }
        return best;
    }

    // The normal of the face along which the cores are farthest apart, or overlap least, if it is certain that no
    // direction separates them more.
    std::optional<Vec> resting_normal() const {
        double most = -std::numeric_limits<double>::infinity();
        Vec n;
        int face = -1;
        bool of_a = false;
        const auto each_face = [&](const Solid& s, const Solid& other) {
            if (s.hull.paths != nullptr) return;
            for (int i = 0; i < s.face_count(); ++i) {
                const Vec out = s.normal(i);
                const double apart = out.dot(other.support(-out) - s.face_point(i));
                if (!(apart > most)) continue;
                most = apart;
                of_a = &s == &a;
                n = of_a ? -out : out;
                face = i;
            }
        };
        each_face(a, b);
        each_face(b, a);
        if (face >= 0 && separates_most(a, b, n, of_a ? a : b, face)) return n;
        return std::nullopt;
    }

    void offer_points() const {
        std::optional<Vec> first;
        if (!touches_terrain()) first = resting_normal();
        if (!first) first = first_normal(a, b, list.reach() + a.radius + b.radius);
        if (!first) return;
        const int before = list.count();
        Touch t = touch(*first, first_tolerance);
        if (out_of_reach(t.separation)) return list.cut(before);
        if (!t.found && !touches_terrain()) {
            t = after_none_found(t, *first);
            if (!t.offered) list.cut(before);
        }
        if (out_of_reach(t.separation)) return;
        if (touches_terrain() && (!t.found || !b.allows(t.n, t.on_b))) return list.cut(before);
        const bool face_a = t.on_a.kind == FeatureKind::face, face_b = t.on_b.kind == FeatureKind::face;
        if (!face_a && !face_b) {
            if (near_face_points(a, b, t.n, t.separation, list)) return;
            const bool parallel = both_edges_parallel(t);
            if (parallel) offer_ends(t);
            if (!parallel || list.count() == 0) list.offer(a, b, t.on_a, t.on_b, t.n);
            return;
        }
        if (!t.offered) offer_faces(t);
        if (list.count() > before || touches_terrain()) return;
        // no point is within the face: its plane and the smallest feature of the other solid
        if (face_a)
            list.offer(a, b, t.on_a, b.feature_along(t.n, 0), t.n);
        else
            list.offer(a, b, a.feature_along(-t.n, 0), t.on_b, t.n);
    }
};

}  // namespace

void curved_points(const Solid& a, const Solid& b, ContactList& list) {
    CurvedPair{a, b, list}.offer_points();
}

}  // namespace costate
