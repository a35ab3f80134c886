#include "scenes/import/mjcf/mjcf_tendon.hpp"

#include <algorithm>

#include "core/dynamics/wrapping.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"

namespace costate {
namespace {

std::vector<XmlElement> all_tendons(const MjcfContext& context) {
    std::vector<XmlElement> out;
    for (const XmlElement& section : context.files.children(context.files.root(), "tendon"))
        for (const XmlElement& e : context.files.children(section))
            out.push_back(e);
    return out;
}

struct TendonTerm {
    const MjcfJoint* joint;
    double coefficient;
};

// The joints of a fixed tendon; none if it runs over one without an axis or over one that is left out.
std::vector<TendonTerm> terms_of(const MjcfContext& context, const MjcfIndex& index, const XmlElement& e) {
    std::vector<TendonTerm> out;
    for (const XmlElement& term : context.files.children(e, "joint")) {
        if (index.left_out(MjcfAttributes(term, {}))) return {};
        const MjcfJoint& joint = index.joint(term["joint"]);
        if (joint.type == MjcfJointType::free || joint.type == MjcfJointType::ball) return {};
        out.push_back({&joint, term["coef"].number()});
    }
    return out;
}

// MuJoCo's length of a fixed tendon minus costate's, whose coordinates are 0 at the reference configuration.
double offset_of(const std::vector<TendonTerm>& terms) {
    double offset = 0;
    for (const TendonTerm& term : terms)
        offset += term.coefficient * term.joint->ref;
    return offset;
}

// costate's length of a fixed tendon where the springs of joints are at rest.
double length_at_springs(const std::vector<TendonTerm>& terms) {
    double length = 0;
    for (const TendonTerm& term : terms)
        length += term.coefficient * (term.joint->springref - term.joint->ref);
    return length;
}

// The poses of bodies in the world where the springs of joints are at rest. Other joints are at 0.
std::vector<MjcfPose> poses_at_springs(const std::vector<MjcfBody>& bodies) {
    std::vector<MjcfPose> poses(bodies.size());
    for (size_t i = 1; i < bodies.size(); ++i) {
        MjcfPose pose = poses[static_cast<size_t>(bodies[i].parent)] * bodies[i].pose;
        for (const MjcfJoint& joint : bodies[i].joints) {
            const double q = joint.springref - joint.ref;
            const Vec3<double> along = q * joint.axis.normalized();
            if (joint.type == MjcfJointType::slide) {
                pose.p += rotation_matrix(pose.q) * along;
            } else if (joint.type == MjcfJointType::hinge) {
                const Vec3<double> anchor = pose.p + rotation_matrix(pose.q) * joint.pos;
                pose.q = quaternion_product(pose.q, quaternion_exp<double>(along));
                pose.p = anchor - rotation_matrix(pose.q) * joint.pos;
            }
        }
        poses[i] = pose;
    }
    return poses;
}

// The path of a spatial tendon, and its length where the springs of joints are at rest, m.
struct MjcfPath {
    Json path = Json::array();
    double length = 0;
    bool pulls = false;  // runs over a site of a body
};

const MjcfPose& pose_of(const MjcfIndex& index, const std::vector<MjcfPose>& poses, const MjcfBody& body) {
    return poses[static_cast<size_t>(&body - index.bodies.data())];
}

// A geom that a tendon wraps around, as an item of a path; its surroundings at the given poses are put into
// `wrap`. Null, with a warning, if it is none.
struct MjcfWrap {
    WrapShape shape;
    MjcfPose pose;
    double radius;
    std::optional<Vec3<double>> side;
};
Json wrap_of(const MjcfContext& context, const MjcfIndex& index, const std::vector<MjcfPose>& poses,
             const XmlElement& part, ImportedModel& out, MjcfWrap& wrap) {
    const auto [body, geom] = index.geom(part["geom"]);
    const std::string type = geom->shape.is_null() ? "" : geom->shape["type"].get<std::string>();
    if (type != "sphere" && type != "cylinder") {
        part.warn(context.warnings,
                  "in <spatial> names neither a sphere nor a cylinder: the tendon is ignored", "name one");
        return nullptr;
    }
    const bool in_world = body == &index.bodies[0];
    wrap = {type == "sphere" ? WrapShape::sphere : WrapShape::cylinder,
            pose_of(index, poses, *body) * geom->pose,
            geom->shape["radius"].get<double>(),
            {}};
    Json item{{"wrap", type}};
    if (in_world) {
        item["world"] = to_json(geom->pose.p);
        if (type == "cylinder") item["quaternion"] = to_json(geom->pose.q);
    } else {
        item["site"] = put_site(out, index, *body, geom->name + "_wrap", geom->pose);
    }
    item["radius"] = wrap.radius;
    if (const auto name = part.find("sidesite")) {
        const auto [owner, side] = index.site(*name);
        wrap.side = (pose_of(index, poses, *owner) * side->pose).p;
        item["side"] = owner == &index.bodies[0] ? to_json(side->pose.p) : Json(side->name);
    }
    return item;
}

// The length of the way from one point to another, m
double way_length(const Vec3<double>& from, const Vec3<double>& to, const std::optional<MjcfWrap>& wrap) {
    if (!wrap) return (to - from).norm();
    const Vec3<double> a = from - wrap->pose.p, b = to - wrap->pose.p,
                       axis = rotation_matrix(wrap->pose.q).col(2);
    Vec3<double> side = Vec3<double>::Zero();
    if (wrap->side) side = *wrap->side - wrap->pose.p;
    const double turn = wrap_turn(wrap->shape, a, b, axis, wrap->radius, wrap->side ? &side : nullptr);
    if (turn == 0) return (to - from).norm();
    const WrapArc<double> arc = wrap_arc(wrap->shape, a, b, axis, wrap->radius, turn);
    return (arc.t0 - a).norm() + arc.length + (b - arc.t1).norm();
}

// Nothing, with a warning, if the path has parts that are not supported or left out.
std::optional<MjcfPath> path_of(const MjcfContext& context, const MjcfIndex& index,
                                const std::vector<MjcfPose>& poses, const XmlElement& e,
                                ImportedModel& model) {
    MjcfPath out;
    double divisor = 1;
    const Vec3<double>* last = nullptr;
    Vec3<double> at;
    std::optional<MjcfWrap> around;
    int on_branch = 0;
    const auto end_branch = [&](const XmlElement& where) {
        if (around) where.fail("ends a branch of <spatial> with a geom", "put a site after it");
        if (on_branch == 1)
            where.fail("leaves a branch of <spatial> with one site", "give each branch at least two sites");
        last = nullptr;
        on_branch = 0;
    };
    for (const XmlElement& part : context.files.children(e)) {
        const std::string kind = part.name();
        if (kind == "pulley") {
            end_branch(part);
            divisor = part["divisor"].positive();
            out.path.push_back({{"pulley", divisor}});
            continue;
        }
        if (kind != "site" && kind != "geom") {
            part.warn(context.warnings,
                      "in <spatial> is not supported: the tendon and its actuators are ignored",
                      "run the tendon over sites and geoms");
            return {};
        }
        if (index.left_out(MjcfAttributes(part, {}))) {
            part.warn(context.warnings,
                      "names a part that is left out: the tendon and its actuators are ignored",
                      "replace the part that has it");
            return {};
        }
        if (kind == "geom") {
            if (on_branch == 0 || around)
                part.fail("is not between two sites", "put a site before it, and one after it");
            out.path.push_back(wrap_of(context, index, poses, part, model, around.emplace()));
            if (out.path.back().is_null()) return {};
            out.pulls = out.pulls || out.path.back().contains("site");
            continue;
        }
        const auto [body, site] = index.site(part["site"]);
        const bool world = body == &index.bodies[0];
        out.pulls = out.pulls || !world;
        out.path.push_back(world ? Json{{"world", to_json(site->pose.p)}} : Json{{"site", site->name}});
        const Vec3<double> p = (pose_of(index, poses, *body) * site->pose).p;
        if (last != nullptr) out.length += way_length(at, p, around) / divisor;
        around.reset();
        at = p;
        last = &at;
        ++on_branch;
    }
    end_branch(e);
    return out;
}

void warn_of_the_rest(const MjcfContext& context, const MjcfAttributes& a) {
    const auto nonzero = [&](const char* name) {
        const auto given = a.find(name);
        return given && given->numbers(1, 3)[0] != 0;
    };
    a.warn_others(context.warnings,
                  {"name",
                   "class",
                   "group",
                   "limited",
                   "range",
                   "solreflimit",
                   "solimplimit",
                   "solreffriction",
                   "solimpfriction",
                   "frictionloss",
                   "springlength",
                   "width",
                   "material",
                   "margin",
                   "stiffness",
                   "damping",
                   "rgba",
                   "user",
                   "armature",
                   "actuatorfrcrange",
                   "actuatorfrclimited"},
                  {"joint", "site", "geom", "pulley"});
    for (const char* name : {"frictionloss", "armature"})
        if (nonzero(name))
            context.warnings.add(a.find(name)->place(), std::string(name) + " of a tendon is not supported",
                                 "give it to the joints");
}

// Writes the limits of the length. offset: as in put_spring.
void put_limits(const MjcfContext& context, const MjcfAttributes& a, double offset, Json& tendon) {
    if (!is_limited(a, "limited", "range", context.compiler) || !context.flags.limit) return;
    const auto range = a.find("range");
    if (!range) a.element().fail("is limited but has no \"range\"", "add it or write limited=\"false\"");
    auto [lower, upper] = read_mjcf_range(*range);
    keep_margin(context, a, lower, upper);
    tendon["limits"] = {lower - offset, upper - offset};
    put_softness(context, a, "solreflimit", "solimplimit", "limit_", tendon);
}

// Writes the spring and the damper. at_springs: the length where the springs of joints are at rest, which is the
// length at rest of a tendon that does not give its own; offset: MuJoCo's length minus costate's.
void put_spring(const MjcfContext& context, const MjcfAttributes& a, double at_springs, double offset,
                Json& tendon) {
    if (const double damping = a.nonnegative_or("damping", 0); damping > 0 && context.flags.damper)
        tendon["damping"] = damping;
    const double stiffness = a.nonnegative_or("stiffness", 0);
    if (!(stiffness > 0) || !context.flags.spring) return;
    tendon["stiffness"] = stiffness;
    std::vector<double> lengths{-1};
    if (const auto given = a.find("springlength")) lengths = given->numbers(1, 2);
    double lower = lengths.front() - offset, upper = lengths.back() - offset;
    if (lengths.front() == -1 && lengths.back() == -1) lower = upper = at_springs;
    if (lower > upper)
        a.find("springlength")->fail("has its lower length above its upper one", "swap the two");
    if (lower != 0) tendon["rest"] = lower;
    if (upper > lower) tendon["slack"] = upper - lower;
}

}  // namespace

void read_tendons(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    MjcfNames names("tendon");
    for (const XmlElement& e : all_tendons(context))
        names.add(e, e.text_or("name", ""));
    const std::vector<MjcfPose> poses = poses_at_springs(index.bodies);
    for (const XmlElement& e : all_tendons(context)) {
        const MjcfAttributes a = context.defaults.attributes(e);
        Json tendon;
        const auto name = [&] { return e.has("name") ? e["name"].text() : names.take("tendon"); };
        if (e.name() == "fixed") {
            Json joints = Json::array();
            const std::vector<TendonTerm> terms = terms_of(context, index, e);
            for (const TendonTerm& term : terms)
                if (!term.joint->locked())
                    joints.push_back({{"joint", term.joint->name}, {"coefficient", term.coefficient}});
            if (joints.empty()) {
                e.warn(context.warnings, "in <tendon> runs over no hinge or slide, and is ignored",
                       "name its joints");
                continue;
            }
            tendon = {{"name", name()}, {"joints", joints}};
            put_spring(context, a, length_at_springs(terms), offset_of(terms), tendon);
            put_limits(context, a, offset_of(terms), tendon);
        } else if (e.name() == "spatial") {
            const std::optional<MjcfPath> path = path_of(context, index, poses, e, out);
            if (!path) continue;
            if (!path->pulls) {
                e.warn(context.warnings, "in <tendon> runs over no site of a body, and is ignored",
                       "name its sites");
                continue;
            }
            tendon = {{"name", name()}, {"path", path->path}};
            put_spring(context, a, path->length, 0, tendon);
            put_limits(context, a, 0, tendon);
        } else {
            e.warn(context.warnings, "in <tendon> is not supported and is ignored",
                   "use a fixed or a spatial tendon");
            continue;
        }
        warn_of_the_rest(context, a);
        put_item(out, "tendons", e, tendon);
    }
}

bool has_tendon(const ImportedModel& model, const std::string& name) {
    const auto tendons = model.model.find("tendons");
    return tendons != model.model.end() &&
           std::ranges::any_of(*tendons, [&](const Json& tendon) { return tendon["name"] == name; });
}

std::optional<MjcfAttributes> tendon_attributes(const MjcfContext& context, const std::string& name) {
    for (const XmlElement& e : all_tendons(context))
        if (e.text_or("name", "") == name) return context.defaults.attributes(e);
    return {};
}

double tendon_offset(const MjcfContext& context, const MjcfIndex& index, const std::string& name) {
    for (const XmlElement& e : all_tendons(context))
        if (e.name() == "fixed" && e.text_or("name", "") == name)
            return offset_of(terms_of(context, index, e));
    return 0;
}

}  // namespace costate
