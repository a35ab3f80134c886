// Joints of MJCF. Coordinates are shifted to be 0 at the reference configuration, in which the file places
// the bodies. Limits and springs are shifted accordingly.
#include <cmath>
#include <numbers>

#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

constexpr std::initializer_list<const char*> joint_keys = {"name",
                                                           "class",
                                                           "type",
                                                           "pos",
                                                           "axis",
                                                           "range",
                                                           "limited",
                                                           "ref",
                                                           "springref",
                                                           "stiffness",
                                                           "damping",
                                                           "armature",
                                                           "frictionloss",
                                                           "group",
                                                           "user",
                                                           "margin",
                                                           "solreflimit",
                                                           "solimplimit",
                                                           "solreffriction",
                                                           "solimpfriction",
                                                           "actuatorfrcrange",
                                                           "actuatorfrclimited",
                                                           "springdamper",
                                                           "actuatorgravcomp",
                                                           "align"};

// The linear coefficient; more numbers are a polynomial, which is not supported.
double read_linear(const MjcfContext& context, const MjcfAttributes& a, const char* name) {
    const auto found = a.find(name);
    if (!found) return 0;
    const std::vector<double> x = found->numbers(1, 16);
    for (size_t i = 1; i < x.size(); ++i)
        if (x[i] != 0)
            context.warnings.add(found->place(), "nonlinear " + found->name() + " is not supported",
                                 "give one number");
    if (x[0] < 0) found->fail("must not be negative", "use 0 or more");
    return x[0];
}

void read_limits(const MjcfContext& context, const MjcfAttributes& a, MjcfJoint& joint) {
    if (joint.type == MjcfJointType::free || !is_limited(a, "limited", "range", context.compiler)) return;
    const auto range = a.find("range");
    if (!range) a.element().fail("is limited but has no \"range\"", "add it or write limited=\"false\"");
    auto [lower, upper] = read_mjcf_range(*range);
    if (joint.type != MjcfJointType::slide) {
        lower = context.compiler.angle(lower);
        upper = context.compiler.angle(upper);
    }
    if (joint.type != MjcfJointType::ball) joint.range = {lower, upper};
    if (!context.flags.limit) return;
    if (joint.type != MjcfJointType::ball) {
        keep_margin(context, a, lower, upper);
        joint.properties["limits"] = Json{lower - joint.ref, upper - joint.ref};
    } else if (upper < std::numbers::pi) {  // rotations have angles up to pi
        double least = -upper;
        keep_margin(context, a, least, upper);
        joint.properties["greatest_angle"] = upper;
    }
    put_softness(context, a, "solreflimit", "solimplimit", "limit_", joint.properties);
}

void warn_of_spring(const MjcfContext& context, const XmlAttribute& spring) {
    context.warnings.add(spring.place(), "springs of free joints are not supported",
                         "set " + spring.name() + "=\"0\"");
}

void read_spring(const MjcfContext& context, const MjcfAttributes& a, MjcfJoint& joint) {
    const double stiffness = read_linear(context, a, "stiffness");
    if (stiffness == 0 || !context.flags.spring) return;
    if (joint.type == MjcfJointType::free) return warn_of_spring(context, *a.find("stiffness"));
    joint.properties["stiffness"] = stiffness;
    if (joint.type != MjcfJointType::ball && joint.springref != joint.ref)
        joint.properties["rest"] = joint.springref - joint.ref;
}

// Both numbers positive: instead of stiffness and damping
void read_spring_damper(const MjcfContext& context, const MjcfAttributes& a, MjcfJoint& joint) {
    const auto given = a.find("springdamper");
    if (!given) return;
    const std::vector<double> x = given->numbers(2);
    if (x[0] == 0 && x[1] == 0) return;
    if (!(x[0] > 0) || !(x[1] > 0)) given->fail("must be two positive numbers", "write 0 0 for none");
    joint.properties.erase("stiffness");
    const bool springs = joint.type != MjcfJointType::free;
    if (context.flags.spring && !springs) warn_of_spring(context, *given);
    if (context.flags.spring && joint.type != MjcfJointType::ball && joint.springref != joint.ref)
        joint.properties["rest"] = joint.springref - joint.ref;
    joint.properties[spring_damper_key] =
        Json{x[0], x[1], context.flags.spring && springs, context.flags.damper};
}

