#include "apps/cli/optimize/closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "adjoint/optimize/closed_loop.hpp"
#include "adjoint/optimize/control_table.hpp"
#include "adjoint/optimize/step_differences.hpp"
#include "apps/io/optimized_values.hpp"
#include "apps/io/trajectory.hpp"
#include "scenes/format/names.hpp"

namespace costate {

std::vector<Option> loop_options() {
    return {
        {"plant", "FILE",
         "receding_horizon: control this scene or model instead of SCENE, which stays the model of the "
         "planner"},
        {"noise", "X",
         "receding_horizon: standard deviation of measured coordinates and velocities (see --seed)"},
        {"delay", "STEPS",
         "receding_horizon: age of a measurement when it is used; feedback gains then do not act"},
        {"plans", "N",
         "receding_horizon: plans in each time step of SCENE, a divisor of the plant's steps in it (default "
         "1)"},
        {"differences", "X",
         "receding_horizon: Jacobians of steps by central differences with this displacement, for "
         "comparison"},
        {"hold", nullptr,
         "receding_horizon: hold the controls between plans, without the feedback gains of the last plan"},
        {"push", "BODY:TIME:DURATION:FX,FY,FZ",
         "receding_horizon: push a body of the plant at its centre of mass, s and N; may be given "
         "several times"}};
}

namespace {

[[noreturn]] void refuse_push(const std::string& text, const std::string& why) {
    throw UsageError("--push takes BODY:TIME:DURATION:FX,FY,FZ, not '" + text + "': " + why);
}

// The numbers of a text that separators divide.
std::vector<double> numbers_of(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ':' || c == ','; }, ' ');
    std::istringstream in(text);
    std::vector<double> numbers;
    for (double x = 0; in >> x;)
        numbers.push_back(x);
    return in.eof() ? numbers : std::vector<double>();
}

PushSpec read_push(const std::string& text, const World& w, int number) {
    size_t colon = text.size();  // the third from the end: names of bodies may have colons
    for (int k = 0; k < 3 && colon != std::string::npos && colon > 0; ++k)
        colon = text.rfind(':', colon - 1);
    if (colon == std::string::npos || colon == 0) refuse_push(text, "write four parts");
    const std::vector<std::string> bodies = names_of(w.model.bodies, &Body::name);
    const std::string body = text.substr(0, colon);
    const auto it = std::find(bodies.begin(), bodies.end(), body);
    if (it == bodies.end())
        refuse_push(text, "no body of the plant is named '" + body + "'" + suggestion(body, bodies));
    const std::vector<double> n = numbers_of(text.substr(colon + 1));
    if (n.size() != 5) refuse_push(text, "write five numbers after the body");
    if (!(n[0] >= 0) || !(n[1] > 0)) refuse_push(text, "the time is 0 or more, and the duration above 0");
    const Vec3<double> force(n[2], n[3], n[4]);
    return {"--push " + std::to_string(number),
            static_cast<int>(it - bodies.begin()),
            {n[0], n[0] + n[1]},
            {force, force},
            {Vec3<double>::Zero(), Vec3<double>::Zero()}};
}

// The scene of the plant with the pushes of the command line.
Scene load_plant(const Arguments& a, const Scene& scene) {
    const std::string file = a.text("plant").value_or(a.scene());
    Scene plant = load_scene(file, {}, a.import_options(), scene.steps);
    int number = 0;
    for (const std::string& text : a.texts("push")) {
        plant.world.add_push(read_push(text, plant.world, ++number));
        const VecX<double> own = plant.theta;
        plant.theta = plant.world.model.layout.nominal();
        plant.theta.head(own.size()) = own;
    }
    const World &c = scene.world, &p = plant.world;
    if (p.nq() != c.nq() || p.nv() != c.nv() || p.nu() != c.nu()) {
        const auto size = [](const World& w) {
            return std::to_string(w.nq()) + " coordinates, " + std::to_string(w.nv()) + " velocities and " +
                   std::to_string(w.nu()) + " controls";
        };
        throw UsageError(file + ": the plant has " + size(p) + ", but " + scene.file.string() + " has " +
                         size(c) + "; give a plant with the same numbers");
    }
    return plant;
}

int substeps(const Scene& scene, const Scene& plant) {
    const double ratio = scene.world.settings.time_step / plant.world.settings.time_step;
    const double whole = std::round(ratio);
    if (whole < 1 || std::abs(ratio - whole) > 1e-9 * whole)
        throw UsageError(plant.file.string() + ": the plant's \"time_step\" does not divide that of " +
                         scene.file.string() + "; change one of them");
    return static_cast<int>(whole);
}

Report by_actuator(const Scene& s, const Eigen::MatrixXd& U) {
    Report controls = Report::object();
    for (size_t n = 0; n < s.plan.channels().size(); ++n)
        if (s.plan.channels()[n].optimize) {
            const VecX<double> row = U.row(static_cast<Eigen::Index>(n));
            controls[s.world.model.actuators[n].name]["values"] = std::vector<double>(row.begin(), row.end());
        }
    return controls;
}

