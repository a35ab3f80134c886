#include "core/model/model.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace costate {

namespace {

template <class Items, class Name> int index_by(const Items& items, Name name, std::string_view wanted) {
    const auto it =
        std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.*name == wanted; });
    return it == items.end() ? -1 : static_cast<int>(it - items.begin());
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

// Where the parameters of a spatial tendon begin in theta: its points that are fixed in the world, in the order of
// places_of, and the radii of what it wraps around.
struct PathParameters {
    int world_points = 0, radii = 0;
};

// The places of a path in order: before each point the centre and the side of what the tendon wraps around.
template <class Visit> void places_of(const TendonSpec& spec, const Visit& visit) {
    for (const TendonBranchSpec& branch : spec.branches)
        for (const TendonPointSpec& point : branch.points) {
            if (point.around) visit(point.around->centre);
            if (point.around && point.around->side) visit(*point.around->side);
            visit(static_cast<const TendonPlaceSpec&>(point));
        }
}

PathParameters add_path_parameters(ParameterLayout& layout, const TendonSpec& spec) {
    std::vector<double> points, radii;
    places_of(spec, [&](const TendonPlaceSpec& place) {
        if (place.site < 0) points.insert(points.end(), place.position.begin(), place.position.end());
    });
    for (const TendonBranchSpec& branch : spec.branches)
        for (const TendonPointSpec& point : branch.points)
            if (point.around) radii.push_back(point.around->radius);
    PathParameters out;
    const auto add = [&](const char* quantity, ParameterRange range, const std::vector<double>& values) {
        if (values.empty()) return 0;
        return layout.add("tendons", {spec.name}, quantity, static_cast<int>(values.size()), range, values)
            .offset;
    };
    out.world_points = add("world_points", ParameterRange::any, points);
    out.radii = add("radii", ParameterRange::positive, radii);
    return out;
}

// Adds the segments of a spatial tendon and the dofs that change its length. Sites and parameters are complete.
void add_segments(Model& m, const TendonSpec& spec, PathParameters next, Tendon& tendon) {
    const auto place = [&](const TendonPlaceSpec& at) {
        if (at.site >= 0) return TendonPoint{m.sites[at.site].body, m.site_position.at(at.site)};
        next.world_points += 3;
        return TendonPoint{-1, next.world_points - 3};
    };
    for (const TendonBranchSpec& branch : spec.branches) {
        assert(branch.points.size() >= 2 && !branch.points[0].around);
        TendonPoint last;
        for (size_t i = 0; i < branch.points.size(); ++i) {
            int index = -1;
            if (const auto& around = branch.points[i].around) {
                TendonWrap wrap;
                wrap.shape = around->shape;
                wrap.centre = place(around->centre);
                wrap.R = around->R;
                if (const int site = around->centre.site; site >= 0) {
                    wrap.R = m.sites[site].R_BS;
                    wrap.rotation = m.site_rotation.at(site);
                }
                wrap.radius = next.radii++;
                wrap.sided = around->side.has_value();
                if (wrap.sided) wrap.side = place(*around->side);
                index = static_cast<int>(m.wraps.size());
                m.wraps.push_back(wrap);
            }
            const TendonPoint point = place(branch.points[i]);
            if (i > 0) tendon.segments.push_back({last, point, branch.divisor, index});
            last = point;
        }
    }
    for (int j = 0; j < m.nv; ++j)
        if (std::ranges::any_of(tendon.segments,
                                [&](const TendonSegment& s) { return m.changes_length(j, s); }))
            tendon.dofs.push_back(j);
    tendon.first_arm = m.tendon_arms;
    m.tendon_arms += static_cast<int>(tendon.dofs.size());
}

