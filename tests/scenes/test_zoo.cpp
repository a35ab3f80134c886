// The included models: their figures, and that their robots stand, fall, hover and throw as described by
// their scenes. This test prints the table of models in tests/readme/zoo_table.md for scenes/README.md.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/dynamics/crba.hpp"
#include "core/dynamics/ltl.hpp"
#include "scenes/format/json.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/shipped_scenes.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using costate::test::walk;

namespace {

struct Figures {
    const char* model;
    int dofs, actuators;
    double mass;         // kg
    const char* origin;  // as named by its source
};
const Figures zoo[] = {
    {"ant", 14, 8, 0.91088, "Gymnasium"},
    {"arm", 9, 9, 16.822132, "Franka Emika"},
    {"arm_7", 7, 7, 25.61, "MuJoCo Menagerie"},
    {"atlas", 33, 27, 174.0503, "Drake"},
    {"biped", 25, 19, 51.437, "MuJoCo Menagerie"},
    {"cartpole", 2, 1, 1.1, "Barto, Sutton, Anderson"},
    {"catapult", 5, 3, 4, "Nimble"},
    {"double_cartpole", 3, 1, 1.2, "Barto, Sutton, Anderson"},
    {"go1", 18, 12, 12.743448, "MuJoCo Menagerie"},
    {"half_cheetah", 9, 6, 14, "Gymnasium"},
    {"hopper", 6, 3, 15.82, "Gymnasium"},
    {"humanoid", 23, 17, 42.116, "Gymnasium"},
    {"jump_worm", 5, 3, 4, "Nimble"},
    {"quadcopter", 6, 4, 0.716, "RotorS"},
    {"quadruped", 18, 12, 25, "Unitree Robotics"},
    {"racecar", 12, 6, 5.8922, "MIT Racecar"},
    {"walker", 9, 6, 23.67715, "Gymnasium"},
};

double total_mass(const Scene& s) {
    double mass = 0;
    for (size_t i = 0; i < s.world.model.bodies.size(); ++i)
        mass += s.theta[s.world.model.mass.at(static_cast<int>(i))];
    return mass;
}

// The scenes whose first model is this file, joined by commas.
std::string scenes_of(const std::string& model) {
    std::string out;
    for (const std::string& name : shipped_scenes()) {
        const Json instance = read_json(test::shipped_folder() / (name + ".json"))["models"][0];
        if (instance.value("file", "") == "models/" + model + ".json")
            out += (out.empty() ? "`" : ", `") + name + "`";
    }
    return out;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

Vec3<double> position_of(const Scene& s, const VecX<double>& x, const std::string& body) {
    StepScratch<double> scratch(s.world);
    observe(s.world, s.theta.data(), x.data(), scratch);
    const int i = s.world.model.body_index(body);
    REQUIRE(i >= 0);
    return scratch.kinematics.world_position(s.world.model, i);
}

// The mass matrix (nv x nv) at coordinates 0, without armature.
Eigen::MatrixXd mass_matrix_of(const Scene& s) {
    const Model& m = s.world.model;
    VecX<double> x = VecX<double>::Zero(m.nq + m.nv), theta = s.theta;
    for (const Body& b : m.bodies)
        if (b.nq == 7 || b.nq == 4) x[b.q0 + b.nq - 4] = 1;
    Kinematics<double> k(m);
    kinematics(m, theta.data(), x.data(), x.data() + m.nq, k);
    CrbaScratch<double> scratch(m);
    std::vector<double> packed(m.mass_matrix_size);
    crba(m, theta.data(), k, scratch, packed.data());
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(m.nv, m.nv);
    for (int j = 0; j < m.nv; ++j)
        for (int i = j; i >= 0; i = m.dofs[i].parent)
            M(j, i) = M(i, j) = packed[m.dofs[j].row + m.dofs[i].depth];
    return M;
}

}  // namespace

TEST_CASE("zoo: every model has the figures of tests/readme/zoo_table.md, a source, and a scene") {
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(test::shipped_folder() / "models"))
        files += entry.path().extension() == ".json";
    CHECK(files == std::size(zoo));
    std::string table =
        "| model | dofs | actuators | mass, kg | figures from | scenes |\n|---|---|---|---|---|---|\n";
    for (const Figures& f : zoo) {
        CAPTURE(std::string(f.model));
        const std::filesystem::path file =
            test::shipped_folder() / "models" / (std::string(f.model) + ".json");
        const Scene s = load_scene(file.string());
        CHECK(s.world.nv() == f.dofs);
        CHECK(s.world.nu() == f.actuators);
        CHECK(total_mass(s) == doctest::Approx(f.mass).epsilon(1e-5));
        const Json model = read_json(file);
        CHECK(model["name"] == f.model);
        CHECK(model.contains("description"));
        std::string source;
        for (const Json& line : model["source"].is_array() ? model["source"] : Json::array({model["source"]}))
            source += (source.empty() ? "" : " ") + line.get<std::string>();
        CHECK_MESSAGE(source.find(f.origin) != std::string::npos, source);
        CHECK(scenes_of(f.model) != "");
        std::ostringstream row;
        row.precision(3);
        row << "| `" << f.model << "` | " << f.dofs << " | " << f.actuators << " | " << total_mass(s) << " | "
            << f.origin << " | " << scenes_of(f.model) << " |\n";
        table += row.str();
    }
    MESSAGE("\n" << table);
    CHECK(text_of("tests/readme/zoo_table.md") == table);
}

