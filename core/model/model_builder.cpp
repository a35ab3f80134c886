#include <algorithm>
#include <cassert>

#include "core/model/model.hpp"
#include "core/model/tendon_builder.hpp"

namespace costate {

namespace {

using Range = ParameterRange;

// The bodies of a model in terms of those of the builder.
struct Bodies {
    std::vector<int> index;              // in the model, of a handle
    std::vector<const BodySpec*> specs;  // of each body of the model
    int of(int handle) const { return handle < 0 ? -1 : index[handle]; }
};

template <class Specs> std::vector<std::string> names_of(const Specs& specs) {
    std::vector<std::string> names;
    for (const auto& s : specs)
        names.push_back(s.name);
    return names;
}
std::string dof_name(const Body& b, int k) {
    return b.nv == 1 ? b.joint_name : b.joint_name + "." + std::to_string(k);
}

// Depth-first order, tree by tree, with children in the order of insertion.
std::vector<int> depth_first_order(const std::vector<BodySpec>& specs) {
    std::vector<std::vector<int>> children(specs.size());
    std::vector<int> order, stack;
    for (size_t i = specs.size(); i-- > 0;) {
        const int parent = specs[i].parent;
        (parent < 0 ? stack : children[parent]).push_back(static_cast<int>(i));
    }
    while (!stack.empty()) {
        const int i = stack.back();
        stack.pop_back();
        order.push_back(i);
        stack.insert(stack.end(), children[i].begin(), children[i].end());
    }
    return order;
}

void append_body(Model& m, const BodySpec& spec, int parent) {
    const int index = static_cast<int>(m.bodies.size());
    Body b;
    b.name = spec.name;
    b.joint_name = spec.joint_name.empty() ? spec.name : spec.joint_name;
    b.parent = parent;
    b.joint = spec.joint;
    b.axis = spec.axis.normalized();
    b.R_PB = spec.R_PB;
    const Mat3<double> along = b.axis * b.axis.transpose();
    b.turn[0] = b.R_PB * along;
    b.turn[1] = b.R_PB * skew(b.axis);
    b.turn[2] = b.R_PB * (Mat3<double>::Identity() - along);
    b.q0 = m.nq;
    b.nq = joint_nq(spec.joint);
    b.v0 = m.nv;
    b.nv = joint_nv(spec.joint);
    if (parent < 0) m.trees.push_back({index, index, m.nv, m.nv});
    b.tree = static_cast<int>(m.trees.size()) - 1;

    int last = parent < 0 ? -1 : m.bodies[parent].last_dof;
    for (int k = 0; k < b.nv; ++k) {
        const int depth = last < 0 ? 0 : m.dofs[last].depth + 1;
        m.dofs.push_back({index, last, depth, m.mass_matrix_size});
        m.mass_matrix_size += depth + 1;
        last = b.v0 + k;
    }
    b.last_dof = last;
    m.nq += b.nq;
    m.nv += b.nv;
    m.trees.back().body_end = index + 1;
    m.trees.back().dof_end = m.nv;
    const bool ball = b.joint == JointType::spherical;
    if ((b.nv == 1 || ball) && (spec.lower > -unlimited || spec.upper < unlimited))
        m.limits.push_back({index, b.q0, b.v0, {}, ball});
    for (size_t k = 0; k < spec.dry_friction.size(); ++k)
        if (spec.dry_friction[k] > 0) m.dry_dofs.push_back(b.v0 + static_cast<int>(k));
    m.bodies.push_back(std::move(b));
}

Bodies add_bodies(Model& m, const std::vector<BodySpec>& specs) {
    Bodies bodies;
    bodies.index.assign(specs.size(), -1);
    for (const int handle : depth_first_order(specs)) {
        const BodySpec& spec = specs[handle];
        bodies.index[handle] = static_cast<int>(m.bodies.size());
        bodies.specs.push_back(&spec);
        append_body(m, spec, bodies.of(spec.parent));
    }
    return bodies;
}

void add_body_parameters(Model& m, const Bodies& bodies) {
    std::vector<std::string> dofs, joints;
    std::vector<double> mass, com, inertia, placement, pitch, damping, armature, stiffness, rest,
        dry_friction;
    const auto per_dof = [](std::vector<double>& out, const std::vector<double>& given, int nv) {
        for (int k = 0; k < nv; ++k)
            out.push_back(given.empty() ? 0.0 : given[k]);
    };
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const BodySpec& s = *bodies.specs[i];
        const Body& b = m.bodies[i];
        joints.push_back(b.joint_name);
        for (int k = 0; k < b.nv; ++k)
            dofs.push_back(dof_name(b, k));
        mass.push_back(s.mass.m);
        const Mat3<double>& I = s.mass.I;
        com.insert(com.end(), s.mass.c.begin(), s.mass.c.end());
        inertia.insert(inertia.end(), {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)});
        placement.insert(placement.end(), s.placement.begin(), s.placement.end());
        pitch.push_back(joint_kind(s.joint).has_pitch ? s.pitch : 0);
        per_dof(damping, s.damping, b.nv);
        per_dof(armature, s.armature, b.nv);
        per_dof(stiffness, s.stiffness, b.nv);
        per_dof(rest, s.rest, b.nv);
        per_dof(dry_friction, s.dry_friction, b.nv);
    }
    const std::vector<std::string> names = names_of(m.bodies);
    m.mass = m.layout.add("bodies", names, "mass", 1, Range::nonnegative, mass);
    m.com = m.layout.add("bodies", names, "com", 3, Range::any, com);
    m.inertia = m.layout.add("bodies", names, "inertia", 6, Range::any, inertia);
    m.placement = m.layout.add("joints", joints, "placement", 3, Range::any, placement);
    const std::vector<double> no_turns(3 * names.size());
    m.rotation = m.layout.add("joints", joints, "rotation", 3, Range::any, no_turns);
    m.axis_rotation = m.layout.add("joints", joints, "axis_rotation", 3, Range::any, no_turns);
    m.pitch = m.layout.add("joints", joints, "pitch", 1, Range::any, pitch);
    m.damping = m.layout.add("joints", dofs, "damping", 1, Range::nonnegative, damping);
    m.armature = m.layout.add("joints", dofs, "armature", 1, Range::nonnegative, armature);
    m.stiffness = m.layout.add("joints", dofs, "stiffness", 1, Range::nonnegative, stiffness);
    m.rest = m.layout.add("joints", dofs, "rest", 1, Range::any, rest);
    m.dry_friction = m.layout.add("joints", dofs, "dry_friction", 1, Range::nonnegative, dry_friction);
    for (JointLimit& l : m.limits) {
        const BodySpec& s = *bodies.specs[l.body];
        const std::string& joint = joints[l.body];
        if (l.ball)
            l.range.upper =
                m.layout.add("joints", {joint}, "greatest_angle", 1, Range::angle, {s.upper}).offset;
        else
            l.range = m.layout.add_interval("joints", joint, "limits", s.lower, s.upper);
    }
}

