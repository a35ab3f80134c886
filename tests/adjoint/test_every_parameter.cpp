// Every number of theta against central differences, in a world with every joint, shape, actuator and
// equality, and the table of all parameters in tests/readme/parameter_table.md for scenes/README.md. A
// parameter without adjoint, effect or line of the table fails here.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/rich_scene.hpp"
#include "tests/support/scene_text.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Every rotation vector differs from 0, where the exponential has a special case.
void turn(const ParameterLayout& layout, VecX<double>& theta) {
    for (const ParameterLayout::Entry& e : layout.entries())
        if (e.path.ends_with("rotation"))
            for (int k = 0; k < e.width; ++k)
                theta[e.offset + k] = 1e-3 * std::sin(1 + e.offset + k);
}

// "joints/*/limits[1]": the kind of a number, without the name of its owner.
std::string kind_of(const ParameterLayout::Entry& e, int k) {
    std::string kind = e.path.substr(0, e.path.find('/'));
    if (kind != "world" && kind != "contact") kind += "/*";
    kind += e.path.substr(e.path.rfind('/'));
    if (e.width > 1) kind.append("[").append(std::to_string(k)).append("]");
    return kind;
}

struct Trial {
    Scene scene;
    Simulation simulation{scene.world, scene.objective};
    Rollout<Simulation> rollout{simulation, scene.plan, scene.steps};
    std::uint64_t hash = 0;  // of the branches of the last loss
    double loss(const VecX<double>& theta) {
        hash = 0;
        return rollout.forward(theta, scene.x0, scene.z0, [&](int, const double*, const double* u) {
            if (u != nullptr) hash = (hash ^ branch_hash(simulation.scratch())) * 0x9e3779b97f4a7c15u + 1;
        });
    }
};

