// Model: the topology of a world of articulated trees. ModelBuilder builds it; it is const afterwards and may
// be shared by threads. All differentiable numbers are in the flat parameter vector, in the slices below.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/math/inertia.hpp"
#include "core/model/actuator.hpp"
#include "core/model/coupling.hpp"
#include "core/model/joint.hpp"
#include "core/model/softness.hpp"

namespace costate {

// A body and the joint that carries it. At q = 0 the pose of the body frame in the parent is `placement` and
// R_PB exp(rotation). The joint's axis in the body frame is exp(axis_rotation) axis (a unit vector).
// Placement and the two rotation vectors are parameters.
struct Body {
    std::string name;
    std::string joint_name;
    int parent = -1;  // index of the parent body, -1 is the world
    int tree = 0;
    JointType joint = JointType::fixed;
    Vec3<double> axis = Vec3<double>::UnitZ();
    Mat3<double> R_PB = Mat3<double>::Identity();
    int q0 = 0, nq = 0;  // its entries of q
    int v0 = 0, nv = 0;  // its entries of v
    int last_dof = -1;   // the last dof on the path from the world to the body, -1 if it cannot move
    // R_PB times the rotation by q about `axis` is turn[0] + sin(q) turn[1] + cos(q) turn[2].
    Mat3<double> turn[3];
};

// Degrees of freedom form a tree: the parent of a dof is the next dof on the path to the world.
struct Dof {
    int body = 0;
    int parent = -1;
    int depth = 0;  // number of ancestors
    int row = 0;    // start of its row in the mass matrix (core/dynamics/ltl.hpp)
};

// Bodies and dofs of a tree are contiguous.
struct Tree {
    int body_begin = 0, body_end = 0;
    int dof_begin = 0, dof_end = 0;
};

// Limits of a one-dof joint, rad or m, or the greatest angle (upper) of a spherical joint, rad.
struct JointLimit {
    int body = 0;
    int q = 0, v = 0;
    ParameterInterval range;
    bool ball = false;
    int spring = -1;  // index among the compliant limits, -1: rigid
};

// connect: the anchors on both bodies coincide. weld: the anchors and the frames there coincide. coupling:
// q_a = sum c_k q_b^k (core/model/coupling.hpp), or q_a = c_0 of one joint; the same with lengths of tendons.
enum class EqualityType { connect, weld, coupling };

struct Equality {
    std::string name;
    EqualityType type = EqualityType::connect;
    int body_a = -1, body_b = -1;  // -1: the world
    // of a weld: R_ba exp(weld_rotation) are the axes of a in b
    Mat3<double> R_ba = Mat3<double>::Identity();
    int q_a = 0, v_a = 0, q_b = -1, v_b = -1;  // of a coupling: entries of its one-dof joints; -1: one joint
    int length_a = -1, length_b = -1;          // of a coupling of tendons: entries of measured_tendons
    bool of_tendons() const { return length_a >= 0; }
};

// A joint with an axis that a fixed tendon runs over.
struct TendonJoint {
    int q = 0, v = 0;
};
// A point through which a spatial tendon runs: the origin of a site, or a point of the world.
struct TendonPoint {
    int body = -1;     // -1: the world
    int position = 0;  // index in theta of its position in the body or in world axes, m
};
// An object around which a spatial tendon may wrap: a sphere, or a cylinder without ends about its axis z.
enum class WrapShape { sphere, cylinder };
struct TendonWrap {
    WrapShape shape = WrapShape::sphere;
    TendonPoint centre;
    Mat3<double> R = Mat3<double>::Identity();  // its axes in the body or the world ...
    int rotation = -1;                          // ... times exp of this rotation vector in theta; -1: none
    int radius = 0;                             // index in theta, m
    bool sided = false;                         // wraps on the side of a point
    TendonPoint side;
};
// The way of a spatial tendon from a point to the next. A pulley divides its length by the divisor.
struct TendonSegment {
    TendonPoint a, b;
    double divisor = 1;
    int wrap = -1;  // index of the object around which it may wrap, -1: none
};
// A fixed tendon has joints (core/dynamics/tendon.hpp), a spatial one segments
// (core/dynamics/spatial_tendon.hpp).
struct Tendon {
    std::string name;
    std::vector<TendonJoint> joints;
    int coefficients = 0;  // index in theta of c_0, c_1, ...
    std::vector<TendonSegment> segments;
    std::vector<int> dofs;  // of a spatial tendon, increasing: those that change its length
    int first_arm = 0;      // its first moment arm among those of all spatial tendons
    bool spatial() const { return !segments.empty(); }
};

// A named frame on a body, for objectives, queries and sensors. Its axes in the body are R_BS exp(rotation);
// its position and this rotation vector are parameters.
struct Site {
    std::string name;
    int body = 0;
    Mat3<double> R_BS = Mat3<double>::Identity();
};

// A tendon whose length, m or rad, has limits, or none if it is measured for a coupling.
struct MeasuredTendon {
    int tendon = 0;
    ParameterInterval range;
    std::vector<int> dofs;  // increasing: those that change the length
    int first_arm = 0;      // its first moment arm among those of all measured tendons
};

// The box by which the medium drags a body (core/dynamics/medium.hpp): its axes in the body. Its centre is the
// centre of mass.
struct DragBox {
    int body = 0;
    Mat3<double> R = Mat3<double>::Identity();
};

struct Model {
    std::vector<Body> bodies;  // parents before children, tree after tree
    std::vector<Dof> dofs;
    std::vector<Tree> trees;
    std::vector<Actuator> actuators;
    std::vector<Activation> activations;  // in the order of their actuators
    std::vector<JointLimit> limits;
    std::vector<int> dry_dofs;  // dofs with dry friction
    std::vector<Equality> equalities;
    std::vector<Tendon> tendons;
    std::vector<TendonWrap> wraps;  // of all tendons
    std::vector<MeasuredTendon> measured_tendons;
    std::vector<Site> sites;
    std::vector<DragBox> drag_boxes;  // of bodies that move and have mass, if the world has a medium
    std::vector<int> compensated;     // bodies that move and carry a share of their weight
    int nq = 0, nv = 0, nu = 0;
    int mass_matrix_size = 0;  // entries of the mass matrix on its sparsity pattern
    int tendon_arms = 0;       // moment arms of all spatial tendons
    int measured_arms = 0;     // moment arms of all measured tendons
    bool soft = false;         // all constraints are soft by MuJoCo's law (solvers/rows/soft_rows.hpp)

