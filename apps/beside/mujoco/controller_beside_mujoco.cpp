// costate_controller_beside_mujoco SCENE PLANT STEPS [FILE.xml]: the receding-horizon controller of a scene in
// closed loop with a plant, as `costate optimize --plans 5`, with Jacobians of steps of several origins; rows of a
// table in Markdown: | Jacobians | ms of a plan | plans per s | loss |
//
// FILE.xml is the scene's robot as MuJoCo has it, with the same order of coordinates and actuators, and takes the
// scene's time step; without it there are no rows of MuJoCo. Rollouts and quadratic models of the objective are
// costate's in every row, so that rows differ in what the derivatives of a step cost and how well they serve.
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "adjoint/optimize/closed_loop.hpp"
#include "adjoint/optimize/control_table.hpp"
#include "adjoint/optimize/step_differences.hpp"
#include "adjoint/rollout/divergence.hpp"
#include "scenes/scene.hpp"

using namespace costate;

namespace {

constexpr double displacement = 1e-6;

[[noreturn]] void quit(const std::string& sentence) {
    std::fprintf(stderr, "costate_controller_beside_mujoco: %s\n", sentence.c_str());
    std::exit(2);
}

// Derivatives of MuJoCo's step by mjd_transitionFD, whose tangents of free joints are costate's.
class MuJoCo {
public:
    MuJoCo(const std::string& file, const World& w)
        : model_(nullptr, mj_deleteModel),
          data_(nullptr, mj_deleteData) {
        char error[1000] = "";
        model_.reset(mj_loadXML(file.c_str(), nullptr, error, sizeof error));
        if (!model_) quit(error);
        if (model_->nq != w.nq() || model_->nv != w.nv() || model_->nu != w.nu() || model_->na > 0)
            quit(file + " has other coordinates or actuators than the scene");
        model_->opt.timestep = w.settings.time_step;
        data_.reset(mj_makeData(model_.get()));
    }
    void jacobian(const double* x, const double* u, bool centred, StepJacobian& J) {
        const mjModel& m = *model_;
        mj_resetData(&m, data_.get());
        std::copy_n(x, m.nq, data_->qpos);
        std::copy_n(x + m.nq, m.nv, data_->qvel);
        std::copy_n(u, m.nu, data_->ctrl);
        mjd_transitionFD(&m, data_.get(), displacement, centred, J.by_x.data(), J.by_u.data(), nullptr,
                         nullptr);
    }

private:
    std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model_;
    std::unique_ptr<mjData, decltype(&mj_deleteData)> data_;
};

double median(std::vector<double> numbers) {
    const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), at, numbers.end());
    return *at;
}

void run_all(const Scene& scene, const Scene& plant, MuJoCo* mujoco) {
    const Variables variables(scene.world, scene.plan, scene.parameters, scene.initial_state,
                              {scene.theta, scene.x0, scene.z0});
    const Plant machine{
        plant.world, plant.theta,
        static_cast<int>(std::lround(scene.world.settings.time_step / plant.world.settings.time_step))};
    const LoopSettings settings{.steps = scene.steps, .horizon = scene.optimize.horizon, .plans = 5};
    const auto row = [&](const char* name, OtherJacobian jacobian) {
        ControlTable table(scene.plan, variables, scene.steps);
        table.settings.jacobian = std::move(jacobian);
        try {
            const LoopRun run = run_loop(scene.world, scene.objective, scene.theta, table.settings, machine,
                                         scene.x0, table.controls(variables.start()), settings);
            const double seconds = median(run.processor_seconds);
            std::printf("| %s | %.1f | %.0f | %.3g |\n", name, 1e3 * seconds, 1 / seconds, run.loss);
        } catch (const DivergenceError&) {
            std::printf("| %s | | | diverges |\n", name);
        }
        std::fflush(stdout);
    };
    using Wrenches = const double*;
    using Scratch = StepScratch<double>;
    row("exact", {});
    row("central differences of the same step",
        [&](const double* x, const double* u, Wrenches wrenches, Scratch& s, StepJacobian& J) {
            step_jacobian_by_differences(scene.world, scene.theta.data(), x, u, wrenches, displacement, s, J);
        });
    if (mujoco == nullptr) return;
    for (const bool centred : {false, true})
        row(centred ? "`mjd_transitionFD`, centred" : "`mjd_transitionFD`",
            [&, centred](const double* x, const double* u, Wrenches, Scratch&, StepJacobian& J) {
                mujoco->jacobian(x, u, centred, J);
            });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4 || argc > 5) quit("usage: costate_controller_beside_mujoco SCENE PLANT STEPS [FILE.xml]");
    try {
        const Scene scene = load_scene(argv[1], std::max(1, std::atoi(argv[3]))),
                    plant = load_scene(argv[2], {}, {}, scene.steps);
        std::optional<MuJoCo> mujoco;
        if (argc == 5) mujoco.emplace(argv[4], scene.world);
        run_all(scene, plant, mujoco ? &*mujoco : nullptr);
    } catch (const std::exception& e) {
        quit(e.what());
    }
}