// Descriptions of the parameters for the table. A path without * belongs to the whole world.
struct Meaning {
    const char *path, *text;
};
constexpr Meaning meanings[] = {
    {"bodies/*/mass", "kg"},
    {"bodies/*/com", "centre of mass in the body, m"},
    {"bodies/*/inertia", "xx yy zz xy xz yz about the centre of mass, axes of the body, kg m^2"},
    {"joints/*/placement", "position of the joint in the parent, m"},
    {"joints/*/rotation", "rotation vector of its frame relative to the model's orientation, its axes, rad"},
    {"joints/*/axis_rotation", "rotation vector of its axis relative to the model's, axes of the body, rad"},
    {"joints/*/pitch", "of a helical joint, m/rad"},
    {"joints/*/damping",
     "N m s/rad or N s/m; a joint with several dofs has `joints/*.0`, `joints/*.1`, ..., as do the rows "
     "below"},
    {"joints/*/armature", "inertia added to the dof, kg m^2 or kg"},
    {"joints/*/stiffness", "of the spring of a joint, not a free one, N m/rad or N/m"},
    {"joints/*/rest",
     "rest position of that spring, rad or m; of a spherical joint a rotation vector, axes of the "
     "body at coordinate 0"},
    {"joints/*/dry_friction", "N m or N; of joints with dry friction in the model"},
    {"joints/*/limits", "lower and upper limit of a joint with an axis, rad or m"},
    {"joints/*/greatest_angle", "of a spherical joint with this limit, rad"},
    {"joints/*/limit_stiffness", "of compliant limits, N m/rad or N/m"},
    {"joints/*/limit_damping", "of the same, N m s/rad or N s/m"},
    {"actuators/*/gear", "N m or N at the joint per unit of the actuator's force"},
    {"actuators/*/kp", "of a servo, N m/rad or N/m"},
    {"actuators/*/kd", "of a servo or velocity servo, N m s/rad or N s/m"},
    {"actuators/*/gain",
     "of a general actuator: force = gain control + bias[0] + bias[1] length + bias[2] velocity"},
    {"actuators/*/bias", "as above"},
    {"actuators/*/gain_slopes",
     "of a general actuator that has them: change of the gain with length and velocity"},
    {"actuators/*/stall_torque", "of a dc_motor at rest and full voltage, N m or N before the gear"},
    {"actuators/*/no_load_speed", "of a dc_motor at full voltage, rad/s or m/s before the gear"},
    {"actuators/*/control_limits", "lower and upper, where the actuator has them"},
    {"actuators/*/force_limits", "lower and upper, before the gear, where the actuator has them"},
    {"actuators/*/force", "peak force of a muscle, N or N m"},
    {"actuators/*/length_range", "shortest and longest length of a muscle, m or rad"},
    {"actuators/*/range", "the same in units of its optimal length"},
    {"actuators/*/lmin", "of a muscle: length below which it has no active force, in the same unit"},
    {"actuators/*/lmax", "length above which it has none"},
    {"actuators/*/vmax", "speed of shortening at which it has none, optimal lengths per second"},
    {"actuators/*/fpmax", "scale of its passive force, in units of the peak force"},
    {"actuators/*/fvmax", "active force when it is stretched fast, likewise"},
    {"actuators/*/time_constant", "of the filter of an actuator that has one, s"},
    {"actuators/*/rise_time", "of the activation of a muscle, s"},
    {"actuators/*/fall_time", "likewise"},
    {"actuators/*/switch_width",
     "difference of control and activation over which its time constant goes over, where it does"},
    {"actuators/*/activation_limits", "lower and upper, where the activation has them"},
    {"tendons/*/coefficients", "of the joints of a fixed tendon, one number each"},
    {"tendons/*/world_points",
     "of the points of a spatial tendon that are fixed in the world, m, three numbers each"},
    {"tendons/*/stiffness", "of the spring along a tendon, N/m or N m/rad"},
    {"tendons/*/rest", "length at which it has no force, m or rad"},
    {"tendons/*/slack", "further length without force, m or rad"},
    {"tendons/*/damping", "of the damper along a tendon, N s/m or N m s/rad"},
    {"tendons/*/limits", "lower and upper limit of its length, m or rad"},
    {"equalities/*/anchor_a", "of a connect or weld: the point in body a, m"},
    {"equalities/*/anchor_b", "the point in body b, m"},
    {"equalities/*/rotation",
     "of a weld: rotation vector of the axes of a in b relative to the model's, rad"},
    {"equalities/*/coupling", "offset, ratio, and the coefficients of the square, cube and fourth power"},
    {"shapes/*/size",
     "radius; radius and half length; half extents; semi-axes; scale factors of a mesh or height field: m or "
     "1"},
    {"shapes/*/position", "of its origin in the body, m"},
    {"shapes/*/rotation", "rotation vector relative to the model's orientation, its axes, rad"},
    {"shapes/*/friction", "coefficient"},
    {"shapes/*/restitution", "coefficient"},
    {"shapes/*/margin", "thickness added to its surface, m"},
    {"shapes/*/stiffness", "of a compliant shape, N/m at each contact point"},
    {"shapes/*/damping", "of the same, N s/m"},
    {"shapes/*/surface_velocity", "of a shape whose surface moves: past its origin, in its axes, m/s"},
    {"shapes/*/surface_angular_velocity", "of the same: about its origin, in its axes, rad/s"},
    {"shapes/*/torsional_friction",
     "coefficient of friction against spinning, m; of all shapes where any `condim` is above 3"},
    {"shapes/*/rolling_friction", "coefficient of friction against rolling, m; likewise"},
    {"sites/*/position", "of its origin in the body, m"},
    {"sites/*/rotation",
     "rotation vector relative to the model's orientation, its axes, rad; sensors and the term `orientation` "
     "depend on it"},
    {"world/gravity", "m/s^2"},
    {"world/density", "of the medium, kg/m^3"},
    {"world/viscosity", "of the medium, kg/(m s)"},
    {"world/wind", "velocity of the medium, world axes, m/s"},
    {"bodies/*/drag_box", "half extents of the box by which the medium drags the body, m"},
    {"bodies/*/gravity_compensation",
     "share of the weight that a force at the centre of mass carries; of bodies that have one"},
    {"world/time_step", "s"},
    {"pushes/*/force", "of a push with two knots, world axes, N; three numbers for each knot"},
    {"pushes/*/torque", "of the same, world axes, N m"},
    {"contact/compliance", "1/kg"},
    {"contact/erp", "fraction of a penetration corrected per step"},
    {"contact/slop", "penetration that is not corrected, m"},
    {"contact/recovery_speed", "fastest recovery from penetration, m/s"},
};

// The table of all parameters of a layout.
std::string parameter_table(const ParameterLayout& layout) {
    std::map<std::string, int> width;
    for (const ParameterLayout::Entry& e : layout.entries()) {
        std::string kind = kind_of(e, 0);
        width[kind.substr(0, kind.find('['))] = e.width;
    }
    CHECK(width.size() == std::size(meanings));
    std::string table = "| path | numbers | what |\n|---|---|---|\n";
    for (const Meaning& m : meanings) {
        CAPTURE(m.path);
        CHECK(width.count(m.path) == 1);
        table.append("| `")
            .append(m.path)
            .append("` | ")
            .append(std::to_string(width[m.path]))
            .append(" | ")
            .append(m.text)
            .append(" |\n");
    }
    return table;
}

