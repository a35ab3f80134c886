// Bodies of MJCF: the tree, the contents of each body, and masses.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "scenes/format/inertia.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

constexpr size_t max_bodies_of_a_file = 100000, max_joints = 6;

// Context that a <body> or <frame> passes to its contents.
struct Surroundings {
    int body = 0;
    MjcfPose frame;  // in the body
    std::string childclass;
};

class BodyReader {
public:
    explicit BodyReader(const MjcfContext& context) : context_(context) {}

    std::vector<MjcfBody> read() {
        const std::vector<XmlElement> worlds = context_.files.children(context_.files.root(), "worldbody");
        if (worlds.empty()) context_.files.root().fail("has no <worldbody>", "add it");
        bodies_.push_back({.element = worlds[0], .name = "world", .mass_element = worlds[0]});
        for (const XmlElement& world : worlds)
            content(world, {});
        return std::move(bodies_);
    }

private:
    void content(const XmlElement& element, const Surroundings& in) {
        for (const XmlElement& child : context_.files.children(element)) {
            const std::string kind = child.name();
            if (kind == "body")
                body(child, in);
            else if (kind == "frame")
                frame(child, in);
            else if (kind == "joint" || kind == "freejoint")
                joint(child, in);
            else if (kind == "geom")
                geom(child, in);
            else if (kind == "site")
                site(child, in);
            else if (kind == "inertial" && in.body > 0)
                inertial(child, in);
            else if (kind != "camera" && kind != "light")
                child.warn(context_.warnings, "is not supported and is ignored", "remove it to silence this");
        }
    }

    std::string childclass(const XmlElement& e, const Surroundings& in) const {
        const auto given = e.find("childclass");
        if (given) context_.defaults.check_class(*given);
        return given ? given->text() : in.childclass;
    }

    void body(const XmlElement& e, const Surroundings& in) {
        e.warn_others(context_.warnings,
                      {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "user"},
                      {"body", "frame", "joint", "freejoint", "geom", "site", "inertial", "camera", "light",
                       "include", "composite", "flexcomp", "replicate", "attach", "plugin"});
        if (bodies_.size() > max_bodies_of_a_file) e.fail("exceeds the 100000 bodies of a file", "use fewer");
        const MjcfPose pose = in.frame * read_mjcf_pose(MjcfAttributes(e, {}), context_.compiler);
        const MjcfPose world = bodies_[in.body].world * pose;
        const int index = static_cast<int>(bodies_.size());
        bodies_.push_back({.element = e,
                           .name = e.text_or("name", ""),
                           .parent = in.body,
                           .pose = pose,
                           .world = world,
                           .mass_element = e});
        content(e, {index, {}, childclass(e, in)});
    }