// MuJoCo can move the frame of a floating body into its principal axes of inertia.
void warn_of_alignment(const MjcfContext& context, const XmlElement& e) {
    const auto given = e.find("align");
    const int choice = given ? given->choice({"false", "true", "auto"}) : 2;
    if (choice == 1 || (choice == 2 && context.compiler.alignfree))
        e.warn(context.warnings,
               "is not aligned with the inertia of its body: coordinates are those of the body's own frame",
               "set align=\"false\"");
}

}  // namespace

bool is_limited(const MjcfAttributes& a, const char* limited, const char* range,
                const MjcfCompiler& compiler) {
    const auto given = a.find(limited);
    const int choice = given ? given->choice({"false", "true", "auto"}) : 2;
    if (choice < 2) return choice == 1;
    const auto found = a.find(range);
    if (!found || found->numbers(2) == std::vector<double>{0, 0}) return false;
    if (!compiler.autolimits)
        found->fail("does not say whether it applies",
                    std::string("set autolimits=\"true\" of <compiler>, or ") + limited);
    return true;
}

std::pair<double, double> read_mjcf_range(const XmlAttribute& a) {
    const std::vector<double> x = a.numbers(2);
    if (!(x[0] < x[1]))
        a.fail("is not a range: the first number is not less than the second", "write the lower end first");
    return {x[0], x[1]};
}

void keep_margin(const MjcfContext& context, const MjcfAttributes& a, double& lower, double& upper) {
    const double margin = a.number_or("margin", 0);
    if (!(lower + margin < upper - margin)) {
        context.warnings.add(a.find("margin")->place(), "leaves nothing of the range and is ignored",
                             "give a margin smaller than half of the range");
        return;
    }
    lower += margin;
    upper -= margin;
}

MjcfJoint read_mjcf_joint(const MjcfContext& context, const MjcfAttributes& a) {
    MjcfJoint joint{
        .element = a.element(), .name = a.element().text_or("name", ""), .properties = Json::object()};
    if (a.element().name() == "freejoint") {
        a.element().warn_others(context.warnings, {"name", "group", "align"}, {});
        joint.type = MjcfJointType::free;
        warn_of_alignment(context, a.element());
        return joint;
    }
    a.warn_others(context.warnings, joint_keys, {});
    if (const auto type = a.find("type"))
        joint.type = static_cast<MjcfJointType>(type->choice({"free", "ball", "slide", "hinge"}));
    if (joint.type == MjcfJointType::free) warn_of_alignment(context, a.element());
    joint.pos = a.vec3_or("pos", Vec3<double>::Zero());
    const bool has_axis = joint.type == MjcfJointType::slide || joint.type == MjcfJointType::hinge;
    joint.axis = a.vec3_or("axis", Vec3<double>::UnitZ());
    if (has_axis && !(joint.axis.norm() > 1e-14))
        a.find("axis")->fail("has no direction", "write an axis of any length but 0");
    const auto coordinate = [&](const char* name) {
        const double x = a.number_or(name, 0);
        return joint.type == MjcfJointType::hinge ? context.compiler.angle(x) : x;
    };
    if (has_axis) {
        joint.ref = coordinate("ref");
        joint.springref = coordinate("springref");
    }
    read_limits(context, a, joint);
    read_spring(context, a, joint);
    read_spring_damper(context, a, joint);
    const auto put = [&](const char* theirs, const char* ours, bool on) {
        if (const double x = read_linear(context, a, theirs); x > 0 && on) joint.properties[ours] = x;
    };
    put("damping", "damping", context.flags.damper);
    put("armature", "armature", true);
    put("frictionloss", "dry_friction", context.flags.frictionloss);
    if (joint.properties.contains("dry_friction"))
        put_softness(context, a, "solreffriction", "solimpfriction", "friction_", joint.properties);
    if (is_limited(a, "actuatorfrclimited", "actuatorfrcrange", context.compiler))
        if (const auto range = a.find("actuatorfrcrange"))
            std::tie(joint.force_lower, joint.force_upper) = read_mjcf_range(*range);
    if (joint.force_upper < unlimited && a.boolean_or("actuatorgravcomp", false))
        context.warnings.add(a.find("actuatorgravcomp")->place(),
                             "the range of actuator forces does not include gravity compensation",
                             "remove it to silence this");
    return joint;
}

}  // namespace costate
