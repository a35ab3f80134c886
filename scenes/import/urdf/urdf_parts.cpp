#include "scenes/import/urdf/urdf_parts.hpp"

#include "scenes/format/inertia.hpp"
#include "scenes/import/mesh/solid.hpp"

namespace costate {

Transform<double> read_origin(const XmlElement& element) {
    Transform<double> X = Transform<double>::identity();
    const std::optional<XmlElement> origin = element.child("origin");
    if (!origin) return X;
    X.p = origin->vec3_or("xyz", X.p);
    const Vec3<double> rpy = origin->vec3_or("rpy", Vec3<double>::Zero());
    const auto turn = [&](int axis) { return quaternion_exp<double>(rpy[axis] * Vec3<double>::Unit(axis)); };
    if (!rpy.isZero(0))
        X.R = rotation_matrix(quaternion_product(quaternion_product(turn(2), turn(1)), turn(0)));
    return X;
}

namespace {

// Bullet's factor of a link's inertia
double inertia_scaling(const XmlElement& link) {
    const auto contact = link.child("contact");
    const auto scaling = contact ? contact->child("inertia_scaling") : std::nullopt;
    return scaling ? (*scaling)["value"].positive() : 1;
}

// Isaac Gym's <density> in the place of <mass>
std::optional<XmlElement> density_of(const XmlElement& inertial) {
    return inertial.child("mass") ? std::nullopt : inertial.child("density");
}

void put_mass(const MassProperties<double>& mass, Json& body) {
    const Mat3<double>& I = mass.I;
    body["mass"] = mass.m;
    if (!mass.c.isZero(0)) body["com"] = to_json(mass.c);
    body["inertia"] = Json::array({I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)});
}

// The mass of the shapes of a body, solids of one density.
void put_solids(const XmlElement& density, Json& body, std::map<std::string, std::string>& places) {
    const double rho = density["value"].nonnegative();
    std::vector<Part> parts;
    for (const Json& shape : body.value("shapes", Json::array()))
        parts.push_back(solid_part(shape));
    const MassProperties<double> unit = combined(parts);
    if (!(unit.m > 0))
        density.fail("belongs to a link whose <collision> has no volume", "write <mass> and <inertia>");
    if (rho == 0) return;
    put_mass({rho * unit.m, unit.c, rho * unit.I}, body);
    places["/mass"] = places["/inertia"] = density.place();
}

}  // namespace

double mass_or_density(const XmlElement& link) {
    const auto inertial = link.child("inertial");
    if (!inertial) return 0;
    if (const auto density = density_of(*inertial)) return (*density)["value"].nonnegative();
    return inertial->only("mass")["value"].nonnegative();
}

void put_inertial(const XmlElement& link, Json& body, std::map<std::string, std::string>& places,
                  Warnings& warnings) {
    constexpr double least = 1e-12;  // m^2: with a smaller inertia for its mass, a link is a point
    const std::optional<XmlElement> inertial = link.child("inertial");
    if (!inertial) return;
    if (const auto density = density_of(*inertial)) return put_solids(*density, body, places);
    inertial->warn_others(warnings, {}, {"origin", "mass", "inertia"});
    const XmlElement mass = inertial->only("mass");
    const double m = mass["value"].nonnegative();
    const Transform<double> X = read_origin(*inertial);
    Mat3<double> I = Mat3<double>::Zero();
    const std::optional<XmlElement> inertia = inertial->child("inertia");
    if (!inertia && m > 0) {
        I = solid_ball(m);
        inertial->warn(warnings, "has a mass but no <inertia>; that of a ball of water is used",
                       "add it, about the centre of mass, kg m^2");
    }
    if (inertia) {
        const double six[] = {(*inertia)["ixx"].number(),   (*inertia)["iyy"].number(),
                              (*inertia)["izz"].number(),   inertia->number_or("ixy", 0),
                              inertia->number_or("ixz", 0), inertia->number_or("iyz", 0)};
        I = inertia_matrix(six);
        if (I.cwiseAbs().maxCoeff() <= least * m) I.setZero();
        if (m > 0 && !I.isZero(0))
            if (const std::string change = make_physical(I, m); !change.empty())
                warnings.add(inertia->place(), "inertia of link \"" + link["name"].text() + "\": " + change,
                             "write that of a solid, or six zeros for a point mass");
        I *= inertia_scaling(link);
    }
    // about the centre of mass; rotated from the axes of <origin> to those of the link
    I = Mat3<double>(X.R * I * X.R.transpose());
    if (m == 0) return;
    put_mass({m, X.p, I}, body);
    places["/mass"] = mass.place();
    places["/inertia"] = (inertia ? *inertia : *inertial).place();
}

Materials read_materials(const XmlElement& robot) {
    Materials materials;
    const auto add = [&](const XmlElement& material) {
        const auto color = material.child("color");
        const std::string name = material.text_or("name", "");
        if (!color || name.empty()) return;
        const std::vector<double> rgba = (*color)["rgba"].colour();
        materials.emplace(name, std::array<double, 4>{rgba[0], rgba[1], rgba[2], rgba[3]});
    };
    for (const XmlElement& material : robot.children("material"))
        add(material);
    for (const XmlElement& link : robot.children("link"))
        for (const XmlElement& visual : link.children("visual"))
            for (const XmlElement& material : visual.children("material"))
                add(material);
    return materials;
}

}  // namespace costate
