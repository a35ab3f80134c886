#include "scenes/import/mjcf/mjcf_geometry.hpp"

#include <cmath>
#include <numbers>

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

Solid solid_of(GeomType type, const Vec3<double>& size) {
    const double r = size[0], L = 2 * size[1];
    const Vec3<double> squares = size.cwiseAbs2(),
                       sums(squares[1] + squares[2], squares[2] + squares[0], squares[0] + squares[1]);
    switch (type) {
        case GeomType::sphere: return {4.0 / 3 * pi * r * r * r, Vec3<double>::Constant(0.4 * r * r)};
        case GeomType::capsule: return capsule(r, L);
        case GeomType::cylinder: {
            const double across = (3 * r * r + L * L) / 12;
            return {pi * r * r * L, {across, across, r * r / 2}};
        }
        case GeomType::ellipsoid: return {4.0 / 3 * pi * size.prod(), sums / 5};
        case GeomType::box: return {8 * size.prod(), sums / 3};
        case GeomType::plane:
        case GeomType::hfield:
        case GeomType::mesh: return {};
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

}  // namespace costate
