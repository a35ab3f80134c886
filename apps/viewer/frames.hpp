// The recorded frames of one run, for a page. A frame is a state of the run, at a fixed stride of steps.
#pragma once

#include <functional>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/io/trajectory_reader.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Optional recordings in addition to the poses.
struct Overlays {
    bool contacts = true, gradient = true;
};

struct FrameSequence {
    std::string label;
    VecX<double> theta;         // parameters of the run
    int states = 0, every = 1;  // number of states of the run; frames are every `every`-th state and the last
    double loss = 0;            // valid if `has_loss`
    bool has_loss = false, has_contacts = false, has_gradient = false;
    std::vector<std::string> notes;  // notes for the reader, one sentence each

    std::vector<double> times;      // (frames) s
    std::vector<double> positions;  // (frames x bodies x 3) m, world
    // (frames x bodies x 4) w x y z, with the sign that is nearer to the previous frame
    std::vector<double> quaternions;
    // (frames x nu) controls of the step that starts at the frame; the last frame repeats the previous ones
    std::vector<double> controls;
    // Contacts of the step that starts at a frame, with the force on the first shape of the pair; the last
    // frame repeats the previous ones.
    std::vector<int> contacts;  // (frames) number of contacts
    // (contacts x 3) m; N, the impulse over the step; world axes
    std::vector<double> contact_points, contact_forces;
    // If the gradient was requested: |dL/dq_t| and |dL/dv_t| in tangent coordinates and SI units, the largest
    // since the previous frame; dL/d(impulse at each body's centre of mass), per N s; dL/du of the step that
    // starts at the frame, divided by its length.
    std::vector<double> adjoint_norms;      // (frames x 2)
    std::vector<double> impulse_gradients;  // (frames x bodies x 3)
    std::vector<double> control_gradients;  // (frames x nu)

    int frames() const { return static_cast<int>(times.size()); }
};

// The least stride that gives at most `max_frames` frames; larger for worlds with many bodies, to limit the
// size of the page.
int frame_stride(const World& w, int states, int max_frames);

// Records a rollout of the scene with these inputs, and a backward pass if the gradient is requested. Throws
// DivergenceError. on_frame(sequence) is called after every frame but the last; without the gradient, it may
// remove all frames but this one.
FrameSequence frames_of_rollout(const Scene& scene, Rollout<Simulation>& rollout, const RolloutInputs& in,
                                const std::string& label, const Overlays& overlays, int max_frames,
                                const std::function<void(FrameSequence&)>& on_frame = {});

// Removes all frames but the last.
void keep_last_frame(FrameSequence& sequence, int bodies, int nu);

// Records a trajectory that was read from a file: poses from its coordinates, contacts by running the step of
// each frame.
FrameSequence frames_of_trajectory(const Scene& scene, const Trajectory& trajectory, const std::string& label,
                                   const Overlays& overlays, int max_frames);

}  // namespace costate