// Adds the dynamics of actuator n.
void add_activation(Model& m, const ActuatorSpec& spec, int n) {
    Activation a;
    a.actuator = n;
    a.type = spec.activation->type;
    for (int i = 0; i < 2; ++i)
        if (const char* time = activation_kind(a.type).times[i])
            a.times[i] = m.layout
                             .add("actuators", {spec.name}, time, 1, ParameterRange::positive,
                                  {spec.activation->times[i]})
                             .offset;
    if (spec.activation->switch_width > 0)
        a.switch_width = m.layout
                             .add("actuators", {spec.name}, "switch_width", 1, ParameterRange::positive,
                                  {spec.activation->switch_width})
                             .offset;
    a.early = spec.activation->early;
    a.range = m.layout.add_interval("actuators", spec.name, "activation_limits", spec.activation->lower,
                                    spec.activation->upper);
    m.actuators[n].activation = static_cast<int>(m.activations.size());
    m.activations.push_back(a);
}

void add_muscle(Model& m, const ActuatorSpec& spec, Actuator& actuator) {
    MuscleSpec numbers = *spec.muscle;
    for (const MuscleQuantity& quantity : muscle_quantities()) {
        const double* of = quantity.of(numbers);
        const int at = m.layout
                           .add("actuators", {spec.name}, quantity.name, quantity.width, quantity.range,
                                {of, of + quantity.width})
                           .offset;
        if (actuator.muscle < 0) actuator.muscle = at;
    }
}

