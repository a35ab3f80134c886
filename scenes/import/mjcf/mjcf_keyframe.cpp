// Keyframes of MJCF.
#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"

namespace costate {
namespace {

struct Entry {
    const MjcfJoint* joint;
    int q, v;  // index of its first entry in qpos and qvel
};

// Joints in the order of MuJoCo's qpos and qvel
std::vector<Entry> entries(const std::vector<MjcfBody>& bodies, int& nq, int& nv) {
    std::vector<Entry> out;
    nq = nv = 0;
    for (const MjcfBody& body : bodies)
        for (const MjcfJoint& joint : body.joints) {
            if (joint.added) continue;
            out.push_back({&joint, nq, nv});
            nq += joint.type == MjcfJointType::free ? 7 : joint.type == MjcfJointType::ball ? 4 : 1;
            nv += joint.type == MjcfJointType::free ? 6 : joint.type == MjcfJointType::ball ? 3 : 1;
        }
    return out;
}

Json slice(const std::vector<double>& x, int begin, int count) {
    return std::vector<double>(x.begin() + begin, x.begin() + begin + count);
}

// The quaternion of a keyframe at `begin` of qpos; the identity for a zero one, as MuJoCo reads it.
Json turn(const XmlAttribute& a, const std::vector<double>& qpos, int begin, Warnings& warnings) {
    if (Eigen::Map<const Eigen::Vector4d>(qpos.data() + begin).stableNorm() > 1e-14)
        return slice(qpos, begin, 4);
    warnings.add(a.place(), "a quaternion of a keyframe is zero and is read as the identity",
                 "write 1 0 0 0");
    return {1, 0, 0, 0};
}

std::vector<double> exactly(const XmlAttribute& a, int size, const char* of) {
    const std::vector<double> x = a.numbers(0, 1'000'000);
    if (x.size() != static_cast<size_t>(size))
        a.fail("has " + std::to_string(x.size()) + " numbers, but " + of + " " + std::to_string(size),
               "write one number for each");
    return x;
}

Json position(const Entry& e, const XmlAttribute& a, const std::vector<double>& qpos, Warnings& warnings) {
    if (e.joint->type == MjcfJointType::free)
        return {{"position", slice(qpos, e.q, 3)}, {"quaternion", turn(a, qpos, e.q + 3, warnings)}};
    if (e.joint->type == MjcfJointType::ball) return {{"quaternion", turn(a, qpos, e.q, warnings)}};
    return qpos[e.q] - e.joint->ref;
}

Json velocity(const Entry& e, const std::vector<double>& qvel) {
    if (e.joint->type == MjcfJointType::free)
        return {{"linear", slice(qvel, e.v, 3)}, {"angular", slice(qvel, e.v + 3, 3)}};
    if (e.joint->type == MjcfJointType::ball) return {{"angular", slice(qvel, e.v, 3)}};
    return qvel[e.v];
}

}  // namespace

void put_keyframes(const MjcfContext& context, const MjcfIndex& index, const MjcfControls& controls,
                   ImportedModel& out) {
    int nq, nv;
    const std::vector<Entry> joints = entries(index.bodies, nq, nv);
    const auto activations = static_cast<int>(std::ranges::count_if(controls, &MjcfControl::activated));
    MjcfNames names("keyframe");
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "keyframe");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section, "key"))
            names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section, "key")) {
            const auto fits = [&](const char* name, int size) {
                return !e.has(name) || e[name].numbers(0, 1'000'000).size() == static_cast<size_t>(size);
            };
            if (index.incomplete() && !(fits("qpos", nq) && fits("qvel", nv) && fits("act", activations) &&
                                        fits("ctrl", static_cast<int>(controls.size())))) {
                if (joints.empty())
                    e.warn(context.warnings, "is of joints that are not in this file, and is ignored",
                           "load the file that includes this one");
                else
                    e.warn(context.warnings, "of a model of which parts are left out is ignored",
                           "remove it");
                continue;
            }
            e.warn_others(context.warnings, {"name", "time", "qpos", "qvel", "act", "ctrl", "mpos", "mquat"},
                          {});
            if (e.has("mpos") || e.has("mquat"))
                e.note(context.warnings, "places mocap bodies, which stay where the file has them",
                       "remove it to silence this");
            Json key{{"name", e.has("name") ? e["name"].text() : names.take("key")}};
            if (const auto a = e.find("qpos")) {
                const std::vector<double> qpos = exactly(*a, nq, "the joints have");
                for (const Entry& entry : joints)
                    if (!entry.joint->locked())
                        key["joints"][entry.joint->name] = position(entry, *a, qpos, context.warnings);
            }
            if (const auto a = e.find("qvel")) {
                const std::vector<double> qvel = exactly(*a, nv, "the joints' velocities have");
                for (const Entry& entry : joints)
                    if (!entry.joint->locked()) key["velocities"][entry.joint->name] = velocity(entry, qvel);
            }
            if (const auto a = e.find("act")) {
                const std::vector<double> act = exactly(*a, activations, "the activations are");
                size_t n = 0;
                for (const MjcfControl& control : controls)
                    if (control.activated) {
                        if (!control.name.empty()) key["activations"][control.name] = act[n];
                        ++n;
                    }
            }
            if (const auto a = e.find("ctrl")) {
                const std::vector<double> ctrl =
                    exactly(*a, static_cast<int>(controls.size()), "the actuators are");
                for (size_t n = 0; n < ctrl.size(); ++n)
                    if (!controls[n].name.empty()) key["controls"][controls[n].name] = ctrl[n];
            }
            put_item(out, "keyframes", e, key);
        }
}

}  // namespace costate
