// Reads the law of an MJCF actuator.
#include <algorithm>
#include <array>
#include <numbers>

#include "scenes/import/mjcf/mjcf_actuator_law.hpp"

namespace costate {
namespace {

// Dynamics of MJCF
constexpr std::array known_dynamics{"none", "integrator", "filter", "filterexact", "muscle"};

constexpr size_t muscle_width = std::size(mjcf_muscle_numbers);

// The numbers that the attribute gives; those behind them stay.
void take(const XmlAttribute& a, MjcfActuatorLaw::Numbers& out) {
    const std::vector<double> x = a.numbers(0, 10);
    std::ranges::copy(x, out.begin());
}

std::string with(const XmlAttribute& a) { return "with " + a.name() + "=\"" + a.text() + "\""; }

void apply_general(const XmlElement& e, MjcfActuatorLaw& law) {
    if (const auto a = e.find("gainprm")) take(*a, law.gain);
    if (const auto a = e.find("biasprm")) take(*a, law.bias);
    if (e.has("gaintype") || e.has("biastype")) law.unlike.clear();
    if (const auto a = e.find("biastype")) {
        law.affine_bias = a->text() == "affine";
        law.passive = a->text() == "muscle";
        if (a->text() != "none" && a->text() != "affine" && !law.passive) law.unlike = with(*a);
    }
    if (const auto a = e.find("gaintype")) {
        law.affine_gain = a->text() == "affine";
        law.muscle = a->text() == "muscle";
        if (a->text() != "fixed" && a->text() != "affine" && !law.muscle) law.unlike = with(*a);
    }
    if (const auto a = e.find("dyntype")) {
        law.dynamics = a->text();
        const bool known = std::ranges::find(known_dynamics, law.dynamics) != known_dynamics.end();
        law.unlike_dynamics = known ? "" : with(*a);
    }
    if (const auto a = e.find("dynprm")) {
        const std::vector<double> x = a->numbers(0, 10);
        if (!x.empty()) law.time_constant = x[0];
        if (x.size() > 1) law.fall_time = x[1];
        if (x.size() > 2) law.switch_width = x[2];
    }
}

// A positive last number of the bias of a position servo is its damping ratio, as in MuJoCo's compiler.
void apply_position(const XmlElement& e, MjcfActuatorLaw& law) {
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
    law.affine_gain = false;
    law.affine_bias = true;
    law.unlike.clear();
    law.muscle = law.passive = false;
}

// A position servo whose target is the integral of the control.
void apply_integrated_velocity(const XmlElement& e, MjcfActuatorLaw& law) {
    apply_position(e, law);
    law.dynamics = "integrator";
    law.always_limited = true;
    law.unlike_dynamics.clear();
}

// Pneumatic or hydraulic: the filtered control is a pressure on an area.
void apply_cylinder(const XmlElement& e, MjcfActuatorLaw& law) {
    if (const auto time = e.find("timeconst")) law.time_constant = time->nonnegative();
    if (const auto area = e.find("area")) law.gain[0] = area->number();
    if (const auto diameter = e.find("diameter"))
        law.gain[0] = 0.25 * std::numbers::pi * diameter->number() * diameter->number();
    if (const auto bias = e.find("bias")) take(*bias, law.bias);
    law.affine_gain = false;
    law.affine_bias = true;
    law.dynamics = "filter";
    law.unlike.clear();
    law.unlike_dynamics.clear();
    law.muscle = law.passive = false;
}

// What other layers have left at the defaults of <general> gets those of a muscle, as in MuJoCo's mjs_setToMuscle.
void apply_muscle(const XmlElement& e, MjcfActuatorLaw& law) {
    if (law.time_constant == 1) law.time_constant = 0.01;
    if (law.fall_time == 0) law.fall_time = 0.04;
    for (size_t i = 0; i < muscle_width; ++i)
        if (double& number = law.gain[static_cast<int>(i)]; number == (i == 0 ? 1 : 0))
            number = mjcf_muscle_numbers[i].second;
    law.dynamics = "muscle";
    law.muscle = law.passive = true;
    law.affine_gain = law.affine_bias = false;
    law.unlike.clear();
    law.unlike_dynamics.clear();
    if (const auto times = e.find("timeconst")) {
        const std::vector<double> t = times->numbers(2, 2);
        law.time_constant = t[0];
        law.fall_time = t[1];
    }
    if (const auto width = e.find("tausmooth")) law.switch_width = width->nonnegative();
    if (const auto range = e.find("range")) std::tie(law.gain[0], law.gain[1]) = read_mjcf_range(*range);
    for (size_t i = 2; i < muscle_width; ++i)
        if (const auto given = e.find(mjcf_muscle_numbers[i].first))
            law.gain[static_cast<int>(i)] = given->number();
    law.bias = law.gain;
}

// motor, velocity and damper: gain and bias are those of the kind alone, without activation.
void apply_shortcut(const XmlElement& e, MjcfActuatorLaw& law) {
    const double kv = e.nonnegative_or("kv", e.name() == "velocity" ? law.gain[0]
                                             : law.affine_gain      ? -law.gain[2]
                                                                    : 0);
    law.affine_gain = e.name() == "damper";
    law.affine_bias = e.name() == "velocity";
    law.dynamics = "none";
    law.unlike.clear();
    law.unlike_dynamics.clear();
    law.muscle = law.passive = false;
    if (e.name() == "motor")
        law.gain[0] = 1;
    else if (e.name() == "velocity")
        law.gain[0] = kv, law.bias.head<3>() = Vec3<double>(0, 0, -kv);
    else
        law.gain.head<3>() = Vec3<double>(0, 0, -kv);
}

}  // namespace

MjcfActuatorLaw law_of(const MjcfAttributes& a) {
    MjcfActuatorLaw law;
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
    law.early = law.dynamics != "none" && a.boolean_or("actearly", false);
    if (law.muscle) return law;
    if (!law.affine_gain) law.gain.segment<2>(1).setZero();
    if (!law.affine_bias) law.bias.head<3>().setZero();
    return law;
}

bool has_counterpart(const MjcfContext& context, const MjcfAttributes& a, const MjcfActuatorLaw& law) {
    const XmlElement& e = a.element();
    const auto left_out = [&](const std::string& what) {
        e.warn(context.warnings, what + " is not supported and is ignored",
               "use motor, position, velocity, damper, intvelocity, cylinder, muscle or general on a "
               "joint, a tendon or a site");
        return false;
    };
    constexpr std::array known{"motor",   "position",    "velocity", "damper",
                               "general", "intvelocity", "cylinder", "muscle"};
    if (std::ranges::find(known, e.name()) == known.end()) return left_out("as an actuator");
    for (const std::string& fault : {law.unlike_dynamics, law.unlike})
        if (!fault.empty()) return left_out(fault);
    if ((law.dynamics.starts_with("filter") && !(law.time_constant > 0)) ||
        (law.dynamics == "muscle" && !(law.time_constant > 0 && law.fall_time > 0)))
        return left_out("with dynamics without time constant");
    if (law.muscle && a.has("site")) return left_out("as a muscle at a site");
    if (law.passive && !law.muscle) return left_out("with biastype=\"muscle\" alone");
    if (law.muscle && !(law.gain[5] > 1)) return left_out("as a muscle with less than 9 numbers");
    for (const int i : {0, 1, 2, 3, 5, 7})
        if (law.passive && law.gain[i] != law.bias[i])
            return left_out("with \"biasprm\" other than \"gainprm\" of a muscle");
    return true;
}

}  // namespace costate