TEST_CASE(
    "zoo: robots that stand are where they started after two seconds, those on springs and without torques "
    "come to rest") {
    struct Rest {
        const char *scene, *base;
        double seconds, lowest, highest;  // of the base, m
        double slowest;                   // greatest velocity of a dof then, m/s or rad/s
    };
    for (const Rest& r : {Rest{"go1_stand", "robot/trunk", 2, 0.2868, 0.2888, 1e-2},
                          {"biped_stand", "robot/pelvis", 2, 1.003, 1.007, 1e-2},
                          {"atlas_stand", "robot/pelvis", 2, 0.9146, 0.9166, 1e-2},
                          {"quadruped_stand", "robot/trunk", 2, 0.4078, 0.4098, 1e-2},
                          {"half_cheetah", "half_cheetah/torso", 4, 0.5, 0.65, 1e-2},
                          {"ant", "ant/torso", 4, 0.54, 0.56, 1e-2},
                          {"hopper", "hopper/torso", 6, 0.04, 0.6, 0.1},
                          {"walker", "walker/torso", 6, 0.04, 0.6, 0.1},
                          {"humanoid", "humanoid/torso", 6, 0.05, 0.4, 0.1}}) {
        CAPTURE(std::string(r.scene));
        const double h = load_scene(r.scene).theta[load_scene(r.scene).world.time_step.at(0)];
        const int steps = static_cast<int>(std::lround(r.seconds / h));
        const Scene s = load_scene(r.scene, steps);
        const VecX<double> x = walk(s, steps);
        REQUIRE(x.allFinite());
        const double height = position_of(s, x, r.base).z();
        CHECK(height > r.lowest);
        CHECK(height < r.highest);
        CHECK(x.tail(s.world.nv()).cwiseAbs().maxCoeff() < r.slowest);
    }
}

TEST_CASE(
    "zoo: the catapult throws, the worm hops, the quadcopter hovers, and the car rolls, then slides as "
    "friction says") {
    const Scene catapult = load_scene("catapult");
    const Vec3<double> ball = position_of(catapult, walk(catapult, catapult.steps), "catapult/ball");
    CHECK(ball.x() > 1.5);
    CHECK(ball.z() > 1);

    const Scene worm = load_scene("jump_worm");
    int aloft = 0;  // steps
    const VecX<double> x = walk(worm, worm.steps, [&](const VecX<double>&, const StepScratch<double>& s) {
        aloft += std::all_of(s.impulses.lambda.begin(), s.impulses.lambda.end(),
                             [](double impulse) { return impulse == 0; });
    });
    CHECK(aloft > 50);
    CHECK(position_of(worm, x, "worm/head").z() > 0.55);

    const Scene drone = load_scene("quadcopter");
    VecX<double> moved(drone.world.nv());
    difference(drone.world.model, drone.x0.data(), walk(drone, drone.steps).data(), moved.data());
    CHECK(moved.cwiseAbs().maxCoeff() < 1e-3);  // m and rad

    // 0.2 s at 1 m/s, then v^2/(2 mu g); the brakes lock the wheels within 0.01 s
    const Scene car = load_scene("racecar");
    const VecX<double> end = walk(car, car.steps);
    CHECK(position_of(car, end, "car/chassis").x() ==
          doctest::Approx(0.2 + 1 / (2 * 0.25 * 9.81)).epsilon(0.03));
    CHECK(end.tail(car.world.nv()).cwiseAbs().maxCoeff() < 1e-2);
}

#ifdef COSTATE_HAVE_TINYXML2
TEST_CASE("zoo: models have the mass matrices of the files that their figures are from") {
    const char* reference = std::getenv("COSTATE_REFERENCE_DIR");
    if (reference == nullptr) {
        MESSAGE("COSTATE_REFERENCE_DIR is not set: nothing to compare with");
        return;
    }
    struct Original {
        const char *model, *file;
        double tolerance;
    };
    for (const Original& o : {Original{"ant", "gymnasium/ant.xml", 1e-5},
                              {"half_cheetah", "gymnasium/half_cheetah.xml", 1e-5},
                              {"hopper", "gymnasium/hopper.xml", 1e-5},
                              {"humanoid", "gymnasium/humanoid.xml", 5e-3},
                              {"go1", "menagerie/go1_nomesh.xml", 1e-5},
                              {"biped", "menagerie/h1_nomesh.xml", 1e-5}}) {
        CAPTURE(std::string(o.model));
        const Scene ours =
            load_scene((test::shipped_folder() / "models" / (std::string(o.model) + ".json")).string());
        const Scene theirs = load_scene((std::filesystem::path(reference) / "models" / o.file).string());
        const Eigen::MatrixXd A = mass_matrix_of(ours), B = mass_matrix_of(theirs);
        REQUIRE(A.rows() == B.rows());
        CHECK((A - B).cwiseAbs().maxCoeff() < o.tolerance * B.cwiseAbs().maxCoeff());
    }
}
#endif
