// Actuators of MJCF. All have the affine law f = gain ctrl + b_0 + b_1 l + b_2 l'; shortcuts (motor,
// position, velocity) and defaults set parts of it, whatever the kind of the actuator.
#include <algorithm>

#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"
#include "scenes/import/mjcf/mjcf_tendon.hpp"

namespace costate {
namespace {

constexpr std::initializer_list<const char*> actuator_keys = {
    "name",       "class",    "group",       "ctrllimited", "forcelimited", "actlimited",    "ctrlrange",
    "forcerange", "actrange", "lengthrange", "gear",        "joint",        "jointinparent", "site",
    "refsite",    "tendon",   "user",        "kp",          "kv",           "dyntype",       "gaintype",
    "biastype",   "dynprm",   "gainprm",     "biasprm",     "actearly",     "actdim",        "inheritrange",
    "nsample"};

struct Law {
    double gain = 1;
    Vec3<double> bias = Vec3<double>::Zero();
    bool affine_bias = false;
    std::optional<XmlAttribute> unlike;  // attribute that makes the law not affine
};

// Those of the first three that the attribute gives.
void take_first_three(const XmlAttribute& a, Vec3<double>& out) {
    const std::vector<double> x = a.numbers(0, 10);
    for (size_t i = 0; i < std::min<size_t>(x.size(), 3); ++i)
        out[static_cast<int>(i)] = x[i];
}

void apply_general(const XmlElement& e, Law& law, bool& affine_gain, Vec3<double>& gain) {
    if (const auto a = e.find("gainprm")) {
        take_first_three(*a, gain);
        law.gain = gain[0];
    }
    if (const auto a = e.find("biasprm")) take_first_three(*a, law.bias);
    if (const auto a = e.find("biastype")) {
        law.affine_bias = a->text() == "affine";
        if (a->text() != "none" && a->text() != "affine") law.unlike = a;
    }
    if (const auto a = e.find("gaintype")) {
        affine_gain = a->text() == "affine";
        if (a->text() != "fixed" && a->text() != "affine") law.unlike = a;
    }
    if (const auto a = e.find("dyntype"); a && a->text() != "none") law.unlike = a;
    if (affine_gain && (gain[1] != 0 || gain[2] != 0))
        law.unlike = e.find("gainprm") ? e.find("gainprm") : e.find("gaintype");
}

// The parts of the law that one layer of defaults, or the element itself, sets.
Law law_of(const MjcfAttributes& a) {
    Law law;
    bool affine_gain = false;
    Vec3<double> gain = Vec3<double>::UnitX();
    for (const XmlElement& e : a.layers()) {
        const std::string kind = e.name();
        if (kind == "general")
            apply_general(e, law, affine_gain, gain);
        else if (kind == "motor") {
            law.gain = 1;
            law.affine_bias = false;
        } else if (kind == "position") {
            if (const auto kp = e.find("kp")) law.gain = kp->nonnegative();
            law.bias[0] = 0;
            law.bias[1] = -law.gain;
            if (const auto kv = e.find("kv")) law.bias[2] = -kv->nonnegative();
            law.affine_bias = true;
        } else if (kind == "velocity") {
            if (const auto kv = e.find("kv")) law.gain = kv->nonnegative();
            law.bias = {0, 0, -law.gain};
            law.affine_bias = true;
        }
    }
    if (!law.affine_bias) law.bias.setZero();
    return law;
}

// True if costate supports the law of the actuator; warns if not.
bool has_counterpart(const MjcfContext& context, const MjcfAttributes& a, const Law& law) {
    const XmlElement& e = a.element();
    const auto left_out = [&](const std::string& what) {
        return e.warn(context.warnings, what + " is not supported and is ignored",
                      "use motor, position, velocity or general on a joint, a tendon or a site"),
               false;
    };
    if (e.name() != "motor" && e.name() != "position" && e.name() != "velocity" && e.name() != "general")
        return left_out("as an actuator");
    if (law.unlike) return left_out("with " + law.unlike->name() + "=\"" + law.unlike->text() + "\"");
    return true;
}

// Writes the law with the keys of a scene.
void put_law(const Law& law, Json& out) {
    const Vec3<double>& b = law.bias;
    if (law.gain == 1 && b.isZero(0)) {
        out["type"] = "motor";
    } else if (law.gain > 0 && b[0] == 0 && b[1] == -law.gain && b[2] <= 0) {
        out["type"] = "servo", out["kp"] = law.gain;
        if (b[2] != 0) out["kd"] = -b[2];
    } else if (law.gain > 0 && b[0] == 0 && b[1] == 0 && b[2] == -law.gain) {
        out["type"] = "velocity", out["kd"] = law.gain;
    } else {
        out["type"] = "general", out["gain"] = law.gain, out["bias"] = to_json(b);
    }
}

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

// Writes the force limits: the intersection of the actuator's and the joint's ranges.
void put_force_limits(const MjcfContext& context, const MjcfAttributes& a, const MjcfJoint* joint,
                      double gear, Json& out) {
    double lower = -unlimited, upper = unlimited;
    if (is_limited(a, "forcelimited", "forcerange", context.compiler)) {
        if (!a.has("forcerange"))
            a.element().fail("is limited but has no \"forcerange\"",
                             "add it or write forcelimited=\"false\"");
        std::tie(lower, upper) = read_mjcf_range(*a.find("forcerange"));
    }
    if (joint != nullptr && joint->force_upper < unlimited && gear != 0) {
        const auto [least, most] = std::minmax({joint->force_lower / gear, joint->force_upper / gear});
        lower = std::max(lower, least);
        upper = std::min(upper, most);
    }
    if (lower < upper && upper < unlimited) out["force_limits"] = Json{lower, upper};
}

// Writes a thruster for an actuator at a site, whose six gears are a force and a moment in the site's axes. False,
// with a warning, if it is none: if the force follows the site's position or velocity, or another site.
bool put_thruster(const MjcfContext& context, const MjcfAttributes& a, const MjcfIndex& index, const Law& law,
                  Json& out) {
    const XmlElement& e = a.element();
    const auto [body, site] = index.site(*a.find("site"));
    const std::vector<double> gear = a.numbers_or("gear", {1, 0, 0, 0, 0, 0});
    const Mat3<double> R = rotation_matrix(site->pose.q);
    const Vec3<double> force = R * Vec3<double>(gear[0], gear[1], gear[2]),
                       moment = R * Vec3<double>(gear[3], gear[4], gear[5]);
    const double size = force.norm() > 0 ? force.norm() : moment.norm();
    if (a.has("refsite") || !law.bias.isZero(0) || size == 0) {
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
    if (law.gain * size != 1) out["gear"] = law.gain * size;
    return true;
}

}  // namespace

void read_actuators(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out,
                    MjcfControls& controls) {
    std::map<std::string, int> per_joint;
    MjcfNames names("actuator");
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "actuator");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section))
            names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section)) {
            const MjcfAttributes a = context.defaults.attributes(e);
            controls.emplace_back();
            if (!context.flags.actuation) continue;
            Law law = law_of(a);
            if (!is_actuator(e.name()) || !has_counterpart(context, a, law)) continue;
            e.warn_others(context.warnings, actuator_keys, {});
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
                put_control_limits(context, a, nullptr, actuator);
                if (is_limited(a, "forcelimited", "forcerange", context.compiler) && law.gain != 0) {
                    const auto [lower, upper] = read_mjcf_range(*a.find("forcerange"));
                    const auto [least, most] = std::minmax({lower / law.gain, upper / law.gain});
                    actuator["force_limits"] = Json{least, most};
                }
                controls.back() = actuator["name"].get<std::string>();
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
                controls.back() = wish.empty() ? names.take(tendon) : wish;
                Json actuator{{"name", controls.back()}, {"tendon", tendon}};
                law.bias[0] += law.bias[1] * gear * tendon_offset(context, index, tendon);
                put_law(law, actuator);
                if (gear != 1) actuator["gear"] = gear;
                put_control_limits(context, a, nullptr, actuator);
                put_force_limits(context, a, nullptr, gear, actuator);
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
            controls.back() = e.has("name") ? e["name"].text() : names.take(joint.name);
            Json actuator{{"name", controls.back()}, {"joint", joint.name}};
            law.bias[0] += law.bias[1] * gear * joint.ref;  // costate's coordinate is 0 at the reference
            put_law(law, actuator);
            if (gear != 1) actuator["gear"] = gear;
            put_control_limits(context, a, &joint, actuator);
            put_force_limits(context, a, &joint, gear, actuator);
            if (++per_joint[joint.name] == 2 && joint.force_upper < unlimited)
                e.warn(
                    context.warnings,
                    "shares \"actuatorfrcrange\" with another actuator; the range applies to each separately",
                    "use one");
            put_item(out, "actuators", e, actuator);
        }
}

}  // namespace costate
