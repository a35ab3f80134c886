#include "collision/detect/gjk.hpp"

#include <algorithm>
#include <cmath>

#include "collision/contact/closest.hpp"
#include "collision/detect/epa.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr int iterations = 100;  // curved cores need many iterations
constexpr double distance2_accuracy = 1e-14;
// squared distance, relative to the squared extent of the difference, below which the cores overlap
constexpr double overlap2 = 1e-22;

// Up to four points, reduced to those whose hull contains the point nearest to the origin.
struct Simplex {
    DifferencePoint p[4];
    int count = 0;

    const Vec& w(int i) const { return p[i].x; }
    // Reduce the points to one or two of them, and return the nearest point of those.
    Vec keep(int i) {
        p[0] = p[i];
        count = 1;
        return w(0);
    }
    Vec keep(int i, int j) {
        p[0] = DifferencePoint(p[i]);
        p[1] = DifferencePoint(p[j]);
        count = 2;
        return nearest_on_segment();
    }

    Vec nearest() {
        switch (count) {
            case 1: return w(0);
            case 2: return nearest_on_segment();
            case 3: return nearest_on_triangle();
            default: return nearest_on_tetrahedron();
        }
    }

    Vec nearest_on_segment() {
        const Vec u = w(1) - w(0);
        const double along = -u.dot(w(0)), length2 = u.squaredNorm();
        if (along <= 0) return keep(0);
        if (along >= length2) return keep(1);
        return w(0) + u * (along / length2);
    }

    // By the region of the origin (Ericson, Real-Time Collision Detection, 5.1.5)
    Vec nearest_on_triangle() {
        const Vec ab = w(1) - w(0), ac = w(2) - w(0);
        const double d1 = -ab.dot(w(0)), d2 = -ac.dot(w(0)), d3 = -ab.dot(w(1)), d4 = -ac.dot(w(1)),
                     d5 = -ab.dot(w(2)), d6 = -ac.dot(w(2));
        if (d1 <= 0 && d2 <= 0) return keep(0);
        if (d3 >= 0 && d4 <= d3) return keep(1);
        if (d6 >= 0 && d5 <= d6) return keep(2);
        const double on_c = d1 * d4 - d3 * d2, on_b = d5 * d2 - d1 * d6, on_a = d3 * d6 - d5 * d4;
        if (on_c <= 0 && d1 >= 0 && d3 <= 0) return keep(0, 1);
        if (on_b <= 0 && d2 >= 0 && d6 <= 0) return keep(0, 2);
        if (on_a <= 0 && d4 >= d3 && d5 >= d6) return keep(1, 2);
        const double sum = on_a + on_b + on_c;
        if (!(sum > 0)) return keep(0, 1);
        // projection of the origin along the normal, which has less round-off than a combination of the
        // corners
        const Vec n = ab.cross(ac);
        return n * (n.dot(w(0)) / n.squaredNorm());
    }

    // Minimum over the faces that separate the origin from the fourth corner; zero if there are none.
    Vec nearest_on_tetrahedron() {
        Simplex best = *this;
        best.count = 0;
        Vec nearest = Vec::Zero();
        for (int out = 0; out < 4; ++out) {
            Simplex face = *this;
            face.count = 0;
            for (int i = 0; i < 4; ++i)
                if (i != out) face.p[face.count++] = p[i];
            const Vec n = (face.w(1) - face.w(0)).cross(face.w(2) - face.w(0));
            const double corner = n.dot(w(out) - face.w(0)), origin = -n.dot(face.w(0));
            if (corner * origin > 0) continue;
            const Vec x = face.nearest();
            if (best.count == 0 || x.squaredNorm() < nearest.squaredNorm()) {
                best = face;
                nearest = x;
            }
        }
        if (best.count > 0) *this = best;
        return nearest;
    }

    bool holds(const DifferencePoint& q) const {
        return std::any_of(p, p + count, [&](const DifferencePoint& x) {
            return q.on_a >= 0 && x.on_a == q.on_a && x.on_b == q.on_b;
        });
    }
};

