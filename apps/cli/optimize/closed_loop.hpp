// costate optimize --method receding_horizon against a plant.
#pragma once

#include "adjoint/optimize/optimize.hpp"
#include "apps/cli/command.hpp"

namespace costate {

std::vector<Option> loop_options();
// True if an option asks for a plant that is not the scene itself.
bool wants_plant(const Arguments& a);
// Runs the loop, prints its rate and cost, and writes result.json and plant.csv.
int control_plant(const Arguments& a, const Scene& scene, const Variables& variables);

}  // namespace costate
