// Models of MuJoCo's users against MuJoCo: mass matrix, forces, acceleration and poses at the states of
// reference files. They are sought in $COSTATE_REFERENCE_DIR/reference/smooth_dynamics; without that variable
// these tests are left out.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "core/dynamics/aba.hpp"
#include "core/dynamics/actuation.hpp"
#include "core/dynamics/crba.hpp"
#include "core/dynamics/rnea.hpp"
#include "scenes/import/mjcf/mjcf.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "tests/support/references.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

namespace fs = std::filesystem;

fs::path model_file(const fs::path& folder, const std::string& name) {
    for (const auto& entry : fs::directory_iterator(folder / "models"))
        if (fs::exists(entry.path() / name)) return entry.path() / name;
    FAIL("there is no model " << name);
    return {};
}

// The largest difference, relative to the largest entry
double differ(const VecX<double>& ours, const VecX<double>& theirs) {
    REQUIRE(ours.size() == theirs.size());
    return (ours - theirs).cwiseAbs().maxCoeff() / std::max(1e-9, theirs.cwiseAbs().maxCoeff());
}

struct ReferenceModel {
    ImportedModel imported;
    Scene scene;
    VecX<double> offset;      // (nq) MuJoCo's coordinates at our 0
    std::vector<int> bodies;  // ours, in MuJoCo's order, the world left out

    static ImportedModel import_file(const fs::path& file) {
        Warnings warnings;
        return import_mjcf(read_xml(file), {}, warnings);
    }
    static Scene scene_of(const ImportedModel& imported) {
        Json json = imported.scene;
        json["steps"] = 1;
        json["models"] = Json::array({{{"name", "robot"}, {"model", imported.model}}});
        return scene_from_json(json, "reference.json");
    }
    ReferenceModel(const fs::path& file, const VecX<double>& reference)
        : imported(import_file(file)),
          scene(scene_of(imported)),
          offset(reference) {
        for (const Json& body : imported.model["bodies"])
            bodies.push_back(scene.world.model.body_index("robot/" + body["name"].get<std::string>()));
    }
};

// Springs, dampers and actuators; those whose velocity gain the step takes implicitly included
VecX<double> forces(const Model& m, const VecX<double>& theta, const VecX<double>& q, const VecX<double>& v,
                    const VecX<double>& ctrl) {
    VecX<double> tau(m.nv), B(m.nv);
    std::vector<Saturation<double>> saturations(m.nu);
    actuation(m, theta.data(), q.data(), v.data(), ctrl.data(), saturations.data(), tau.data(), B.data());
    return tau - B.cwiseProduct(v);
}

VecX<double> without_gears(const Model& m, VecX<double> theta) {
    for (int n = 0; n < m.nu; ++n)
        theta[m.actuator.gear.at(n)] = 0;
    return theta;
}

// M and the bias force by CRBA and RNEA; springs, damping and actuators as the step has them; the
// acceleration by ABA.
void check_sample(const ReferenceModel& r, const Json& sample) {
    const Model& m = r.scene.world.model;
    const VecX<double>& theta = r.scene.theta;
    const VecX<double> q = vector_of(sample["qpos"]) - r.offset, v = vector_of(sample["qvel"]),
                       ctrl = vector_of(sample["ctrl"]);
    Kinematics<double> k(m);
    kinematics(m, theta.data(), q.data(), v.data(), k);

    const VecX<double> p = vector_of(sample["xpos"]), turns = vector_of(sample["xquat"]);
    REQUIRE(p.size() == 3 * static_cast<Eigen::Index>(r.bodies.size() + 1));
    double worst_p = 0, worst_R = 0;
    for (size_t i = 0; i < r.bodies.size(); ++i) {
        const auto at = static_cast<Eigen::Index>(i + 1);
        worst_p = std::max(worst_p,
                           (k.world_position(m, r.bodies[i]) - p.segment<3>(3 * at)).cwiseAbs().maxCoeff());
        const Eigen::Quaterniond turn(turns[4 * at], turns[4 * at + 1], turns[4 * at + 2], turns[4 * at + 3]);
        worst_R = std::max(worst_R, (k.X[r.bodies[i]].R - turn.toRotationMatrix()).cwiseAbs().maxCoeff());
    }
    CHECK(worst_p < 1e-9 * std::max(1.0, p.cwiseAbs().maxCoeff()));
    CHECK(worst_R < 1e-9);

    CrbaScratch<double> scratch(m);
    std::vector<double> pattern(m.mass_matrix_size);
    crba(m, theta.data(), k, scratch, pattern.data());
    VecX<double> M = VecX<double>::Zero(m.nv * m.nv);
    for (int i = 0; i < m.nv; ++i) {
        const Dof& row = m.dofs[i];
        for (int j = i; j >= 0; j = m.dofs[j].parent) {
            const double x = pattern[row.row + m.dofs[j].depth];
            M[i * m.nv + j] = M[j * m.nv + i] = x;
        }
    }
    CHECK(differ(M, vector_of(sample["M"])) < 1e-9);

    RneaScratch<double> inverse(m);
    const VecX<double> still = VecX<double>::Zero(m.nv);
    VecX<double> bias(m.nv);
    rnea(m, theta.data(), k, v.data(), still.data(), inverse, bias.data());
    CHECK(differ(bias, vector_of(sample["qfrc_bias"])) < 1e-9);

    const VecX<double> passive = forces(m, without_gears(m, theta), q, v, ctrl),
                       all = forces(m, theta, q, v, ctrl);
    CHECK(differ(passive, vector_of(sample["qfrc_passive"])) < 1e-9);
    CHECK(differ(all - passive, vector_of(sample["qfrc_actuator"])) < 1e-9);

    AbaScratch<double> forward(m);
    VecX<double> acceleration(m.nv);
    aba(m, theta.data(), k, v.data(), all.data(), theta.data() + m.armature.offset, forward,
        acceleration.data());
    CHECK(differ(acceleration, vector_of(sample["qacc"])) < 1e-9);
}

