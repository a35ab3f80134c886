// Robot descriptions in other formats, as the JSON value of a model: there is one loader, and it reads what
// importers emit.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "scenes/format/json.hpp"

namespace costate {

struct ImportedModel {
    Json model = Json::object();  // as a model file holds it
    // what the file says of the world: keys of a scene, such as "gravity" and "time_step"
    Json scene = Json::object();
    // JSON pointer into `model` -> "<file>:<line>" that it came from
    std::map<std::string, std::string> places;
    std::map<std::string, std::string> scene_places = {};  // the same of `scene`
    std::vector<std::string> warnings;                     // one line each
};

}  // namespace costate
