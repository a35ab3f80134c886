// <option> of MJCF: time step, gravity, and disabled features.
#include <algorithm>
#include <cmath>

#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

// The features that a flag disables, and the consequence of disable="..." that deserves a warning.
struct KnownFlag {
    const char* name;
    std::vector<bool MjcfFlags::*> switches;
    const char* consequence;  // of disable="...", null: none
};
const std::vector<KnownFlag>& known_flags() {
    using F = MjcfFlags;
    static const std::vector<KnownFlag> table{
        {"constraint",
         {&F::equality, &F::frictionloss, &F::limit, &F::contact, &F::pairs, &F::other_contacts},
         nullptr},
        {"equality", {&F::equality}, nullptr},
        {"frictionloss", {&F::frictionloss}, nullptr},
        {"limit", {&F::limit}, nullptr},
        {"contact", {&F::contact, &F::pairs, &F::other_contacts}, nullptr},
        {"passive", {&F::spring, &F::damper}, nullptr},
        {"spring", {&F::spring}, nullptr},
        {"damper", {&F::damper}, nullptr},
        {"gravity", {&F::gravity}, nullptr},
        {"clampctrl", {&F::clampctrl}, nullptr},
        {"actuation", {&F::actuation}, "leaves out all actuators"},
        {"filterparent", {}, "is not supported: a body never collides with its parent"},
        {"refsafe",
         {},
         "is not supported: by MuJoCo's law, time constants of solref are at least two time steps"}};
    return table;
}

// The features that a flag enables and that would change the motion.
struct UnsupportedFlag {
    const char *name, *consequence, *remedy;
};
constexpr UnsupportedFlag enabled_flags[] = {
    {"override", "contacts keep their own numbers", "give the numbers to the geoms"},
    {"sleep", "bodies do not sleep, nor start asleep", "remove the flag"}};

template <class Use> void for_each_option(const MjcfFiles& files, Use use) {
    for (const XmlElement& e : files.children(files.root(), "option"))
        use(e);
}

// "collision" of MuJoCo before 3: only the pairs, or all but them
void read_contact_choice(const MjcfFiles& files, MjcfFlags& flags) {
    int choice = 0;
    for_each_option(files, [&](const XmlElement& option) {
        if (const auto a = option.find("collision")) choice = a->choice({"all", "predefined", "dynamic"});
    });
    if (choice == 1) flags.other_contacts = false;
    if (choice == 2) flags.pairs = false;
}

}  // namespace

MjcfFlags read_flags(const MjcfFiles& files, Warnings& warnings) {
    std::map<std::string, XmlAttribute> given;  // the last one of each name
    for_each_option(files, [&](const XmlElement& option) {
        for (const XmlElement& element : files.children(option, "flag"))
            for (const XmlAttribute& flag : element.attributes())
                given.insert_or_assign(flag.name(), flag);
    });
    MjcfFlags flags;
    for (const auto& [name, flag] : given) {
        const bool enabled = flag.choice({"disable", "enable"}) == 1;
        for (const auto& [other, consequence, remedy] : enabled_flags)
            if (enabled && name == other)
                warnings.add(flag.place(), "flag " + name + "=\"enable\" is not supported: " + consequence,
                             remedy);
        if (enabled) continue;
        const auto known = std::ranges::find(known_flags(), name, &KnownFlag::name);
        if (known == known_flags().end()) continue;  // does not affect the model
        for (bool MjcfFlags::*off : known->switches)
            flags.*off = false;
        if (known->consequence != nullptr)
            warnings.add(flag.place(), "flag " + name + "=\"disable\" " + known->consequence,
                         "remove the flag");
    }
    read_contact_choice(files, flags);
    for_each_option(files, [&](const XmlElement& option) {
        if (const auto a = option.find("actuatorgroupdisable"))
            for (const double group : a->numbers(0, 31))
                flags.disabled_groups.insert(std::llround(group));
        for (const char* quantity : {"density", "viscosity"})
            if (const auto a = option.find(quantity)) flags.medium = flags.medium || a->nonnegative() > 0;
    });
    flags.medium = flags.medium && (flags.spring || flags.damper);
    return flags;
}

