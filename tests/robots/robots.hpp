// What is looked at in a robot file. All of it goes through the C API.
#pragma once

#include <filesystem>
#include <random>
#include <string>

#include "tests/support/c_model.hpp"

namespace costate::test {

// A robot file by itself. law: of contact, "rigid" or "mujoco". search: a folder to search for meshes and included
// files; empty: none
CModel load_robot(const std::filesystem::path& file, const char* law, const std::string& search);
// The same, above level ground if it falls otherwise.
CModel load_on_ground(const std::filesystem::path& file, const char* law, const std::string& search);

// Falls of a robot: random joint angles and activations near the start, random velocities, and controls that are random
// in every step. States are those of steps with contact, up to `per_fall` of one fall, which takes 300 steps after the first
// contact, and at most 1000. A robot that touches nothing in three falls is looked at without contact.
class Falls {
public:
    Falls(const CModel& model, unsigned long long seed, int per_fall);
    State next();                              // the next state
    bool touches() const { return touches_; }  // whether it is one with contact

private:
    void begin();
    const CModel& model_;
    std::mt19937_64 bits_;
    State state_;
    int per_fall_, taken_ = 0, step_ = 0, since_contact_ = 0, idle_falls_ = 0;
    bool touches_ = true;
};

struct GradientTable {
    int states = 0, touching = 0, verdicts[classes] = {};
    double worst_clean = 0;  // largest error of a clean derivative, relative to its column
    double modes_apart =
        0;  // largest relative difference of forward and reverse mode, where the former is clean
    std::vector<std::string> wrong;
};

// The derivatives of a step in `states` random states against central differences, each along one random direction
// of q, of v, of activations, of u and of all parameters: by forward mode, by reverse mode and by the Jacobian of a step. Ends early after
// `seconds` of processor time.
GradientTable check_gradients(CModel& model, int states, unsigned long long seed, double seconds);

// The smooth dynamics of an MJCF file beside MuJoCo's, in random states: the largest error of the equation of motion
// of a step without constraints, relative to its largest term. Throws std::runtime_error, in one line, if the two
// models cannot be compared.
double smooth_error_beside_mujoco(const std::filesystem::path& file, const std::string& search, int states,
                                  unsigned long long seed);

}  // namespace costate::test
