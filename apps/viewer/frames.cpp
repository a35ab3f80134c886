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

constexpr int most_poses = 2'000'000;      // over all bodies and frames, about 10 MB in a page
constexpr size_t most_contacts = 400'000;  // over all frames

void append(std::vector<double>& to, const Vec3<double>& x) { to.insert(to.end(), {x.x(), x.y(), x.z()}); }

// Records a film from a rollout or a trajectory, frame by frame.
class Camera {
public:
    Camera(const Scene& scene, const Observation<double>& y, const VecX<double>& theta, Film& film)
        : w_(scene.world),
          y_(y),
          film_(film),
          h_(w_.h(theta)) {}

    bool wants(int state) const { return state % film_.every == 0 || state == film_.states - 1; }

    void pose(double time) {
        film_.times.push_back(time);
        for (size_t i = 0; i < w_.model.bodies.size(); ++i) {
            append(film_.positions, y_.position(static_cast<int>(i)));
            Eigen::Quaterniond q(y_.rotation(static_cast<int>(i)));
            std::vector<double>& all = film_.quaternions;
            const size_t before = all.size() - 4 * w_.model.bodies.size();
            if (film_.frames() > 1 && all[before] * q.w() + all[before + 1] * q.x() +
                                              all[before + 2] * q.y() + all[before + 3] * q.z() <
                                          0)
                q.coeffs() *= -1;
            all.insert(all.end(), {q.w(), q.x(), q.y(), q.z()});
        }
    }

    // Records the contacts of the last step.
    void contacts() {
        int count = 0;
        for (int i = 0; i < y_.contacts() && film_.contact_points.size() / 3 < most_contacts; ++i) {
            const ContactObservation<double> c = y_.contact(i);
            if (c.impulse.isZero(0)) continue;
            append(film_.contact_points, c.point);
            append(film_.contact_forces, c.impulse / h_);
            ++count;
        }
        film_.contacts.push_back(count);
        if (film_.contact_points.size() / 3 >= most_contacts && film_.notes.empty())
            film_.notes.push_back("Contacts after " + std::to_string(film_.times.back()) +
                                  " s are not shown: there are too many.");
    }

    void controls(const double* u) {
        for (int n = 0; n < w_.nu(); ++n)
            film_.controls.push_back(u[n]);
    }

    // Repeats the last step for the final frame, which no step follows.
    void repeat_last_step() {
        // zeros if there is no earlier step
        const auto repeat = [](std::vector<double>& all, size_t count) {
            for (size_t i = 0; i < count; ++i)
                all.push_back(all.size() >= count ? all[all.size() - count] : 0.0);
        };
        repeat(film_.controls, static_cast<size_t>(w_.nu()));
        if (!film_.has_contacts) return;
        const int count = film_.contacts.empty() ? 0 : film_.contacts.back();
        film_.contacts.push_back(count);
        repeat(film_.contact_points, 3 * static_cast<size_t>(count));
        repeat(film_.contact_forces, 3 * static_cast<size_t>(count));
    }

private:
    const World& w_;
    const Observation<double> y_;
    Film& film_;
    double h_;
};

// Adds the gradient to the frames of a film, by a backward pass.
void film_gradient(const Scene& scene, Rollout<Simulation>& rollout, const RolloutInputs& in, Film& film) {
    const World& w = scene.world;
    const double h = w.h(in.theta);
    const size_t frames = film.frames(), nb = w.model.bodies.size(), nu = static_cast<size_t>(w.nu());
    film.adjoint_norms.assign(2 * frames, 0.0);
    film.impulse_gradients.assign(3 * nb * frames, 0.0);
    film.control_gradients.assign(nu * frames, 0.0);
    std::vector<Motion<double>> room;
    std::vector<Vec3<double>> gradients;
    Gradient g;
    Progress progress("gradient of " + scene.name);
    rollout.backward(in.theta, in.z, g, [&](int t, const double* x_bar, const double* u_bar) {
        // the first frame at or after step t
        const size_t frame = std::min(frames - 1, static_cast<size_t>((t + film.every - 1) / film.every));
        for (const size_t part : {0, 1}) {
            double& norm = film.adjoint_norms[2 * frame + part];
            norm = std::max(
                norm, Eigen::Map<const VecX<double>>(x_bar + static_cast<int>(part) * w.nv(), w.nv()).norm());
        }
        if (progress.due()) progress.draw(1 - static_cast<double>(t) / scene.steps);
        if (t == scene.steps || t % film.every != 0) return;
        impulse_gradients(w, in.theta.data(), rollout.step().scratch(), room, gradients);
        for (size_t i = 0; i < nb; ++i)
            std::copy_n(gradients[i].data(), 3,
                        film.impulse_gradients.begin() + static_cast<std::ptrdiff_t>(3 * (frame * nb + i)));
        for (size_t n = 0; n < nu; ++n)
            film.control_gradients[frame * nu + n] = u_bar[n] / h;
    });
    film.has_gradient = true;
}

}  // namespace

