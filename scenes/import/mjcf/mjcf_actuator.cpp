// Actuators of MJCF. All have the affine law f = gain ctrl + b_0 + b_1 l + b_2 l', whose gain may be affine, too,
// or read an activation in the place of ctrl; shortcuts (motor, position, velocity, damper, intvelocity, cylinder)
// and defaults set parts of it, or that of a muscle, whatever the kind of the actuator.
#include <algorithm>
#include <array>
#include <numbers>

#include "scenes/import/mjcf/mjcf_model.hpp"
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

// Dynamics of MJCF and their names in a scene.
constexpr std::pair<const char*, const char*> dynamics_names[] = {{"integrator", "integrator"},
                                                                  {"filter", "filter"},
                                                                  {"filterexact", "exact_filter"},
                                                                  {"muscle", "muscle"}};

// The numbers of a muscle in MuJoCo's order: attributes of <muscle>, and their defaults. The first is two numbers
// wide.
constexpr std::pair<const char*, double> muscle_numbers[] = {{"range", 0.75}, {"", 1.05},     {"force", -1},
                                                             {"scale", 200},  {"lmin", 0.5},  {"lmax", 1.6},
                                                             {"vmax", 1.5},   {"fpmax", 1.3}, {"fvmax", 1.2}};
constexpr size_t muscle_width = std::size(muscle_numbers);

// f = (gain_0 + gain_1 l + gain_2 l') ctrl + bias_0 + bias_1 l + bias_2 l'
struct Law {
    Vec3<double> gain = Vec3<double>::UnitX(), bias = Vec3<double>::Zero();
    bool affine_gain = false, affine_bias = false;
    std::string dynamics = "none";        // MuJoCo's word
    double time_constant = 1;             // of a filter, or of the rise of a muscle, s
    double fall_time = 0;                 // of a muscle, s
    std::vector<double> muscle;           // its numbers in MuJoCo's order; empty: no muscle
    bool passive = true;                  // a muscle resists when it is long
    bool always_limited = false;          // the activation
    std::string unlike_dynamics, unlike;  // what makes the law another one; empty: nothing
};

// Those of the first three that the attribute gives.
void take_first_three(const XmlAttribute& a, Vec3<double>& out) {
    const std::vector<double> x = a.numbers(0, 10);
    for (size_t i = 0; i < std::min<size_t>(x.size(), 3); ++i)
        out[static_cast<int>(i)] = x[i];
}

std::string with(const XmlAttribute& a) { return "with " + a.name() + "=\"" + a.text() + "\""; }

void apply_general(const XmlElement& e, Law& law) {
    if (const auto a = e.find("gainprm")) take_first_three(*a, law.gain);
    if (const auto a = e.find("biasprm")) take_first_three(*a, law.bias);
    if (e.has("gaintype") || e.has("biastype")) law.unlike.clear();
    if (const auto a = e.find("biastype")) {
        law.affine_bias = a->text() == "affine";
        law.passive = a->text() == "muscle";
        if (a->text() != "none" && a->text() != "affine" && !law.passive) law.unlike = with(*a);
    }
    if (const auto a = e.find("gaintype")) {
        law.affine_gain = a->text() == "affine";
        law.muscle.clear();
        if (a->text() == "muscle")
            law.muscle = e.has("gainprm") ? e["gainprm"].numbers(0, 10) : std::vector<double>();
        if ((a->text() != "fixed" && a->text() != "affine" && a->text() != "muscle") ||
            (a->text() == "muscle" && law.muscle.size() < muscle_width))
            law.unlike = with(*a);
    }
    if (const auto a = e.find("dyntype")) {
        law.dynamics = a->text();
        const bool known = law.dynamics == "none" ||
                           std::ranges::find(dynamics_names, law.dynamics,
                                             [](const auto& it) -> std::string_view { return it.first; }) !=
                               std::end(dynamics_names);
        law.unlike_dynamics = known ? "" : with(*a);
    }
    if (const auto a = e.find("dynprm")) {
        const std::vector<double> x = a->numbers(0, 10);
        if (!x.empty()) law.time_constant = x[0];
        if (x.size() > 1) law.fall_time = x[1];
    }
}