// Reads time step, gravity, medium, and cone and integrator of MuJoCo's law. Warns of unsupported integrators;
// solver settings are ignored.
void read_option(const MjcfContext& context, const Json& actuators, Json& scene) {
    const bool activated =
        std::ranges::any_of(actuators, [](const Json& actuator) { return actuator.contains("dynamics"); });
    Json medium = Json::object();
    std::optional<bool> pyramid;  // MuJoCo's default
    std::string integrator = "Euler";
    std::optional<XmlAttribute> eulerdamp;
    for_each_option(context.files, [&](const XmlElement& e) {
        if (const auto a = e.find("timestep")) scene["time_step"] = a->positive();
        if (const auto a = e.find("gravity")) scene["gravity"] = to_json(a->vec3());
        if (const auto a = e.find("cone")) pyramid = a->choice({"elliptic", "pyramidal"}) == 1;
        if (const auto a = e.find("impratio")) scene["contact"]["impratio"] = a->positive();
        if (const auto a = e.find("noslip_iterations");
            a && a->integer(0, 1000000) > 0 && context.law == ContactLaw::mujoco)
            context.warnings.add(a->place(),
                                 "noslip_iterations is not supported; contacts creep as without it",
                                 "remove it, or use the rigid law, whose contacts do not creep");
        for (const char* quantity : {"density", "viscosity"})
            if (const auto a = e.find(quantity)) medium[quantity] = a->nonnegative();
        if (const auto a = e.find("wind")) medium["wind"] = to_json(a->vec3());
        for (const XmlElement& flag : context.files.children(e, "flag"))
            if (const auto a = flag.find("eulerdamp")) eulerdamp.emplace(*a);
        if (const auto a = e.find("integrator")) {
            integrator = a->text();
            const bool staged = context.law == ContactLaw::mujoco && integrator == "RK4";
            if (staged && activated)
                context.warnings.add(
                    a->place(),
                    "integrator=\"RK4\" is not supported for activations of actuators: a step is "
                    "semi-implicit Euler, of first order",
                    "use a smaller timestep where that matters");
            else if (!staged && integrator != "Euler" && integrator != "implicitfast")
                context.warnings.add(
                    a->place(),
                    "integrator=\"" + integrator +
                        "\" is not supported: a step is semi-implicit Euler, of first order",
                    integrator == "RK4" && !activated
                        ? "use a smaller timestep where that matters, or MuJoCo's law, which has it"
                        : "use a smaller timestep where that matters");
        }
    });
    const bool explicit_damping = eulerdamp && eulerdamp->choice({"disable", "enable"}) == 0;
    if (explicit_damping && context.law == ContactLaw::rigid)
        context.warnings.add(eulerdamp->place(),
                             "flag eulerdamp=\"disable\" is not supported: joint damping is implicit",
                             "remove the flag, or use MuJoCo's law");
    if (context.law == ContactLaw::mujoco)
        scene["solver"]["integrator"] = integrator.starts_with("implicit")  ? "mujoco_implicitfast"
                                        : integrator == "RK4" && !activated ? "mujoco_rk4"
                                        : explicit_damping                  ? "mujoco_explicit"
                                                                            : "mujoco_euler";
    if (pyramid || context.law == ContactLaw::mujoco)
        scene["contact"]["cone"] = pyramid.value_or(true) ? "pyramidal" : "elliptic";
    if (!scene.contains("gravity")) scene["gravity"] = {0, 0, -9.81};
    if (!context.flags.gravity) scene["gravity"] = {0, 0, 0};
    if (context.flags.medium) scene["medium"] = medium;
    if (!scene.contains("time_step")) scene["time_step"] = 0.002;  // MuJoCo's default
}

}  // namespace costate
