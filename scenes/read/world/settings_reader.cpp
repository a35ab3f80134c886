#include "scenes/read/world/settings_reader.hpp"

#include "scenes/format/names.hpp"

namespace costate {

Settings read_settings(const Node& scene, const ImportOptions& options) {
    Settings s;
    s.time_step = scene.positive_or("time_step", s.time_step);
    if (const auto solver = scene.find("solver")) {
        solver->expect_keys("solver");
        std::vector<std::string> names;
        for (const SolverKind& kind : solver_kinds)
            names.emplace_back(kind.name);
        if (const auto type = solver->find("type"))
            s.solver = solver_kinds[type->choice(names)].type;
        else if (solver->has("sweeps") || solver->has("tolerance"))
            s.solver = SolverType::pgs;  // "sweeps" and "tolerance" imply pgs
        constexpr ImpulseGradient gradients[] = {ImpulseGradient::automatic, ImpulseGradient::swept,
                                                 ImpulseGradient::implicit};
        if (const auto gradient = solver->find("gradient")) {
            s.gradient = gradients[gradient->choice({"automatic", "swept", "implicit"})];
            if (!solver_kind(s.solver).sweeps && s.gradient == ImpulseGradient::swept)
                gradient->fail("\"swept\" requires pgs; exact solvers have no sweeps",
                               "use \"implicit\" or \"automatic\"");
        }
        constexpr ConeMethod methods[] = {ConeMethod::gauss_seidel, ConeMethod::admm};
        if (const auto method = solver->find("method"))
            s.cone_method = methods[method->choice({"gauss_seidel", "admm"})];
        if (const auto relaxed = solver->find("relaxed")) s.relaxed = relaxed->boolean();
        if (const auto aware = solver->find("complementarity_aware")) {
            s.complementarity_aware = aware->boolean();
            if (s.complementarity_aware && solver_kind(s.solver).sweeps &&
                s.gradient != ImpulseGradient::implicit)
                aware->fail("needs a gradient by the active set",
                            "use \"gradient\": \"implicit\", or type lcp or ncp");
        }
        if (const auto distant = solver->find("distant_contacts")) {
            distant->expect_keys("distant_contacts");
            s.felt_distance = (*distant)["distance"].nonnegative();
            s.felt_stiffness = (*distant)["stiffness"].positive();
        }
        if (const auto sweeps = solver->find("sweeps"))
            s.sweeps = static_cast<int>(sweeps->integer(1, 100000));
        s.tolerance = solver->nonnegative_or("tolerance", s.tolerance);
        constexpr Impact impacts[] = {Impact::start, Impact::elastic, Impact::located};
        if (const auto impact = solver->find("impact"))
            s.impact = impacts[impact->choice({"start", "elastic", "located"})];
        if (const auto warm = solver->find("warm_start")) s.warm_start = warm->boolean();
        if (const auto room = solver->find("warm_contacts"))
            s.warm_contacts = static_cast<int>(room->integer(0, 100000));
        constexpr ForwardDynamics kinds[] = {ForwardDynamics::automatic, ForwardDynamics::aba,
                                             ForwardDynamics::crba};
        if (const auto kind = solver->find("forward_dynamics"))
            s.forward_dynamics = kinds[kind->choice({"automatic", "aba", "crba"})];
        constexpr Integrator integrators[] = {Integrator::semi_implicit, Integrator::mujoco_euler,
                                              Integrator::mujoco_implicitfast, Integrator::mujoco_explicit,
                                              Integrator::mujoco_rk4};
        if (const auto integrator = solver->find("integrator"))
            s.integrator = integrators[integrator->choice(
                {"semi_implicit", "mujoco_euler", "mujoco_implicitfast", "mujoco_explicit", "mujoco_rk4"})];
        if (s.integrator != Integrator::semi_implicit) s.gyroscopic = Gyroscopic::explicit_bias;
        constexpr Gyroscopic biases[] = {Gyroscopic::explicit_bias, Gyroscopic::midpoint};
        if (const auto bias = solver->find("gyroscopic"))
            s.gyroscopic = biases[bias->choice({"explicit", "midpoint"})];
    }
    if (const auto contact = scene.find("contact")) {
        contact->expect_keys("contact");
        s.compliance = contact->nonnegative_or("compliance", s.compliance);
        s.erp = contact->nonnegative_or("erp", s.erp);
        if (s.erp > 1) (*contact)["erp"].fail("would correct more than the whole penetration", "use 0 to 1");
        s.slop = contact->nonnegative_or("slop", s.slop);
        s.recovery_speed = contact->nonnegative_or("recovery_speed", s.recovery_speed);
        s.rest_speed = contact->nonnegative_or("rest_speed", s.rest_speed);
        s.margin = contact->nonnegative_or("margin", s.margin);
        if (const auto law = contact->find("law"))
            s.law = static_cast<ContactLaw>(law->choice({contact_law_names[0], contact_law_names[1]}));
        constexpr FrictionCone cones[] = {FrictionCone::elliptic, FrictionCone::pyramidal};
        if (const auto cone = contact->find("cone")) s.cone = cones[cone->choice({"elliptic", "pyramidal"})];
        s.impratio = contact->positive_or("impratio", s.impratio);
    }
    s.law = options.law.value_or(s.law);
    if (s.law == ContactLaw::mujoco) {
        if (s.impact != Impact::start)
            scene["solver"]["impact"].fail("has no effect: soft contacts have no restitution",
                                           "remove it, or \"law\" of \"contact\"");
        s.relaxed = true;  // MuJoCo's problem is convex
        if (s.integrator == Integrator::mujoco_rk4 && s.warm_start)
            scene["solver"]["warm_start"].fail("has no meaning for the stages of \"mujoco_rk4\"",
                                               "remove it, or \"integrator\"");
    } else if (s.integrator != Integrator::semi_implicit) {
        scene["solver"]["integrator"].fail("needs MuJoCo's law of contact",
                                           "add \"contact\": {\"law\": \"mujoco\"}, or remove it");
    }
    return s;
}

std::vector<std::string> settings_without_effect(const Node& scene, const Settings& s) {
    std::vector<std::string> out;
    const auto note = [&](bool unused, const char* part, std::initializer_list<const char*> keys,
                          const char* why) {
        const std::optional<Node> node = scene.find(part);
        if (!unused || !node || !node->is_object()) return;
        std::vector<std::string> given;
        for (const char* key : keys)
            if (node->has(key)) given.push_back("\"" + std::string(key) + "\"");
        if (given.empty()) return;
        out.push_back(node->place() + ": " + listed(given) + (given.size() == 1 ? " has" : " have") +
                      " no effect" + why);
    };
    const bool soft = s.law == ContactLaw::mujoco;
    const char* const rigid_alone =
        " by MuJoCo's law of contact; use \"solref\" and \"solimp\", or remove what is meant for rigid "
        "contact";
    note(soft, "contact", {"compliance", "erp", "slop", "recovery_speed", "rest_speed", "margin"},
         rigid_alone);
    note(soft, "ground", {"restitution", "stiffness", "damping"}, rigid_alone);
    note(!soft, "ground", {"solref", "solimp"},
         " in rigid contact; add \"law\": \"mujoco\" to \"contact\", or remove what is meant for it");
    note(!solver_kind(s.solver).sweeps, "solver", {"sweeps", "tolerance"},
         " on a solver without sweeps; remove what is meant for \"pgs\", or choose it as \"type\"");
    note(s.solver != SolverType::ncp, "solver", {"method", "relaxed"},
         " on this solver; remove what is meant for \"ncp\", or choose it as \"type\"");
    note(soft && s.solver == SolverType::ncp, "solver", {"relaxed"},
         ": MuJoCo's law of contact is always relaxed; remove it");
    note(!s.warm_start, "solver", {"warm_contacts"},
         " without \"warm_start\"; set it to true, or remove this");
    return out;
}

}  // namespace costate