void add_actuators(Model& m, const std::vector<ActuatorSpec>& specs, const Bodies& bodies) {
    std::vector<double> gear;
    for (const ActuatorSpec& s : specs) {
        const int body = bodies.of(s.body);
        const Body& b = m.bodies[body];
        const bool on_joint = actuator_kind(s.type).on_joint;
        m.actuators.push_back({s.name,
                               s.type,
                               on_joint,
                               body,
                               on_joint ? b.q0 : 0,
                               on_joint ? b.v0 : 0,
                               {},
                               {},
                               s.axis,
                               s.position,
                               s.drag * s.axis + s.moment,
                               s.tendon});
        gear.push_back(s.gear);
    }
    m.nu = static_cast<int>(m.actuators.size());
    const std::vector<std::string> names = names_of(specs);
    m.actuator.gear = m.layout.add("actuators", names, "gear", 1, Range::any, gear);
    for (const ActuatorQuantity& quantity : actuator_quantities()) {
        std::vector<double> values;
        for (ActuatorSpec s : specs)
            values.insert(values.end(), quantity.of(s), quantity.of(s) + quantity.width);
        m.actuator.*quantity.slice =
            m.layout.add("actuators", names, quantity.name, quantity.width, quantity.range, values);
    }
    for (size_t n = 0; n < specs.size(); ++n) {
        const ActuatorSpec& s = specs[n];
        Actuator& a = m.actuators[n];
        a.control =
            m.layout.add_interval("actuators", s.name, "control_limits", s.control_lower, s.control_upper);
        a.force = m.layout.add_interval("actuators", s.name, "force_limits", s.force_lower, s.force_upper);
        if (s.gain_slopes)
            a.gain_slopes = m.layout
                                .add("actuators", {s.name}, "gain_slopes", 2, Range::any,
                                     {(*s.gain_slopes)[0], (*s.gain_slopes)[1]})
                                .offset;
        if (s.muscle) add_muscle(m, s, a);
        if (s.activation) add_activation(m, s, static_cast<int>(n));
    }
}

Equality make_equality(Model& m, const EqualitySpec& s, const Bodies& bodies) {
    Equality e{s.name, s.type, bodies.of(s.body_a), bodies.of(s.body_b), s.R_ba};
    if (s.tendon_a >= 0) {
        e.length_a = measured_tendon(m, s.tendon_a);
        if (s.tendon_b >= 0) e.length_b = measured_tendon(m, s.tendon_b);
    } else if (s.type == EqualityType::coupling) {
        const Body& a = m.bodies[e.body_a];
        assert(a.nv == 1);
        e.q_a = a.q0;
        e.v_a = a.v0;
        if (e.body_b >= 0) {
            const Body& b = m.bodies[e.body_b];
            assert(b.nv == 1);
            e.q_b = b.q0;
            e.v_b = b.v0;
        }
    }
    return e;
}

void add_equalities(Model& m, const std::vector<EqualitySpec>& specs, const Bodies& bodies) {
    std::vector<double> anchor_a, anchor_b, coupling;
    for (const EqualitySpec& s : specs) {
        m.equalities.push_back(make_equality(m, s, bodies));
        anchor_a.insert(anchor_a.end(), s.anchor_a.begin(), s.anchor_a.end());
        anchor_b.insert(anchor_b.end(), s.anchor_b.begin(), s.anchor_b.end());
        coupling.insert(coupling.end(), s.coupling.begin(), s.coupling.end());
    }
    const std::vector<std::string> names = names_of(specs);
    m.anchor_a = m.layout.add("equalities", names, "anchor_a", 3, Range::any, anchor_a);
    m.anchor_b = m.layout.add("equalities", names, "anchor_b", 3, Range::any, anchor_b);
    m.weld_rotation =
        m.layout.add("equalities", names, "rotation", 3, Range::any, std::vector<double>(3 * names.size()));
    m.coupling = m.layout.add("equalities", names, "coupling", coupling_terms, Range::any, coupling);
}

void add_limit_springs(Model& m, const Bodies& bodies) {
    std::vector<std::string> names;
    std::vector<double> stiffness, damping;
    for (JointLimit& l : m.limits) {
        const BodySpec& s = *bodies.specs[l.body];
        if (s.limit_stiffness == unlimited) continue;
        l.spring = static_cast<int>(names.size());
        names.push_back(m.bodies[l.body].joint_name);
        stiffness.push_back(s.limit_stiffness);
        damping.push_back(s.limit_damping);
    }
    m.limit_stiffness = m.layout.add("joints", names, "limit_stiffness", 1, Range::positive, stiffness);
    m.limit_damping = m.layout.add("joints", names, "limit_damping", 1, Range::nonnegative, damping);
}

