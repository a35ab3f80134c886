// The initial state of a scene: positions and velocities of its joints, and activations.
#pragma once

#include "scenes/format/json.hpp"
#include "solvers/world.hpp"

namespace costate {

struct StartInput {
    VecX<double> x0;                 // (nx)
    std::vector<int> initial_state;  // entries of the tangent (own_ndx) of x0 to optimize
};

// The names of the actuators with dynamics, in the order of their activations.
std::vector<std::string> activated_names(const Model& model);

// Reads "initial"; what it does not name starts at q (nq), v (nv) and the activations (na).
StartInput read_start(const Node& scene, const Model& model, const VecX<double>& q, const VecX<double>& v,
                      const VecX<double>& activations);

// Sets the configuration q (nq) of the joints that an object names: a number for one dof, a pose for others.
void read_configuration(const Node& joints, const Model& model, VecX<double>& q);

// The last dof with practically no inertia at x0, for example with its axis through a point mass; -1 if there
// is none.
int dof_without_inertia(const World& world, const VecX<double>& theta, const VecX<double>& x0);
// Fails if a dof has no inertia.
void check_inertia(const Node& scene, const World& world, const VecX<double>& theta, const VecX<double>& x0);

}  // namespace costate
