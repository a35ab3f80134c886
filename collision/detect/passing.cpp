#include "collision/detect/passing.hpp"

#include <algorithm>
#include <cmath>

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double flush = 1e-4;            // of the smaller extent
constexpr double most_slop = 1e-2;        // of the smaller extent
constexpr double same_cosine = 1 - 5e-7;  // a normal with a larger cosine is the same
// Between this and the same, the tolerance is smaller: what is round leaves a face over an edge with such normals.
constexpr double leaning_cosine = 0.9, leaning_part = 1e-2;

// How far the shape reaches from its origin along the unit vector d, m.
double extent(const Solid& s, const Vec& d) {
    return shape_kind(s.type()).reach(*s.shape, s.size, s.X.R.transpose() * d);
}
double thickness(const Solid& s, const Vec& d) { return extent(s, d) + extent(s, -d); }

}  // namespace

Passing::Passing(const MovingSolid& a, const MovingSolid& b, double margins, double slop)
    : a_(a),
      b_(b),
      margins_(margins),
      slop_(slop) {}

double Passing::tolerance(const Vec& d) const {
    const double least = std::min(thickness(a_.solid, d), thickness(b_.solid, d));
    return std::max(flush * least, std::min(2 * slop_, most_slop * least));
}

Passing::Side Passing::side(const MovingSolid& of, const MovingSolid& other, const Vec& n) const {
    const Solid& s = of.solid;
    Side found = Side::overlaps;
    if (s.hull.paths != nullptr || s.face_count() == 0) return found;
    const Vec centre = s.X.R.transpose() * (other.solid.centre() - s.X.p), n_in_s = s.X.R.transpose() * n;
    for (int i = 0; i < s.face_count(); ++i) {
        const Vec out_in_s = s.own_normal(i);
        const double height = out_in_s.dot(centre - s.scale.cwiseProduct(s.hull.faces[i].origin)),
                     cosine = std::abs(out_in_s.dot(n_in_s));
        if (height < 0 || cosine > same_cosine) continue;
        // how the height of a point above the face depends on its place now, and after the step
        const Vec out = s.X.R * out_in_s, out_after = out + out.cross(other.turn - of.turn);
        const auto above = [&](const Vec& x) {
            return out.dot(x - s.face_point(i)) - other.solid.radius - margins_;
        };
        const double least = -(cosine > leaning_cosine ? leaning_part : 1) * tolerance(out);
        if (above(other.solid.support(-out)) < least) continue;
        const Vec lowest = other.solid.support(-out_after);  // after the step
        if (above(lowest) + out.dot(other.travel(lowest) - of.travel(lowest)) >= least) return Side::passes;
        found = Side::beside;
    }
    return found;
}

bool Passing::leaves_out(const Vec& n, double gap_after) {
    const Solid &a = a_.solid, &b = b_.solid;
    if (shape_kind(a.type()).unbounded || shape_kind(b.type()).unbounded || n == overlapping_) return false;
    if (gap_after > tolerance(n)) return false;
    const Side of_a = side(a_, b_, n);
    if (of_a == Side::passes) return true;
    const Side of_b = side(b_, a_, n);
    if (of_a == Side::overlaps && of_b == Side::overlaps) overlapping_ = n;
    return of_b == Side::passes;
}

}  // namespace costate