// The plant's states at the steps of the planner, with the columns of a trajectory of the plant.
void write_states(std::FILE* out, const Scene& scene, const Scene& plant, const LoopRun& run) {
    std::string text = "time";
    for (const std::string& name : column_names(state_signals(plant.world.model)))
        text.append(",").append(csv_field(name));
    std::fputs((text + "\n").c_str(), out);
    for (Eigen::Index t = 0; t < run.states.cols(); ++t) {
        std::fprintf(out, "%.17g", static_cast<double>(t) * scene.world.settings.time_step);
        for (const double x : run.states.col(t))
            std::fprintf(out, ",%.17g", x);
        for (const double u : run.controls.col(std::min(t, run.controls.cols() - 1)))
            std::fprintf(out, ",%.17g", u);
        std::fputs("\n", out);
    }
}

double middle(std::vector<double> numbers) {
    const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), at, numbers.end());
    return *at;
}

}  // namespace

bool wants_plant(const Arguments& a) {
    const std::vector<Option> options = loop_options();
    return std::any_of(options.begin(), options.end(),
                       [&](const Option& o) { return a.text(o.name).has_value(); });
}

int control_plant(const Arguments& a, const Scene& scene, const Variables& variables) {
    for (const char* other : {"report", "plots", "compare", "landscape", "save", "resume", "save-every"})
        if (a.text(other))
            throw UsageError(std::string("--") + other + " cannot be combined with a plant: leave it out");
    const std::optional<std::string> out = a.text("out");
    if (out) check_directory(*out);
    const Scene plant = load_plant(a, scene);
    ControlTable table(scene.plan, variables, scene.steps);
    const double displacement = a.positive("differences").value_or(0);
    if (displacement > 0)
        table.settings.jacobian = [&](const double* x, const double* u, const double* wrenches,
                                      StepScratch<double>& s, StepJacobian& J) {
            step_jacobian_by_differences(scene.world, scene.theta.data(), x, u, wrenches, displacement, s, J);
        };
    const Eigen::MatrixXd guess = table.controls(variables.start());
    const Plant machine{plant.world, plant.theta, substeps(scene, plant)};
    const LoopSettings settings{scene.steps,
                                scene.optimize.horizon,
                                a.nonnegative("noise").value_or(0),
                                scene.optimize.seed,
                                a.integer("delay", 0, 0, scene.steps),
                                a.integer("plans", 1, 1),
                                !a.text("hold")};
    if (machine.substeps % settings.plans != 0 || (settings.plans > 1 && settings.delay > 0))
        throw UsageError("--plans must divide the " + std::to_string(machine.substeps) +
                         " steps of the plant in a step of " + scene.file.string() +
                         ", and be 1 with --delay: change it");
    const LoopRun before = run_plant(scene.world, scene.objective, scene.theta, machine, scene.x0, guess),
                  loop = run_loop(scene.world, scene.objective, scene.theta, table.settings, machine,
                                  scene.x0, guess, settings);
    const double typical = middle(loop.processor_seconds),
                 longest = *std::max_element(loop.processor_seconds.begin(), loop.processor_seconds.end());
    Report report{
        {"name", scene.name},
        {"method", "receding_horizon"},
        {"plant", plant.name},
        {"steps", scene.steps},
        {"substeps", machine.substeps},
        {"horizon", settings.horizon},
        {"noise", settings.noise},
        {"seed", settings.seed},
        {"delay", settings.delay},
        {"plans", settings.plans},
        {"differences", displacement},
        {"feedback", settings.feedback},
        {"pushes", a.texts("push")},
        {"initial_loss", before.loss},
        {"final_loss", loop.loss},
        {"planning", {{"median_seconds", typical}, {"longest_seconds", longest}, {"rate", 1 / typical}}}};
    if (out) {
        Report result = report;
        result["time_step"] = scene.world.settings.time_step;
        result["controls"] = by_actuator(scene, loop.controls);
        OutputFiles files;
        files.make_directory(*out);
        files.write(std::filesystem::path(*out) / "result.json", to_text(result));
        write_states(files.open(std::filesystem::path(*out) / "plant.csv"), scene, plant, loop);
        files.commit();
    }
    if (a.json()) {
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s controls %s: loss %.6g with its start, %.6g in closed loop of %d steps\n",
                scene.name.c_str(), plant.name.c_str(), before.loss, loop.loss, scene.steps);
    std::printf("%.4g Hz by processor time (median %.3g ms per plan of %d steps, longest %.3g ms)\n",
                1 / typical, 1e3 * typical, settings.horizon, 1e3 * longest);
    if (out) std::printf("result.json and plant.csv in %s\n", out->c_str());
    return done;
}

}  // namespace costate
