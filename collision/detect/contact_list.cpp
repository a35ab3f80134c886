#include "collision/detect/contact_list.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "collision/contact/contact.hpp"

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr double same_point = 1e-7;    // m; two contacts this close with the same normal are one
constexpr double nearly_equal = 1e-9;  // m; smaller differences count as ties
// penalty on the distance of a point: this factor times the excess of its gap over the least gap
constexpr double depth_weight = 10;

}  // namespace

void ContactList::offer(const Solid& a, const Solid& b, Feature on_a, Feature on_b, const Vec& n) {
    FeaturePair f{0, 0, a.named(on_a), b.named(on_b), n};
    if (on_a.kind == FeatureKind::edge && on_b.kind == FeatureKind::edge) {
        const Vec u = place_feature(shape_a_, f.on_a, a.X, a.size).direction,
                  w = place_feature(shape_b_, f.on_b, b.X, b.size).direction;
        if (u.cross(w).dot(n) < 0) f.on_b.index |= reversed_normal;
    }
    add(f.on_a, f.on_b, contact(shape_a_, shape_b_, f, a.X, b.X, a.size, b.size));
}

void ContactList::add(const Feature& on_a, const Feature& on_b, const Contact<double>& c) {
    if (!(c.gap < reach_)) return;
    if (count_ == static_cast<int>(points_.size())) reduce();
    points_[count_++] = {on_a, on_b, c.normal, c.point, c.gap};
}

double ContactList::least_gap(int from) const {
    double least = std::numeric_limits<double>::infinity();
    for (int i = from; i < count_; ++i)
        least = std::min(least, points_[i].gap);
    return least;
}

void ContactList::make_room() {
    if (count_ > static_cast<int>(points_.size() / 2)) reduce();
}

void ContactList::drop_deeper_beside() {
    const auto outdone = [&](const Point& p) {
        if (p.gap >= 0 || (p.on_b.kind != FeatureKind::edge && p.on_b.kind != FeatureKind::vertex))
            return false;
        return std::any_of(points_.begin(), points_.begin() + count_, [&](const Point& q) {
            return q.gap > p.gap + same_point && q.gap < 0 &&
                   (q.point - p.point).squaredNorm() < 4 * p.gap * p.gap;
        });
    };
    int kept = 0;
    std::array<bool, capacity> stays;
    for (int i = 0; i < count_; ++i)
        stays[i] = !outdone(points_[i]);
    for (int i = 0; i < count_; ++i)
        if (stays[i]) points_[kept++] = points_[i];
    count_ = kept;
}

// Removes duplicate points, keeping the first. Most are apart, which one coordinate tells.
void ContactList::unify() {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
        const Point& p = points_[i];
        const bool repeated = std::any_of(points_.begin(), points_.begin() + kept, [&](const Point& q) {
            return std::abs(p.point[0] - q.point[0]) < same_point &&
                   (p.point - q.point).squaredNorm() < same_point * same_point &&
                   p.normal.dot(q.normal) > 1 - nearly_equal;
        });
        if (!repeated) points_[kept++] = p;
    }
    count_ = kept;
}

// Moves the deepest point to the front. Of more than four points, four remain: the deepest point, the
// farthest from it, the farthest from the line through both, and the farthest outside the triangle of the
// three. Distances are reduced by depth_weight times the excess of the gap over the least gap. Ties go to the
// first point.
void ContactList::reduce() {
    unify();
    if (count_ == 0) return;
    const double least = least_gap(0);
    const auto pick = [&](int k, auto&& distance) {
        int best = -1;
        double most = nearly_equal;
        for (int i = k; i < count_; ++i) {
            const Point& p = points_[i];
            const double value = distance(p) - (k == 0 ? 0 : depth_weight * (p.gap - least));
            if (best < 0 || value > most + nearly_equal) {
                best = i;
                most = value;
            }
        }
        std::rotate(points_.begin() + k, points_.begin() + best, points_.begin() + best + 1);
    };
    const auto at = [&](int i) -> const Vec& { return points_[i].point; };
    pick(0, [&](const Point& p) { return -p.gap; });
    if (count_ <= 4) return;
    pick(1, [&](const Point& p) { return (p.point - at(0)).norm(); });
    const Vec along = normalise<double>(at(1) - at(0));
    pick(2, [&](const Point& p) { return (p.point - at(0)).cross(along).norm(); });
    const Vec n = (at(1) - at(0)).cross(at(2) - at(0));
    std::array<Vec, 3> out;  // of the sides of the triangle
    for (int k = 0; k < 3; ++k)
        out[k] = normalise<double>((at((k + 1) % 3) - at(k)).cross(n));
    pick(3, [&](const Point& p) {
        double outside = 0;
        for (int k = 0; k < 3; ++k)
            outside = std::max(outside, out[k].dot(p.point - at(k)));
        return outside;
    });
    count_ = 4;
}

FeatureList ContactList::chosen() {
    reduce();
    FeatureList list;
    for (int i = 0; i < count_; ++i) {
        const Point& p = points_[i];
        list.add(p.on_a, p.on_b, p.normal);
    }
    return list;
}

}  // namespace costate