    ParameterLayout layout;
    // Every element has an entry in every slice; Entry::no_effect marks entries without effect.
    // per body: kg; m in the body frame; kg m^2 about the com in body axes as xx yy zz xy xz yz
    ParameterSlice mass, com, inertia;
    // per body, of its joint: m in the parent frame; rad in body axes; rad in body axes, of joints with an
    // axis; m/rad, helical ones
    ParameterSlice placement, rotation, axis_rotation, pitch;
    // per dof, in the units of the joint: damping, armature, spring stiffness and rest position (not of
    // free joints), dry friction (of dry_dofs)
    ParameterSlice damping, armature, stiffness, rest, dry_friction;
    ActuatorSlices actuator;  // per actuator
    // per equality: m in a; m in b; of welds rad in the axes of a; c_0 ... c_4 of couplings
    ParameterSlice anchor_a, anchor_b, weld_rotation, coupling;
    ParameterSlice limit_stiffness, limit_damping;  // per compliant limit: N m/rad or N/m; N m s/rad or N s/m
    // if soft: per limit, per dof with dry friction, per equality, per limit of a tendon
    SoftnessSlices limit_softness, dry_softness, equality_softness, tendon_limit_softness;
    // per tendon, with lengths in m or rad: N/m or N m/rad, m or rad, m or rad, N s/m or N m s/rad
    ParameterSlice tendon_stiffness, tendon_rest, tendon_slack, tendon_damping;
    ParameterSlice site_position, site_rotation;  // per site: m in its body; rad in its axes
    ParameterSlice gravity;                       // m/s^2, world axes
    // of the medium: kg/m^3; kg/(m s); its velocity, m/s, world axes; half extents of each drag box, m
    ParameterSlice density, viscosity, wind, drag_box;
    ParameterSlice compensation;  // per body of `compensated`: the share of its weight that it does not feel

