#include "scenes/import/sdf/sdf.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/math/rotation.hpp"
#include "scenes/format/inertia.hpp"
#include "scenes/format/names.hpp"
#include "scenes/import/pose.hpp"
#include "scenes/import/sdf/sdf_read.hpp"
#include "scenes/import/sdf/sdf_tree.hpp"

namespace costate {
namespace {

// Lengths and angles that only round-off tells from 0
constexpr double round_off = 1e-13;

Vec3<double> without_round_off(Vec3<double> v) {
    for (double& x : v)
        if (std::abs(x) < round_off) x = 0;
    return v;
}

// The pose of b in a.
Transform<double> between(const Transform<double>& a, const Transform<double>& b) {
    Mat3<double> R = a.R.transpose() * b.R;
    if (R.isIdentity(round_off)) R.setIdentity();
    return {R, without_round_off(a.R.transpose() * (b.p - a.p))};
}

// One joint of the chain that carries a link.
struct Step {
    const char* type;
    std::string name;
    const SdfAxis* axis = nullptr;                   // of a joint with an axis
    Vec3<double> direction = Vec3<double>::UnitZ();  // in the link
};

class SdfWriter {
public:
    SdfWriter(const SdfModel& model, const ImportOptions& options, Warnings& warnings, ImportedModel& out)
        : model_(model),
          options_(options),
          trees_(trees_of(model)),
          warnings_(warnings),
          out_(out) {
        for (const SdfJoint& joint : model.joints)
            joint_names_.insert(joint.name);
        carried_.resize(model.links.size());
        for (size_t k = trees_.order.size(); k-- > 0;) {
            const int link = trees_.order[k];
            carried_[link] += model.links[link].mass;
            if (trees_.parents[link] != sdf_world) carried_[trees_.parents[link]] += carried_[link];
        }
    }

    void add() {
        for (const int link : trees_.order)
            add_link(link);
        keep_apart();
        keep_from_still_parents();
        for (const int j : trees_.closing)
            close(model_.joints[j]);
        for (const SdfJoint& joint : model_.joints)
            if (joint.mimic) couple(joint);
    }

private:
    const SdfLink& link(int index) const { return model_.links[index]; }
    std::string body_name(int index) const { return index == sdf_world ? "world" : link(index).name; }
    Transform<double> pose(int index) const {
        return index == sdf_world ? Transform<double>::identity() : link(index).X;
    }

    std::string add_item(const char* list, Json value, const std::string& place) {
        Json& items = out_.model[list];
        const std::string pointer = std::string("/") + list + "/" + std::to_string(items.size());
        items.push_back(std::move(value));
        out_.places[pointer] = place;
        return pointer;
    }

    void add_link(int index) {
        const SdfLink& l = link(index);
        Json body{{"name", l.name}};
        if (trees_.parents[index] != sdf_world) body["parent"] = body_name(trees_.parents[index]);
        const Json chain = chain_of(index);
        if (chain.size() > 1)
            body["joints"] = chain;
        else if (chain[0] != Json{{"type", "fixed"}})
            body["joint"] = chain[0];
        if (l.mass > 0) {
            const Mat3<double> I = inertia_of(index);
            body["mass"] = l.mass;
            if (!l.com.isZero(0)) body["com"] = to_json(l.com);
            body["inertia"] = Json::array({I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)});
            if (l.weightless) body["gravity_compensation"] = 1;
        }
        if (!l.shapes.empty()) body["shapes"] = l.shapes;
        if (!l.visuals.empty()) body["visuals"] = l.visuals;
        const std::string pointer = add_item("bodies", std::move(body), l.place);
        const int joint = trees_.carriers[index].joint;
        if (joint >= 0)
            out_.places[pointer + "/joint"] = out_.places[pointer + "/joints"] = model_.joints[joint].place;
        for (size_t k = 0; k < l.shape_places.size(); ++k)
            out_.places[pointer + "/shapes/" + std::to_string(k)] = l.shape_places[k];
        for (size_t k = 0; k < l.planes.size(); ++k)
            add_plane(l, k);
    }

    // A plane that is fixed in the world is a shape of the world.
    void add_plane(const SdfLink& l, size_t k) {
        Json plane = l.planes[k];
        const auto numbers = [&](const char* key, std::vector<double> otherwise) {
            return plane.value(key, std::move(otherwise));
        };
        const std::vector<double> p = numbers("position", {0, 0, 0}), q = numbers("quaternion", {1, 0, 0, 0});
        plane.erase("position");
        plane.erase("quaternion");
        put_pose(plane, between(Transform<double>::identity(),
                                compose(l.X, {rotation_matrix(load_quaternion(q.data())), load3(p.data())})));
        Json& shapes = out_.scene["shapes"];
        out_.scene_places["/shapes/" + std::to_string(shapes.size())] = l.plane_places[k];
        shapes.push_back(std::move(plane));
    }

