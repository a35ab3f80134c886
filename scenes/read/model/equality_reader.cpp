#include "scenes/read/model/equality_reader.hpp"

#include "core/dynamics/kinematics.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/model/joint_reader.hpp"

namespace costate {
namespace {

int read_end(const Node& node, const std::vector<BodySpec>& bodies) {
    return node.text() == "world" ? -1 : resolve_one(node, "body", names_of(bodies, &BodySpec::name));
}

// The body carried by the joint that a node names; the joint must have one dof.
int read_coupled(const Node& node, const std::vector<BodySpec>& bodies) {
    const int body = resolve_one(node, "joint", names_of(bodies, &BodySpec::joint_name));
    const JointType type = bodies[body].joint;
    if (joint_nv(type) != 1)
        node.fail(
            "a coupling needs joints of one dof, but this joint is " + std::string(joint_type_name(type)),
            "name a joint with an axis");
    return body;
}

// The tendon that a node names; it must be a fixed one.
int read_coupled(const Node& node, const std::vector<TendonSpec>& tendons) {
    const int tendon = resolve_one(node, "tendon", names_of(tendons, &TendonSpec::name));
    if (tendons[tendon].joints.empty())
        node.fail("a coupling needs fixed tendons, but this one is spatial", "name a tendon with \"joints\"");
    return tendon;
}

// One or two of what a coupling couples, by the names at the keys.
template <class Items>
void read_coupled(const Node& node, const char* key_a, const char* key_b, const Items& items, int& a,
                  int& b) {
    a = read_coupled(node[key_a], items);
    if (!node.find(key_b)) return;
    b = read_coupled(node[key_b], items);
    if (a == b) node[key_b].fail("couples a joint or tendon to itself", "name another one");
}

void read_coupling(const Node& node, const std::vector<BodySpec>& bodies,
                   const std::vector<TendonSpec>& tendons, EqualitySpec& spec) {
    const bool of_tendons = node.has("tendon_a");
    if (of_tendons) {
        node.forbid({"joint_a", "joint_b"}, "it couples tendons");
        read_coupled(node, "tendon_a", "tendon_b", tendons, spec.tendon_a, spec.tendon_b);
    } else {
        node.forbid({"tendon_b"}, "there is no \"tendon_a\"");
        read_coupled(node, "joint_a", "joint_b", bodies, spec.body_a, spec.body_b);
    }
    spec.coupling[0] = node.number_or("offset", 0);
    const char* second = of_tendons ? "tendon_b" : "joint_b";
    if (!node.find(second))
        return node.forbid({"ratio", "polynomial"}, "there is no \"" + std::string(second) + "\"");
    spec.coupling[1] = node.number_or("ratio", 1);
    if (const auto polynomial = node.find("polynomial")) {
        node.forbid({"offset", "ratio"}, "\"polynomial\" has them");
        std::ranges::copy(polynomial->numbers(coupling_terms), spec.coupling.begin());
    }
}

Transform<double> world_pose(const Model& m, const Kinematics<double>& k, int body) {
    if (body < 0) return Transform<double>::identity();
    return {k.X[body].R, k.world_position(m, body)};
}

}  // namespace

EqualityInput read_equality(const Node& node, const std::vector<BodySpec>& bodies,
                            const std::vector<TendonSpec>& tendons) {
    node.expect_keys("equality");
    EqualityInput input;
    EqualitySpec& spec = input.spec;
    spec.name = read_name(node["name"]);
    constexpr EqualityType types[] = {EqualityType::connect, EqualityType::weld, EqualityType::coupling};
    spec.type = types[node["type"].choice({"connect", "weld", "coupling"})];
    spec.softness = read_softness(node, "solref", "solimp");
    const std::string because = "the equality is a " + node["type"].text();
    if (spec.type != EqualityType::weld) node.forbid({"quaternion", "rpy_deg"}, because);
    if (spec.type == EqualityType::coupling) {
        node.forbid({"body_a", "body_b", "point_a", "point_b"}, because);
        read_coupling(node, bodies, tendons, spec);
        return input;
    }
    node.forbid({"joint_a", "joint_b", "tendon_a", "tendon_b", "offset", "ratio", "polynomial"}, because);
    spec.body_a = read_end(node["body_a"], bodies);
    spec.body_b = read_end(node["body_b"], bodies);
    if (moving_body(bodies, spec.body_a) == moving_body(bodies, spec.body_b))
        node["body_b"].fail("does not move relative to \"" + node["body_a"].text() + "\"",
                            "name a body that does");
    spec.anchor_a = node.vec3_or("point_a", Vec3<double>::Zero());
    spec.anchor_b = node.vec3_or("point_b", Vec3<double>::Zero());
    spec.R_ba = rotation_matrix(read_orientation(node));
    input.point_at_start = !node.has("point_b");
    input.axes_at_start = spec.type == EqualityType::weld && !node.has("quaternion") && !node.has("rpy_deg");
    return input;
}

void place_equalities(const std::vector<EqualityInput>& inputs, const VecX<double>& theta,
                      const VecX<double>& x0, Model& model, VecX<double>& nominal) {
    Kinematics<double> k(model);
    kinematics(model, theta.data(), x0.data(), x0.data() + model.nq, k);
    for (size_t n = 0; n < inputs.size(); ++n) {
        Equality& e = model.equalities[n];
        const int index = static_cast<int>(n);
        const Transform<double> a = world_pose(model, k, e.body_a), b = world_pose(model, k, e.body_b);
        if (inputs[n].axes_at_start) e.R_ba = b.R.transpose() * a.R;
        if (!inputs[n].point_at_start) continue;
        const Vec3<double> point = transform_point(a, load3(theta.data() + model.anchor_a.at(index)));
        add3<double>(nominal.data() + model.anchor_b.at(index), b.R.transpose() * (point - b.p));
    }
}

}  // namespace costate
