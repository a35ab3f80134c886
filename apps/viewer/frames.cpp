#include "apps/viewer/frames.hpp"

#include <algorithm>
#include <cmath>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/optimize/optimize.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/sensitivity.hpp"
#include "apps/io/output.hpp"
#include "apps/io/progress.hpp"
#include "solvers/step/observation.hpp"

namespace costate {

namespace {

constexpr int max_poses = 2'000'000;      // over all bodies and frames, about 10 MB in a page
constexpr size_t max_contacts = 400'000;  // over all frames

void append(std::vector<double>& to, const Vec3<double>& x) { to.insert(to.end(), {x.x(), x.y(), x.z()}); }

// Records the frames of a rollout or a trajectory one by one.
class FrameRecorder {
public:
    FrameRecorder(const Scene& scene, const Observation<double>& y, const VecX<double>& theta,
                  FrameSequence& sequence)
        : w_(scene.world),
          y_(y),
          sequence_(sequence),
          h_(w_.h(theta)) {}

    bool records(int state) const { return state % sequence_.every == 0 || state == sequence_.states - 1; }

    void pose(double time) {
        sequence_.times.push_back(time);
        for (size_t i = 0; i < w_.model.bodies.size(); ++i) {
            append(sequence_.positions, y_.position(static_cast<int>(i)));
            Eigen::Quaterniond q(y_.rotation(static_cast<int>(i)));
            std::vector<double>& all = sequence_.quaternions;
            const size_t before = all.size() - 4 * w_.model.bodies.size();
            if (sequence_.frames() > 1 && all[before] * q.w() + all[before + 1] * q.x() +
                                                  all[before + 2] * q.y() + all[before + 3] * q.z() <
                                              0)
                q.coeffs() *= -1;
            all.insert(all.end(), {q.w(), q.x(), q.y(), q.z()});
        }
    }

    // Records the contacts of the last step.
    void contacts() {
        int count = 0;
        for (int i = 0; i < y_.contacts() && sequence_.contact_points.size() / 3 < max_contacts; ++i) {
            const ContactObservation<double> c = y_.contact(i);
            if (c.impulse.isZero(0)) continue;
            append(sequence_.contact_points, c.point);
            append(sequence_.contact_forces, c.impulse / h_);
            ++count;
        }
        sequence_.contacts.push_back(count);
        if (sequence_.contact_points.size() / 3 >= max_contacts && sequence_.notes.empty())
            sequence_.notes.push_back("Contacts after " + std::to_string(sequence_.times.back()) +
                                      " s are not shown: there are too many.");
    }

    void controls(const double* u) {
        for (int n = 0; n < w_.nu(); ++n)
            sequence_.controls.push_back(u[n]);
    }