// Adds the softness of every constraint by MuJoCo's law.
void add_softness(Model& m, const Bodies& bodies, const std::vector<EqualitySpec>& equalities,
                  const std::vector<TendonSpec>& tendons) {
    std::vector<std::string> limited, dry, measured;
    std::vector<Softness> of_limits, of_dry, of_equalities, of_tendons;
    for (const JointLimit& l : m.limits) {
        limited.push_back(m.bodies[l.body].joint_name);
        of_limits.push_back(bodies.specs[l.body]->limit_softness);
    }
    for (const int j : m.dry_dofs) {
        const Body& b = m.bodies[m.dofs[j].body];
        dry.push_back(dof_name(b, j - b.v0));
        of_dry.push_back(bodies.specs[m.dofs[j].body]->dry_softness);
    }
    for (const EqualitySpec& s : equalities)
        of_equalities.push_back(s.softness);
    for (const MeasuredTendon& t : m.measured_tendons) {
        measured.push_back(m.tendons[t.tendon].name);
        of_tendons.push_back(tendons[t.tendon].limit_softness);
    }
    m.limit_softness = add_softness(m.layout, "joints", limited, "limit_", of_limits);
    m.dry_softness = add_softness(m.layout, "joints", dry, "friction_", of_dry);
    m.equality_softness = add_softness(m.layout, "equalities", names_of(equalities), "", of_equalities);
    m.tendon_limit_softness = add_softness(m.layout, "tendons", measured, "limit_", of_tendons);
}

void add_sites(Model& m, const std::vector<SiteSpec>& specs, const Bodies& bodies) {
    std::vector<double> position;
    for (const SiteSpec& s : specs) {
        m.sites.push_back({s.name, bodies.of(s.body), s.R_BS});
        position.insert(position.end(), s.position.begin(), s.position.end());
    }
    const std::vector<std::string> names = names_of(specs);
    m.site_position = m.layout.add("sites", names, "position", 3, Range::any, position);
    m.site_rotation =
        m.layout.add("sites", names, "rotation", 3, Range::any, std::vector<double>(3 * names.size()));
}

// Adds the medium and a drag box for each body that moves and has mass.
void add_medium(Model& m, const MediumSpec& medium, const Bodies& bodies) {
    std::vector<std::string> names;
    std::vector<double> half_extents;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const BodySpec& spec = *bodies.specs[i];
        if (m.bodies[i].last_dof < 0 || spec.mass.m <= 0) continue;
        m.drag_boxes.push_back({static_cast<int>(i), spec.drag_axes});
        names.push_back(m.bodies[i].name);
        half_extents.insert(half_extents.end(), spec.drag_box.begin(), spec.drag_box.end());
    }
    m.density = m.layout.add("world", {""}, "density", 1, ParameterRange::nonnegative, {medium.density});
    m.viscosity =
        m.layout.add("world", {""}, "viscosity", 1, ParameterRange::nonnegative, {medium.viscosity});
    m.wind = m.layout.add("world", {""}, "wind", 3, ParameterRange::any,
                          {medium.wind.x(), medium.wind.y(), medium.wind.z()});
    m.drag_box = m.layout.add("bodies", names, "drag_box", 3, ParameterRange::nonnegative, half_extents);
}

// Adds the share of its weight that each body with such a share does not feel.
void add_compensation(Model& m, const Bodies& bodies) {
    std::vector<std::string> names;
    std::vector<double> shares;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        if (m.bodies[i].last_dof < 0 || bodies.specs[i]->gravity_compensation == 0) continue;
        m.compensated.push_back(static_cast<int>(i));
        names.push_back(m.bodies[i].name);
        shares.push_back(bodies.specs[i]->gravity_compensation);
    }
    if (!names.empty())
        m.compensation =
            m.layout.add("bodies", names, "gravity_compensation", 1, ParameterRange::any, shares);
}

