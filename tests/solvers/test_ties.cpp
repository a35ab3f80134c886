// Several equally close features: contacts are finite, and the gradient is one of the one-sided derivatives.
#include <cmath>

#include "collision/contact/contact.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;
using namespace costate::test;

TEST_CASE("contact: at a tie the gap's derivative is a one-sided one, and everything is finite") {
    const Mat3<double> I = Mat3<double>::Identity(), half_turn = Vec3<double>(1, -1, -1).asDiagonal();
    const Mat3<double> lying = rotation_matrix<double>(quaternion_exp<double>({0, std::acos(0.0), 0}));
    const Shape sphere = shape_of(ShapeType::sphere), capsule = shape_of(ShapeType::capsule),
                box = shape_of(ShapeType::box);
    const Shape plane = shape_of(ShapeType::plane), cylinder = shape_of(ShapeType::cylinder);
    const Shape egg = shape_of(ShapeType::ellipsoid), mesh = cube_mesh();
    enum Pieces { two, many, a_continuum };  // number of smooth pieces of the gap that meet
    struct Tie {
        std::string name;
        Placed a, b;
        Pieces pieces = two;
    };
    const Vec3<double> ball(0.3, 0, 0), rod(0.2, 0.5, 0), point_rod(0.2, 0, 0), can(0.3, 0.5, 0),
        cube(0.4, 0.5, 0.6);
    const std::vector<Tie> ties{
        {"concentric spheres", {sphere, ball, {I, {1, 2, 3}}}, {sphere, ball, {I, {1, 2, 3}}}, many},
        {"parallel capsules", {capsule, rod, {I, {0, 0, 0.1}}}, {capsule, rod, {I, {0.6, 0, 0}}}},
        {"antiparallel capsules", {capsule, rod, {I, {0, 0, 0}}}, {capsule, rod, {half_turn, {0.6, 0, 0}}}},
        {"capsules in line", {capsule, rod, {I, {0, 0, 2}}}, {capsule, rod, {I, {0, 0, 0}}}},
        {"the same capsule", {capsule, rod, {I, {0, 0, 0}}}, {capsule, rod, {I, {0, 0, 0}}}, a_continuum},
        {"point capsules", {capsule, point_rod, {I, {0, 0, 0}}}, {capsule, point_rod, {I, {0, 0.7, 0}}}},
        {"point capsule and capsule",
         {capsule, point_rod, {I, {0, 0, 0.1}}},
         {capsule, rod, {I, {0, 0.7, 0}}}},
        {"sphere on the axis of a capsule",
         {sphere, ball, {I, {0, 0, 0.1}}},
         {capsule, rod, {I, {0, 0, 0}}},
         many},
        {"sphere over the end of a capsule",
         {sphere, ball, {I, {0.5, 0, 0.5}}},
         {capsule, rod, {I, {0, 0, 0}}}},
        {"centre on a face", {sphere, ball, {I, {0.4, 0.1, 0.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"centre on an edge", {sphere, ball, {I, {0.4, 0.5, 0.1}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"centre on a vertex", {sphere, ball, {I, {0.4, 0.5, 0.6}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"centre over an edge", {sphere, ball, {I, {0.4, 0.7, 0.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"centre over a vertex", {sphere, ball, {I, {0.4, 0.5, 0.9}}}, {box, cube, {I, {0, 0, 0}}}},
        {"centre in the centre",
         {sphere, ball, {I, {0, 0, 0}}},
         {box, {0.5, 0.5, 0.5}, {I, {0, 0, 0}}},
         many},
        {"capsule along a face", {capsule, rod, {lying, {0.1, 0, 0.8}}}, {box, {1, 1, 0.6}, {I, {0, 0, 0}}}},
        {"capsule along an edge", {capsule, rod, {I, {0.5, 0.7, 0.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"capsule along a flush edge",
         {capsule, rod, {I, {0.4, 0.5, 0.1}}},
         {box, cube, {I, {0, 0, 0}}},
         many},
        {"capsule in the centre", {capsule, rod, {I, {0, 0, 0}}}, {box, {0.5, 0.5, 1}, {I, {0, 0, 0}}}, many},
        {"point capsule on a box", {capsule, point_rod, {I, {0, 0, 0.8}}}, {box, cube, {I, {0, 0, 0}}}},
        {"boxes face to face", {box, cube, {I, {0.1, 0.1, 1.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"boxes flush", {box, cube, {I, {0, 0, 1.2}}}, {box, cube, {I, {0, 0, 0}}}},
        {"boxes edge to edge", {box, cube, {I, {0.8, 1.0, 0}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"boxes corner to corner", {box, cube, {I, {1.0, 1.2, 1.4}}}, {box, cube, {I, {0, 0, 0}}}},
        {"the same box", {box, cube, {I, {0, 0, 0}}}, {box, cube, {I, {0, 0, 0}}}, many},
        {"meshes face to face", {mesh, cube, {I, {0.1, 0.1, 1.1}}}, {mesh, cube, {I, {0, 0, 0}}}},
        {"a cylinder upright on a box", {cylinder, can, {I, {0, 0, 1.1}}}, {box, cube, {I, {0, 0, 0}}}},
        {"a cylinder upright on a cylinder",
         {cylinder, can, {I, {0.1, 0, 0.99}}},
         {cylinder, can, {I, {0, 0, 0}}}},
        {"a cylinder lying on a box", {cylinder, can, {lying, {0, 0, 0.9}}}, {box, cube, {I, {0, 0, 0}}}},
        {"a cylinder beside a cylinder",
         {cylinder, can, {I, {0.59, 0, 0.2}}},
         {cylinder, can, {I, {0, 0, 0}}}},
        {"a cylinder upright on a plane",
         {cylinder, can, {I, {0, 0, 0.5}}},
         {plane, {0, 0, 0}, {I, {0, 0, 0}}}},
        {"a sphere on the rim of a cylinder",
         {sphere, ball, {I, {0.3, 0, 0.7}}},
         {cylinder, can, {I, {0, 0, 0}}}},
        {"concentric cylinders",
         {cylinder, can, {I, {0, 0, 0}}},
         {cylinder, can, {I, {0, 0, 0}}},
         a_continuum},
        {"concentric ellipsoids", {egg, cube, {I, {0, 0, 0}}}, {egg, cube, {I, {0, 0, 0}}}, a_continuum},
        {"round ellipsoids",
         {egg, {0.3, 0.3, 0.3}, {I, {0, 0, 0.5}}},
         {egg, {0.3, 0.3, 0.3}, {I, {0, 0, 0}}}},
        {"flat box", {box, cube, {I, {0, 0, 0.6}}}, {plane, {0, 0, 0}, {I, {0, 0, 0}}}},
    };
    Rng g(6);
    for (const Tie& tie : ties) {
        CAPTURE(tie.name);
        const auto& [a, b] = std::pair(tie.a, tie.b);
        const FeatureList list = features(a, b);
        REQUIRE(list.count >= 1);
        const FeaturePair f = list.pair(0, 0, 1);
        const Contact<double> c = contact(a, b, f);
        CHECK(std::isfinite(c.gap + c.normal.sum() + c.point.sum()));
        CHECK(c.normal.norm() == doctest::Approx(1));
        CHECK(c.gap == doctest::Approx(gap(a, b)));
        for (int k = 0; k < 7; ++k) {
            Covector e(7);
            e[k] = 1;
            Force<double> A = Force<double>::zero(), B = A;
            Vec3<double> sa(0, 0, 0), sb(0, 0, 0);
            contact_adj(a.shape, b.shape, f, a.X, b.X, a.size, b.size, Probe<Contact<double>>::bar(e.data()),
                        A, B, sa, sb);
            CHECK(std::isfinite(A.ang.sum() + A.lin.sum() + B.ang.sum() + B.lin.sum() + sa.sum() + sb.sum()));
            if (k < 6 || tie.pieces == a_continuum) continue;
            // The gap along a translation of a to either side: any, or along the normal if many pieces meet.
            for (int trial = 0; trial < 20; ++trial) {
                const Vec3<double> d = tie.pieces == two ? g.vec3(Regime::random) : c.normal;
                const double step = 1e-6, rate = A.lin.dot(d);
                Placed ahead = a, behind = a;
                ahead.X.p += step * d;
                behind.X.p -= step * d;
                const double right = (gap(ahead, b) - gap(a, b)) / step,
                             left = (gap(a, b) - gap(behind, b)) / step;
                CAPTURE(right);
                CAPTURE(left);
                CAPTURE(rate);
                CHECK(std::min(std::abs(rate - right), std::abs(rate - left)) < 1e-4);
            }
        }
    }
}