// A positive last number of the bias of a position servo is its damping ratio, as in MuJoCo's compiler.
void apply_position(const XmlElement& e, Law& law) {
    if (const auto kp = e.find("kp")) law.gain[0] = kp->nonnegative();
    law.bias[0] = 0;
    law.bias[1] = -law.gain[0];
    if (const auto kv = e.find("kv")) law.bias[2] = -kv->nonnegative();
    if (const auto ratio = e.find("dampratio")) {
        if (e.has("kv")) ratio->fail("gives the damping a second time", "keep \"kv\" or \"dampratio\"");
        law.bias[2] = ratio->nonnegative();
    }
    if (const auto time = e.find("timeconst")) {
        law.time_constant = time->nonnegative();
        law.dynamics = law.time_constant > 0 ? "filterexact" : "none";
    }
    law.affine_gain = false, law.affine_bias = true;
    law.unlike.clear(), law.muscle.clear();
}

// A position servo whose target is the integral of the control.
void apply_integrated_velocity(const XmlElement& e, Law& law) {
    apply_position(e, law);
    law.dynamics = "integrator", law.always_limited = true;
    law.unlike_dynamics.clear();
}

// Pneumatic or hydraulic: the filtered control is a pressure on an area.
void apply_cylinder(const XmlElement& e, Law& law) {
    if (const auto time = e.find("timeconst")) law.time_constant = time->nonnegative();
    if (const auto area = e.find("area")) law.gain[0] = area->number();
    if (const auto diameter = e.find("diameter"))
        law.gain[0] = 0.25 * std::numbers::pi * diameter->number() * diameter->number();
    if (const auto bias = e.find("bias")) take_first_three(*bias, law.bias);
    law.affine_gain = false, law.affine_bias = true;
    law.dynamics = "filter";
    law.unlike.clear(), law.unlike_dynamics.clear(), law.muscle.clear();
}

void apply_muscle(const XmlElement& e, Law& law) {
    if (law.dynamics != "muscle") law.time_constant = 0.01, law.fall_time = 0.04;
    law.dynamics = "muscle", law.passive = true, law.affine_gain = law.affine_bias = false;
    law.unlike.clear(), law.unlike_dynamics.clear();
    if (law.muscle.empty())
        for (const auto& [key, value] : muscle_numbers)
            law.muscle.push_back(value);
    if (const auto times = e.find("timeconst")) {
        const std::vector<double> t = times->numbers(2, 2);
        law.time_constant = t[0], law.fall_time = t[1];
    }
    if (const auto range = e.find("range")) std::tie(law.muscle[0], law.muscle[1]) = read_mjcf_range(*range);
    for (size_t i = 2; i < muscle_width; ++i)
        if (const auto given = e.find(muscle_numbers[i].first)) law.muscle[i] = given->number();
}

// motor, velocity and damper: gain and bias are those of the kind alone, without activation.
void apply_shortcut(const XmlElement& e, Law& law) {
    const double kv = e.nonnegative_or("kv", e.name() == "velocity" ? law.gain[0]
                                             : law.affine_gain      ? -law.gain[2]
                                                                    : 0);
    law.affine_gain = e.name() == "damper", law.affine_bias = e.name() == "velocity";
    law.dynamics = "none", law.unlike.clear(), law.unlike_dynamics.clear(), law.muscle.clear();
    if (e.name() == "motor")
        law.gain[0] = 1;
    else if (e.name() == "velocity")
        law.gain[0] = kv, law.bias = {0, 0, -kv};
    else
        law.gain = {0, 0, -kv};
}

