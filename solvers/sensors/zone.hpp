// Which contacts a zone counts. MuJoCo's rule for `touch`: the ray from the point of the contact, along the normal away
// from the body, meets the zone. So a contact within it counts, and one that sinks through its back does, too.
#pragma once

#include <cmath>

#include "solvers/sensor.hpp"

namespace costate {

// The part from <= t <= to of a ray p + t d, t >= 0; empty if to < from.
struct RaySection {
    double from = 0, to = unlimited;
    bool empty() const { return !(from <= to); }

    // Leaves |p + t d| <= size, along one axis.
    void cut_slab(double p, double d, double size) {
        if (d == 0) {
            if (std::abs(p) > size) to = -1;
            return;
        }
        const double a = (-size - p) / d, b = (size - p) / d;
        from = std::max(from, std::min(a, b));
        to = std::min(to, std::max(a, b));
    }
    // Leaves |p + t d| <= 1, for vectors of any length.
    template <class Vector> void cut_ball(const Vector& p, const Vector& d) {
        const double a = d.squaredNorm(), b = p.dot(d), c = p.squaredNorm() - 1;
        const double discriminant = b * b - a * c;
        if (a == 0 ? c > 0 : discriminant < 0) to = -1;
        if (a == 0 || discriminant < 0) return;
        const double root = std::sqrt(discriminant);
        from = std::max(from, (-b - root) / a);
        to = std::min(to, (root - b) / a);
    }
};

// Whether the ray from point p along d meets the zone, both in the frame that the zone is about.
inline bool ray_meets(const Zone& zone, const Vec3<double>& p, const Vec3<double>& d) {
    const Vec3<double>& size = zone.size;
    const auto meets_ball = [&](const Vec3<double>& centre, const Vec3<double>& semi_axes) {
        RaySection ray;
        ray.cut_ball<Vec3<double>>((p - centre).cwiseQuotient(semi_axes), d.cwiseQuotient(semi_axes));
        return !ray.empty();
    };
    const auto meets_cylinder = [&](double radius, double half_length) {
        RaySection ray;
        ray.cut_ball<Eigen::Vector2d>(p.head<2>() / radius, d.head<2>() / radius);
        ray.cut_slab(p.z(), d.z(), half_length);
        return !ray.empty();
    };
    const auto ball = [](double radius) { return Vec3<double>::Constant(radius); };
    switch (zone.type) {
        case ShapeType::ellipsoid: return meets_ball(Vec3<double>::Zero(), size);
        case ShapeType::cylinder: return meets_cylinder(size[0], size[1]);
        case ShapeType::capsule: {
            const Vec3<double> end(0, 0, size[1]);
            return meets_cylinder(size[0], size[1]) || meets_ball(end, ball(size[0])) ||
                   meets_ball(-end, ball(size[0]));
        }
        case ShapeType::box: {
            RaySection ray;
            for (int k = 0; k < 3; ++k)
                ray.cut_slab(p[k], d[k], size[k]);
            return !ray.empty();
        }
        default: return meets_ball(Vec3<double>::Zero(), ball(size[0]));
    }
}

}  // namespace costate
