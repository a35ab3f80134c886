// All settings of a step: solver, gradient, contact. This header includes no other of costate.
#pragma once

#include <iterator>
#include <optional>
#include <string_view>

namespace costate {

// aba: articulated-body algorithm, pulled back operator by operator. crba: mass matrix and its factor, pulled
// back through the equations of motion unless the step has sweeps. automatic: crba, which is faster from 2 to
// 36 dofs even without contacts.
enum class ForwardDynamics { automatic, aba, crba };

// Time within the step at which the gyroscopic bias of a free rigid body is evaluated: the beginning, or in
// effect the middle (core/dynamics/gyroscopic.hpp).
enum class Gyroscopic { explicit_bias, midpoint };

// How impulses are pulled back. swept: through the sweeps in reverse, exact for the code that ran, converged
// or not. implicit: through the equations of the active set, exact at a solution and cheaper. automatic:
// swept for pgs, implicit for exact solvers.
enum class ImpulseGradient { automatic, swept, implicit };

// Friction impulses lie in a box of two tangents, in Coulomb's cone with De Saxce's correction, or in the
// cone without this correction.
enum class FrictionLaw { box, cone, relaxed_cone };

// rigid: contacts and limits are rigid, or springs where they have a stiffness; equalities and dry friction are
// rigid. mujoco: all constraints are soft, with the impedance and the reference of MuJoCo
// (solvers/rows/soft_rows.hpp).
enum class ContactLaw { rigid, mujoco };
inline constexpr const char* contact_law_names[] = {"rigid", "mujoco"};  // by ContactLaw
constexpr std::optional<ContactLaw> contact_law(std::string_view name) {
    for (size_t i = 0; i < std::size(contact_law_names); ++i)
        if (name == contact_law_names[i]) return static_cast<ContactLaw>(i);
    return std::nullopt;
}

// Cone of friction of ContactLaw::mujoco. Pyramidal: forces along edges (solvers/rows/contact_rows.hpp).
enum class FrictionCone { elliptic, pyramidal };

// What is implicit in a step, and in what order. semi_implicit: damping acts with the contacts, implicitly on
// the diagonal. The others are integrators of MuJoCo: damping acts after the contacts
// (solvers/step/late_damping.hpp), and that of the joints alone is implicit (Euler), or with the velocity gains
// of their actuators (implicitfast), or none (explicit: Euler without MuJoCo's flag eulerdamp; rk4:
// solvers/step/runge_kutta.hpp). They need ContactLaw::mujoco.
enum class Integrator { semi_implicit, mujoco_euler, mujoco_implicitfast, mujoco_explicit, mujoco_rk4 };

// Contact solvers: one row of the table below each.
enum class SolverType { pgs, lcp, ncp, apgd };
struct SolverKind {
    SolverType type;
    const char* name;  // in scenes
    FrictionLaw law;   // of a cone: without De Saxce's correction where Settings::relaxed is set
    bool sweeps;       // runs a number of sweeps, converged or not, that can be pulled back themselves
};
inline constexpr SolverKind solver_kinds[] = {
    {SolverType::pgs, "pgs", FrictionLaw::box, true},              // projected Gauss-Seidel
    {SolverType::lcp, "lcp", FrictionLaw::box, false},             // pivoting
    {SolverType::ncp, "ncp", FrictionLaw::cone, false},            // a first-order method, then Newton's
    {SolverType::apgd, "apgd", FrictionLaw::relaxed_cone, false},  // accelerated projected gradient descent
};
constexpr const SolverKind& solver_kind(SolverType type) {
    for (const SolverKind& kind : solver_kinds)
        if (kind.type == type) return kind;
    return solver_kinds[0];
}
static_assert([] {
    for (const SolverKind& kind : solver_kinds)
        if (&solver_kind(kind.type) != &kind) return false;
    return true;
}());

enum class ConeMethod { gauss_seidel, admm };

// Time of an impact with restitution. start: the beginning of its step. elastic: the same motion, but q+ has
// the gradient of an elastic impact (Werling et al. 2021, section VI). located: the time within the step at
// which the gap closes. See solvers/step/located_impact.hpp.
enum class Impact { start, elastic, located };

// Settings that are also parameters are read from theta. The other settings select what a step computes
// (tolerance, rest_speed and margin are thresholds) and have no derivative.
struct Settings {
    SolverType solver = SolverType::ncp;
    ImpulseGradient gradient = ImpulseGradient::automatic;
    bool complementarity_aware = false;  // for implicit gradients: solvers/step/implicit.hpp
    // in gradients, contacts without force that are less than this apart are springs of this stiffness, N/m,
    // where the gap closes, and softer in proportion to it: solvers/step/distant_contacts.hpp. 0 m: none
    double felt_distance = 0, felt_stiffness = 0;
    ConeMethod cone_method = ConeMethod::gauss_seidel;
    // ncp without De Saxce's correction: a convex problem, in which sliding bodies lift off
    bool relaxed = false;
    int sweeps = 50;  // pgs: number of sweeps
    // pgs: stop if no impulse changes by more than this in a sweep, N s; 0: run all sweeps
    double tolerance = 0;
    Impact impact = Impact::start;
    // start the solver from the last step's impulses, which become part of the state:
    // solvers/step/warm_start.hpp
    bool warm_start = false;
    int warm_contacts = 32;  // with a warm start: capacity of a state, contacts
    ForwardDynamics forward_dynamics = ForwardDynamics::automatic;
    Gyroscopic gyroscopic = Gyroscopic::midpoint;
    ContactLaw law = ContactLaw::rigid;
    // of ContactLaw::mujoco: the cone, and the compliance of a contact's normal row over that of its friction
    FrictionCone cone = FrictionCone::elliptic;
    double impratio = 1;
    Integrator integrator = Integrator::semi_implicit;
    // the Delassus operator of an island with more rows stays factored: solvers/step/delassus.hpp
    int max_dense_rows = 128;
    double time_step = 1e-3;    // s
    double compliance = 1e-6;   // R on the diagonal of the Delassus operator, 1/kg
    double erp = 0.2;           // share of a penetration removed per step
    double slop = 1e-4;         // penetration that is not removed, m
    double recovery_speed = 1;  // upper limit of the speed of recovery, m/s
    double rest_speed = 0.05;   // slower approaches do not bounce, m/s
    double margin = 0.01;       // contacts count while gap < max(margin, 2 h approach speed), m or rad
};

}  // namespace costate