// The parts of the law that each layer of defaults, and the element itself, sets.
Law law_of(const MjcfAttributes& a) {
    Law law;
    for (const XmlElement& e : a.layers()) {
        const std::string kind = e.name();
        if (kind == "general")
            apply_general(e, law);
        else if (kind == "motor" || kind == "velocity" || kind == "damper")
            apply_shortcut(e, law);
        else if (kind == "position")
            apply_position(e, law);
        else if (kind == "intvelocity")
            apply_integrated_velocity(e, law);
        else if (kind == "cylinder")
            apply_cylinder(e, law);
        else if (kind == "muscle")
            apply_muscle(e, law);
        else
            law.unlike = "as a <" + kind + ">";
    }
    if (!law.affine_gain) law.gain.tail<2>().setZero();
    if (!law.affine_bias) law.bias.setZero();
    return law;
}

// True if costate supports the law of the actuator; warns if not.
bool has_counterpart(const MjcfContext& context, const MjcfAttributes& a, const Law& law) {
    const XmlElement& e = a.element();
    const auto left_out = [&](const std::string& what) {
        return e.warn(context.warnings, what + " is not supported and is ignored",
                      "use motor, position, velocity, damper, intvelocity, cylinder, muscle or general on a "
                      "joint, a "
                      "tendon or a site"),
               false;
    };
    constexpr std::array known{"motor",   "position",    "velocity", "damper",
                               "general", "intvelocity", "cylinder", "muscle"};
    if (std::ranges::find(known, e.name()) == known.end()) return left_out("as an actuator");
    for (const std::string& fault : {law.unlike_dynamics, law.unlike})
        if (!fault.empty()) return left_out(fault);
    if ((law.dynamics.starts_with("filter") && !(law.time_constant > 0)) ||
        (law.dynamics == "muscle" && !(law.time_constant > 0 && law.fall_time > 0)))
        return left_out("with dynamics without time constant");
    if (!law.muscle.empty() && a.has("site")) return left_out("as a muscle at a site");
    if (const auto width = a.find("tausmooth"); width && law.dynamics == "muscle" && width->number() > 0)
        context.warnings.add(width->place(),
                             "the activation of muscles is not smoothed; \"tausmooth\" is ignored",
                             "remove it to silence this");
    if (const auto early = a.find("actearly");
        early && law.dynamics != "none" && a.boolean_or("actearly", false))
        context.warnings.add(early->place(),
                             "forces read the activation at the start of a step; \"actearly\" is ignored",
                             "remove it to silence this");
    return true;
}

// Writes a muscle. offset: its length in MuJoCo less that in costate; otherwise: its range of lengths in MuJoCo if
// the file has none. False, with a warning, if there is none.
bool put_muscle(const MjcfContext& context, const MjcfAttributes& a, const Law& law, double offset,
                const std::optional<std::pair<double, double>>& otherwise, Json& out) {
    std::optional<std::pair<double, double>> lengths = otherwise;
    if (const auto given = a.find("lengthrange")) {
        const std::vector<double> x = given->numbers(2, 2);
        if (x[0] != x[1]) lengths = read_mjcf_range(*given);
    }
    if (!lengths) {
        a.element().warn(context.warnings, "without \"lengthrange\" is not supported and is ignored",
                         "give the shortest and the longest length, as MuJoCo's compiler writes them");
        return false;
    }
    const std::vector<double>& p = law.muscle;
    out["type"] = "muscle";
    Json& muscle = out["muscle"] = {{"force", std::max(p[2], 0.0)},
                                    {"length_range", {lengths->first - offset, lengths->second - offset}},
                                    {"range", {p[0], p[1]}},
                                    {"fpmax", law.passive ? p[7] : 0}};
    for (const size_t i : {4, 5, 6, 8})
        muscle[muscle_numbers[i].first] = p[i];
    if (p[2] < 0) out[muscle_scale_key] = p[3];
    return true;
}

// The range of what is driven, times the gear.
std::pair<double, double> geared(double lower, double upper, double gear) {
    return std::minmax({gear * lower, gear * upper});
}

// Makes a law in MuJoCo's length one in costate's, which is 0 at the reference. offset: the difference
void shift(Law& law, double offset) {
    law.gain[0] += law.gain[1] * offset;
    law.bias[0] += law.bias[1] * offset;
}

