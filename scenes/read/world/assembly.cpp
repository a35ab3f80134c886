#include "scenes/read/world/assembly.hpp"

#include <algorithm>

namespace costate {

void add_world_shape(Assembly& a, const Node& where, ShapeSpec shape) {
    a.shape_names.add(where, shape.name);
    a.shapes.push_back(std::move(shape));
    a.shape_bodies.emplace_back();
}

void add_equality(Assembly& a, const Node& where, const EqualityInput& input) {
    a.equality_names.add(where, input.spec.name);
    a.builder.add_equality(input.spec);
    a.equalities.push_back(input);
}

namespace {

// An equality of a model that is placed at the pose X, with the handles of its bodies and tendons. Its names are
// already those of the world.
EqualityInput placed(EqualityInput input, const std::vector<int>& handles, const std::vector<int>& tendons,
                     const Transform<double>& X) {
    EqualitySpec& spec = input.spec;
    const auto end = [&](int& body, Vec3<double>& anchor) {
        if (body < 0 && spec.type != EqualityType::coupling) anchor = transform_point(X, anchor);
        if (body >= 0) body = handles[body];
    };
    if (spec.body_a < 0) spec.R_ba = spec.R_ba * X.R.transpose();
    if (spec.body_b < 0) spec.R_ba = X.R * spec.R_ba;
    end(spec.body_a, spec.anchor_a);
    end(spec.body_b, spec.anchor_b);
    for (int* tendon : {&spec.tendon_a, &spec.tendon_b})
        if (*tendon >= 0) *tendon = tendons[*tendon];
    if (input.point_at_start) spec.anchor_b.setZero();
    return input;
}

// Adds a keyframe of a model at the pose X to one of the world; states of free joints are transformed by X.
template <class Full>
void add_start(const Keyframe& start, const Full& full, const Transform<double>& X, Keyframe& to_world) {
    for (const auto& [joint, q] : start.q) {
        std::vector<double>& to = to_world.q[full(joint)] = q;
        if (static_cast<int>(q.size()) != joint_nq(JointType::free)) continue;
        const Vec3<double> p = transform_point(X, load3(q.data()));
        const Eigen::Quaterniond turn = Eigen::Quaterniond(X.R) * Eigen::Quaterniond(q[3], q[4], q[5], q[6]);
        to = {p.x(), p.y(), p.z(), turn.w(), turn.x(), turn.y(), turn.z()};
    }
    for (const auto& [joint, v] : start.v) {
        std::vector<double>& to = to_world.v[full(joint)] = v;
        if (static_cast<int>(v.size()) != joint_nv(JointType::free)) continue;
        const Vec3<double> lin = X.R * load3(v.data());
        std::copy(lin.begin(), lin.end(), to.begin());
    }
    for (const auto& [actuator, value] : start.activations)
        to_world.activations[full(actuator)] = value;
    for (const auto& [actuator, value] : start.controls)
        to_world.controls[full(actuator)] = value;
}

}  // namespace

void add_copy(const Node& where, const ModelInput& model, const std::string& own, const std::string& prefix,
              const Transform<double>& X, const Keyframe* keyframe, Assembly& a) {
    const auto full = [&](const std::string& name) {
        const bool goes_on = name.compare(0, own.size() + 1, own + ".") == 0;
        return model.one_body && (name == own || goes_on) ? prefix + name.substr(own.size())
                                                          : prefix + "/" + name;
    };
    std::vector<int> handles;
    for (BodySpec spec : model.bodies) {
        spec.name = full(spec.name);
        spec.joint_name = full(spec.joint_name);
        a.bodies.add(where, spec.name);
        a.joints.add(where, spec.joint_name);
        if (spec.parent < 0) {
            const Transform<double> start = compose(X, Transform<double>{spec.R_PB, spec.placement});
            spec.placement = start.p;
            spec.R_PB = start.R;
            if (spec.joint == JointType::free) {
                a.free_bodies[spec.name] = start;
                spec.placement.setZero();
                spec.R_PB.setIdentity();
            }
        } else {
            spec.parent = handles[spec.parent];
        }
        handles.push_back(a.builder.add_body(spec));
    }
    std::vector<int> sites, tendons;
    for (SiteSpec spec : model.sites) {
        spec.name = full(spec.name);
        spec.body = handles[spec.body];
        a.sites.add(where, spec.name);
        sites.push_back(a.builder.add_site(spec));
    }
    const auto place = [&](TendonPlaceSpec& at) {
        if (at.site >= 0)
            at.site = sites[at.site];
        else
            at.position = transform_point(X, at.position);
    };
    for (TendonSpec spec : model.tendons) {
        spec.name = full(spec.name);
        for (TendonBranchSpec& branch : spec.branches)
            for (TendonPointSpec& point : branch.points) {
                place(point);
                if (!point.around) continue;
                place(point.around->centre);
                point.around->R = X.R * point.around->R;
                if (point.around->side) place(*point.around->side);
            }
        for (auto& [body, coefficient] : spec.joints)
            body = handles[body];
        a.tendons.add(where, spec.name);
        tendons.push_back(a.builder.add_tendon(spec));
    }
    for (ActuatorSpec spec : model.actuators) {
        spec.name = full(spec.name);
        if (spec.tendon >= 0) spec.tendon = tendons[spec.tendon];
        spec.body = handles[spec.body];
        a.actuators.add(where, spec.name);
        a.builder.add_actuator(spec);
    }
    for (SensorSpec spec : model.sensors) {
        spec.sensor.name = full(spec.sensor.name);
        for (std::string* name :
             {&spec.body, &spec.site, &spec.reference_body, &spec.reference_site, &spec.joint, &spec.tendon,
              &spec.actuator, &spec.body_a, &spec.body_b, &spec.shape_a, &spec.shape_b})
            if (!name->empty() && *name != "world" && !name->starts_with(of_world)) *name = full(*name);
        a.sensor_names.add(where, spec.sensor.name);
        a.sensors.push_back(std::move(spec));
    }
    for (EqualityInput input : model.equalities) {
        input.spec.name = full(input.spec.name);
        add_equality(a, where, placed(input, handles, tendons, X));
    }
    for (size_t n = 0; n < model.shapes.size(); ++n) {
        a.shapes.push_back(model.shapes[n]);
        a.shapes.back().name = full(model.shapes[n].name);
        a.shape_names.add(where, a.shapes.back().name);
        a.shape_bodies.push_back(full(model.bodies[model.shapes[n].body].name));
    }
    for (const Visual& visual : model.visuals) {
        a.visuals.push_back(visual);
        a.visual_bodies.push_back(full(model.bodies[visual.body].name));
    }
    if (keyframe != nullptr) add_start(*keyframe, full, X, a.start);
    for (const Keyframe& each : model.keyframes) {
        a.keyframes.push_back({prefix + "/" + each.name, {}, {}, {}, {}});
        add_start(each, full, X, a.keyframes.back());
    }
    for (PairInput pair : model.pairs) {
        pair.spec.name = full(pair.spec.name);
        for (std::string* shape : {&pair.a, &pair.b})
            if (!shape->starts_with(of_world)) *shape = full(*shape);
        a.pairs.push_back(pair);
    }
    const auto in_world = [&](const std::string& body) { return body == "world" ? body : full(body); };
    for (const auto& [first, second] : model.excluded)
        a.excluded.emplace_back(in_world(first), in_world(second));
    for (const auto& [body, parent] : model.carriers)
        a.carriers.emplace_back(full(body), full(parent));
}

}  // namespace costate