// accuracy: of the squared distance, relative to it
template <class Difference>
Apart nearest_point(const Difference& difference, double enough, double accuracy = distance2_accuracy) {
    Vec v = difference.middle();
    if (!(v.squaredNorm() > 0)) v = Vec::UnitZ();
    Simplex simplex;
    double extent2 = 0, last2 = std::numeric_limits<double>::infinity();
    const auto answer = [&](double distance, const Vec& n) {
        Apart apart;
        apart.distance = distance;
        apart.n = n;
        std::copy_n(simplex.p, simplex.count, apart.points);
        apart.count = simplex.count;
        return apart;
    };
    for (int k = 0; k < iterations; ++k) {
        const DifferencePoint p = difference.support(-v);
        const Vec& w = p.x;
        extent2 = std::max(extent2, w.squaredNorm());
        const double distance2 = v.squaredNorm(), along = v.dot(w);
        if (along > 0 && along * along > enough * enough * distance2)
            return answer(along / std::sqrt(distance2), v.normalized());
        // no point of the difference is nearer along v than w
        if (k > 0 && (distance2 - along <= accuracy * distance2 || simplex.holds(p))) break;
        Simplex next = simplex;
        next.p[next.count++] = p;
        const Vec nearest = next.nearest();
        if (!(nearest.squaredNorm() > overlap2 * extent2)) {
            if (along > 0) break;  // v separates the cores; the simplex is too flat to show it
            simplex = next;
            return answer(0, Vec::UnitZ());
        }
        if (k > 0 && !(nearest.squaredNorm() < last2)) break;
        simplex = next;
        v = nearest;
        last2 = v.squaredNorm();
    }
    const double distance = v.norm();
    // without a separating axis, the cores overlap
    if (!(v.dot(difference.support(-v).x) > 0)) return answer(0, Vec::UnitZ());
    return answer(distance, v / distance);
}

constexpr double set_apart = 1e-2;  // gap between separated cores, relative to the width of the narrower core
constexpr int most_shifts = 12;
constexpr double least_change = 1e-3;     // rad; Newton's method follows
constexpr double close_distance2 = 1e-8;  // of the squared gap: n within 1e-4 rad
constexpr double close_overlap = 1e-4;    // accuracy of EPA, relative to the size of the difference

// a is moved along n until the cores are separate, and GJK computes n again, until n does not change or the
// cores would overlap more along it. Where the separation hardly depends on n these steps are small, so each is
// repeated, twice as long every time, while the separation increases.
Vec settled(const Solid& a, const Solid& b, Vec n) {
    const auto width = [&](const Solid& s) { return n.dot(s.support(n) - s.support(-n)); };
    double most = separation(a, b, n);
    for (int k = 0; k < most_shifts; ++k) {
        const double gap =
            set_apart * std::max(std::min(width(a), width(b)), 1e-3 * std::max(width(a), width(b)));
        const Apart moved = nearest_point(CoreDifference{{a, n * (gap - most)}, {b}},
                                          std::numeric_limits<double>::infinity(), close_distance2);
        if (!(moved.distance > 0)) break;
        const double s = separation(a, b, moved.n);
        if (s < most) break;
        const Vec step = moved.n - n;
        n = moved.n;
        most = s;
        if (step.norm() < least_change) break;
        for (Vec ahead = step;; ahead *= 2) {
            const Vec further = (n + ahead).normalized();
            const double there = separation(a, b, further);
            if (!(there > most)) break;
            n = further;
            most = there;
        }
    }
    return n;
}

}  // namespace

Apart gjk(const Core& a, const Core& b, double enough) { return nearest_point(CoreDifference{a, b}, enough); }

Apart gjk(const PolytopeDifference& difference, double enough) { return nearest_point(difference, enough); }

// For separate cores: the normal of GJK. For overlapping cores: that of EPA, made accurate by GJK, which
// converges faster on curved cores.
std::optional<Vec> first_normal(const Solid& a, const Solid& b, double enough) {
    const Apart apart = gjk({a}, {b}, enough);
    if (apart.beyond(enough)) return std::nullopt;
    if (apart.distance > 0) return apart.n;
    return settled(a, b, epa(CoreDifference{{a}, {b}}, apart, close_overlap).n);
}

}  // namespace costate
