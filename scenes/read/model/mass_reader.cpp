#include "scenes/read/model/mass_reader.hpp"

#include <Eigen/Eigenvalues>
#include <sstream>

#include "scenes/format/inertia.hpp"

namespace costate {

MassProperties<double> read_mass(const Node& body) {
    MassProperties<double> mass = MassProperties<double>::zero();
    mass.m = body.number_or("mass", 0);
    mass.c = body.vec3_or("com", Vec3<double>::Zero());
    if (mass.m < 0) {
        std::ostringstream is;
        is << "must be positive, is " << mass.m;
        body["mass"].fail(is.str(), "use a mass above 0 kg");
    }
    const std::optional<Node> inertia = body.find("inertia");
    if (!inertia && mass.m > 0)
        body.fail("has mass but no \"inertia\"", "give xx yy zz xy xz yz about its centre of mass, kg m^2");
    if (!inertia) return mass;
    mass.I = inertia_matrix(inertia->numbers(6).data());
    if (mass.m == 0 && !mass.I.isZero(0))
        inertia->fail("is not zero, but the mass is 0", "give the body mass, or remove the inertia");
    const std::string reason = unphysical(mass.I);
    if (!reason.empty() && !mass.I.isZero(0))
        inertia->fail(reason,
                      "use six zeros for a point mass, or the inertia of a solid about its centre of mass");
    return mass;
}

void read_drag_box(const Node& body, BodySpec& spec) {
    if (const auto box = body.find("drag_box")) {
        box->expect_keys("drag_box");
        if (spec.mass.m == 0) box->fail("belongs to a body without mass", "give the body mass, or remove it");
        const Node extents = (*box)["half_extents"];
        spec.drag_box = extents.vec3();
        if (spec.drag_box.minCoeff() < 0) extents.fail("must not be negative", "write three lengths, m");
        spec.drag_axes = rotation_matrix(read_orientation(*box));
    } else if (spec.mass.m > 0) {
        const Eigen::SelfAdjointEigenSolver<Mat3<double>> principal(spec.mass.I);
        spec.drag_box = half_extents_of_inertia(spec.mass.m, principal.eigenvalues());
        spec.drag_axes = principal.eigenvectors();
    }
}

}  // namespace costate
