// Film: what a page shows of one run. Frames are states of the run, every so many steps.
#pragma once

#include <functional>

#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/io/trajectory_reader.hpp"
#include "scenes/scene.hpp"

namespace costate {

// What is filmed beside the poses.
struct Overlays {
    bool contacts = true, gradient = true;
};

struct Film {
    std::string label;
    VecX<double> theta;         // of the run
    int states = 0, every = 1;  // of the run; a frame is every `every`-th of them, and the last
    double loss = 0;            // if `has_loss`
    bool has_loss = false, has_contacts = false, has_gradient = false;
    std::vector<std::string> notes;  // what the viewer should be told, one sentence each

    std::vector<double> times;      // (frames) s
    std::vector<double> positions;  // (frames x bodies x 3) m, world
    // (frames x bodies x 4) w x y z, of the two signs the one nearer to the frame before
    std::vector<double> quaternions;
    // (frames x nu) of the step that starts there; the last frame repeats those before it
    std::vector<double> controls;
    // Of the step that starts at a frame, on the first shape of the pair; the last frame repeats those before
    // it.
    std::vector<int> contacts;  // (frames) how many
    // (contacts x 3) m; N, the impulse over the step; world axes
    std::vector<double> contact_points, contact_forces;
    // Where the gradient was asked for: |dL/dq_t| and |dL/dv_t| over the tangent's coordinates in SI units,
    // the largest since the frame before; dL/d(impulse at each body's centre of mass), per N s; dL/du of the
    // step that starts there over its length.
    std::vector<double> adjoint_norms;      // (frames x 2)
    std::vector<double> impulse_gradients;  // (frames x bodies x 3)
    std::vector<double> control_gradients;  // (frames x nu)

    int frames() const { return static_cast<int>(times.size()); }
};

// The least stride that gives at most `most` frames, and of a world with many bodies fewer, so that the page
// stays light.
int frame_stride(const World& w, int states, int most);

// A rollout of the scene with these inputs, forwards and, for the gradient, back. Throws DivergenceError.
// filmed(film) is called after every frame but the last, and may take away all frames but this one, if the
// gradient was not asked for.
Film film_rollout(const Scene& scene, Rollout<Simulation>& rollout, const RolloutInputs& in,
                  const std::string& label, const Overlays& overlays, int most_frames,
                  const std::function<void(Film&)>& filmed = {});

// Takes away all frames but the last.
void keep_last_frame(Film& film, int bodies, int nu);

// A trajectory of the scene that was read from a file: poses from its coordinates; contacts by running each
// step that is shown.
Film film_trajectory(const Scene& scene, const Trajectory& trajectory, const std::string& label,
                     const Overlays& overlays, int most_frames);

}  // namespace costate