// Marks entries of theta that exist only because slices have an entry for every element.
void name_what_has_no_effect(Model& m) {
    const char* remove = "remove it";
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        const int body = static_cast<int>(i);
        if (b.nv != 1) m.layout.set_no_effect(m.axis_rotation, body, "the joint has no axis", remove);
        if (!joint_kind(b.joint).has_pitch)
            m.layout.set_no_effect(m.pitch, body, "the joint has no pitch", remove);
        for (int j = b.v0; j < b.v0 + b.nv; ++j) {
            if (b.joint == JointType::free)
                for (const ParameterSlice& s : {m.stiffness, m.rest})
                    m.layout.set_no_effect(s, j, "a free joint has no spring", remove);
            if (!std::binary_search(m.dry_dofs.begin(), m.dry_dofs.end(), j))
                m.layout.set_no_effect(m.dry_friction, j, "the model gives the joint no dry friction",
                                       "give it \"dry_friction\" above 0 in the model");
        }
    }
    for (int n = 0; n < m.nu; ++n) {
        const ActuatorKind& kind = actuator_kind(m.actuators[n].type);
        for (const ActuatorQuantity& quantity : actuator_quantities())
            if (!kind.has(quantity.name))
                m.layout.set_no_effect(m.actuator.*quantity.slice, n,
                                       std::string("an actuator of type ") + kind.name + " has none", remove);
    }
    for (size_t i = 0; i < m.equalities.size(); ++i) {
        const EqualityType type = m.equalities[i].type;
        const int n = static_cast<int>(i);
        if (type != EqualityType::weld)
            m.layout.set_no_effect(m.weld_rotation, n, "the equality is not a weld", remove);
        if (type != EqualityType::coupling)
            m.layout.set_no_effect(m.coupling, n, "the equality is not a coupling", remove);
        if (type == EqualityType::coupling)
            for (const ParameterSlice& s : {m.anchor_a, m.anchor_b})
                m.layout.set_no_effect(s, n, "a coupling has no anchors", remove);
    }
    for (size_t i = 0; m.soft && i < m.measured_tendons.size(); ++i)
        if (m.measured_tendons[i].range.lower < 0 && m.measured_tendons[i].range.upper < 0)
            for (const ParameterSlice& s : {m.tendon_limit_softness.solref, m.tendon_limit_softness.solimp})
                m.layout.set_no_effect(s, static_cast<int>(i), "the tendon has no limits", remove);
}

}  // namespace

int ModelBuilder::add_body(BodySpec spec) {
    assert(spec.parent < static_cast<int>(bodies_.size()));
    bodies_.push_back(std::move(spec));
    return static_cast<int>(bodies_.size()) - 1;
}

int ModelBuilder::add_equality(EqualitySpec spec) {
    equalities_.push_back(std::move(spec));
    return static_cast<int>(equalities_.size()) - 1;
}

int ModelBuilder::add_site(SiteSpec spec) {
    assert(spec.body >= 0 && spec.body < static_cast<int>(bodies_.size()));
    sites_.push_back(std::move(spec));
    return static_cast<int>(sites_.size()) - 1;
}

int ModelBuilder::add_tendon(TendonSpec spec) {
    tendons_.push_back(std::move(spec));
    return static_cast<int>(tendons_.size()) - 1;
}

int ModelBuilder::add_actuator(ActuatorSpec spec) {
    assert(spec.body >= 0);
    assert(!actuator_kind(spec.type).on_joint || spec.tendon >= 0 || joint_nv(bodies_[spec.body].joint) == 1);
    actuators_.push_back(std::move(spec));
    return static_cast<int>(actuators_.size()) - 1;
}

// The order of the stages is that of the parameters in theta.
Model ModelBuilder::build() const {
    Model m;
    m.soft = soft_;
    const Bodies bodies = add_bodies(m, bodies_);
    add_body_parameters(m, bodies);
    add_actuators(m, actuators_, bodies);
    const std::vector<PathParameters> paths = add_tendons(m, tendons_, bodies.index);
    add_equalities(m, equalities_, bodies);
    add_limit_springs(m, bodies);
    if (m.soft) add_softness(m, bodies, equalities_, tendons_);
    add_sites(m, sites_, bodies);
    m.gravity =
        m.layout.add("world", {""}, "gravity", 3, Range::any, {gravity_.x(), gravity_.y(), gravity_.z()});
    if (medium_) add_medium(m, *medium_, bodies);
    add_compensation(m, bodies);
    complete_tendons(m, tendons_, paths);
    name_what_has_no_effect(m);
    return m;
}

}  // namespace costate
