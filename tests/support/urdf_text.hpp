// Small robots as URDF text, and the messages about wrong robots.
#pragma once

#include "scenes/read/world/robot_file.hpp"
#include "tests/support/mesh_texts.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {

// A mass, a link and a joint, the parts of a robot.
inline std::string urdf_inertial(const std::string& mass = "1") {
    return "<inertial><mass value='" + mass + "'/><inertia ixx='0.1' iyy='0.1' izz='0.1'/></inertial>";
}
inline std::string urdf_link(const std::string& name, const std::string& content = urdf_inertial()) {
    return "<link name='" + name + "'>" + content + "</link>\n";
}
inline std::string urdf_joint(
    const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
    const std::string& content = "<axis xyz='0 0 1'/><limit lower='-1' upper='1' effort='5' velocity='2'/>") {
    return "<joint name='" + name + "' type='" + type + "'><parent link='" + parent + "'/><child link='" +
           child + "'/>" + content + "</joint>\n";
}
inline std::string urdf_robot(const std::string& content) {
    return "<robot name='r'>\n" + content + "</robot>\n";
}

// Writes a text to "robot.urdf" in a temporary folder and imports it.
inline ImportedModel import_text(const std::string& text, const ImportOptions& options = {}) {
    const ScratchFolder folder("urdf");
    return import_model(folder.write("robot.urdf", text), options);
}

// The message about a text, starting with the file name: "robot.urdf:<line>: fault; remedy".
inline std::string urdf_complaint(const std::string& text, const ImportOptions& options = {}) {
    const std::string message = complaint([&] { import_text(text, options); });
    return message.substr(std::min(message.find("robot.urdf"), message.size()));
}
inline void refuse_urdf(const std::string& text, int line, const std::string& what, const std::string& remedy,
                        const ImportOptions& options = {}) {
    CAPTURE(text.substr(0, 2000));
    check_complaint(urdf_complaint(text, options), "robot.urdf:" + std::to_string(line) + ": ", what, remedy);
}

}  // namespace costate::test
