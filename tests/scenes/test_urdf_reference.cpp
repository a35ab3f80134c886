// Robots in URDF that others wrote, in $COSTATE_REFERENCE_DIR/models, and their accelerations, mass matrices,
// bias forces and derivatives by Pinocchio, in $COSTATE_REFERENCE_DIR/reference/pinocchio. Without that
// variable these tests are left out.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "core/dynamics/aba.hpp"
#include "core/dynamics/crba.hpp"
#include "core/dynamics/integrate.hpp"
#include "core/math/dual.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/world/robot_file.hpp"
#include "tests/support/references.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

using MatX = Eigen::MatrixXd;

MatX matrix_of(const Json& rows) {
    MatX out(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(rows[0].size()));
    for (size_t i = 0; i < rows.size(); ++i)
        out.row(static_cast<Eigen::Index>(i)) = vector_of(rows[i]);
    return out;
}

double relative_error(const MatX& a, const MatX& b) {
    return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

// A model and how Pinocchio orders it. Its free joint has q = (p, x y z w), v = (R^T p_dot, omega), both in
// the body; ours has q = (p, w x y z), v = (p_dot in the world, omega in the body).
struct PinocchioOrder {
    const Model& m;
    const VecX<double>& theta;
    std::vector<int> dof;  // ours of theirs
    int base = -1;         // the free body

    PinocchioOrder(const Scene& scene, const Json& reference) : m(scene.world.model), theta(scene.theta) {
        for (const Json& joint : reference["joints"]) {
            const std::string name = scene.name + "/" + joint["name"].get<std::string>();
            const bool free = joint["type"] == "freeflyer";
            const int body = free ? 0 : m.joint_index(name);
            REQUIRE(body >= 0);
            const Body& b = m.bodies[body];
            REQUIRE(b.nv == joint["nv"].get<int>());
            if (free) base = body;
            for (int k = 0; k < b.nv; ++k)
                dof.push_back(b.v0 + k);
        }
        REQUIRE(static_cast<int>(dof.size()) == m.nv);
    }

    VecX<double> configuration(const Json& q) const {
        VecX<double> out(m.nq);
        const VecX<double> theirs = vector_of(q);
        int at = 0;
        if (base >= 0) {
            out.head(7) << theirs.head(3), theirs[6], theirs.segment(3, 3);
            at = 7;
        }
        for (; at < m.nq; ++at) {
            const int shift = base >= 0 ? 1 : 0;  // a free joint has a coordinate more than dofs
            const int body = m.dofs[dof[at - shift]].body;
            out[m.bodies[body].q0] = theirs[at];
        }
        return out;
    }

    template <class T> Mat3<T> base_turn(const VecX<T>& q) const {
        return base < 0 ? Mat3<T>(Mat3<T>::Identity()) : rotation_matrix(load_quaternion<T>(q.data() + 3));
    }

    // Motion or force from their order and axes to ours, and back
    template <class T> VecX<T> ours(const VecX<T>& q, const VecX<T>& theirs) const {
        VecX<T> out(m.nv);
        for (int j = 0; j < m.nv; ++j)
            out[dof[j]] = theirs[j];
        if (base >= 0) out.template head<3>() = (base_turn(q) * out.template head<3>()).eval();
        return out;
    }
    template <class T> VecX<T> theirs(const VecX<T>& q, VecX<T> ours) const {
        if (base >= 0) ours.template head<3>() = (base_turn(q).transpose() * ours.template head<3>()).eval();
        VecX<T> out(m.nv);
        for (int j = 0; j < m.nv; ++j)
            out[j] = ours[dof[j]];
        return out;
    }

    // d(R^T p_dot)/dt = R^T p_ddot - omega x (R^T p_dot): what their acceleration lacks of ours, in the body
    template <class T> Vec3<T> base_term(const VecX<T>& v) const {
        return Vec3<T>(v.template segment<3>(3)).cross(Vec3<T>(v.template head<3>()));
    }

    // Their acceleration at our q and their v and tau
    template <class T> VecX<T> acceleration(const VecX<T>& q, const VecX<T>& v, const VecX<T>& tau) const {
        const VecX<T> parameters = theta.cast<T>(), velocity = ours(q, v), force = ours(q, tau),
                      armature = VecX<T>::Zero(m.nv);
        Kinematics<T> k(m);
        kinematics(m, parameters.data(), q.data(), velocity.data(), k);
        AbaScratch<T> scratch(m);
        VecX<T> out(m.nv);
        aba(m, parameters.data(), k, velocity.data(), force.data(), armature.data(), scratch, out.data());
        out = theirs(q, out);
        if (base >= 0) out.template head<3>() -= base_term(v);
        return out;
    }

    // Column j: the derivative by their q, v or tau
    enum class By { q, v, tau };
    MatX derivative(By by, const VecX<double>& q, const VecX<double>& v, const VecX<double>& tau) const {
        using D = Dual<double>;
        MatX out(m.nv, m.nv);
        for (int j = 0; j < m.nv; ++j) {
            VecX<D> dq = q.cast<D>(), dv = v.cast<D>(), dtau = tau.cast<D>();
            if (by == By::v) dv[j].d = 1;
            if (by == By::tau) dtau[j].d = 1;
            if (by == By::q) {
                VecX<double> unit = VecX<double>::Unit(m.nv, j);
                unit = ours(q, unit);
                VecX<D> d(m.nv);
                for (int i = 0; i < m.nv; ++i)
                    d[i] = D(0.0, unit[i]);
                const VecX<D> from = dq;
                retract(m, from.data(), d.data(), dq.data());
            }
            const VecX<D> a = acceleration(dq, dv, dtau);
            for (int i = 0; i < m.nv; ++i)
                out(i, j) = a[i].d;
        }
        return out;
    }
};

void compare_with_pinocchio(const std::string& name) {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    const Json reference = read_json(folder / "reference/pinocchio" / (name + ".json"));
    const Scene scene = load_scene((folder / "models/pinocchio" / (name + ".urdf")).string());
    CHECK(scene.world.nq() == reference["nq"].get<int>());
    const PinocchioOrder p(scene, reference);
    const Model& m = p.m;
    for (const Json& sample : reference["samples"]) {
        const VecX<double> q = p.configuration(sample["q"]), v = vector_of(sample["v"]),
                           tau = vector_of(sample["tau"]);
        CHECK(relative_error(p.acceleration(q, v, tau), vector_of(sample["ddq"])) < 1e-8);
        using By = PinocchioOrder::By;
        CHECK(relative_error(p.derivative(By::q, q, v, tau), matrix_of(sample["ddq_dq"])) < 1e-8);
        CHECK(relative_error(p.derivative(By::v, q, v, tau), matrix_of(sample["ddq_dv"])) < 1e-8);
        CHECK(relative_error(p.derivative(By::tau, q, v, tau), matrix_of(sample["ddq_dtau"])) < 1e-8);

        // Bias: the force for which their acceleration is zero
        const VecX<double> velocity = p.ours(q, v);
        Kinematics<double> k(m);
        kinematics(m, scene.theta.data(), q.data(), velocity.data(), k);
        VecX<double> still = VecX<double>::Zero(m.nv), bias(m.nv);
        if (p.base >= 0) still.head<3>() = p.base_turn(q) * p.base_term(v);
        RneaScratch<double> rnea_scratch(m);
        rnea(m, scene.theta.data(), k, velocity.data(), still.data(), rnea_scratch, bias.data());
        CHECK(relative_error(p.theirs(q, bias), vector_of(sample["nle"])) < 1e-8);

        // Mass matrix, column by column in their axes
        CrbaScratch<double> crba_scratch(m);
        std::vector<double> packed(m.mass_matrix_size);
        crba(m, scene.theta.data(), k, crba_scratch, packed.data());
        MatX M = MatX::Zero(m.nv, m.nv), theirs(m.nv, m.nv);
        for (int j = 0; j < m.nv; ++j)
            for (int i = j; i >= 0; i = m.dofs[i].parent) {
                const Dof &row = m.dofs[j], &column = m.dofs[i];
                M(i, j) = M(j, i) = packed[row.row + column.depth];
            }
        for (int j = 0; j < m.nv; ++j) {
            const VecX<double> unit = VecX<double>::Unit(m.nv, j);
            theirs.col(j) = p.theirs<double>(q, M * p.ours(q, unit));
        }
        CHECK(relative_error(theirs, matrix_of(sample["M"])) < 1e-8);
    }
}

TEST_CASE("Pinocchio's panda_arm: acceleration, mass matrix, bias and derivatives") {
    compare_with_pinocchio("panda_arm");
}
TEST_CASE("Pinocchio's go1_quadruped: acceleration, mass matrix, bias and derivatives") {
    compare_with_pinocchio("go1_quadruped");
}

// How many links the file has that move by a joint, and what there is no counterpart for: a word of every
// warning.
struct ForeignRobot {
    std::string file;
    int nv;
    std::vector<std::string> left_out;
};

const std::vector<ForeignRobot>& foreign_robots() {
    // Meshes are missing because their files are not there.
    const std::string visual = "visual mesh is ignored", meshes = "collision mesh is ignored",
                      colour = "no colour", limits = "no limits", point = "of size 0 is invisible";
    static const std::vector<ForeignRobot> table{
        {"pinocchio/go1_quadruped.urdf", 18, {}},
        {"pinocchio/panda_arm.urdf", 9, {}},
        {"diffarticulated/ant/ant_torso1.urdf", 14, {limits, "armature"}},
        {"diffarticulated/franka_panda/panda.urdf", 15, {visual, meshes, "without mass", "floats"}},
        {"diffarticulated/franka_panda/sphere2.urdf", 6, {visual}},
        {"diffarticulated/ground/box_flat.urdf", 6, {visual}},
        {"diffarticulated/ground/plane_implicit.urdf", 0, {visual}},
        {"diffarticulated/laikago/laikago_toes_limits.urdf", 18, {visual, meshes, point}},
        {"diffarticulated/laikago/laikago_toes_zup.urdf", 18, {visual, meshes, point}},
        {"diffarticulated/pendulum/pendulum1.urdf", 1, {colour}},
        {"diffarticulated/pendulum/pendulum2.urdf", 2, {colour}},
        {"diffarticulated/pendulum/pendulum3.urdf", 3, {colour}},
        {"diffarticulated/pendulum/pendulum4.urdf", 4, {colour}},
        {"diffarticulated/pendulum/pendulum5.urdf", 5, {colour}},
        {"diffarticulated/pendulum/pendulum6.urdf", 6, {colour}},
        {"diffarticulated/pendulum/pendulum7.urdf", 7, {colour}},
        {"diffarticulated/punch/p2.urdf", 2, {visual, colour}},
        {"diffarticulated/punch/sphere.urdf", 6, {visual}},
        {"diffarticulated/racecar/racecar.urdf", 12, {visual, "second geometry"}},
    };
    return table;
}

TEST_CASE("robots in URDF that others wrote load, and what has no counterpart is said") {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    size_t listed = 0, there = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "models"))
        if (entry.path().extension() == ".urdf") ++there;
    for (const ForeignRobot& robot : foreign_robots()) {
        CAPTURE(robot.file);
        const std::filesystem::path file = folder / "models" / robot.file;
        ++listed;
        const ImportedModel imported = import_model(file);
        std::vector<bool> said(robot.left_out.size());
        for (const std::string& warning : imported.warnings) {
            CAPTURE(warning);
            bool expected = false;
            for (size_t k = 0; k < said.size(); ++k)
                if (warning.find(robot.left_out[k]) != std::string::npos) said[k] = expected = true;
            CHECK(expected);
            CHECK(warning.compare(0, file.string().size() + 1, file.string() + ":") == 0);
        }
        for (size_t k = 0; k < said.size(); ++k)
            CHECK_MESSAGE(said[k], robot.left_out[k]);
        ImportOptions strict;
        strict.strict = true;
        const bool harmless = std::ranges::all_of(robot.left_out, [](const std::string& what) {
            return what == "no colour" || what == "of size 0 is invisible" ||
                   what == "visual mesh is ignored" || what == "floats";
        });
        CHECK((complaint([&] { import_model(file, strict); }) == "no complaint") == harmless);

        // It falls for a tenth of a second and stays finite
        const Scene scene = load_scene(file.string(), 100);
        CHECK(scene.world.nv() == robot.nv);
        Simulation simulation(scene.world, scene.objective);
        Rollout<Simulation> rollout(simulation, scene.plan, scene.steps);
        rollout.forward(scene.theta, scene.x0, scene.z0);
        CHECK(!rollout.divergence());
    }
    CHECK(listed == there);
}