int frame_stride(const World& w, int states, int most) {
    const int bodies = std::max<int>(1, static_cast<int>(w.model.bodies.size()));
    const int frames = std::max(2, std::min(most, std::max(100, most_poses / bodies)));
    return std::max(1, (states - 2) / (frames - 1) + 1);
}

void keep_last_frame(Film& film, int bodies, int nu) {
    const auto keep = [](auto& all, int count) { all.erase(all.begin(), all.end() - count); };
    keep(film.times, 1);
    keep(film.positions, 3 * bodies);
    keep(film.quaternions, 4 * bodies);
    keep(film.controls, nu);
    if (!film.has_contacts) return;
    const int contacts = film.contacts.back();
    keep(film.contacts, 1);
    keep(film.contact_points, 3 * contacts);
    keep(film.contact_forces, 3 * contacts);
}

Film film_rollout(const Scene& scene, Rollout<Simulation>& rollout, const RolloutInputs& in,
                  const std::string& label, const Overlays& overlays, int most_frames,
                  const std::function<void(Film&)>& filmed) {
    Film film;
    film.label = label;
    film.theta = in.theta;
    film.states = scene.steps + 1;
    film.every = frame_stride(scene.world, film.states, most_frames);
    film.has_contacts = overlays.contacts;
    film.has_loss = !scene.objective.empty();
    const double h = in.theta[scene.world.time_step.at(0)];
    Camera camera(scene, rollout.step().observation(), in.theta, film);
    Progress progress("simulate " + scene.name);
    film.loss = rollout.forward(in.theta, in.x0, in.z, [&](int t, const double*, const double* u) {
        if (progress.due()) progress.draw(static_cast<double>(t) / scene.steps);
        if (!camera.wants(t)) return;
        camera.pose(t * h);
        if (t == scene.steps) return camera.repeat_last_step();
        camera.controls(u);
        if (overlays.contacts) camera.contacts();
        if (filmed) filmed(film);
    });
    if (rollout.divergence()) throw DivergenceError(scene.world.model, rollout.divergence());
    if (overlays.gradient && film.has_loss) film_gradient(scene, rollout, in, film);
    return film;
}

Film film_trajectory(const Scene& scene, const Trajectory& trajectory, const std::string& label,
                     const Overlays& overlays, int most_frames) {
    const World& w = scene.world;
    Film film;
    film.label = label;
    film.theta = scene.theta;
    film.states = static_cast<int>(trajectory.times.size());
    film.every = frame_stride(w, film.states, most_frames);
    film.has_contacts = overlays.contacts && trajectory.complete;
    if (film.states == 0) film.notes.push_back("The trajectory is empty; the scene is shown at its start.");
    if (overlays.contacts && !trajectory.complete)
        film.notes.push_back("Contacts are unknown, because the trajectory has no velocities and controls.");
    StepScratch<double> scratch(w);
    Camera camera(scene, {w, scratch}, film.theta, film);
    VecX<double> unused(w.nx());
    for (int n = 0; n < film.states; ++n) {
        if (!camera.wants(n)) continue;
        const VecX<double>&x = trajectory.states[n], &u = trajectory.controls[n];
        const bool last = n == film.states - 1;
        if (film.has_contacts && !last)
            step(w, film.theta.data(), x.data(), u.data(), scratch, unused.data());
        else
            observe(w, film.theta.data(), x.data(), scratch);
        camera.pose(trajectory.times[n]);
        if (last) {
            camera.repeat_last_step();
            continue;
        }
        camera.controls(u.data());
        if (film.has_contacts) camera.contacts();
    }
    if (film.states > 0) return film;
    // one frame with the start
    observe(w, film.theta.data(), scene.x0.data(), scratch);
    camera.pose(0);
    camera.repeat_last_step();
    return film;
}

}  // namespace costate
