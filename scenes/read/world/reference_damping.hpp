// Springs and dampers that a file gives by time constants and damping ratios, forces of muscles that it gives by
// the acceleration that they cause, and their ranges of lengths where it gives none, as MJCF does. They become
// numbers at the reference configuration of the model, where all coordinates are 0, or from there
// (scenes/read/world/muscle_lengths.hpp), and do not follow its parameters after that.
#pragma once

#include "scenes/import/imported_model.hpp"
#include "scenes/read/model/model_reader.hpp"

namespace costate {

// What an imported model gives by ratios, taken out of it.
struct DampingRatios {
    struct Spring {
        double time, ratio;   // time constant, s; damping ratio
        bool spring, damper;  // that the joint has
    };
    std::vector<std::pair<int, double>> actuators;  // index and damping ratio of a position servo
    std::vector<std::pair<int, double>> muscles;    // index and scale of a muscle
    std::vector<int> lengths;                       // indices of muscles without a range of lengths
    std::map<std::string, Spring> joints;           // by name
    bool empty() const { return actuators.empty() && muscles.empty() && lengths.empty() && joints.empty(); }
};
DampingRatios take_damping_ratios(Json& model);

// Writes them as numbers. input: the model without them. Returns the indices of the muscles whose lengths do not
// settle; they have no force.
std::vector<int> put_damping(const DampingRatios& ratios, const ModelInput& input, Json& model);

}  // namespace costate
