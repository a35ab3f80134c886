// Bodies of MJCF: the tree, the contents of each body, and masses.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "scenes/format/inertia.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

constexpr size_t max_bodies_of_a_file = 100000, max_joints = 6;
constexpr size_t max_repetitions = 10000;  // as many as a world has shapes

// Context that a <body> or <frame> passes to its contents.
struct Surroundings {
    int body = 0;
    MjcfPose frame;  // in the body
    std::string childclass;
    std::string suffix;  // appended to names by <replicate>
};

class BodyReader {
public:
    explicit BodyReader(const MjcfContext& context) : context_(context) {}

    std::vector<MjcfBody> read() {
        const std::vector<XmlElement> worlds = context_.files.children(context_.files.root(), "worldbody");
        const XmlElement first = worlds.empty() ? context_.files.root() : worlds[0];
        bodies_.push_back({.element = first, .name = "world", .mass_element = first});
        for (const XmlElement& world : worlds)
            content(world, {0, {}, {}, {}});
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
            else if (kind == "replicate")
                replicate(child, in);
            else if (kind == "attach")
                attach(child, in);
            else if (kind != "camera" && kind != "light")
                child.warn(context_.warnings, "is not supported and is ignored", "remove it to silence this");
        }
    }

    std::string childclass(const XmlElement& e, const Surroundings& in) const {
        const auto given = e.find("childclass");
        if (given) context_.defaults.check_class(*given);
        return given ? given->text() : in.childclass;
    }

    // The name of an element; empty if it has none.
    static std::string named(const XmlElement& e, const Surroundings& in) {
        return e.has("name") ? e["name"].text() + in.suffix : "";
    }

    void body(const XmlElement& e, const Surroundings& in) {
        e.warn_others(context_.warnings,
                      {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "user",
                       "mocap", "sleep", "gravcomp"},
                      {"body", "frame", "joint", "freejoint", "geom", "site", "inertial", "camera", "light",
                       "include", "composite", "flexcomp", "replicate", "attach", "plugin"});
        if (bodies_.size() > max_bodies_of_a_file) e.fail("exceeds the 100000 bodies of a file", "use fewer");
        const MjcfAttributes a(e, {});
        const MjcfPose pose = in.frame * in_body(a, read_mjcf_pose(a, context_.compiler), in.body);
        const MjcfPose world = bodies_[in.body].world * pose;
        const int index = static_cast<int>(bodies_.size());
        bodies_.push_back({.element = e,
                           .name = named(e, in),
                           .parent = in.body,
                           .pose = pose,
                           .world = world,
                           .gravcomp = e.number_or("gravcomp", 0),
                           .mass_element = e});
        content(e, {index, {}, childclass(e, in), in.suffix});
    }

    // The pose that an element gives, in its body. Global coordinates are taken from the world to the body, but
    // an element without a position is where its body is: for a body without one, its parent.
    MjcfPose in_body(const MjcfAttributes& a, const MjcfPose& given, int body) const {
        if (!context_.compiler.global || (!a.has("pos") && !a.has("fromto"))) return given;
        return inverse(bodies_[body].world) * given;
    }

    void attach(const XmlElement& e, const Surroundings& in) {
        if (!e.has("model") || e.has("frame")) {
            e.warn(context_.warnings, "of a frame is not supported and is ignored",
                   "attach a model or its body");
            return;
        }
        bodies_[in.body].attachments.push_back({e, in.frame, in.suffix, attachments_++});
    }

    // The contents, repeated. The k-th repetition is turned by k times the angles of "euler", and stands by "offset", in
    // the axes of the one before it, from that one. It appends k to names, with as many digits as the last one has.
    void replicate(const XmlElement& e, const Surroundings& in) {
        e.warn_others(context_.warnings, {"count", "offset", "euler", "sep", "childclass"},
                      {"body", "frame", "joint", "freejoint", "geom", "site", "camera", "light", "include",
                       "composite", "flexcomp", "replicate", "attach", "plugin"});
        const auto count = e["count"].integer(1, max_repetitions);
        const size_t digits = std::to_string(count).size();
        const Vec3<double> offset = e.vec3_or("offset", Vec3<double>::Zero()),
                           angles = e.vec3_or("euler", Vec3<double>::Zero());
        Vec3<double> place = Vec3<double>::Zero();
        for (std::int64_t k = 0; k < count; ++k) {
            const MjcfPose pose{place, mjcf_euler(static_cast<double>(k) * angles, context_.compiler)};
            place += rotation_matrix(pose.q) * offset;
            Surroundings inside{in.body, in.frame * pose, childclass(e, in), {}};
            if (++repetitions_ > max_repetitions) e.fail("exceeds 10000 repetitions in a file", "use fewer");
            const std::string number = std::to_string(k);
            inside.suffix =
                e.text_or("sep", "") + std::string(digits - number.size(), '0') + number + in.suffix;
            content(e, inside);
        }
    }

    void frame(const XmlElement& e, const Surroundings& in) {
        e.warn_others(context_.warnings,
                      {"name", "childclass", "pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"},
                      {"body", "frame", "joint", "freejoint", "geom", "site", "camera", "light", "include",
                       "composite", "flexcomp", "replicate", "attach", "plugin"});
        content(e, {in.body, in.frame * read_mjcf_pose(MjcfAttributes(e, {}), context_.compiler),
                    childclass(e, in), in.suffix});
    }

    void joint(const XmlElement& e, const Surroundings& in) {
        if (in.body == 0) e.fail("is in the world, which cannot move", "put it into a <body>");
        MjcfBody& body = bodies_[in.body];
        const MjcfAttributes a = context_.defaults.attributes(e, in.childclass);
        if (const auto type = a.find("type"); type && type->text() == "fixed") return;  // of Bullet: no joint
        MjcfJoint joint = read_mjcf_joint(context_, a);
        joint.name = named(e, in);
        const bool free = joint.type == MjcfJointType::free;
        if (free && body.parent != 0)
            e.fail("is free, but its body is not in the world", "move the body there or use other joints");
        if (!body.joints.empty() && (free || body.joints[0].type == MjcfJointType::free))
            e.fail("is combined with a free joint", "give a free joint its own body");
        if (body.joints.size() == max_joints) e.fail("exceeds the 6 joints of a body", "use fewer");
        if (!free) {
            joint.pos = in_body(a, MjcfPose{joint.pos}, in.body).p;
            if (context_.compiler.global) joint.axis = rotation_matrix(inverse(body.world).q) * joint.axis;
            joint.pos = in.frame.p + rotation_matrix(in.frame.q) * joint.pos;
            joint.axis = rotation_matrix(in.frame.q) * joint.axis;
        }
        body.joints.push_back(std::move(joint));
    }

    void geom(const XmlElement& e, const Surroundings& in) {
        const MjcfAttributes a = context_.defaults.attributes(e, in.childclass);
        MjcfGeom geom = read_mjcf_geom(context_, a);
        geom.name = named(e, in);
        geom.pose = in.frame * in_body(a, geom.pose, in.body);
        bodies_[in.body].geoms.push_back(std::move(geom));
    }

    void site(const XmlElement& e, const Surroundings& in) {
        const MjcfAttributes a = context_.defaults.attributes(e, in.childclass);
        MjcfPose pose = read_mjcf_pose(a, context_.compiler);
        std::optional<double> half_length;
        if (const auto fromto = a.find("fromto")) {
            const std::vector<double> x = fromto->numbers(6);
            const Vec3<double> from(x[0], x[1], x[2]), to(x[3], x[4], x[5]);
            pose = {0.5 * (from + to), turn_of_z(from - to)};
            half_length = 0.5 * (from - to).norm();
        }
        bodies_[in.body].sites.push_back(
            {e, named(e, in), in.frame * in_body(a, pose, in.body), zone(a, half_length)});
    }

    // The shape of a site: a sphere of 5 mm if nothing is given. Missing sizes are those of a ball.
    static Json zone(const MjcfAttributes& a, std::optional<double> half_length) {
        const auto type = a.find("type");
        const std::string shape = type ? type->text() : "sphere";
        const std::vector<double> numbers = a.numbers_or("size", {0.005, 0.005, 0.005});
        Vec3<double> size(numbers[0], numbers[1], numbers[2]);
        const bool swept = shape == "capsule" || shape == "cylinder";
        if (half_length) {
            if (!swept) size[1] = size[0];
            size[swept ? 1 : 2] = *half_length;
        }
        if (!(size.head(swept ? 2 : (shape == "box" || shape == "ellipsoid" ? 3 : 1)).minCoeff() > 0))
            return nullptr;
        Json out{{"type", shape}};
        if (shape == "box")
            out["half_extents"] = to_json(size);
        else if (shape == "ellipsoid")
            out["semi_axes"] = to_json(size);
        else
            out["radius"] = size[0];
        if (swept) out["half_length"] = size[1];
        return out;
    }

    void inertial(const XmlElement& e, const Surroundings& in) {
        e.warn_others(
            context_.warnings,
            {"pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mass", "diaginertia", "fullinertia"},
            {});
        MjcfBody& body = bodies_[in.body];
        if (!(body.mass_element == body.element))
            e.fail("is the second <inertial> of its body", "keep one of the two");
        const MjcfAttributes a(e, {});
        const MjcfPose pose = in_body(a, read_mjcf_pose(a, context_.compiler), in.body);
        if (!e.has("pos"))
            e.warn(context_.warnings, "has no \"pos\"; the centre of mass is put at the body's origin",
                   "add it");
        Mat3<double> I = e.vec3_or("diaginertia", Vec3<double>::Zero()).asDiagonal();
        if (const auto full = e.find("fullinertia")) {
            if (e.has("diaginertia")) full->fail("gives the inertia a second time", "keep one of the two");
            I = inertia_matrix(full->numbers(6).data());
        }
        const Mat3<double> R = rotation_matrix(pose.q);
        body.mass = {e["mass"].nonnegative(), pose.p, R * I * R.transpose()};
        if (!e.has("fullinertia")) body.principal = pose.q;
        body.mass_element = e;
    }

    const MjcfContext& context_;
    std::vector<MjcfBody> bodies_;
    size_t repetitions_ = 0;  // of all <replicate>
    size_t attachments_ = 0;
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
    else if (const std::string change = make_physical(I, body.mass.m); !change.empty())
        context.warnings.add(body.mass_element.place(), "inertia of body \"" + body.name + "\": " + change,
                             "correct it, or set balanceinertia of <compiler>");
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
        std::optional<Quaternion<double>> axes;  // of the last geom, unless it is a mesh
        if (c.inertiafromgeom == InertiaFromGeom::always ||
            (!given && c.inertiafromgeom == InertiaFromGeom::automatic))
            for (const MjcfGeom& geom : body.geoms)
                if (geom.counts && geom.mass.value_or(geom.density) > 0) {
                    parts.push_back({geom.pose.transform(), mass_of(context, geom)});
                    if (geom.mesh == nullptr) axes = geom.pose.q;
                }
        if (!parts.empty()) {
            body.mass = combined(parts);
            body.principal = parts.size() == 1 ? axes : std::nullopt;
        }
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
        for (MjcfBody& body : bodies) {
            body.mass.m *= c.settotalmass / total;
            body.mass.I *= c.settotalmass / total;
        }

    std::vector<double> carried(bodies.size());
    for (size_t i = bodies.size(); i-- > 1;) {
        carried[i] += bodies[i].mass.m;
        carried[bodies[i].parent] += carried[i];
        if (bodies[i].joints.empty() || carried[i] > 0) continue;
        for (MjcfJoint& joint : bodies[i].joints)
            joint.properties["locked"] = true;
        context.warnings.add(bodies[i].mass_element.place(),
                             "body \"" + bodies[i].name +
                                 "\" moves, but neither it nor any body it carries has "
                                 "mass; its joints are locked",
                             "give it an <inertial> or geoms with a density");
    }
}

}  // namespace costate
