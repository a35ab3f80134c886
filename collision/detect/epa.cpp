#include "collision/detect/epa.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace costate {
namespace {

using Vec = Vec3<double>;

constexpr int most_points = 512,
              most_facets = 2 * most_points;  // a closed surface with n points has 2 n - 4 triangles
constexpr double visible = 1e-14;  // relative to the extent: a point this far above a facet sees the facet
constexpr double flat = 1e-10;     // relative to the extent: least thickness of the first tetrahedron
constexpr double thin =
    1e-12;  // squared sine, relative to the lengths of two sides, below which a triangle has no normal
constexpr double hidden = std::numeric_limits<double>::infinity();

template <class Difference> class GrowingPolytope {
public:
    GrowingPolytope(const Difference& difference, const Apart& start, double tolerance)
        : difference_(difference),
          tolerance_(tolerance) {
        for (int i = 0; i < start.count; ++i)
            add_point(start.points[i]);
    }

    Overlap nearest_face() {
        Overlap best;
        if (!begin()) return best;
        double least = hidden;  // least distance found of a plane that bounds the difference
        for (;;) {
            const int f = static_cast<int>(
                std::min_element(distance_.begin(), distance_.begin() + facet_count_) - distance_.begin());
            const double inner = distance_[f];
            if (!(inner < hidden)) return best;
            const Vec n = facet(f).n;
            const DifferencePoint p = difference_.support(n);
            const double outer = n.dot(p.x);
            if (outer < least) {
                least = outer;
                best.n = -n;
                best.separation = -outer;
                for (int k = 0; k < 3; ++k)
                    best.points[k] = point(facet(f).corner[k]);
            }
            if (least - inner <= tolerance_ * extent_ || is_corner(facet(f), p)) {
                best.found = true;
                return best;
            }
            if (point_count_ == most_points || !grow(f, p)) return best;
        }
    }

private:
    struct Facet {
        int corner[3];  // points, anticlockwise seen from outside
        int beyond[3];  // the facet across the side from corner k to the next
        Vec n;          // unit, outward
        double d;       // n . x on its plane
    };

    const DifferencePoint& point(int i) const { return points_[i]; }
    const Vec& x(int i) const { return point(i).x; }
    Facet& facet(int f) { return facets_[f]; }
    bool sees(const Vec& from, const Facet& f) const { return f.n.dot(from) - f.d > visible * extent_; }
    bool is_alive(int f) const { return alive_[f]; }
    bool is_corner(const Facet& f, const DifferencePoint& p) const {
        return std::any_of(f.corner, f.corner + 3, [&](int i) {
            return (p.on_a >= 0 && p.on_a == point(i).on_a && p.on_b == point(i).on_b) || p.x == x(i);
        });
    }

    int add_point(const DifferencePoint& p) {
        extent_ = std::max(extent_, p.x.cwiseAbs().maxCoeff());
        points_[point_count_] = p;
        return point_count_++;
    }

    // A degenerate triangle (coincident or collinear corners) gets the plane of its neighbour and is never
    // the nearest.
    int add_facet(int a, int b, int c, const Facet* neighbour) {
        int f = facet_count_;
        if (free_count_ > 0)
            f = free_[--free_count_];
        else
            ++facet_count_;
        const Vec u = x(b) - x(a), w = x(c) - x(a), n = u.cross(w);
        const double length2 = n.squaredNorm();
        Facet& it = facet(f);
        it = {{a, b, c}, {-1, -1, -1}, n, 0};
        const bool has_normal = length2 > thin * u.squaredNorm() * w.squaredNorm();
        if (has_normal) {
            it.n /= std::sqrt(length2);
            it.d = it.n.dot(x(a));
        } else if (neighbour != nullptr) {
            it.n = neighbour->n;
            it.d = neighbour->d;
        }
        distance_[f] = has_normal ? it.d : hidden;
        alive_[f] = true;
        return f;
    }

    // Builds the first tetrahedron from the given points and, if they are too flat, from support points along
    // further directions.
    bool begin() {
        const auto farthest = [&](auto&& measure) {
            int best = 0;
            for (int i = 1; i < point_count_; ++i)
                if (measure(x(i)) > measure(x(best))) best = i;
            return best;
        };
        for (int k = 0; k < 3; ++k)
            for (const double side : {-1.0, 1.0})
                add_point(difference_.support(side * Vec::Unit(k)));
        int corner[4];
        corner[0] = farthest([&](const Vec& y) { return -y.squaredNorm(); });
        for (int attempt = 0;; ++attempt) {
            corner[1] = farthest([&](const Vec& y) { return (y - x(corner[0])).squaredNorm(); });
            const Vec u = (x(corner[1]) - x(corner[0])).normalized();
            corner[2] = farthest([&](const Vec& y) { return (y - x(corner[0])).cross(u).squaredNorm(); });
            const Vec n = u.cross(x(corner[2]) - x(corner[0])).normalized();
            corner[3] = farthest([&](const Vec& y) { return std::abs(n.dot(y - x(corner[0]))); });
            const double height = n.dot(x(corner[3]) - x(corner[0]));
            if (std::abs(height) > flat * extent_) {
                if (height > 0) std::swap(corner[1], corner[2]);
                break;
            }
            if (attempt == 1 || !n.allFinite()) return false;
            for (const double side : {-1.0, 1.0})
                add_point(difference_.support(side * n));
        }
        const int a = corner[0], b = corner[1], c = corner[2], d = corner[3];
        add_facet(a, b, c, nullptr);
        add_facet(a, d, b, nullptr);
        add_facet(b, d, c, nullptr);
        add_facet(c, d, a, nullptr);
        constexpr int beyond[4][3] = {{1, 2, 3}, {3, 2, 0}, {1, 3, 0}, {2, 1, 0}};
        for (int f = 0; f < 4; ++f)
            std::copy(beyond[f], beyond[f] + 3, facet(f).beyond);
        return true;
    }

    // Replaces the facets visible from p, including f, by a cone from their rim to p. False if the rim is not
    // a simple loop.
    bool grow(int f, const DifferencePoint& p) {
        const int apex = add_point(p);
        int seen = 0, rim = 0;
        const auto remove = [&](int g) {
            alive_[g] = false;
            distance_[g] = hidden;
            seen_[seen++] = g;
        };
        remove(f);
        for (int i = 0; i < seen; ++i) {
            const Facet it = facet(seen_[i]);
            for (int k = 0; k < 3; ++k) {
                const int g = it.beyond[k];
                if (is_alive(g) && sees(p.x, facet(g))) remove(g);
            }
        }
        for (int i = 0; i < seen; ++i) {
            const Facet& it = facet(seen_[i]);
            for (int k = 0; k < 3; ++k)
                if (is_alive(it.beyond[k]))
                    rim_[rim++] = {it.corner[k], it.corner[(k + 1) % 3], it.beyond[k], -1};
        }
        for (int i = 0; i < seen; ++i)
            free_[free_count_++] = seen_[i];
        for (int i = 0; i < rim; ++i)
            side_from_[rim_[i].tail] = -1;
        for (int i = 0; i < rim; ++i) {
            int& first = side_from_[rim_[i].tail];
            if (first >= 0 || facet_count_ - free_count_ + rim > most_facets) return false;
            first = i;
        }
        for (int i = 0; i < rim; ++i) {
            RimSide& side = rim_[i];
            side.added = add_facet(side.tail, side.head, apex, &facet(side.beyond));
        }
        for (int i = 0; i < rim; ++i) {
            const RimSide& side = rim_[i];
            const int after = side_from_[side.head];
            if (after < 0 || after >= rim || rim_[after].tail != side.head) return false;
            const int following = rim_[after].added;
            facet(side.added).beyond[0] = side.beyond;
            facet(side.added).beyond[1] = following;
            facet(following).beyond[2] = side.added;
            Facet& beyond = facet(side.beyond);
            for (int k = 0; k < 3; ++k)
                if (beyond.corner[k] == side.head && beyond.corner[(k + 1) % 3] == side.tail)
                    beyond.beyond[k] = side.added;
        }
        return true;
    }

    struct RimSide {
        int tail, head, beyond, added;
    };
    const Difference& difference_;
    double tolerance_, extent_ = 0;
    int point_count_ = 0, facet_count_ = 0, free_count_ = 0;
    std::array<DifferencePoint, most_points + 16> points_;
    std::array<Facet, most_facets> facets_;
    std::array<double, most_facets> distance_;  // of facets that may be the nearest
    std::array<bool, most_facets> alive_;
    std::array<int, most_facets> seen_, free_;
    std::array<RimSide, most_facets> rim_;
    std::array<int, most_points + 16> side_from_;  // per point: the side of the rim that starts there
};

}  // namespace

Overlap epa(const PolytopeDifference& difference, const Apart& start, double tolerance) {
    return GrowingPolytope(difference, start, tolerance).nearest_face();
}
Overlap epa(const CoreDifference& difference, const Apart& start, double tolerance) {
    return GrowingPolytope(difference, start, tolerance).nearest_face();
}

}  // namespace costate
