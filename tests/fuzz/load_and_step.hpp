// Whatever a file holds, the loader takes it or says why not in its documented line, and what it takes can be
// stepped.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "scenes/scene.hpp"

namespace costate::test {

// In one line, "<file>:<line>: what; remedy" of XML, "<file><place>: what; remedy" of JSON or of a file
// beside it that it names.
inline bool is_documented(const std::string& message, const std::filesystem::path& file) {
    const auto control = [](unsigned char c) { return std::iscntrl(c) != 0; };
    if (message.find("; ") == std::string::npos || std::any_of(message.begin(), message.end(), control))
        return false;
    if (!is_robot_file(file)) return message.starts_with(file.parent_path().string());
    const std::string begin = file.string() + ":";
    const size_t end = message.find_first_not_of("0123456789", begin.size());
    return message.starts_with(begin) && end > begin.size() && message.compare(end, 2, ": ") == 0;
}

// Two steps and their gradient, of what is small and by few sweeps; states that are not finite end them.
inline void step_twice(Scene scene) {
    if (scene.world.nv() > 60 || scene.world.shapes.shapes.size() > 30) return;
    scene.world.settings.sweeps = std::min(scene.world.settings.sweeps, 5);
    Simulation simulation(scene.world, scene.objective);
    Rollout<Simulation> rollout(simulation, scene.plan, std::min(scene.steps, 2));
    rollout.forward(scene.theta, scene.x0, scene.z0);
    if (rollout.divergence()) return;
    Gradient gradient;
    rollout.backward(scene.theta, scene.z0, gradient);
}

// What the loader says of the file, nothing if it takes it. All but its documented complaint is an error of
// ours.
inline std::string load_and_step(const std::filesystem::path& file) {
    try {
        step_twice(load_scene(file.string()));
    } catch (const SceneError& e) {
        if (!is_documented(e.what(), file))
            throw std::logic_error(std::string("no documented complaint: ") + e.what());
        return e.what();
    }
    return "";
}

}  // namespace costate::test
