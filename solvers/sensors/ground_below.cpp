#include "collision/shapes/terrain.hpp"
#include "solvers/sensors/distance_sensors.hpp"

namespace costate {
namespace {

// The highest triangle of a terrain on the vertical through (x, y), and the height there.
void highest_triangle(const Shape& shape, const Transform<double>& X, const Vec3<double>& size, double x,
                      double y, double& height, int& triangle) {
    const Terrain& t = *shape.terrain;
    const auto local = [&](double z) -> Vec3<double> {
        return (X.R.transpose() * (Vec3<double>(x, y, z) - X.p)).cwiseQuotient(size);
    };
    // the vertical within the terrain's ball
    const double extent = (t.centre.cwiseAbs() + t.half).cwiseProduct(size.cwiseAbs()).norm();
    const Vec3<double> low = local(X.p.z() - extent), high = local(X.p.z() + extent);
    t.for_each_triangle(low.cwiseMin(high), low.cwiseMax(high), [&](int n) {
        const GroundPlane<double> plane = ground_plane(shape, n, size);
        const Vec3<double> normal = X.R * plane.normal;
        if (std::abs(normal.z()) <= 1e-12 * normal.norm()) return;
        const double z = plane_height(transform_point(X, plane.point), normal, x, y);
        if (z <= height) return;
        const Vec3<double> at = local(z);
        for (int k = 0; k < 3; ++k) {
            const Vec3<double> tail = t.corner(n, k), side = t.corner(n, (k + 1) % 3) - tail;
            if (side.cross(at - tail).dot(t.normal(n)) < -1e-12 * t.normal(n).squaredNorm()) return;
        }
        height = z;
        triangle = n;
    });
}

}  // namespace

GroundPiece ground_below(const ShapeSet& set, const Transform<double>* X, const Vec3<double>* size, double x,
                         double y) {
    GroundPiece found;
    double height = -unlimited;
    for (size_t n = 0; n < set.shapes.size(); ++n) {
        const Shape& shape = set.shapes[n];
        const int here = static_cast<int>(n);
        if (shape.body >= 0) continue;
        if (shape.terrain) {
            int triangle = -1;
            highest_triangle(shape, X[n], size[n], x, y, height, triangle);
            if (triangle >= 0) found = {here, triangle};
        } else if (shape.type == ShapeType::plane && X[n].R(2, 2) > 0) {
            const double z = plane_height<double>(X[n].p, X[n].R.col(2), x, y);
            if (z <= height) continue;
            height = z;
            found = {here, -1};
        }
    }
    return found;
}

}  // namespace costate
