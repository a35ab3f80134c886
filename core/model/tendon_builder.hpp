// The tendons of a model that is being built.
#pragma once

#include "core/model/model.hpp"

namespace costate {

// Where the parameters of a spatial tendon begin in theta: its points that are fixed in the world, in the order of
// places_of, and the radii of what it wraps around.
struct PathParameters {
    int world_points = 0, radii = 0;
};

// Adds tendons and their parameters. index: in the model, of the bodies' handles.
std::vector<PathParameters> add_tendons(Model& m, const std::vector<TendonSpec>& specs,
                                        const std::vector<int>& index);

// The entry of measured_tendons of a tendon, which is added if it has none.
int measured_tendon(Model& m, int tendon);

// Adds segments, and the dofs that change lengths. Sites and parameters are complete.
void complete_tendons(Model& m, const std::vector<TendonSpec>& specs,
                      const std::vector<PathParameters>& paths);

}  // namespace costate