    // true if a step may have constraint rows even without contacts
    bool has_joint_rows() const {
        return !limits.empty() || !dry_dofs.empty() || !equalities.empty() || !measured_tendons.empty();
    }
    int body_index(std::string_view name) const;      // -1 if there is none
    int joint_index(std::string_view name) const;     // the body that the joint carries, -1 if there is none
    int actuator_index(std::string_view name) const;  // -1 if there is none
    int site_index(std::string_view name) const;      // -1 if there is none
    // true if the actuator drives a prismatic joint or a spatial tendon
    bool slides(const Actuator& a) const {
        return drives_path(a) || bodies[a.body].joint == JointType::prismatic;
    }
    // true if the actuator drives a spatial tendon
    bool drives_path(const Actuator& a) const { return a.tendon >= 0 && tendons[a.tendon].spatial(); }
    // true if dof j moves the body; -1: the world
    bool moves(int j, int body) const;
    // true if dof j moves some of the ends and the object of a segment, and not all
    bool changes_length(int j, const TendonSegment& s) const {
        const bool a = moves(j, s.a.body);
        return a != moves(j, s.b.body) || (s.wrap >= 0 && a != moves(j, wraps[s.wrap].centre.body));
    }
    VecX<double> neutral_configuration() const;  // (nq): zeros and unit quaternions
};

// A body to be added to a ModelBuilder. Symmetric inertia about the centre of mass, body axes.
struct BodySpec {
    std::string name;
    std::string joint_name;  // empty: the body's name
    int parent = -1;
    JointType joint = JointType::fixed;
    Vec3<double> axis = Vec3<double>::UnitZ();
    double pitch = 0;  // of a helical joint, m/rad
    Vec3<double> placement = Vec3<double>::Zero();
    Mat3<double> R_PB = Mat3<double>::Identity();
    MassProperties<double> mass = MassProperties<double>::zero();
    // one number per dof, or empty for zeros
    std::vector<double> damping, armature, stiffness, rest, dry_friction;
    // limits of a one-dof joint; upper: greatest angle of a spherical joint
    double lower = -unlimited, upper = unlimited;
    double limit_stiffness = unlimited, limit_damping = 0;  // unlimited: rigid, damping unused
    Softness limit_softness = {}, dry_softness = {};        // used if the model is soft
    // half extents of its drag box, m, and the box's axes in the body; used if the world has a medium
    Vec3<double> drag_box = Vec3<double>::Zero();
    Mat3<double> drag_axes = Mat3<double>::Identity();
    double gravity_compensation = 0;  // share of its weight that it does not feel
};

struct EqualitySpec {
    std::string name;
    EqualityType type = EqualityType::connect;
    int body_a = -1,
        body_b = -1;  // handles; for a coupling: the bodies that its joints carry, the second may be -1
    int tendon_a = -1, tendon_b = -1;  // handles; for a coupling of tendons, instead of bodies
    Vec3<double> anchor_a = Vec3<double>::Zero(), anchor_b = Vec3<double>::Zero();
    Mat3<double> R_ba = Mat3<double>::Identity();
    std::array<double, coupling_terms> coupling{0, 1};
    Softness softness = {};  // used if the model is soft
};

// A point of a spatial tendon: a site, or a point of the world, m.
struct TendonPlaceSpec {
    int site = -1;  // handle, -1: the world
    Vec3<double> position = Vec3<double>::Zero();
};
// An object around which a tendon may wrap, at a place; in the world with axes R.
struct TendonWrapSpec {
    WrapShape shape = WrapShape::sphere;
    TendonPlaceSpec centre;
    Mat3<double> R = Mat3<double>::Identity();
    double radius = 0;
    std::optional<TendonPlaceSpec> side = {};  // a point on the side on which it wraps
};
struct TendonPointSpec : TendonPlaceSpec {
    std::optional<TendonWrapSpec> around = {};  // what it may wrap around on its way to this point
};
// Points, at least two, between which a spatial tendon runs straight. The divisor is that of the pulley before it.
struct TendonBranchSpec {
    double divisor = 1;
    std::vector<TendonPointSpec> points;
};
// A fixed tendon has joints, a spatial one branches.
struct TendonSpec {
    std::string name;
    std::vector<std::pair<int, double>> joints;  // handle of the body that the joint carries; coefficient
    double stiffness = 0, rest = 0, slack = 0, damping = 0;
    std::vector<TendonBranchSpec> branches = {};
    double lower = -unlimited, upper = unlimited;  // limits of its length
    Softness limit_softness = {};                  // used if the model is soft
};

struct SiteSpec {
    std::string name;
    int body = -1;  // handle
    Vec3<double> position = Vec3<double>::Zero();
    Mat3<double> R_BS = Mat3<double>::Identity();
};

// The medium in which the bodies of a world move.
struct MediumSpec {
    double density = 0, viscosity = 0;         // kg/m^3, kg/(m s)
    Vec3<double> wind = Vec3<double>::Zero();  // its velocity, m/s, world axes
};

// Collects bodies, parents before children, and builds the model. Names must be unique. User input (masses,
// names, limits) must be checked before.
class ModelBuilder {
public:
    int add_body(BodySpec spec);  // returns the handle for children and actuators
    int add_actuator(ActuatorSpec spec);
    int add_equality(EqualitySpec spec);
    int add_site(SiteSpec spec);
    int add_tendon(TendonSpec spec);  // returns the handle for actuators; its sites must have been added
    void set_gravity(const Vec3<double>& g) { gravity_ = g; }
    void set_medium(const MediumSpec& medium) { medium_ = medium; }
    void set_soft(bool soft) { soft_ = soft; }
    Model build() const;

    const std::vector<BodySpec>& bodies() const { return bodies_; }
    const std::vector<TendonSpec>& tendons() const { return tendons_; }

private:
    std::vector<BodySpec> bodies_;
    std::vector<ActuatorSpec> actuators_;
    std::vector<EqualitySpec> equalities_;
    std::vector<TendonSpec> tendons_;
    std::vector<SiteSpec> sites_;
    Vec3<double> gravity_{0, 0, -9.81};
    std::optional<MediumSpec> medium_;
    bool soft_ = false;
};

}  // namespace costate
