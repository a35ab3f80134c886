#include "collision/shapes/shape_kind.hpp"

#include <cmath>
#include <limits>

#include "collision/shapes/shape.hpp"
#include "core/math/normalise.hpp"

namespace costate::shape_functions {
namespace {

using Vec = Vec3<double>;

// Of the farthest corner of the box around a hull or terrain.
template <class Data> double corner_radius(const Data& data, const Vec& size) {
    return (data.centre.cwiseAbs() + data.half).cwiseProduct(size).norm();
}

double end(double along, double half) { return along < 0 ? -half : half; }

}  // namespace

double infinite_radius(const Shape&, const Vec&) { return std::numeric_limits<double>::infinity(); }
double sphere_radius(const Shape&, const Vec& size) { return size.x(); }
double capsule_radius(const Shape&, const Vec& size) { return size.x() + size.y(); }
double box_radius(const Shape&, const Vec& size) { return size.norm(); }
double cylinder_radius(const Shape&, const Vec& size) { return size.head<2>().norm(); }
double ellipsoid_radius(const Shape&, const Vec& size) { return size.maxCoeff(); }
double mesh_radius(const Shape& mesh, const Vec& size) { return corner_radius(*mesh.hull, size); }
double terrain_radius(const Shape& terrain, const Vec& size) { return corner_radius(*terrain.terrain, size); }

double sphere_reach(const Shape&, const Vec& size, const Vec&) { return size.x(); }
double capsule_reach(const Shape&, const Vec& size, const Vec& d) {
    return size.x() + size.y() * std::abs(d.z());
}
double box_reach(const Shape&, const Vec& size, const Vec& d) { return size.dot(d.cwiseAbs()); }
double cylinder_reach(const Shape&, const Vec& size, const Vec& d) {
    return size.x() * d.head<2>().norm() + size.y() * std::abs(d.z());
}
double ellipsoid_reach(const Shape&, const Vec& size, const Vec& d) { return size.cwiseProduct(d).norm(); }
double mesh_reach(const Shape& mesh, const Vec& size, const Vec& d) {
    double most = -std::numeric_limits<double>::infinity();
    for (const Vec& v : mesh.hull->vertices)
        most = std::max(most, d.dot(size.cwiseProduct(v)));
    return most;
}

Vec sphere_support(const Vec&, const Vec&) { return Vec::Zero(); }
Vec capsule_support(const Vec& size, const Vec& d) { return {0, 0, end(d.z(), size.y())}; }
Vec box_support(const Vec& size, const Vec& d) {
    return {end(d.x(), size.x()), end(d.y(), size.y()), end(d.z(), size.z())};
}
Vec cylinder_support(const Vec& size, const Vec& d) {
    const double across = d.head<2>().norm(), k = across > degenerate_length ? size.x() / across : 0;
    return {k * d.x(), k * d.y(), end(d.z(), size.y())};
}
Vec ellipsoid_support(const Vec& size, const Vec& d) {
    return size.cwiseProduct(normalise<double>(size.cwiseProduct(d)));
}

}  // namespace costate::shape_functions
