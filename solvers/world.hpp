// World: all that a step needs to know and no objective can be differentiated by: topology, shapes, settings. Const after
// building, shared by threads. The numbers are in theta, whose layout the model and the shapes have registered.
#pragma once

#include "collision/shape.hpp"
#include "solvers/mlcp.hpp"

namespace costate {

// aba: articulated-body algorithm, pulled back operator by operator. crba: mass matrix and its factor, pulled back through the equations
// of motion where no sweeps are in between. automatic: crba, which also without contacts is the faster from 2 to 36 dofs.
enum class ForwardDynamics { automatic, aba, crba };

// pgs: projected Gauss-Seidel, a number of sweeps. lcp: the same boxed problem, exactly. ncp: friction cones, exactly.
enum class SolverType { pgs, lcp, ncp };

// Of the impulses: sweeps backwards, exact for what ran, converged or not; or through the equations of the active set, exact at a
// solution and cheaper. automatic: the first for pgs, the second for exact solvers, which have no sweeps.
// Whether the bias of a free rigid body's rotation stands at the beginning of the step or, in effect, at its middle: core/gyroscopic.hpp.
enum class Gyroscopic { explicit_bias, midpoint };

enum class ImpulseGradient { automatic, swept, implicit };

enum class ConeMethod { gauss_seidel, admm };

// An impact with restitution takes place at the beginning of its step (start); elastic: the same motion, but the gradient of q+ is that
// of an elastic impact (Werling et al. 2021, VI); located: where in the step the gap closes. See solvers/located_impact.hpp.
enum class Impact { start, elastic, located };

// Those that theta holds too count as it has them. The others decide what a step does (tolerance, rest_speed, margin: thresholds)
// and have no derivative.
struct Settings {
    SolverType solver = SolverType::ncp;
    ImpulseGradient gradient = ImpulseGradient::automatic;
    bool complementarity_aware = false;  // of implicit gradients: see solvers/implicit.hpp
    ConeMethod cone_method = ConeMethod::gauss_seidel;
    bool relaxed = false;        // ncp without De Saxce's correction: the convex problem, in which what slides lifts off
    int sweeps = 50;             // of pgs
    double tolerance = 0;        // of pgs: stop when no impulse changes by more than this in a sweep, N s; 0: never
    Impact impact = Impact::start;
    bool warm_start = false;     // the solver starts from the last step's impulses, which a state then holds: solvers/warm_start.hpp
    int warm_contacts = 32;      // how many contacts a state has room for, then
    ForwardDynamics forward_dynamics = ForwardDynamics::automatic;
    Gyroscopic gyroscopic = Gyroscopic::midpoint;
    int most_dense_rows = 128;   // larger islands do not multiply out their Delassus operator: solvers/delassus.hpp
    double time_step = 1e-3;     // s
    double compliance = 1e-6;    // R on the diagonal of the Delassus operator, 1/kg
    double erp = 0.2;            // share of a penetration taken back per step
    double slop = 1e-4;          // penetration that is left alone, m
    double recovery_speed = 1;   // fastest recovery from penetration, m/s
    double rest_speed = 0.05;    // slower approaches do not bounce, m/s
    double margin = 0.01;        // rows exist while gap < max(margin, 2 h approach speed), m or rad
};

struct World {
    Model model;
    ShapeSet shapes;
    Settings settings;
    ParameterSlice time_step, compliance, erp, slop, recovery_speed;  // in units of the settings

    // Registers the settings that theta holds.
    World(Model m, ShapeSet s, const Settings& options) : model(std::move(m)), shapes(std::move(s)), settings(options) {
        const auto add = [&](const char* group, const char* quantity, ParameterRange range, double value) {
            return model.layout.add(group, {""}, quantity, 1, range, {value});
        };
        time_step = add("world", "time_step", ParameterRange::positive, settings.time_step);
        compliance = add("contact", "compliance", ParameterRange::nonnegative, settings.compliance);
        erp = add("contact", "erp", ParameterRange::nonnegative, settings.erp);
        slop = add("contact", "slop", ParameterRange::nonnegative, settings.slop);
        recovery_speed = add("contact", "recovery_speed", ParameterRange::nonnegative, settings.recovery_speed);
        if (settings.forward_dynamics == ForwardDynamics::automatic) settings.forward_dynamics = ForwardDynamics::crba;
    }

    bool implicit_gradient() const {
        return settings.solver != SolverType::pgs || settings.gradient == ImpulseGradient::implicit;
    }
    FrictionLaw friction_law() const {
        return settings.solver != SolverType::ncp ? FrictionLaw::box : (settings.relaxed ? FrictionLaw::relaxed_cone : FrictionLaw::cone);
    }

    int nq() const { return model.nq; }
    int nv() const { return model.nv; }
    int nu() const { return model.nu; }
    int nx() const { return model.nq + model.nv + warm_numbers(); }  // numbers of a state: q, v, and what a warm start keeps
    int ndx() const { return nx() - nq() + nv(); }  // numbers of its tangent; those of the kept keys are 0
    // whether entry i of a state names a contact whose impulses it keeps
    bool is_key(int i) const { return i >= nq() + nv() && i < nq() + nv() + warm_contacts(); }
    int np() const { return model.layout.size(); }
    int warm_contacts() const { return settings.warm_start ? settings.warm_contacts : 0; }
    int warm_numbers() const {
        if (!settings.warm_start) return 0;
        return 4 * settings.warm_contacts + static_cast<int>(2 * model.limits.size() + model.dry_dofs.size() + 6 * model.equalities.size());
    }
};

}  // namespace costate
