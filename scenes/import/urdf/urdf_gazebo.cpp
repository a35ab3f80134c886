// <gazebo> elements: settings of links by names of Gazebo (sdformat, "URDF in Gazebo").
#include <algorithm>
#include <array>

#include "scenes/import/gazebo.hpp"
#include "scenes/import/urdf/urdf_parts.hpp"

namespace costate {
namespace {

bool is_true(const XmlElement& setting) {
    const std::string text = setting.value().text();
    return text == "true" || text == "1";
}

// Reads a setting of a link; false if it is none that is supported.
bool read_setting(const XmlElement& setting, GazeboLink& link) {
    const std::string name = setting.name();
    if (name == "mu1")
        link.contact["friction"] = std::min(setting.value().nonnegative(), gazebo_ground);
    else if (name == "kp")
        link.contact["stiffness"] = setting.value().positive();
    else if (name == "kd")
        link.contact["damping"] = setting.value().nonnegative();
    else if (name == "gravity" || name == "turnGravityOff")
        link.weightless = is_true(setting) == (name == "turnGravityOff");
    else
        return false;
    return true;
}

}  // namespace

GazeboSettings read_gazebo(const XmlElement& robot, const ImportOptions& options, Warnings& warnings) {
    constexpr std::array moving{"dampingFactor", "static",          "stopCfm",
                                "stopErp",       "springStiffness", "springReference"};
    GazeboSettings out;
    for (const XmlElement& gazebo : robot.children("gazebo")) {
        GazeboLink& link = out[gazebo.text_or("reference", "")];
        for (const XmlElement& setting : gazebo.children()) {
            const std::string name = setting.name();
            if (read_setting(setting, link)) continue;
            if (name == "selfCollide" && is_true(setting) && !options.self_collision)
                setting.warn(warnings, "in <gazebo> is ignored", "let links collide with --self-collision");
            if (std::ranges::find(moving, name) != moving.end())
                setting.warn(warnings, "in <gazebo> is not supported and is ignored",
                             "remove it to silence this");
        }
        const auto mu1 = gazebo.child("mu1"), mu2 = gazebo.child("mu2");
        if (mu2 && mu2->value().nonnegative() != (mu1 ? mu1->value().number() : 1))
            mu2->warn(warnings, "in <gazebo> differs from mu1, which is used in all directions",
                      "give both the same coefficient");
    }
    for (auto& [name, link] : out)
        if (link.contact.value("stiffness", gazebo_rigid) >= gazebo_rigid) {
            link.contact.erase("stiffness");
            link.contact.erase("damping");
        }
    return out;
}

}  // namespace costate