    // A body that turns a single point mass about itself would turn no inertia. The point mass then becomes a
    // ball.
    Mat3<double> inertia_of(int index) {
        const SdfLink& l = link(index);
        const int joint = trees_.carriers[index].joint;
        const bool turns = !model_.fixed && carried_[index] <= l.mass &&
                           (joint < 0 ? floats(index)
                                      : model_.joints[joint].type != SdfJointType::fixed &&
                                            model_.joints[joint].type != SdfJointType::prismatic);
        if (!l.inertia.isZero(0) || !turns) return l.inertia;
        warnings_.add(l.place,
                      "link \"" + l.name + "\" turns but has no inertia; that of a ball of water is used",
                      "write its inertia");
        return solid_ball(l.mass);
    }

    // True if a link without a joint to carry it is free.
    bool floats(int index) const { return !model_.fixed && options_.base != Base::fixed && has_mass(index); }
    // True if a link, or one that is fixed to it, has mass.
    bool has_mass(int index) const {
        for (int other = 0; other < static_cast<int>(model_.links.size()); ++other)
            if (link(other).mass > 0 && moving_link(other) == index) return true;
        return false;
    }
    // The first link of the tree to which a link is fixed; sdf_world: it does not move.
    int moving_link(int index) const {
        while (index != sdf_world) {
            const int joint = trees_.carriers[index].joint;
            if (joint < 0 || model_.joints[joint].type != SdfJointType::fixed) return index;
            index = trees_.parents[index];
        }
        return index;
    }

    // A joint name that is not taken, for a joint that the file does not have.
    std::string own_name(std::string name) const {
        while (joint_names_.contains(name))
            name += ".base";
        return name;
    }

    // The joints that carry a link.
    Json chain_of(int index) {
        const SdfLink& l = link(index);
        const auto [j, reversed] = trees_.carriers[index];
        const Transform<double> X = between(pose(trees_.parents[index]), l.X);
        const bool freed = j >= 0 && options_.base == Base::floating && trees_.parents[index] == sdf_world &&
                           model_.joints[j].type == SdfJointType::fixed && carried_[index] > 0;
        if (j < 0 || freed) {
            if (j < 0 && !model_.fixed && !has_mass(index))
                warnings_.add(l.place, "link \"" + l.name + "\" has no mass and is fixed in the world",
                              "give it mass, or a joint to another link");
            Json joint{{"type", freed || floats(index) ? "free" : "fixed"}};
            const std::string name = own_name(l.name);
            if (name != l.name || joint["type"] == "free") joint["name"] = name;
            put_pose(joint, X);
            return Json::array({joint});
        }
        const SdfJoint& joint = model_.joints[j];
        if (joint.type != SdfJointType::fixed && !(carried_[index] > 0)) {
            warnings_.add(joint.place,
                          "joint \"" + joint.name + "\" moves only links without mass and is locked",
                          "give the links mass, or make the joint fixed");
            Json fixed{{"name", joint.name}, {"type", "fixed"}};
            put_pose(fixed, X);
            return Json::array({fixed});
        }
        return chain_of(index, joint, reversed, X);
    }

    // The steps of a joint, from the parent of the tree to its child.
    std::vector<Step> steps_of(const SdfJoint& joint, bool reversed, const Mat3<double>& R) const {
        static constexpr const char* types[] = {"fixed",   "revolute",  "prismatic",
                                                "helical", "spherical", "revolute"};
        std::vector<Step> steps;
        for (size_t k = 0; k < joint.axes.size(); ++k) {
            const bool two = joint.type == SdfJointType::two_axes;
            const Vec3<double> axis = without_round_off(R.transpose() * joint.axes[k].direction);
            steps.push_back({types[static_cast<size_t>(joint.type)],
                             joint.name + (two ? "." + std::to_string(k + 1) : ""), &joint.axes[k],
                             reversed ? Vec3<double>(-axis) : axis});
        }
        if (joint.axes.empty()) steps.push_back({types[static_cast<size_t>(joint.type)], joint.name});
        if (reversed) std::ranges::reverse(steps);
        return steps;
    }