// Adds the dofs that change the length of a measured tendon. Its segments are complete.
void add_measured_dofs(Model& m, MeasuredTendon& measured) {
    const Tendon& tendon = m.tendons[measured.tendon];
    std::set<int> dofs(tendon.dofs.begin(), tendon.dofs.end());
    for (const TendonJoint& joint : tendon.joints)
        dofs.insert(joint.v);
    measured.dofs.assign(dofs.begin(), dofs.end());
    measured.first_arm = m.measured_arms;
    m.measured_arms += static_cast<int>(dofs.size());
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

// Adds the medium and a drag box for each body that moves and has mass. specs: of each body of the model.
void add_medium(Model& m, const MediumSpec& medium, const std::vector<const BodySpec*>& specs) {
    std::vector<std::string> names;
    std::vector<double> half_extents;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const BodySpec& spec = *specs[i];
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
void add_compensation(Model& m, const std::vector<const BodySpec*>& specs) {
    std::vector<std::string> names;
    std::vector<double> shares;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        if (m.bodies[i].last_dof < 0 || specs[i]->gravity_compensation == 0) continue;
        m.compensated.push_back(static_cast<int>(i));
        names.push_back(m.bodies[i].name);
        shares.push_back(specs[i]->gravity_compensation);
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
            if (b.nv != 1)
                for (const ParameterSlice& s : {m.stiffness, m.rest})
                    m.layout.set_no_effect(s, j, "only a joint with an axis has a spring", remove);
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

// The entry of measured_tendons of a tendon, which is added if it has none.
int measured_tendon(Model& m, int tendon) {
    const auto at = std::ranges::find(m.measured_tendons, tendon, &MeasuredTendon::tendon);
    const auto n = static_cast<int>(at - m.measured_tendons.begin());
    if (at == m.measured_tendons.end()) m.measured_tendons.push_back({tendon, {}, {}});
    return n;
}

}  // namespace

int Model::body_index(std::string_view name) const { return index_by(bodies, &Body::name, name); }
int Model::joint_index(std::string_view name) const { return index_by(bodies, &Body::joint_name, name); }
int Model::actuator_index(std::string_view name) const { return index_by(actuators, &Actuator::name, name); }
int Model::site_index(std::string_view name) const { return index_by(sites, &Site::name, name); }

bool Model::moves(int j, int body) const {
    int i = body < 0 ? -1 : bodies[body].last_dof;
    while (i > j)
        i = dofs[i].parent;
    return i == j;
}

VecX<double> Model::neutral_configuration() const {
    VecX<double> q = VecX<double>::Zero(nq);
    for (const Body& b : bodies) {
        const JointKind& kind = joint_kind(b.joint);
        for (int r = 0; r < kind.rotations; ++r)
            q[b.q0 + kind.numbers + 4 * r] = 1.0;
    }
    return q;
}

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

Model ModelBuilder::build() const {
    Model m;
    const std::vector<int> order = depth_first_order(bodies_);
    std::vector<int> index(bodies_.size(), -1);  // handle -> index in the model
    for (const int handle : order) {
        const BodySpec& spec = bodies_[handle];
        index[handle] = static_cast<int>(m.bodies.size());
        append_body(m, spec, spec.parent < 0 ? -1 : index[spec.parent]);
    }

    std::vector<std::string> bodies, dofs, joints;
    std::vector<const BodySpec*> specs;
    std::vector<double> mass, com, inertia, placement, pitch, damping, armature, stiffness, rest,
        dry_friction;
    const auto per_dof = [](std::vector<double>& out, const std::vector<double>& given, int nv) {
        for (int k = 0; k < nv; ++k)
            out.push_back(given.empty() ? 0.0 : given[k]);
    };
    for (const int handle : order) {
        const BodySpec& s = bodies_[handle];
        const Body& b = m.bodies[index[handle]];
        specs.push_back(&s);
        bodies.push_back(b.name);
        joints.push_back(b.joint_name);
        for (int k = 0; k < b.nv; ++k)
            dofs.push_back(b.nv == 1 ? b.joint_name : b.joint_name + "." + std::to_string(k));
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
    using Range = ParameterRange;
    m.mass = m.layout.add("bodies", bodies, "mass", 1, Range::nonnegative, mass);
    m.com = m.layout.add("bodies", bodies, "com", 3, Range::any, com);
    m.inertia = m.layout.add("bodies", bodies, "inertia", 6, Range::any, inertia);
    m.placement = m.layout.add("joints", joints, "placement", 3, Range::any, placement);
    const std::vector<double> no_turns(3 * bodies.size());
    m.rotation = m.layout.add("joints", joints, "rotation", 3, Range::any, no_turns);
    m.axis_rotation = m.layout.add("joints", joints, "axis_rotation", 3, Range::any, no_turns);
    m.pitch = m.layout.add("joints", joints, "pitch", 1, Range::any, pitch);
    m.damping = m.layout.add("joints", dofs, "damping", 1, Range::nonnegative, damping);
    m.armature = m.layout.add("joints", dofs, "armature", 1, Range::nonnegative, armature);
    m.stiffness = m.layout.add("joints", dofs, "stiffness", 1, Range::nonnegative, stiffness);
    m.rest = m.layout.add("joints", dofs, "rest", 1, Range::any, rest);
    m.dry_friction = m.layout.add("joints", dofs, "dry_friction", 1, Range::nonnegative, dry_friction);
    for (JointLimit& l : m.limits) {
        const BodySpec& s = *specs[l.body];
        const std::string& joint = m.bodies[l.body].joint_name;
        if (l.ball)
            l.range.upper =
                m.layout.add("joints", {joint}, "greatest_angle", 1, Range::angle, {s.upper}).offset;
        else
            l.range = m.layout.add_interval("joints", joint, "limits", s.lower, s.upper);
    }

    std::vector<std::string> names;
    std::vector<double> gear;
    for (const ActuatorSpec& s : actuators_) {
        const int body = index[s.body];
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
        names.push_back(s.name);
        gear.push_back(s.gear);
    }
    m.nu = static_cast<int>(m.actuators.size());
    m.actuator.gear = m.layout.add("actuators", names, "gear", 1, Range::any, gear);
    for (const ActuatorQuantity& quantity : actuator_quantities()) {
        std::vector<double> values;
        for (ActuatorSpec s : actuators_)
            values.insert(values.end(), quantity.of(s), quantity.of(s) + quantity.width);
        m.actuator.*quantity.slice =
            m.layout.add("actuators", names, quantity.name, quantity.width, quantity.range, values);
    }
    for (size_t n = 0; n < actuators_.size(); ++n) {
        const ActuatorSpec& s = actuators_[n];
        m.actuators[n].control =
            m.layout.add_interval("actuators", s.name, "control_limits", s.control_lower, s.control_upper);
        m.actuators[n].force =
            m.layout.add_interval("actuators", s.name, "force_limits", s.force_lower, s.force_upper);
        if (s.gain_slopes)
            m.actuators[n].gain_slopes = m.layout
                                             .add("actuators", {s.name}, "gain_slopes", 2, Range::any,
                                                  {(*s.gain_slopes)[0], (*s.gain_slopes)[1]})
                                             .offset;
        if (s.muscle) {
            MuscleSpec numbers = *s.muscle;
            for (const MuscleQuantity& quantity : muscle_quantities()) {
                const double* of = quantity.of(numbers);
                const int at = m.layout
                                   .add("actuators", {s.name}, quantity.name, quantity.width, quantity.range,
                                        {of, of + quantity.width})
                                   .offset;
                if (m.actuators[n].muscle < 0) m.actuators[n].muscle = at;
            }
        }
        if (s.activation) add_activation(m, s, static_cast<int>(n));
    }

    std::vector<double> tendon_stiffness, tendon_rest, tendon_slack, tendon_damping;
    std::vector<PathParameters> paths;
    names.clear();
    for (const TendonSpec& s : tendons_) {
        Tendon& tendon = m.tendons.emplace_back();
        tendon.name = s.name;
        std::vector<double> coefficients;
        for (const auto& [handle, coefficient] : s.joints) {
            const Body& b = m.bodies[index[handle]];
            assert(b.nv == 1);
            tendon.joints.push_back({b.q0, b.v0});
            coefficients.push_back(coefficient);
        }
        if (!coefficients.empty())
            tendon.coefficients = m.layout
                                      .add("tendons", {s.name}, "coefficients",
                                           static_cast<int>(coefficients.size()), Range::any, coefficients)
                                      .offset;
        paths.push_back(add_path_parameters(m.layout, s));
        names.push_back(s.name);
        tendon_stiffness.push_back(s.stiffness);
        tendon_rest.push_back(s.rest);
        tendon_slack.push_back(s.slack);
        tendon_damping.push_back(s.damping);
        if (s.lower > -unlimited || s.upper < unlimited)
            m.measured_tendons.push_back(
                {static_cast<int>(m.tendons.size()) - 1,
                 m.layout.add_interval("tendons", s.name, "limits", s.lower, s.upper),
                 {}});
    }
    m.tendon_stiffness = m.layout.add("tendons", names, "stiffness", 1, Range::nonnegative, tendon_stiffness);
    m.tendon_rest = m.layout.add("tendons", names, "rest", 1, Range::any, tendon_rest);
    m.tendon_slack = m.layout.add("tendons", names, "slack", 1, Range::nonnegative, tendon_slack);
    m.tendon_damping = m.layout.add("tendons", names, "damping", 1, Range::nonnegative, tendon_damping);

    std::vector<double> anchor_a, anchor_b, coupling;
    names.clear();
    for (const EqualitySpec& s : equalities_) {
        const auto model_index = [&](int handle) { return handle < 0 ? -1 : index[handle]; };
        Equality e{s.name, s.type, model_index(s.body_a), model_index(s.body_b), s.R_ba};
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
        m.equalities.push_back(e);
        names.push_back(s.name);
        anchor_a.insert(anchor_a.end(), s.anchor_a.begin(), s.anchor_a.end());
        anchor_b.insert(anchor_b.end(), s.anchor_b.begin(), s.anchor_b.end());
        coupling.insert(coupling.end(), s.coupling.begin(), s.coupling.end());
    }
    m.anchor_a = m.layout.add("equalities", names, "anchor_a", 3, Range::any, anchor_a);
    m.anchor_b = m.layout.add("equalities", names, "anchor_b", 3, Range::any, anchor_b);
    m.weld_rotation =
        m.layout.add("equalities", names, "rotation", 3, Range::any, std::vector<double>(3 * names.size()));
    m.coupling = m.layout.add("equalities", names, "coupling", coupling_terms, Range::any, coupling);
    const std::vector<std::string> names_of_equalities = names;

    std::vector<double> limit_stiffness, limit_damping;
    names.clear();
    for (JointLimit& l : m.limits) {
        const BodySpec& s = bodies_[order[l.body]];
        if (s.limit_stiffness == unlimited) continue;
        l.spring = static_cast<int>(names.size());
        names.push_back(joints[l.body]);
        limit_stiffness.push_back(s.limit_stiffness);
        limit_damping.push_back(s.limit_damping);
    }
    m.limit_stiffness = m.layout.add("joints", names, "limit_stiffness", 1, Range::positive, limit_stiffness);
    m.limit_damping = m.layout.add("joints", names, "limit_damping", 1, Range::nonnegative, limit_damping);

    m.soft = soft_;
    if (m.soft) {
        std::vector<std::string> limited, dry, measured;
        std::vector<Softness> of_limits, of_dry, of_equalities, of_tendons;
        for (const JointLimit& l : m.limits) {
            limited.push_back(joints[l.body]);
            of_limits.push_back(specs[l.body]->limit_softness);
        }
        for (const int j : m.dry_dofs) {
            dry.push_back(dofs[j]);
            of_dry.push_back(specs[m.dofs[j].body]->dry_softness);
        }
        for (const EqualitySpec& s : equalities_)
            of_equalities.push_back(s.softness);
        for (const MeasuredTendon& t : m.measured_tendons) {
            measured.push_back(m.tendons[t.tendon].name);
            of_tendons.push_back(tendons_[t.tendon].limit_softness);
        }
        m.limit_softness = add_softness(m.layout, "joints", limited, "limit_", of_limits);
        m.dry_softness = add_softness(m.layout, "joints", dry, "friction_", of_dry);
        m.equality_softness = add_softness(m.layout, "equalities", names_of_equalities, "", of_equalities);
        m.tendon_limit_softness = add_softness(m.layout, "tendons", measured, "limit_", of_tendons);
    }

    std::vector<double> site_position;
    names.clear();
    for (const SiteSpec& s : sites_) {
        m.sites.push_back({s.name, index[s.body], s.R_BS});
        names.push_back(s.name);
        site_position.insert(site_position.end(), s.position.begin(), s.position.end());
    }
    m.site_position = m.layout.add("sites", names, "position", 3, Range::any, site_position);
    m.site_rotation =
        m.layout.add("sites", names, "rotation", 3, Range::any, std::vector<double>(3 * names.size()));
    m.gravity =
        m.layout.add("world", {""}, "gravity", 3, Range::any, {gravity_.x(), gravity_.y(), gravity_.z()});
    if (medium_) add_medium(m, *medium_, specs);
    add_compensation(m, specs);
    for (size_t n = 0; n < tendons_.size(); ++n)
        add_segments(m, tendons_[n], paths[n], m.tendons[n]);
    for (MeasuredTendon& measured : m.measured_tendons)
        add_measured_dofs(m, measured);
    name_what_has_no_effect(m);
    return m;
}

}  // namespace costate