void check_model(const std::string& name) {
    const fs::path folder = reference_folder();
    if (folder.empty()) return;
    const fs::path file = folder / "reference" / "smooth_dynamics" / (name + ".json");
    const Json reference = read_json(file);
    CAPTURE(name);
    // The hopper's slide along z counts from its "ref"
    VecX<double> offset = VecX<double>::Zero(static_cast<Eigen::Index>(reference["nq"].get<int>()));
    if (name == "gym_hopper") offset[1] = 1.25;
    const ReferenceModel r(model_file(folder, reference["model"].get<std::string>()), offset);
    const Model& m = r.scene.world.model;
    CHECK((m.nq == reference["nq"] && m.nv == reference["nv"] && m.nu == reference["nu"]));
    VecX<double> mass(static_cast<Eigen::Index>(r.bodies.size() + 1));
    mass[0] = 0;
    for (size_t i = 0; i < r.bodies.size(); ++i)
        mass[static_cast<Eigen::Index>(i + 1)] = r.scene.theta[m.mass.at(r.bodies[i])];
    CHECK(differ(mass, vector_of(reference["body_mass"])) < 1e-9);
    REQUIRE(reference["samples"].size() == 4);
    for (const Json& sample : reference["samples"])
        check_sample(r, sample);
}

TEST_CASE(
    "MJCF: the models load, those with nothing unsupported strictly, and come back from their JSON as they "
    "were") {
    const fs::path folder = reference_folder();
    if (folder.empty()) return;
    for (const std::string name : {"ant.xml", "half_cheetah.xml", "hopper.xml", "humanoid.xml",
                                   "go1_nomesh.xml", "h1_nomesh.xml", "ur5e_nomesh.xml"}) {
        const fs::path path = model_file(folder, name);
        CAPTURE(name);
        const Scene scene = load_scene(path.string(), 1);
        // Gymnasium's models have other warnings, or ask for RK4
        const bool strict = name == "h1_nomesh.xml" || name == "ur5e_nomesh.xml";
        CHECK(scene.warnings.empty() == strict);
        CHECK((complaint([&] { load_scene(path.string(), 1, {.strict = true}); }) == "no complaint") ==
              strict);

        ImportedModel m = import_model(path);
        m.model["world"] = m.scene;
        const fs::path file = fs::temp_directory_path() / ("costate_" + name + ".json");
        std::ofstream(file) << m.model.dump(2);
        const Scene back = load_scene(file.string(), 1);
        fs::remove(file);
        CHECK((back.theta == scene.theta && back.x0 == scene.x0 && back.z0 == scene.z0));
        CHECK(back.world.shapes.pairs() == scene.world.shapes.pairs());
        CHECK(back.world.settings.time_step == scene.world.settings.time_step);
    }
}

TEST_CASE("MJCF against MuJoCo: the quadruped Go1") { check_model("go1_nomesh"); }
TEST_CASE("MJCF against MuJoCo: ant") { check_model("gym_ant"); }
TEST_CASE("MJCF against MuJoCo: half cheetah") { check_model("gym_half_cheetah"); }
TEST_CASE("MJCF against MuJoCo: hopper") { check_model("gym_hopper"); }
TEST_CASE("MJCF against MuJoCo: humanoid") { check_model("gym_humanoid"); }
TEST_CASE("MJCF against MuJoCo: the humanoid H1") { check_model("h1_nomesh"); }
TEST_CASE("MJCF against MuJoCo: the arm UR5e") { check_model("ur5e_nomesh"); }

}  // namespace
}  // namespace costate::test