TEST_CASE("robots in URDF that others wrote: through JSON text, the same model to the last bit") {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    for (const ForeignRobot& robot : foreign_robots()) {
        CAPTURE(robot.file);
        const std::filesystem::path file = folder / "models" / robot.file;
        const ImportedModel imported = import_model(file);
        const Json again = parse_json(imported.model.dump(), "robot.json");
        CHECK(again == imported.model);
        if (robot.nv == 0) continue;
        Json scene{{"steps", 1},
                   {"models", Json::array({Json{{"name", "r"}, {"file", file.filename().string()}}})}};
        const Scene direct = scene_from_json(scene, file.parent_path() / "scene.json");
        scene["models"][0].erase("file");
        scene["models"][0]["model"] = again;
        const Scene through = scene_from_json(scene, file.parent_path() / "scene.json");
        CHECK(direct.theta == through.theta);
        CHECK(direct.x0 == through.x0);
        CHECK(names_of(direct.world.model.bodies, &Body::name) ==
              names_of(through.world.model.bodies, &Body::name));
        CHECK(names_of(direct.world.model.bodies, &Body::joint_name) ==
              names_of(through.world.model.bodies, &Body::joint_name));
        CHECK(direct.world.shapes.pairs() == through.world.shapes.pairs());
        CHECK(direct.visuals.size() == through.visuals.size());
    }
}

}  // namespace
}  // namespace costate::test
