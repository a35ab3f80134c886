// Actuators of MJCF. All have the affine law f = gain ctrl + b_0 + b_1 l + b_2 l'; shortcuts (motor,
// position, velocity) and defaults set parts of it, whatever the kind of the actuator.
#include <algorithm>

#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"

namespace costate {
namespace {

constexpr std::initializer_list<const char*> actuator_keys = {
    "name",       "class",    "group",       "ctrllimited",  "forcelimited", "actlimited",    "ctrlrange",
    "forcerange", "actrange", "lengthrange", "gear",         "joint",        "jointinparent", "user",
    "kp",         "kv",       "dyntype",     "gaintype",     "biastype",     "dynprm",        "gainprm",
    "biasprm",    "actearly", "actdim",      "inheritrange", "nsample"};

struct Law {
    double gain = 1;
    Vec3<double> bias = Vec3<double>::Zero();
    bool affine_bias = false;
    std::optional<XmlAttribute> unlike;  // attribute that makes the law not affine
};

Vec3<double> first_three(const XmlAttribute& a) {
    Vec3<double> out = Vec3<double>::Zero();
    const std::vector<double> x = a.numbers(0, 10);
    for (size_t i = 0; i < std::min<size_t>(x.size(), 3); ++i)
        out[static_cast<int>(i)] = x[i];
    return out;
}

void apply_general(const XmlElement& e, Law& law, bool& affine_gain, Vec3<double>& gain) {
    if (const auto a = e.find("gainprm")) {
        gain = first_three(*a);
        law.gain = gain[0];
    }
    if (const auto a = e.find("biasprm")) law.bias = first_three(*a);
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

// True if costate supports the actuator; warns if not.
bool has_counterpart(const MjcfContext& context, const MjcfAttributes& a, const Law& law,
                     std::optional<XmlAttribute>& joint) {
    const XmlElement& e = a.element();
    const auto left_out = [&](const std::string& what) {
        return e.warn(context.warnings, what + " is not supported and is ignored",
                      "use motor, position, velocity or general on a joint"),
               false;
    };
    if (e.name() != "motor" && e.name() != "position" && e.name() != "velocity" && e.name() != "general")
        return left_out("as an actuator");
    joint = a.find("joint") ? a.find("joint") : a.find("jointinparent");
    if (!joint) return left_out("that drives no joint");
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

// Writes the control limits: "ctrlrange", or the share of the joint's range given by "inheritrange".
void put_control_limits(const MjcfContext& context, const MjcfAttributes& a, const MjcfJoint& joint,
                        Json& out) {
    if (!context.flags.clampctrl) return;
    if (const auto share = a.find("inheritrange");
        share && share->number() > 0 && a.element().name() == "position") {
        if (!joint.range) share->fail("has no range to inherit", "give the joint a range");
        const auto [lower, upper] = *joint.range;
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
void put_force_limits(const MjcfContext& context, const MjcfAttributes& a, const MjcfJoint& joint,
                      double gear, Json& out) {
    double lower = -unlimited, upper = unlimited;
    if (is_limited(a, "forcelimited", "forcerange", context.compiler)) {
        if (!a.has("forcerange"))
            a.element().fail("is limited but has no \"forcerange\"",
                             "add it or write forcelimited=\"false\"");
        std::tie(lower, upper) = read_mjcf_range(*a.find("forcerange"));
    }
    if (joint.force_upper < unlimited && gear != 0) {
        const auto [least, most] = std::minmax({joint.force_lower / gear, joint.force_upper / gear});
        lower = std::max(lower, least);
        upper = std::min(upper, most);
    }
    if (lower < upper && upper < unlimited) out["force_limits"] = Json{lower, upper};
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
            std::optional<XmlAttribute> joint_name;
            Law law = law_of(a);
            if (!is_actuator(e.name()) || !has_counterpart(context, a, law, joint_name)) continue;
            e.warn_others(context.warnings, actuator_keys, {});
            if (index.left_out(a)) {
                e.warn(context.warnings, "refers to a part that is left out or replicated, and is ignored",
                       "replace that part");
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
            put_control_limits(context, a, joint, actuator);
            put_force_limits(context, a, joint, gear, actuator);
            if (++per_joint[joint.name] == 2 && joint.force_upper < unlimited)
                e.warn(
                    context.warnings,
                    "shares \"actuatorfrcrange\" with another actuator; the range applies to each separately",
                    "use one");
            put_item(out, "actuators", e, actuator);
        }
}

}  // namespace costate