    void frame(const XmlElement& e, const Surroundings& in) {
        e.warn_others(context_.warnings,
                      {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"},
                      {"body", "frame", "joint", "freejoint", "geom", "site", "camera", "light", "include",
                       "composite", "flexcomp", "replicate", "attach", "plugin"});
        content(e, {in.body, in.frame * read_mjcf_pose(MjcfAttributes(e, {}), context_.compiler),
                    childclass(e, in)});
    }

    void joint(const XmlElement& e, const Surroundings& in) {
        if (in.body == 0) e.fail("is in the world, which cannot move", "put it into a <body>");
        MjcfBody& body = bodies_[in.body];
        MjcfJoint joint = read_mjcf_joint(context_, context_.defaults.attributes(e, in.childclass));
        const bool free = joint.type == MjcfJointType::free;
        if (free && body.parent != 0)
            e.fail("is free, but its body is not in the world", "move the body there or use other joints");
        if (!body.joints.empty() && (free || body.joints[0].type == MjcfJointType::free))
            e.fail("is combined with a free joint", "give a free joint its own body");
        if (body.joints.size() == max_joints) e.fail("exceeds the 6 joints of a body", "use fewer");
        if (!free) {
            joint.pos = in.frame.p + rotation_matrix(in.frame.q) * joint.pos;
            joint.axis = rotation_matrix(in.frame.q) * joint.axis;
        }
        body.joints.push_back(std::move(joint));
    }

    void geom(const XmlElement& e, const Surroundings& in) {
        MjcfGeom geom = read_mjcf_geom(context_, context_.defaults.attributes(e, in.childclass));
        geom.pose = in.frame * geom.pose;
        bodies_[in.body].geoms.push_back(std::move(geom));
    }

    void site(const XmlElement& e, const Surroundings& in) {
        if (in.body == 0)
            return e.warn(context_.warnings, "in the world is not supported and is ignored",
                          "put it into a body");
        const MjcfAttributes a = context_.defaults.attributes(e, in.childclass);
        MjcfPose pose = read_mjcf_pose(a, context_.compiler);
        if (const auto fromto = a.find("fromto")) {
            const std::vector<double> x = fromto->numbers(6);
            const Vec3<double> from(x[0], x[1], x[2]), to(x[3], x[4], x[5]);
            pose = {0.5 * (from + to), turn_of_z(from - to)};
        }
        bodies_[in.body].sites.push_back({e, e.text_or("name", ""), in.frame * pose});
    }

    void inertial(const XmlElement& e, const Surroundings& in) {
        e.warn_others(
            context_.warnings,
            {"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mass", "diaginertia", "fullinertia"},
            {});
        MjcfBody& body = bodies_[in.body];
        if (!(body.mass_element == body.element))
            e.fail("is the second <inertial> of its body", "keep one of the two");
        const MjcfPose pose = read_mjcf_pose(MjcfAttributes(e, {}), context_.compiler);
        if (!e.has("pos")) e.fail("has no \"pos\"", "add it");
        Mat3<double> I = e.vec3_or("diaginertia", Vec3<double>::Zero()).asDiagonal();
        if (const auto full = e.find("fullinertia")) {
            if (e.has("diaginertia")) full->fail("gives the inertia a second time", "keep one of the two");
            I = inertia_matrix(full->numbers(6).data());
        }
        const Mat3<double> R = rotation_matrix(pose.q);
        body.mass = {e["mass"].nonnegative(), pose.p, R * I * R.transpose()};
        body.mass_element = e;
    }

    const MjcfContext& context_;
    std::vector<MjcfBody> bodies_;
};

MassProperties<double> mass_of(const MjcfContext& context, const MjcfGeom& geom) {
    MassProperties<double> unit{geom.solid.volume, Vec3<double>::Zero(),
                                Mat3<double>((geom.solid.volume * geom.solid.moments).asDiagonal())};
    if (geom.mesh != nullptr)
        unit = mesh_solid(context, *geom.mesh, geom.shell ? MeshInertia::shell : geom.mesh->inertia);
    const double density = geom.mass ? *geom.mass / unit.m : geom.density;
    return {density * unit.m, unit.c, density * unit.I};
}

// Makes the inertia of a body physical where the compiler's options ask for it; otherwise reports an error.
void check_inertia(const MjcfContext& context, MjcfBody& body) {
    Mat3<double>& I = body.mass.I;
    I = 0.5 * (I + I.transpose());
    const std::string reason = unphysical(I);
    if (reason.empty() || I.isZero(0)) return;
    const bool positive = reason.find("not positive") == std::string::npos;
    if (positive && context.compiler.balanceinertia)
        I = I.trace() / 3 * Mat3<double>::Identity();
    else
        body.mass_element.fail("has an inertia that " + reason,
                               positive ? "correct it, or set balanceinertia of <compiler>" : "correct it");
}

}  // namespace

std::vector<MjcfBody> read_bodies(const MjcfContext& context) { return BodyReader(context).read(); }

void set_base(Base base, std::vector<MjcfBody>& bodies) {
    if (base == Base::automatic) return;
    for (MjcfBody& body : bodies) {
        if (body.parent != 0) continue;
        const bool free = !body.joints.empty() && body.joints[0].type == MjcfJointType::free;
        if (base == Base::fixed && free) body.joints[0].properties["locked"] = true;
        if (base == Base::floating && body.joints.empty())
            body.joints.push_back({.element = body.element,
                                   .name = {},
                                   .type = MjcfJointType::free,
                                   .properties = Json::object(),
                                   .added = true});
    }
}

void set_masses(const MjcfContext& context, std::vector<MjcfBody>& bodies) {
    const MjcfCompiler& c = context.compiler;
    double total = 0;
    for (size_t i = 1; i < bodies.size(); ++i) {
        MjcfBody& body = bodies[i];
        const bool given = !(body.mass_element == body.element);
        std::vector<Part> parts;
        if (c.inertiafromgeom == InertiaFromGeom::always ||
            (!given && c.inertiafromgeom == InertiaFromGeom::automatic))
            for (const MjcfGeom& geom : body.geoms)
                if (geom.counts && geom.mass.value_or(geom.density) > 0)
                    parts.push_back({geom.pose.transform(), mass_of(context, geom)});
        if (!parts.empty()) body.mass = combined(parts);
        body.mass.m = std::max(body.mass.m, c.boundmass);
        if (c.boundinertia > 0 && body.mass.m > 0) {
            const Eigen::SelfAdjointEigenSolver<Mat3<double>> principal(body.mass.I);
            const Mat3<double> R = principal.eigenvectors();
            body.mass.I = R * principal.eigenvalues().cwiseMax(c.boundinertia).asDiagonal() * R.transpose();
        }
        check_inertia(context, body);
        total += body.mass.m;
    }
    if (c.settotalmass > 0 && total > 0)
        for (MjcfBody& body : bodies)
            body.mass.m *= c.settotalmass / total, body.mass.I *= c.settotalmass / total;

    std::vector<double> carried(bodies.size());
    for (size_t i = bodies.size(); i-- > 1;) {
        carried[i] += bodies[i].mass.m;
        carried[bodies[i].parent] += carried[i];
        if (!bodies[i].joints.empty() && !(carried[i] > 0))
            bodies[i].mass_element.fail("moves, but neither this body nor any body it carries has mass",
                                        "give it an <inertial> or geoms with a density");
    }
}

}  // namespace costate