// Writes the law with the keys of a scene.
void put_law(const Law& law, Json& out) {
    const double gain = law.gain[0];
    const bool constant_gain = law.gain.tail<2>().isZero(0);
    Vec3<double> b = law.bias;
    if (constant_gain && gain > 0 && b[1] == -gain && b[2] > 0) {
        out[damping_ratio_key] = b[2];
        b[2] = 0;
    }
    if (gain == 1 && constant_gain && b.isZero(0)) {
        out["type"] = "motor";
    } else if (gain > 0 && constant_gain && b[0] == 0 && b[1] == -gain && b[2] <= 0) {
        out["type"] = "servo", out["kp"] = gain;
        if (b[2] != 0) out["kd"] = -b[2];
    } else if (gain > 0 && constant_gain && b[0] == 0 && b[1] == 0 && b[2] == -gain) {
        out["type"] = "velocity", out["kd"] = gain;
    } else {
        out["type"] = "general", out["gain"] = gain, out["bias"] = to_json(b);
        if (!constant_gain) out["gain_slopes"] = {law.gain[1], law.gain[2]};
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

// Writes the dynamics of the activation.
void put_dynamics(const MjcfContext& context, const MjcfAttributes& a, const Law& law, Json& out) {
    for (const auto& [theirs, name] : dynamics_names) {
        if (law.dynamics != theirs) continue;
        Json& dynamics = out["dynamics"] = {{"type", name}};
        if (law.dynamics == "muscle")
            dynamics["rise_time"] = law.time_constant, dynamics["fall_time"] = law.fall_time;
        else if (law.dynamics != "integrator")
            dynamics["time_constant"] = law.time_constant;
        if (!law.always_limited && !is_limited(a, "actlimited", "actrange", context.compiler)) return;
        if (!a.has("actrange"))
            a.element().fail("limits its activation but has no \"actrange\"",
                             "add it or write actlimited=\"false\"");
        const auto [lower, upper] = read_mjcf_range(*a.find("actrange"));
        dynamics["limits"] = Json{lower, upper};
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

std::optional<std::pair<double, double>> lengths_of_tendon(const MjcfContext& context,
                                                           const std::string& name, double gear) {
    const std::optional<MjcfAttributes> a = tendon_attributes(context, name);
    if (!a || !is_limited(*a, "limited", "range", context.compiler) || !a->has("range")) return {};
    const auto [lower, upper] = read_mjcf_range(*a->find("range"));
    return geared(lower, upper, gear);
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
    if (a.has("refsite") || !law.bias.isZero(0) || !law.gain.tail<2>().isZero(0) || size == 0) {
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
            Law law = law_of(a);
            controls.push_back({"", law.dynamics != "none"});
            if (!context.flags.actuation) continue;
            if (context.flags.disabled_groups.contains(a.integer_or("group", 0, -1000000, 1000000))) {
                e.note(context.warnings, "is in a disabled group and is left out",
                       "remove its group from actuatorgroupdisable");
                continue;
            }
            if (!is_actuator(e.name()) || !has_counterpart(context, a, law)) continue;
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
                if (law.muscle.empty()) {
                    shift(law, offset);
                    put_law(law, actuator);
                } else if (!put_muscle(context, a, law, offset, lengths_of_tendon(context, tendon, gear),
                                       actuator)) {
                    controls.back().name.clear();
                    continue;
                }
                if (gear != 1) actuator["gear"] = gear;
                put_control_limits(context, a, nullptr, actuator);
                put_dynamics(context, a, law, actuator);
                const ForceRange range = range_of_tendon(context, tendon);
                put_force_limits(context, a, range, gear, actuator);
                warn_if_shared(range, "tendon " + tendon, e);
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
            if (law.muscle.empty()) {
                shift(law, gear * joint.ref);
                put_law(law, actuator);
            } else {
                std::optional<std::pair<double, double>> lengths;
                if (joint.range) lengths = geared(joint.range->first, joint.range->second, gear);
                if (!put_muscle(context, a, law, gear * joint.ref, lengths, actuator)) {
                    controls.back().name.clear();
                    continue;
                }
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
