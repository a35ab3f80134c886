// Where a scene starts: positions and velocities of its joints.
#pragma once

#include "scenes/format/json.hpp"
#include "solvers/world.hpp"

namespace costate {

struct StartInput {
    VecX<double> x0;                 // (nx)
    std::vector<int> initial_state;  // entries of its tangent (2 nv) to optimize
};

// From "initial"; q (nq) and v (nv) are what it does not mention.
StartInput read_start(const Node& scene, const Model& model, const VecX<double>& q, const VecX<double>& v);

// Sets the configuration q (nq) of the joints that an object names: a number for one dof, a pose for others.
void read_configuration(const Node& joints, const Model& model, VecX<double>& q);

// The last dof that can be moved by next to nothing at x0, as when its axis passes through a point mass; -1
// if there is none.
int dof_without_inertia(const World& world, const VecX<double>& theta, const VecX<double>& x0);
// Fails if there is one.
void check_inertia(const Node& scene, const World& world, const VecX<double>& theta, const VecX<double>& x0);

}  // namespace costate
