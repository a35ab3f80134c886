// Actuators of MJCF: what they drive, and their limits. Their laws are those of mjcf_actuator_law.hpp.
#include <algorithm>

#include "scenes/import/mjcf/mjcf_actuator_law.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"
#include "scenes/import/mjcf/mjcf_tendon.hpp"

namespace costate {
namespace {

// Those of all kinds: a default of one kind may hold for another. law_of reads what belongs to a kind.
constexpr std::initializer_list<const char*> actuator_keys = {
    "name",       "class",     "group",       "ctrllimited", "forcelimited", "actlimited",    "ctrlrange",
    "forcerange", "actrange",  "lengthrange", "gear",        "joint",        "jointinparent", "site",
    "refsite",    "tendon",    "user",        "kp",          "kv",           "dyntype",       "gaintype",
    "biastype",   "dynprm",    "gainprm",     "biasprm",     "actearly",     "actdim",        "inheritrange",
    "nsample",    "dampratio", "timeconst",   "tausmooth",   "range",        "force",         "scale",
    "lmin",       "lmax",      "vmax",        "fpmax",       "fvmax",        "area",          "diameter",
    "bias",       "gain",      "body"};

// Writes the control limits: "ctrlrange", or the share of the joint's range given by "inheritrange". joint: null
// if it drives none.
void put_control_limits(const MjcfContext& context, const MjcfAttributes& a, const MjcfJoint* joint,
                        Json& out) {
    if (!context.flags.clampctrl) return;
    if (const auto share = a.find("inheritrange");
        share && share->number() > 0 && a.element().name() == "position") {
        if (joint == nullptr || !joint->range)
            share->fail("has no range to inherit", "give the joint a range");
        const auto [lower, upper] = *joint->range;
        const double middle = 0.5 * (lower + upper), half = 0.5 * (upper - lower) * share->number();
        out["control_limits"] = Json{middle - half, middle + half};
    } else if (is_limited(a, "ctrllimited", "ctrlrange", context.compiler)) {
        if (!a.has("ctrlrange"))
            a.element().fail("is limited but has no \"ctrlrange\"", "add it or write ctrllimited=\"false\"");
        const auto [lower, upper] = read_mjcf_range(*a.find("ctrlrange"));
        out["control_limits"] = Json{lower, upper};
    }
}

// The range of the sum of the forces of all actuators of a joint or a tendon.
struct ForceRange {
    double lower = -unlimited, upper = unlimited;
};

// Writes the force limits: the intersection of the ranges of the actuator and of what it drives.
void put_force_limits(const MjcfContext& context, const MjcfAttributes& a, const ForceRange& driven,
                      double gear, Json& out) {
    double lower = -unlimited, upper = unlimited;
    if (is_limited(a, "forcelimited", "forcerange", context.compiler)) {
        if (!a.has("forcerange"))
            a.element().fail("is limited but has no \"forcerange\"",
                             "add it or write forcelimited=\"false\"");
        std::tie(lower, upper) = read_mjcf_range(*a.find("forcerange"));
    }
    if (driven.upper < unlimited && gear != 0) {
        const auto [least, most] = std::minmax({driven.lower / gear, driven.upper / gear});
        lower = std::max(lower, least);
        upper = std::min(upper, most);
    }
    if (lower < upper && upper < unlimited) out["force_limits"] = Json{lower, upper};
}

ForceRange range_of_tendon(const MjcfContext& context, const std::string& name) {
    const std::optional<MjcfAttributes> a = tendon_attributes(context, name);
    if (!a || !is_limited(*a, "actuatorfrclimited", "actuatorfrcrange", context.compiler) ||
        !a->has("actuatorfrcrange"))
        return {};
    const auto [lower, upper] = read_mjcf_range(*a->find("actuatorfrcrange"));
    return {lower, upper};
}

// True if a joint that moves this body limits the forces of its actuators.
bool moved_by_limited_joint(const MjcfIndex& index, const MjcfBody* body) {
    const auto limited = [](const MjcfJoint& joint) { return joint.force_upper < unlimited; };
    for (; body->parent >= 0; body = &index.bodies[static_cast<size_t>(body->parent)])
        if (std::ranges::any_of(body->joints, limited)) return true;
    return false;
}
bool pulls_limited_joint(const MjcfContext& context, const MjcfIndex& index, const XmlElement& tendon) {
    return std::ranges::any_of(context.files.children(tendon), [&](const XmlElement& part) {
        if (part.name() == "joint") return index.joint(part["joint"]).force_upper < unlimited;
        return part.name() == "site" && moved_by_limited_joint(index, index.site(part["site"]).first);
    });
}
// MuJoCo limits the sum of all forces of actuators on a joint.
void warn_of_limited_joint(const MjcfContext& context, const XmlElement& e) {
    e.warn(context.warnings,
           "acts on a joint whose \"actuatorfrcrange\" counts the actuators of this joint alone",
           "limit the force of the actuator itself");
}

// Writes a thruster for an actuator at a site, whose six gears are a force and a moment in the site's axes. False,
// with a warning, if it is none: if the force follows the site's position or velocity, or another site.
bool put_thruster(const MjcfContext& context, const MjcfAttributes& a, const MjcfIndex& index,
                  const MjcfActuatorLaw& law, Json& out) {
    const XmlElement& e = a.element();
    const auto [body, site] = index.site(*a.find("site"));
    const std::vector<double> gear = a.numbers_or("gear", {1, 0, 0, 0, 0, 0});
    const Mat3<double> R = rotation_matrix(site->pose.q);
    const Vec3<double> force = R * Vec3<double>(gear[0], gear[1], gear[2]),
                       moment = R * Vec3<double>(gear[3], gear[4], gear[5]);
    const double size = force.norm() > 0 ? force.norm() : moment.norm();
    if (a.has("refsite") || !law.bias.head<3>().isZero(0) || !law.gain.segment<2>(1).isZero(0) || size == 0) {
        e.warn(context.warnings,
               "at a site is supported as a force in proportion to its control, and is ignored",
               "use motor without refsite");
        return false;
    }
    out["type"] = "thruster";
    out["body"] = body->name;
    out["position"] = to_json(site->pose.p);
    if (force.norm() > 0) out["axis"] = to_json(Vec3<double>(force / size));
    if (moment.norm() > 0) out["moment"] = to_json(Vec3<double>(moment / size));
    if (law.gain[0] * size != 1) out["gear"] = law.gain[0] * size;
    return true;
}

}  // namespace

void read_actuators(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out,
                    MjcfControls& controls) {
    std::map<std::string, int> drivers;  // of a joint or a tendon
    const auto warn_if_shared = [&](const ForceRange& range, const std::string& driven, const XmlElement& e) {
        if (++drivers[driven] == 2 && range.upper < unlimited)
            e.warn(context.warnings,
                   "shares \"actuatorfrcrange\" with another actuator; the range applies to each separately",
                   "use one");
    };
    MjcfNames names("actuator");
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "actuator");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section))
            names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section)) {
            const MjcfAttributes a = context.defaults.attributes(e);
            MjcfActuatorLaw law = law_of(a);
            controls.push_back({"", law.dynamics != "none"});
            if (!context.flags.actuation) continue;
            if (context.flags.disabled_groups.contains(a.integer_or("group", 0, -1000000, 1000000))) {
                e.note(context.warnings, "is in a disabled group and is left out",
                       "remove its group from actuatorgroupdisable");
                continue;
            }
            if (!has_counterpart(context, a, law)) continue;
            a.warn_others(context.warnings, actuator_keys, {});
            if (index.left_out(a)) {
                e.warn(context.warnings, "refers to a part that is left out or replicated, and is ignored",
                       "replace that part");
                continue;
            }
            const std::string wish = e.has("name") ? e["name"].text() : "";
            if (a.has("site")) {
                if (index.site(*a.find("site")).first == &index.bodies[0]) continue;  // pushes the world
                Json actuator{{"name", wish.empty() ? names.take(a.find("site")->text()) : wish}};
                if (!put_thruster(context, a, index, law, actuator)) continue;
                if (moved_by_limited_joint(index, index.site(*a.find("site")).first))
                    warn_of_limited_joint(context, e);
                put_control_limits(context, a, nullptr, actuator);
                put_dynamics(context, a, law, actuator);
                if (is_limited(a, "forcelimited", "forcerange", context.compiler) && law.gain[0] != 0) {
                    const auto [lower, upper] = read_mjcf_range(*a.find("forcerange"));
                    const auto [least, most] = std::minmax({lower / law.gain[0], upper / law.gain[0]});
                    actuator["force_limits"] = Json{least, most};
                }
                controls.back().name = actuator["name"].get<std::string>();
                put_item(out, "actuators", e, actuator);
                continue;
            }
            if (a.has("tendon")) {
                const std::string tendon = a.find("tendon")->text();
                if (!has_tendon(out, tendon)) {
                    e.warn(context.warnings, "drives a tendon that is not supported, and is ignored",
                           "use a fixed tendon over hinges and slides, or a spatial one over sites");
                    continue;
                }
                double gear = 1;
                if (const auto given = a.find("gear")) gear = given->numbers(1, 6)[0];
                controls.back().name = wish.empty() ? names.take(tendon) : wish;
                Json actuator{{"name", controls.back().name}, {"tendon", tendon}};
                const double offset = gear * tendon_offset(context, index, tendon);
                if (!law.muscle) {
                    shift(law, offset);
                    put_law(law, actuator);
                } else {
                    put_muscle(a, law, offset, actuator);
                }
                if (gear != 1) actuator["gear"] = gear;
                put_control_limits(context, a, nullptr, actuator);
                put_dynamics(context, a, law, actuator);
                const ForceRange range = range_of_tendon(context, tendon);
                put_force_limits(context, a, range, gear, actuator);
                warn_if_shared(range, "tendon " + tendon, e);
                if (pulls_limited_joint(context, index, tendon_attributes(context, tendon)->element()))
                    warn_of_limited_joint(context, e);
                put_item(out, "actuators", e, actuator);
                continue;
            }
            const auto joint_name = a.find("joint") ? a.find("joint") : a.find("jointinparent");
            if (!joint_name) {
                e.warn(context.warnings, "that drives no joint is not supported and is ignored",
                       "drive a joint, a tendon or a site");
                continue;
            }
            const MjcfJoint& joint = index.joint(*joint_name);
            if (joint.locked()) continue;
            if (joint.type == MjcfJointType::free || joint.type == MjcfJointType::ball) {
                e.warn(context.warnings,
                       "drives a joint of several dofs, which is not supported, and is ignored",
                       "use hinges");
                continue;
            }
            double gear = 1;
            if (const auto given = a.find("gear")) gear = given->numbers(1, 6)[0];
            controls.back().name = e.has("name") ? e["name"].text() : names.take(joint.name);
            Json actuator{{"name", controls.back().name}, {"joint", joint.name}};
            if (!law.muscle) {
                shift(law, gear * joint.ref);
                put_law(law, actuator);
            } else {
                put_muscle(a, law, gear * joint.ref, actuator);
            }
            if (gear != 1) actuator["gear"] = gear;
            put_control_limits(context, a, &joint, actuator);
            put_dynamics(context, a, law, actuator);
            const ForceRange range{joint.force_lower, joint.force_upper};
            put_force_limits(context, a, range, gear, actuator);
            warn_if_shared(range, "joint " + joint.name, e);
            put_item(out, "actuators", e, actuator);
        }
}

}  // namespace costate