std::string file_text(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

void check_every_number(const VecX<double>& theta, Trial& run) {
    const ParameterLayout& layout = run.scene.world.model.layout;
    const double base = run.loss(theta);
    REQUIRE(std::isfinite(base));
    const std::uint64_t hash = run.hash;
    Gradient g;
    run.rollout.backward(theta, run.scene.z0, g);
    std::map<std::string, double>
        effect;  // largest effect of each kind of number, relative to the noise of its difference
    VecX<double> dead = theta;
    int stencils = 0, rejected = 0;
    for (const ParameterLayout::Entry& e : layout.entries())
        for (int i = e.offset; i < e.offset + e.width; ++i) {
            CAPTURE(layout.element_name(i));
            if (!e.no_effect.empty()) {
                CHECK(g.parameters[i] == 0);
                dead[i] += 0.01;
                continue;
            }
            double& most = effect[kind_of(e, i - e.offset)];
            bool valid = false;
            for (double step = 1e-6 * std::max(std::abs(theta[i]), 0.05), shrunk = 1; !valid && shrunk > 1e-3;
                 step *= 0.1, shrunk *= 0.1) {
                VecX<double> moved = theta;
                moved[i] = theta[i] + step;
                const double plus = run.loss(moved);
                valid = run.hash == hash;
                moved[i] = theta[i] - step;
                const double minus = run.loss(moved), fd = (plus - minus) / (2 * step),
                             noise = 4e-14 * base / step;
                valid = valid && run.hash == hash;
                if (!valid) continue;
                most = std::max(most, std::abs(fd) / noise);
                CHECK(std::abs(g.parameters[i] - fd) <= 2e-6 * std::abs(fd) + noise);
            }
            ++stencils;
            rejected += !valid;
        }
    CHECK(rejected < 0.02 * stencils);
    for (const auto& [kind, most] : effect) {
        CAPTURE(kind);
        CHECK(most > 3);
    }
    CHECK(run.loss(dead) == base);
}

}  // namespace

TEST_CASE("every parameter: has an effect, and the gradient by it is that of central differences") {
    Trial run{rich_scene()};
    VecX<double> theta = run.scene.theta;
    check_every_number(theta, run);
    turn(run.scene.world.model.layout, theta);
    check_every_number(theta, run);
}

TEST_CASE("every parameter: has a line in tests/readme/parameter_table.md") {
    const std::string table = parameter_table(rich_scene().world.model.layout);
    CHECK(file_text("tests/readme/parameter_table.md") == table);  // otherwise the report has the new table
}

TEST_CASE(
    "every parameter: a path without effect is refused with the remedy, one that a pattern matches is passed "
    "over") {
    const auto with = [](const char* parameter) {
        return complaint([&] { changed({{"/parameters/0", parameter}}); });
    };
    struct Refused {
        const char *parameter, *what, *remedy;
    };
    for (const Refused& r : {Refused{R"({"path": "joints/arm/shoulder/dry_friction", "value": 1})",
                                     "has no effect: the model gives the joint no dry friction",
                                     "give it \"dry_friction\" above 0 in the model"},
                             Refused{R"({"path": "joints/ball.3/stiffness", "value": 1})",
                                     "has no effect: a free joint has no spring", "remove it"},
                             Refused{R"({"path": "joints/ball/axis_rotation", "value": 1})",
                                     "has no effect: the joint has no axis", "remove it"},
                             Refused{R"({"path": "joints/*/pitch", "value": 1})",
                                     "has no effect: the joint has no pitch", "remove it"},
                             Refused{R"({"path": "actuators/arm/torque/kp", "value": 1})",
                                     "has no effect: an actuator of type motor has none", "remove it"},
                             Refused{R"({"path": "shapes/ground/size", "value": 1})",
                                     "has no effect: a plane has no size", "remove it"}})
        check_complaint(with(r.parameter), "test.json", r.what, r.remedy);
    check_complaint(with(R"({"path": "joints/arm/shoulder/limits[0]", "value": 2.5})"), "test.json",
                    "makes the lower end of", "give both as [lower, upper]");
    const Scene s = changed({{"/parameters/0", R"({"path": "actuators/*/kp", "value": 7})"}});
    const Model& m = s.world.model;
    CHECK((s.theta[m.actuator.kp.at(0)] == 0 && s.theta[m.actuator.kp.at(1)] == 7));
}

TEST_CASE("every parameter: the ends of a range stay apart when both are optimized") {
    const Scene s = changed(
        {{"/parameters/0",
          R"({"path": "joints/arm/shoulder/limits", "value": [-1, 2], "optimize": true, "lower": -3, "upper": 3})"}});
    REQUIRE(s.parameters.size() == 2);
    CHECK((s.parameters[0].lower == -3 && s.parameters[0].upper == 0.5));
    CHECK((s.parameters[1].lower == 0.5 && s.parameters[1].upper == 3));
}
