#include "scenes/import/mesh/mesh_mass.hpp"

#include <cmath>

#include "collision/shapes/hull.hpp"

namespace costate {
namespace {

// The corners of a triangle relative to a point, as columns.
Mat3<double> corners_from(const TriangleMesh& mesh, const std::array<int, 3>& triangle,
                          const Vec3<double>& from) {
    Mat3<double> corners;
    for (int k = 0; k < 3; ++k)
        corners.col(k) = mesh.vertices[triangle[k]] - from;
    return corners;
}

double area(const Mat3<double>& corners) {
    return 0.5 * (corners.col(1) - corners.col(0)).cross(corners.col(2) - corners.col(0)).norm();
}

Vec3<double> centre_of_surface(const TriangleMesh& mesh) {
    double whole = 0;
    Vec3<double> first = Vec3<double>::Zero();
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        const Mat3<double> corners = corners_from(mesh, triangle, Vec3<double>::Zero());
        const double share = area(corners);
        whole += share;
        first += share * corners.rowwise().mean();
    }
    return first / whole;
}

// Area of a triangle (shell), or volume of the pyramid between triangle and origin. The volume is positive
// for legacy; otherwise it is negative if the origin sees the triangle from outside.
double measure(const Mat3<double>& corners, MeshInertia kind) {
    if (kind == MeshInertia::shell) return area(corners);
    const double volume = corners.determinant() / 6;
    return kind == MeshInertia::legacy ? std::abs(volume) : volume;
}

}  // namespace

TriangleMesh hull_surface(const std::vector<Vec3<double>>& points) {
    const std::shared_ptr<const Hull> hull = convex_hull(points);
    TriangleMesh mesh{hull->vertices, {}};
    for (const HullFace& face : hull->faces) {  // a fan
        const HullSide* sides = hull->sides.data() + face.first;
        for (int k = 1; k + 1 < face.count; ++k)
            mesh.triangles.push_back({sides[0].tail, sides[k].tail, sides[k].head});
    }
    return mesh;
}

// Let a, b, c be the corners of a triangle and s = a + b + c.
//
//                                  integral of x     integral of x x^T
// triangle of area w               w/3 s             w/12 (a a^T + b b^T + c c^T + s s^T)
// pyramid of volume w to origin    w/4 s             w/20 (a a^T + b b^T + c c^T + s s^T)
//
// The centre of mass follows from pyramids at the centre of the surface, then volume and moments from
// pyramids at the centre of mass.
MassProperties<double> mesh_mass(const TriangleMesh& mesh, MeshInertia kind) {
    if (kind == MeshInertia::convex) return mesh_mass(hull_surface(mesh.vertices), MeshInertia::exact);
    const bool shell = kind == MeshInertia::shell;
    const Vec3<double> middle = centre_of_surface(mesh);
    double whole = 0;
    Vec3<double> first = Vec3<double>::Zero();
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        const Mat3<double> corners = corners_from(mesh, triangle, middle);
        const double share = measure(corners, kind);
        whole += share;
        first += share / (shell ? 3 : 4) * corners.rowwise().sum();
    }
    MassProperties<double> mass{0, middle + first / whole, Mat3<double>::Zero()};
    Mat3<double> second = Mat3<double>::Zero();
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        const Mat3<double> corners = corners_from(mesh, triangle, mass.c);
        const Vec3<double> sum = corners.rowwise().sum();
        const double share = measure(corners, kind);
        mass.m += share;
        second += share / (shell ? 12 : 20) * (corners * corners.transpose() + sum * sum.transpose());
    }
    mass.I = second.trace() * Mat3<double>::Identity() - second;
    return mass;
}

bool is_closed(const TriangleMesh& mesh) {
    constexpr double tolerance = 1e-3;
    const Vec3<double> middle = centre_of_surface(mesh);
    Vec3<double> areas = Vec3<double>::Zero();
    Mat3<double> volumes = Mat3<double>::Zero();
    double area_scale = 0, volume_scale = 0;
    for (const std::array<int, 3>& triangle : mesh.triangles) {
        const Mat3<double> corners = corners_from(mesh, triangle, middle);
        const Vec3<double> x = corners.rowwise().mean();
        const Vec3<double> along_normal =
            0.5 * (corners.col(1) - corners.col(0)).cross(corners.col(2) - corners.col(0));
        areas += along_normal;
        volumes += x * along_normal.transpose();
        area_scale += along_normal.norm();
        volume_scale += along_normal.norm() * x.norm();
    }
    volumes.diagonal().array() -= volumes.trace() / 3;
    return areas.norm() <= tolerance * area_scale && volumes.norm() <= tolerance * volume_scale;
}

}  // namespace costate
