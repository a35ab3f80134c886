// Everything that a user sets about a step: solver, gradient, contact. No other header is needed to name
// them.
#pragma once

namespace costate {

// aba: articulated-body algorithm, pulled back operator by operator. crba: mass matrix and its factor, pulled
// back through the equations of motion where no sweeps are in between. automatic: crba, which also without
// contacts is the faster from 2 to 36 dofs.
enum class ForwardDynamics { automatic, aba, crba };

// pgs: projected Gauss-Seidel, a number of sweeps. lcp: the same boxed problem, exactly. ncp: friction cones,
// exactly.
enum class SolverType { pgs, lcp, ncp };

// Where in the step the gyroscopic bias of a free rigid body is evaluated: at its beginning, or in effect at
// its middle (core/dynamics/gyroscopic.hpp).
enum class Gyroscopic { explicit_bias, midpoint };

// How impulses are pulled back. swept: through the sweeps in reverse, exact for what ran, converged or not.
// implicit: through the equations of the active set, exact at a solution and cheaper. automatic: swept for
// pgs, implicit for exact solvers.
enum class ImpulseGradient { automatic, swept, implicit };

// The problem that a solver solves: impulses of friction in a box of two tangents, in the cone of Coulomb
// with De Saxce's correction, or in the cone without it.
enum class FrictionLaw { box, cone, relaxed_cone };

enum class ConeMethod { gauss_seidel, admm };

// An impact with restitution takes place at the beginning of its step (start); elastic: the same motion, but
// the gradient of q+ is that of an elastic impact (Werling et al. 2021, VI); located: where in the step the
// gap closes. See solvers/step/located_impact.hpp.
enum class Impact { start, elastic, located };

// Those that theta holds too count as it has them. The others decide what a step does (tolerance, rest_speed,
// margin: thresholds) and have no derivative.
struct Settings {
    SolverType solver = SolverType::ncp;
    ImpulseGradient gradient = ImpulseGradient::automatic;
    bool complementarity_aware = false;  // of implicit gradients: see solvers/step/implicit.hpp
    ConeMethod cone_method = ConeMethod::gauss_seidel;
    // ncp without De Saxce's correction: the convex problem, in which what slides lifts off
    bool relaxed = false;
    int sweeps = 50;  // of pgs
    // of pgs: stop when no impulse changes by more than this in a sweep, N s; 0: never
    double tolerance = 0;
    Impact impact = Impact::start;
    // the solver starts from the last step's impulses, which a state then holds: solvers/step/warm_start.hpp
    bool warm_start = false;
    int warm_contacts = 32;  // how many contacts a state has room for, then
    ForwardDynamics forward_dynamics = ForwardDynamics::automatic;
    Gyroscopic gyroscopic = Gyroscopic::midpoint;
    // larger islands do not multiply out their Delassus operator: solvers/step/delassus.hpp
    int max_dense_rows = 128;
    double time_step = 1e-3;    // s
    double compliance = 1e-6;   // R on the diagonal of the Delassus operator, 1/kg
    double erp = 0.2;           // share of a penetration taken back per step
    double slop = 1e-4;         // penetration that is left alone, m
    double recovery_speed = 1;  // fastest recovery from penetration, m/s
    double rest_speed = 0.05;   // slower approaches do not bounce, m/s
    double margin = 0.01;       // rows exist while gap < max(margin, 2 h approach speed), m or rad
};

}  // namespace costate