    // Repeats the last step for the final frame, which no step follows.
    void repeat_last_step() {
        // zeros if there is no earlier step
        const auto repeat = [](std::vector<double>& all, size_t count) {
            for (size_t i = 0; i < count; ++i)
                all.push_back(all.size() >= count ? all[all.size() - count] : 0.0);
        };
        repeat(sequence_.controls, static_cast<size_t>(w_.nu()));
        if (!sequence_.has_contacts) return;
        const int count = sequence_.contacts.empty() ? 0 : sequence_.contacts.back();
        sequence_.contacts.push_back(count);
        repeat(sequence_.contact_points, 3 * static_cast<size_t>(count));
        repeat(sequence_.contact_forces, 3 * static_cast<size_t>(count));
    }

private:
    const World& w_;
    const Observation<double> y_;
    FrameSequence& sequence_;
    double h_;
};

// Adds the gradient to recorded frames, by a backward pass.
void add_gradient(const Scene& scene, Rollout<Simulation>& rollout, const RolloutInputs& in,
                  FrameSequence& sequence) {
    const World& w = scene.world;
    const double h = w.h(in.theta);
    const size_t frames = sequence.frames(), nb = w.model.bodies.size(), nu = static_cast<size_t>(w.nu());
    sequence.adjoint_norms.assign(2 * frames, 0.0);
    sequence.impulse_gradients.assign(3 * nb * frames, 0.0);
    sequence.control_gradients.assign(nu * frames, 0.0);
    std::vector<Motion<double>> room;
    std::vector<Vec3<double>> gradients;
    Gradient g;
    Progress progress("gradient of " + scene.name);
    rollout.backward(in.theta, in.z, g, [&](int t, const double* x_bar, const double* u_bar) {
        // the first frame at or after step t
        const size_t frame =
            std::min(frames - 1, static_cast<size_t>((t + sequence.every - 1) / sequence.every));
        for (const size_t part : {0, 1}) {
            double& norm = sequence.adjoint_norms[2 * frame + part];
            norm = std::max(
                norm, Eigen::Map<const VecX<double>>(x_bar + static_cast<int>(part) * w.nv(), w.nv()).norm());
        }
        if (progress.due()) progress.draw(1 - static_cast<double>(t) / scene.steps);
        if (t == scene.steps || t % sequence.every != 0) return;
        impulse_gradients(w, in.theta.data(), rollout.step().scratch(), room, gradients);
        for (size_t i = 0; i < nb; ++i)
            std::copy_n(
                gradients[i].data(), 3,
                sequence.impulse_gradients.begin() + static_cast<std::ptrdiff_t>(3 * (frame * nb + i)));
        for (size_t n = 0; n < nu; ++n)
            sequence.control_gradients[frame * nu + n] = u_bar[n] / h;
    });
    sequence.has_gradient = true;
}

}  // namespace

int frame_stride(const World& w, int states, int max_frames) {
    const int bodies = std::max<int>(1, static_cast<int>(w.model.bodies.size()));
    const int frames = std::max(2, std::min(max_frames, std::max(100, max_poses / bodies)));
    return std::max(1, (states - 2) / (frames - 1) + 1);
}

void keep_last_frame(FrameSequence& sequence, int bodies, int nu) {
    const auto keep = [](auto& all, int count) { all.erase(all.begin(), all.end() - count); };
    keep(sequence.times, 1);
    keep(sequence.positions, 3 * bodies);
    keep(sequence.quaternions, 4 * bodies);
    keep(sequence.controls, nu);
    if (!sequence.has_contacts) return;
    const int contacts = sequence.contacts.back();
    keep(sequence.contacts, 1);
    keep(sequence.contact_points, 3 * contacts);
    keep(sequence.contact_forces, 3 * contacts);
}

FrameSequence frames_of_rollout(const Scene& scene, Rollout<Simulation>& rollout, const RolloutInputs& in,
                                const std::string& label, const Overlays& overlays, int max_frames,
                                const std::function<void(FrameSequence&)>& on_frame) {
    FrameSequence sequence;
    sequence.label = label;
    sequence.theta = in.theta;
    sequence.states = scene.steps + 1;
    sequence.every = frame_stride(scene.world, sequence.states, max_frames);
    sequence.has_contacts = overlays.contacts;
    sequence.has_loss = !scene.objective.empty();
    const double h = in.theta[scene.world.time_step.at(0)];
    FrameRecorder recorder(scene, rollout.step().observation(), in.theta, sequence);
    Progress progress("simulate " + scene.name);
    sequence.loss = rollout.forward(in.theta, in.x0, in.z, [&](int t, const double*, const double* u) {
        if (progress.due()) progress.draw(static_cast<double>(t) / scene.steps);
        if (!recorder.records(t)) return;
        recorder.pose(t * h);
        if (t == scene.steps) return recorder.repeat_last_step();
        recorder.controls(u);
        if (overlays.contacts) recorder.contacts();
        if (on_frame) on_frame(sequence);
    });
    if (rollout.divergence()) throw DivergenceError(scene.world.model, rollout.divergence());
    if (overlays.gradient && sequence.has_loss) add_gradient(scene, rollout, in, sequence);
    return sequence;
}

FrameSequence frames_of_trajectory(const Scene& scene, const Trajectory& trajectory, const std::string& label,
                                   const Overlays& overlays, int max_frames) {
    const World& w = scene.world;
    FrameSequence sequence;
    sequence.label = label;
    sequence.theta = scene.theta;
    sequence.states = static_cast<int>(trajectory.times.size());
    sequence.every = frame_stride(w, sequence.states, max_frames);
    sequence.has_contacts = overlays.contacts && trajectory.complete;
    if (sequence.states == 0)
        sequence.notes.push_back("The trajectory is empty; the scene is shown at its start.");
    if (overlays.contacts && !trajectory.complete)
        sequence.notes.push_back(
            "Contacts are unknown, because the trajectory has no velocities and controls.");
    StepScratch<double> scratch(w);
    FrameRecorder recorder(scene, {w, scratch}, sequence.theta, sequence);
    VecX<double> unused(w.nx()), wrenches(6 * static_cast<Eigen::Index>(w.model.bodies.size()));
    for (int n = 0; n < sequence.states; ++n) {
        if (!recorder.records(n)) continue;
        const VecX<double>&x = trajectory.states[n], &u = trajectory.controls[n];
        const bool last = n == sequence.states - 1;
        if (sequence.has_contacts && !last) {
            wrenches.setZero();
            push_wrenches(w, sequence.theta.data(), trajectory.times[n], wrenches.data());
            step(w, {sequence.theta.data(), x.data(), u.data(), wrenches.data()}, scratch, unused.data());
        } else
            observe(w, sequence.theta.data(), x.data(), scratch);
        recorder.pose(trajectory.times[n]);
        if (last) {
            recorder.repeat_last_step();
            continue;
        }
        recorder.controls(u.data());
        if (sequence.has_contacts) recorder.contacts();
    }
    if (sequence.states > 0) return sequence;
    // one frame with the start
    observe(w, sequence.theta.data(), scene.x0.data(), scratch);
    recorder.pose(0);
    recorder.repeat_last_step();
    return sequence;
}

}  // namespace costate
