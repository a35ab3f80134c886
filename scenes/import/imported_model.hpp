// The result of an importer: the JSON value of a model, which the one loader of models reads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenes/format/json.hpp"

namespace costate {

// Keys of a servo and of a joint that only an importer writes, until the model is complete: see
// scenes/read/world/reference_damping.hpp.
inline constexpr const char *damping_ratio_key = "damping_ratio", *spring_damper_key = "spring_damper",
                            *muscle_scale_key = "muscle_scale", *muscle_lengths_key = "muscle_lengths";

struct ImportedModel {
    Json model = Json::object();  // as a model file holds it
    // keys of a scene that the file sets, such as "gravity" and "time_step"
    Json scene = Json::object();
    // JSON pointer into `model` -> its source, "<file>:<line>"
    std::map<std::string, std::string> places;
    std::map<std::string, std::string> scene_places = {};  // the same for `scene`
    std::vector<std::string> warnings;                     // one line each
};

}  // namespace costate