    // Joints turn the link about the anchor of the joint: frames of the chain have the axes of the link, and if
    // the anchor is not at its origin, a fixed joint leads back to it.
    Json chain_of(int index, const SdfJoint& joint, bool reversed, Transform<double> next) {
        const SdfLink& l = link(index);
        const Vec3<double> anchor = without_round_off(l.X.R.transpose() * (joint.anchor - l.X.p));
        const std::vector<Step> steps = steps_of(joint, reversed, l.X.R);
        const bool anywhere =
            joint.type == SdfJointType::fixed || joint.type == SdfJointType::prismatic ||
            (joint.type != SdfJointType::ball && std::ranges::all_of(steps, [&](const Step& s) {
                 return anchor.cross(s.direction).norm() < round_off;
             }));
        const Transform<double> to{Mat3<double>::Identity(), anchor}, back{Mat3<double>::Identity(), -anchor};
        if (!anywhere) next = compose(next, to);
        Json chain = Json::array();
        for (const Step& step : steps) {
            if (step.axis != nullptr && step.axis->lower == step.axis->upper) {
                warnings_.note(joint.place, "joint \"" + step.name + "\" has an empty range and is locked",
                               "give it a range, or make it fixed");
                next = compose(next, motion(joint, step));
                locked_.insert(step.name);
                continue;
            }
            Json out{{"name", step.name}, {"type", step.type}};
            put_pose(out, next);
            if (step.axis != nullptr) put_axis(joint, step, out);
            chain.push_back(std::move(out));
            next = Transform<double>::identity();
        }
        if (!anywhere) next = compose(next, back);
        const bool at_link = next.p.isZero(0) && next.R.isIdentity(0);
        if (chain.empty() || !at_link) {
            Json fixed{{"type", "fixed"}};
            const std::string name = chain.empty() ? joint.name : own_name(l.name);
            if (name != l.name) fixed["name"] = name;
            put_pose(fixed, next);
            chain.push_back(std::move(fixed));
        }
        return chain;
    }

    // The motion of the only coordinate of a locked joint, as seen from the child of the tree.
    static Transform<double> motion(const SdfJoint& joint, const Step& step) {
        const double q = step.axis->lower;
        const Vec3<double> turn = q * step.direction;
        const bool slides = joint.type == SdfJointType::prismatic;
        Transform<double> X = Transform<double>::identity();
        if (!slides && q != 0) X.R = rotation_matrix(quaternion_exp<double>(turn));
        if (slides) X.p = turn;
        if (joint.type == SdfJointType::screw) X.p = joint.pitch * turn;
        return X;
    }

    void put_axis(const SdfJoint& joint, const Step& step, Json& out) {
        constexpr double far = 1e6;  // rad or m: the open end of a range
        const SdfAxis& a = *step.axis;
        out["axis"] = to_json(step.direction);
        if (joint.type == SdfJointType::screw) out["pitch"] = joint.pitch;
        if (a.lower > -unlimited || a.upper < unlimited) {
            out["limits"] = Json::array({std::max(a.lower, std::min(-far, a.upper - far)),
                                         std::min(a.upper, std::max(far, a.lower + far))});
            if (a.limit_stiffness > 0) {
                out["limit_stiffness"] = a.limit_stiffness;
                out["limit_damping"] = a.limit_damping;
            }
        }
        if (a.damping > 0) out["damping"] = a.damping;
        if (a.friction > 0) out["dry_friction"] = a.friction;
        if (a.stiffness > 0) {
            out["stiffness"] = a.stiffness;
            if (a.rest != 0) out["rest"] = a.rest;
        }
        if (a.effort > 0 && !joint.mimic)
            add_item("actuators",
                     {{"name", step.name},
                      {"joint", step.name},
                      {"type", "motor"},
                      {"control_limits", Json::array({-a.effort, a.effort})}},
                     joint.place);
    }

    // True if a link does not collide with others of its model.
    bool silent(int index) const {
        const Json& shapes = link(index).shapes;
        return !shapes.empty() && shapes[0].contains("self_collision");
    }

    // Between the trees of a model "self_collision" has no effect; "exclude" keeps them from colliding.
    void keep_apart() {
        const int n = static_cast<int>(model_.links.size());
        for (int a = 0; a < n && !model_.fixed; ++a)
            for (int b = a + 1; b < n; ++b)
                if (trees_.roots[a] != trees_.roots[b] && !link(a).shapes.empty() &&
                    !link(b).shapes.empty() && (silent(a) || silent(b)))
                    out_.model["exclude"].push_back(Json::array({body_name(a), body_name(b)}));
    }

    // A parent that stands still is a part of the world, with which all bodies collide, but not the links that it carries.
    void keep_from_still_parents() {
        const auto still = [&](int index) {
            const int first = moving_link(index);
            return first == sdf_world || (trees_.carriers[first].joint < 0 && !floats(first));
        };
        for (const int index : trees_.order) {
            if (still(index)) continue;
            const int first = moving_link(index), parent = trees_.parents[first];
            if (trees_.carriers[first].joint >= 0 && parent != sdf_world && still(parent) &&
                !silent(parent) && !silent(index) && !link(parent).shapes.empty() &&
                !link(index).shapes.empty())
                out_.model["exclude"].push_back(Json::array({body_name(parent), body_name(index)}));
        }
    }

