// MJCF models given as text.
#pragma once

#include <cmath>

#include "scenes/import/mjcf/mjcf.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {

struct MjcfText {
    ImportedModel imported;
    std::vector<std::string> warnings;

    const Json& body(size_t i) const { return imported.model["bodies"][i]; }
    // The model as instance "m" in the world of the file
    Json scene_json() const {
        Json json = imported.scene;
        json["steps"] = 10;
        json["models"] = Json::array({{{"name", "m"}, {"model", imported.model}}});
        return json;
    }
    Scene scene() const { return scene_from_json(scene_json(), "m.json"); }
};

// Imports the content of <mujoco>.
inline MjcfText mjcf(const std::string& inside, bool strict = false) {
    Warnings warnings(strict);
    const XmlDocument document("<mujoco model=\"m\">\n" + inside + "\n</mujoco>", "m.xml", &warnings);
    MjcfText out{import_mjcf(document, {}, warnings), {}};
    out.warnings = warnings.lines();
    return out;
}

// One body with a hinge, a ball of 1 kg and more content.
inline std::string one_body(const std::string& inside, const std::string& joint = "<joint/>") {
    return "<worldbody><body name=\"b\">" + joint + "<geom size=\".1\" mass=\"1\"/>" + inside +
           "</body></worldbody>";
}

inline double json_value(const Json& json) { return json.get<double>(); }
inline bool json_equals(const Json& numbers, std::initializer_list<double> wanted) {
    if (numbers.size() != wanted.size()) return false;
    size_t i = 0;
    for (const double x : wanted)
        if (!(std::abs(json_value(numbers[i++]) - x) <= 1e-13)) return false;
    return true;
}

}  // namespace costate::test
