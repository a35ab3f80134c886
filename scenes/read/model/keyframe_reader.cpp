#include "scenes/read/model/keyframe_reader.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/read/model/joint_reader.hpp"
#include "scenes/read/model/model_reader.hpp"

namespace costate {
namespace {

inline constexpr size_t max_keyframes = 10000;

std::vector<double> read_q(const Node& value, JointType type) {
    const JointKind& kind = joint_kind(type);
    std::vector<double> q(kind.nq());
    if (kind.nv() > 1 && kind.numbers > 0) (void)value["position"];  // required
    if (kind.rotations == 1) q[kind.numbers] = 1;
    read_joint_position(value, kind, q.data());
    return q;
}

std::vector<double> read_v(const Node& value, JointType type) {
    std::vector<double> v(joint_nv(type));
    read_joint_velocity(value, joint_kind(type), v.data());
    return v;
}

// Calls set(name, value, type) for each joint that a member of a keyframe names.
template <class Set>
void for_each_joint(const Node& keyframe, const char* key, const std::map<std::string, JointType>& joints,
                    Set&& set) {
    const auto object = keyframe.find(key);
    if (!object) return;
    for (const auto& [name, value] : object->members()) {
        const auto joint = joints.find(name);
        if (joint == joints.end() || joint_nv(joint->second) == 0)
            value.fail("\"" + name + "\" is not a movable joint", "correct or remove it");
        set(name, value, joint->second);
    }
}

}  // namespace

std::vector<Keyframe> read_keyframes(const Node& list, const ModelInput& model) {
    std::map<std::string, JointType> joints;
    for (const BodySpec& body : model.bodies)
        joints[body.joint_name] = body.joint;
    const std::vector<std::string> actuators = names_of(model.actuators, &ActuatorSpec::name);
    NameTable names("keyframe");
    std::vector<Keyframe> out;
    const std::vector<Node> nodes = list.items();
    if (nodes.size() > max_keyframes) list.fail("more than 10000 keyframes", "use fewer");
    for (const Node& node : nodes) {
        node.expect_keys("keyframe");
        Keyframe k{read_name(node["name"]), {}, {}, {}, {}};
        names.add(node, k.name);
        for_each_joint(node, "joints", joints,
                       [&](const std::string& joint, const Node& value, JointType type) {
                           k.q[joint] = read_q(value, type);
                       });
        for_each_joint(node, "velocities", joints,
                       [&](const std::string& joint, const Node& value, JointType type) {
                           k.v[joint] = read_v(value, type);
                       });
        for (const auto& [key, values] :
             {std::pair("activations", &k.activations), std::pair("controls", &k.controls)})
            if (const auto given = node.find(key))
                for (const auto& [name, value] : given->members()) {
                    if (std::find(actuators.begin(), actuators.end(), name) == actuators.end())
                        value.fail("\"" + name + "\" is not an actuator" + suggestion(name, actuators),
                                   "correct or remove it");
                    (*values)[name] = value.number();
                }
        out.push_back(std::move(k));
    }
    return out;
}

const Keyframe* chosen_keyframe(const Node& instance, const std::vector<Keyframe>& keyframes) {
    const auto named = [&](const std::string& name) {
        const auto it = std::find_if(keyframes.begin(), keyframes.end(),
                                     [&](const Keyframe& k) { return k.name == name; });
        return it == keyframes.end() ? nullptr : &*it;
    };
    if (const auto wanted = instance.find("keyframe")) {
        const Keyframe* found = named(wanted->text());
        if (found == nullptr)
            wanted->fail("the model has no keyframe of this name" +
                             suggestion(wanted->text(), names_of(keyframes, &Keyframe::name)),
                         "correct or remove it");
        return found;
    }
    if (keyframes.empty()) return nullptr;
    const Keyframe* home = named("home");
    return home != nullptr ? home : &keyframes.front();
}

void enter_keyframe(const Keyframe& keyframe, const Model& model, double* q, double* v, double* activations) {
    for (const Body& b : model.bodies) {
        if (const auto start = keyframe.q.find(b.joint_name); start != keyframe.q.end())
            std::copy(start->second.begin(), start->second.end(), q + b.q0);
        if (const auto start = keyframe.v.find(b.joint_name); start != keyframe.v.end())
            std::copy(start->second.begin(), start->second.end(), v + b.v0);
    }
    for (const Activation& a : model.activations)
        if (const auto start = keyframe.activations.find(model.actuators[a.actuator].name);
            start != keyframe.activations.end())
            activations[model.actuators[a.actuator].activation] = start->second;
}

}  // namespace costate
