// costate_jacobian_beside_mujoco SCENE=FILE.xml...: microseconds of one step and of its Jacobian, of scenes
// by costate and of MuJoCo's files of the same machines by mjd_transitionFD; a table in Markdown.
//
// Each is taken 200 steps from where it starts (keyframe 0 if there is one, its controls held), and timed
// there: medians of 51 times processor time over many calls. Differences are MuJoCo's forward ones, the
// cheaper, of step 1e-6. Sweeps are replaced by lcp, whose gradient has a closed form; other settings are
// those of the files.
//
// Then the steps with their Jacobians of 256 states near it (a tangent vector of up to 1e-3 away, and 200 steps later),
// on one thread: by single calls, one after the other, and by Batch::jacobian; microseconds of a state.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "adjoint/batch/batch.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"

using namespace costate;

namespace {

constexpr int settling_steps = 200, runs = 51, states = 256;

[[noreturn]] void quit(const std::string& sentence) {
    std::fprintf(stderr, "costate_jacobian_beside_mujoco: %s\n", sentence.c_str());
    std::exit(2);
}

double median_us(const std::function<void()>& work) {
    int calls = 1;
    const auto run = [&] {
        const std::clock_t begin = std::clock();
        for (int k = 0; k < calls; ++k)
            work();
        return 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    };
    while (run() < 2000)
        calls *= 2;
    std::vector<double> us;
    for (int k = 0; k < runs; ++k)
        us.push_back(run() / calls);
    std::nth_element(us.begin(), us.begin() + runs / 2, us.end());
    return us[runs / 2];
}

struct Cost {
    double step, jacobian;
    int rows;
    double single = 0, batch = 0;  // of a state with its step, of many
};

Cost of_mujoco(mjModel* m) {
    mjData *d = mj_makeData(m), *there = mj_makeData(m);
    m->nkey > 0 ? mj_resetDataKeyframe(m, d, 0) : mj_resetData(m, d);
    if (m->nkey > 0) std::copy_n(m->key_ctrl, m->nu, d->ctrl);
    for (int k = 0; k < settling_steps; ++k)
        mj_step(m, d);
    mj_copyData(there, m, d);
    const size_t n = 2 * m->nv + m->na;
    std::vector<double> A(n * n), B(n * static_cast<size_t>(m->nu));
    const int rows = d->nefc;
    const double step = median_us([&] {
        mj_copyData(d, m, there);
        mj_step(m, d);
    }),
                 copy = median_us([&] { mj_copyData(d, m, there); });
    mj_copyData(d, m, there);
    const double jacobian =
        median_us([&] { mjd_transitionFD(m, d, 1e-6, 0, A.data(), B.data(), nullptr, nullptr); });
    mj_deleteData(d);
    mj_deleteData(there);
    return {.step = step - copy, .jacobian = jacobian, .rows = rows};
}

// The times of many states near x (nx) under u (nu).
void of_many(const World& w, const VecX<double>& theta, const VecX<double>& x, const VecX<double>& u,
             Cost& cost) {
    Batch batch(w, theta, x, {.n_env = states});
    const VecX<double> noise = VecX<double>::Constant(w.ndx(), 1e-3);
    batch.reset(nullptr, states, [&](size_t e, double* at) {
        std::copy(x.begin(), x.end(), at);
        perturb_state(w, noise.data(), e, at);
    });
    const int nx = w.nx(), ndx = w.ndx(), nu = w.nu();
    const VecX<double> controls = u.replicate(states, 1);
    for (int t = 0; t < settling_steps; ++t)
        batch.step(nullptr, controls.data(), nullptr);
    const std::vector<double> at = batch.states();
    VecX<double> by_x(states * ndx * ndx), by_u(states * ndx * nu), next(nx);
    cost.batch = median_us([&] {
                     batch.jacobian(at.data(), controls.data(), nullptr, by_x.data(), by_u.data(), nullptr);
                 }) /
                 states;
    StepScratch<double> scratch(w);
    StepJacobian J(w);
    cost.single = median_us([&] {
                      for (int e = 0; e < states; ++e) {
                          const double* from = at.data() + e * nx;
                          step(w, {theta.data(), from, u.data()}, scratch, next.data());
                          step_jacobian(w, theta.data(), from, u.data(), scratch, J);
                      }
                  }) /
                  states;
}

Cost of_costate(const std::string& name) {
    Scene s = load_scene(name, settling_steps);
    World& w = s.world;
    if (!w.implicit_gradient()) w.settings.solver = SolverType::lcp;
    StepScratch<double> scratch(w);
    StepJacobian J(w);
    VecX<double> x = s.x0, next(w.nx()), u(w.nu());
    for (int t = 0; t < settling_steps; ++t, x.swap(next)) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        step(w, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
    }
    const double forward = median_us([&] {
        step(w, {s.theta.data(), x.data(), u.data()}, scratch, next.data());
    });
    const double jacobian =
        median_us([&] { step_jacobian(w, s.theta.data(), x.data(), u.data(), scratch, J); });
    Cost cost{.step = forward, .jacobian = jacobian, .rows = scratch.rows.count};
    of_many(w, s.theta, x, u, cost);
    return cost;
}

void compare(const std::string& scene, const std::string& file) {
    char error[1000] = "";
    mjModel* m = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
    if (m == nullptr)
        return void(
            std::fprintf(stderr, "%s is left out: MuJoCo does not load it: %s\n", file.c_str(), error));
    const Cost ours = of_costate(scene), theirs = of_mujoco(m);
    std::printf("| `%s` | %d | %d | %.2f | %.2f | %.2f | %.2f | %d | %.1f | %.0f | %.0f | %.0f |\n",
                scene.c_str(), m->nv, ours.rows, ours.step, ours.jacobian, ours.single, ours.batch,
                theirs.rows, theirs.step, theirs.jacobian, theirs.jacobian / (ours.step + ours.jacobian),
                theirs.jacobian / ours.batch);
    std::fflush(stdout);
    mj_deleteModel(m);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) quit("usage: costate_jacobian_beside_mujoco SCENE=FILE.xml...");
    std::printf("MuJoCo %s; microseconds; the ratios count our step with its Jacobian\n\n",
                mj_versionString());
    std::printf(
        "| scene | dofs | rows | step | Jacobian | both, of %d by single calls | by a batch | MuJoCo's rows "
        "| step | mjd_transitionFD | ratio | of a batch "
        "|\n|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        states);
    try {
        for (int i = 1; i < argc; ++i) {
            const std::string pair = argv[i];
            const size_t equals = pair.find('=');
            if (equals == std::string::npos)
                quit("no = in " + pair + "; name a scene and a file, as hopper=hopper.xml");
            compare(pair.substr(0, equals), pair.substr(equals + 1));
        }
    } catch (const std::exception& e) {
        quit(e.what());
    }
}