    // An equality in the place of a joint that closes a loop.
    void close(const SdfJoint& joint) {
        const bool turns = joint.type == SdfJointType::revolute, weld = joint.type == SdfJointType::fixed;
        if (!turns && !weld && joint.type != SdfJointType::ball) {
            warnings_.add(joint.place, "joint \"" + joint.name + "\" closes a loop and is left out",
                          "close the loop by a revolute, ball or fixed joint");
            return;
        }
        if (moving_link(joint.parent) == moving_link(joint.child)) return;  // they do not move anyway
        if (turns) warn_of_lost(joint);
        const auto local = [&](int index, const Vec3<double>& p) {
            return to_json(between(pose(index), {Mat3<double>::Identity(), p}).p);
        };
        const auto add = [&](const std::string& name, const Vec3<double>& p) {
            Json equality{{"name", name},
                          {"type", weld ? "weld" : "connect"},
                          {"body_a", body_name(joint.child)},
                          {"body_b", body_name(joint.parent)},
                          {"point_a", local(joint.child, p)},
                          {"point_b", local(joint.parent, p)}};
            if (weld)
                put_pose(equality, {between(pose(joint.parent), pose(joint.child)).R, Vec3<double>::Zero()});
            add_item("equalities", std::move(equality), joint.place);
        };
        if (!turns) return add(joint.name, joint.anchor);
        constexpr double apart = 0.05;  // m along the axis
        add(joint.name + ".1", joint.anchor - apart * joint.axes[0].direction);
        add(joint.name + ".2", joint.anchor + apart * joint.axes[0].direction);
    }

    void warn_of_lost(const SdfJoint& joint) {
        const SdfAxis& a = joint.axes[0];
        if (a.lower > -unlimited || a.upper < unlimited || a.damping > 0 || a.friction > 0 ||
            a.stiffness > 0 || a.effort > 0 || joint.mimic)
            warnings_.add(joint.place,
                          "joint \"" + joint.name +
                              "\" closes a loop: its limits, spring, damping, friction and motor "
                              "are ignored",
                          "give them to another joint of the loop");
    }

    void couple(const SdfJoint& joint) {
        const SdfMimic& mimic = *joint.mimic;
        const auto known = [&](const std::string& name) {
            return std::ranges::any_of(model_.joints, [&](const SdfJoint& j) {
                return j.name == name && j.axes.size() == 1 && !locked_.contains(name) && name != joint.name;
            });
        };
        if (locked_.contains(joint.name)) return;
        if (!known(mimic.leader))
            return warnings_.add(joint.place,
                                 "joint \"" + joint.name + "\" mimics \"" + mimic.leader +
                                     "\", which is not a joint that moves, and moves by itself",
                                 "correct the name");
        add_item("equalities",
                 {{"name", joint.name + ".mimic"},
                  {"type", "coupling"},
                  {"joint_a", joint.name},
                  {"joint_b", mimic.leader},
                  {"ratio", mimic.multiplier},
                  {"offset", mimic.offset - mimic.multiplier * mimic.reference}},
                 joint.place);
    }

    const SdfModel& model_;
    const ImportOptions& options_;
    const SdfTrees trees_;
    std::vector<double> carried_;  // mass of each link and of all that it carries
    std::set<std::string> joint_names_, locked_;
    Warnings& warnings_;
    ImportedModel& out_;
};

}  // namespace

ImportedModel import_sdf(const XmlDocument& document, const std::string& text, const ImportOptions& options,
                         Warnings& warnings) {
    const SdfScene scene = read_sdf(document, text, options, warnings);
    const std::filesystem::path file = document.file();
    ImportedModel out;
    out.places[""] = document.root().place();
    out.model["name"] =
        scene.world || scene.models[0].name.empty() ? file.stem().string() : scene.models[0].name;
    out.model["source"] = "SDFormat file " + file.filename().string();
    out.model["bodies"] = Json::array();
    if (scene.world) out.scene["shapes"] = Json::array();  // nothing is added to the world of the file
    if (scene.gravity) out.scene["gravity"] = to_json(*scene.gravity);
    if (scene.time_step) out.scene["time_step"] = *scene.time_step;
    for (const char* key : {"/gravity", "/time_step"})
        if (!scene.physics_place.empty()) out.scene_places[key] = scene.physics_place;
    for (const SdfModel& model : scene.models)
        SdfWriter(model, options, warnings, out).add();
    return out;
}

}  // namespace costate
