#include "scenes/read/world/initial_reader.hpp"

#include "core/dynamics/crba.hpp"
#include "core/dynamics/ltl.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/model/joint_reader.hpp"

namespace costate {
namespace {

// Calls read(value, body) for every member of an object and every joint that its key matches, in order, so
// that later members override earlier ones.
template <class Read> void for_each_joint(const Node& object, const Model& model, Read&& read) {
    const std::vector<std::string> joints = names_of(model.bodies, &Body::joint_name);
    for (const auto& [pattern, value] : object.members())
        for (const int body : resolve(value, pattern, "joint", joints)) {
            const Body& b = model.bodies[body];
            if (b.nv == 0 && pattern.find('*') == std::string::npos)
                value.fail("a fixed joint has no state", "remove it");
            if (b.nv > 0) read(value, b);
        }
}

// Entries of the tangent of x0 to optimize, sorted and unique.
std::vector<int> read_variables(const Node& node, const Model& model) {
    node.expect_keys("initial_variables");
    const std::vector<std::string> joints = names_of(model.bodies, &Body::joint_name);
    std::vector<bool> chosen(2 * static_cast<size_t>(model.nv) + model.activations.size());
    const auto choose = [&](const char* key, int offset) {
        const auto patterns = node.find(key);
        if (!patterns) return;
        for (const Node& pattern : patterns->items())
            for (const int body : resolve(pattern, pattern.text(), "joint", joints)) {
                const Body& b = model.bodies[body];
                for (int j = b.v0; j < b.v0 + b.nv; ++j)
                    chosen[offset + j] = true;
            }
    };
    choose("joints", 0);
    choose("velocities", model.nv);
    if (const auto patterns = node.find("activations"))
        for (const Node& pattern : patterns->items())
            for (const int k :
                 resolve(pattern, pattern.text(), "actuator with dynamics", activated_names(model)))
                chosen[2 * static_cast<size_t>(model.nv) + k] = true;
    std::vector<int> out;
    for (size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) out.push_back(static_cast<int>(i));
    return out;
}

}  // namespace

std::vector<std::string> activated_names(const Model& model) {
    std::vector<std::string> names;
    for (const Activation& a : model.activations)
        names.push_back(model.actuators[a.actuator].name);
    return names;
}

void read_configuration(const Node& joints, const Model& model, VecX<double>& q) {
    for_each_joint(joints, model, [&](const Node& value, const Body& b) {
        read_joint_position(value, joint_kind(b.joint), q.data() + b.q0);
    });
}

StartInput read_start(const Node& scene, const Model& model, const VecX<double>& q, const VecX<double>& v,
                      const VecX<double>& activations) {
    StartInput start{VecX<double>(model.nq + model.nv + activations.size()), {}};
    VecX<double> positions = q;
    start.x0 << q, v, activations;
    if (const auto initial = scene.find("initial")) {
        initial->expect_keys("initial");
        if (const auto joints = initial->find("joints")) read_configuration(*joints, model, positions);
        if (const auto velocities = initial->find("velocities"))
            for_each_joint(*velocities, model, [&](const Node& value, const Body& b) {
                read_joint_velocity(value, joint_kind(b.joint), start.x0.data() + model.nq + b.v0);
            });
        if (const auto given = initial->find("activations"))
            for (const auto& [pattern, value] : given->members())
                for (const int k : resolve(value, pattern, "actuator with dynamics", activated_names(model)))
                    start.x0[model.nq + model.nv + k] = value.number();
        if (const auto variables = initial->find("optimize"))
            start.initial_state = read_variables(*variables, model);
    }
    start.x0.head(model.nq) = positions;
    return start;
}

int dof_without_inertia(const World& world, const VecX<double>& theta, const VecX<double>& x0) {
    const Model& m = world.model;
    Kinematics<double> k(m);
    kinematics(m, theta.data(), x0.data(), x0.data() + m.nq, k);
    CrbaScratch<double> scratch(m);
    std::vector<double> M(m.mass_matrix_size);
    crba(m, theta.data(), k, scratch, M.data());
    const auto diagonal = [&](const Dof& dof) { return M[dof.row + dof.depth]; };
    std::vector<double> whole;
    for (const Dof& dof : m.dofs)
        whole.push_back(diagonal(dof));
    ltl_factor_inplace(m, M.data());
    // in the order of the factorization: a fault spreads to the dofs before it
    for (size_t j = m.dofs.size(); j-- > 0;)
        if (!(diagonal(m.dofs[j]) > 1e-12 * whole[j])) return static_cast<int>(j);
    return -1;
}

void check_inertia(const Node& scene, const World& world, const VecX<double>& theta, const VecX<double>& x0) {
    const Model& m = world.model;
    const int dof = dof_without_inertia(world, theta, x0);
    if (dof < 0) return;
    const Body& b = m.bodies[m.dofs[dof].body];
    scene["models"].fail("joint \"" + b.joint_name + "\" moves no inertia",
                         "give body \"" + b.name + "\" inertia, or the joint armature");
}

}  // namespace costate
