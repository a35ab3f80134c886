#include "scenes/import/mesh/solid.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "scenes/import/mesh/mesh_mass.hpp"
#include "scenes/import/pose.hpp"

namespace costate {
namespace {

using std::numbers::pi;

// A cylinder of length L and two half balls of radius r. The centre of a half ball is 3/8 r beyond the end of
// the cylinder, which adds L^2/4 + 3/8 r L to its moment per mass about a transverse axis.
Solid capsule(double r, double L) {
    // share of the half balls in the volume; volumes divided by pi r^2
    const double ends = 4.0 / 3 * r, share = ends / (ends + L);
    const double ball = 0.4 * r * r;
    const double across = (1 - share) * (3 * r * r + L * L) / 12 + share * (ball + L * (3 * r + 2 * L) / 8);
    const double along = (1 - share) * r * r / 2 + share * ball;
    return {pi * r * r * (L + ends), {across, across, along}};
}

}  // namespace

Solid solid_of(ShapeType type, const Vec3<double>& size) {
    const double r = size[0], L = 2 * size[1];
    const Vec3<double> squares = size.cwiseAbs2(),
                       sums(squares[1] + squares[2], squares[2] + squares[0], squares[0] + squares[1]);
    switch (type) {
        case ShapeType::sphere: return {4.0 / 3 * pi * r * r * r, Vec3<double>::Constant(0.4 * r * r)};
        case ShapeType::capsule: return capsule(r, L);
        case ShapeType::cylinder: {
            const double across = (3 * r * r + L * L) / 12;
            return {pi * r * r * L, {across, across, r * r / 2}};
        }
        case ShapeType::ellipsoid: return {4.0 / 3 * pi * size.prod(), sums / 5};
        case ShapeType::box: return {8 * size.prod(), sums / 3};
        case ShapeType::plane:
        case ShapeType::terrain:
        case ShapeType::mesh: return {};
    }
    return {};
}

MassProperties<double> combined(const std::vector<Part>& parts) {
    RigidInertia<double> sum = RigidInertia<double>::zero();  // about the body's origin
    for (const Part& part : parts)
        sum += place_inertia(part.X, part.mass);
    if (!(sum.m > 0)) return MassProperties<double>::zero();
    const Vec3<double> c = sum.h / sum.m;
    MassProperties<double> body{sum.m, c, Mat3<double>::Zero()};
    for (const Part& part : parts)  // again about the centre of mass, which avoids cancellation
        body.I += place_inertia(Transform<double>{part.X.R, part.X.p - c}, part.mass).I;
    return body;
}

Part solid_part(const Json& shape) {
    Part part{pose_of(shape), MassProperties<double>::zero()};
    const std::string name = shape.at("type").get<std::string>();
    const auto* const kind = std::ranges::find(shape_kinds, name, &ShapeKind::name);
    if (kind == std::end(shape_kinds)) return part;
    Vec3<double> size = Vec3<double>::Ones();
    for (const SizeKey& key : kind->sizes)
        if (key.name != nullptr && shape.contains(key.name))
            for (int i = 0; i < key.count; ++i)
                size[key.first + i] =
                    key.count == 1 ? shape[key.name].get<double>() : shape[key.name][i].get<double>();
    if (kind->type == ShapeType::mesh) {
        std::vector<Vec3<double>> points;
        for (const Json& v : shape.at("vertices"))
            points.push_back(size.cwiseProduct(vec3_of(v)));
        try {
            part.mass = mesh_mass({.vertices = points, .triangles = {}}, MeshInertia::convex);
        } catch (const std::invalid_argument&) {  // all in one plane
        }
        return part;
    }
    const Solid solid = solid_of(kind->type, size);
    part.mass = {solid.volume, Vec3<double>::Zero(),
                 Mat3<double>((solid.volume * solid.moments).asDiagonal())};
    return part;
}

}  // namespace costate
