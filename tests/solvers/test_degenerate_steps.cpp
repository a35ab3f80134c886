// Steps in degenerate states: coinciding faces, edges, axes and centres of two bodies, gaps, slip and errors
// of exactly 0, joints exactly at the ends of their ranges. The step and its gradient are finite and
// reproducible. Where two smooth pieces meet, the gradient is that of one of them.
#include <cstring>

#include <doctest/doctest.h>

#include "solvers/step/step.hpp"
#include "tests/support/analytic.hpp"
#include "tests/support/random_state.hpp"
#include "tests/support/sweeping.hpp"

using namespace costate;
using namespace costate::test;

namespace {

ToyState toy(AnalyticCase c) {
    return {std::move(c.world), std::move(c.theta), std::move(c.x), std::move(c.u)};
}

// Checks that a step is finite and gives the same bits in a second run and with a fresh scratch.
void check_regular(const ToyState& t, StepScratch<double>& s, Stream& g) {
    const VecX<double> w = random_vector(t.world.ndx(), g, Regime::random), next = run_step(t, s);
    const std::uint64_t hash = branch_hash(s);
    const StepBars bars = step_bars(t, s, w);
    CHECK(next.allFinite());
    CHECK(bars.theta.allFinite());
    CHECK(bars.x.allFinite());
    CHECK(bars.u.allFinite());
    StepScratch<double> fresh(t.world);
    for (StepScratch<double>* other : {&s, &fresh}) {
        CHECK(std::memcmp(run_step(t, *other).data(), next.data(),
                          static_cast<size_t>(next.size()) * sizeof(double)) == 0);
        CHECK(branch_hash(*other) == hash);
        const StepBars again = step_bars(t, *other, w);
        CHECK((again.theta == bars.theta && again.x == bars.x && again.u == bars.u));
    }
}

// A number from a small set, so that two draws are often equal.
double lattice(Stream& g) { return g.pick({0.0, 0.0, 0.1, -0.1, 0.2, 0.3}); }

ShapeSpec lattice_shape(Stream& g, ShapeType type, const std::string& name) {
    ShapeSpec s = shape(name, type, Vec3<double>::Zero(), g.pick({0.0, 1.0, 1.0}), g.pick({0.0, 0.5}));
    for (double& x : s.size)
        x = g.pick({0.1, 0.1, 0.2, 1e-6});
    if (type == ShapeType::capsule && g.chance(0.3)) s.size.y() = 0;
    if (type == ShapeType::mesh) s.hull = g.chance(0.5) ? cube_mesh().hull : random_mesh(g, 8).hull;
    if (type == ShapeType::terrain) {
        s.size = {1, 1, 1};
        s.terrain = random_terrain(g, 3, g.pick({0.0, 0.1})).terrain;
    }
    if (g.chance(0.2)) s.margin = 0.1;
    return s;
}

Quaternion<double> lattice_turn(Stream& g) {
    const double tilt = g.pick({0.0, 0.0, 0.0, 1e-12, 1e-9, 1e-6}), quarter = pi / 2;
    const Vec3<double> turn = quarter * g.pick({0.0, 0.0, 0.5, 1.0, 2.0}) * Vec3<double>::Unit(g.below(3));
    return quaternion_product<double>(quaternion_exp<double>(tilt * g.unit()), quaternion_exp<double>(turn));
}

void place_free(AnalyticCase& c, const std::string& body, Stream& g, const Vec3<double>& at) {
    const Quaternion<double> turn = lattice_turn(g);
    for (int k = 0; k < 3; ++k) {
        c.q(body, k) = at[k];
        c.q(body, 4 + k) = turn.v[k];
    }
    c.q(body, 3) = turn.w;
    const double speed = g.pick({0.0, 0.0, 1.0});
    for (int k = 0; k < 6; ++k)
        c.v(body, k) = speed * g.pick({0.0, 0.0, 1.0, -1.0});
}

}  // namespace

TEST_CASE("degenerate steps: two shapes of every pair of types on a lattice, over a ground") {
    int configurations = 0, touching = 0;
    for (const ShapeType ta : all_shape_types) {
        for (const ShapeType tb : all_shape_types) {
            // shapes of the world, as b
            if (ta == ShapeType::terrain || ta == ShapeType::plane) continue;
            for (int trial = 0; trial < 25; ++trial) {
                Stream g(static_cast<std::uint64_t>(ta) * 8 + static_cast<std::uint64_t>(tb), "lattice",
                         trial);
                CAPTURE(shape_type_name(ta));
                CAPTURE(shape_type_name(tb));
                CAPTURE(trial);
                const bool b_moves = tb != ShapeType::plane && tb != ShapeType::terrain && g.chance(0.5);
                Settings settings = sweeping();
                settings.slop = g.pick({0.0, 1e-4});
                AnalyticScene scene(settings);
                scene.add(solid("a", JointType::free, 1, Vec3<double>::Constant(0.01)));
                if (b_moves) scene.add(solid("b", JointType::free, 1, Vec3<double>::Constant(0.01)));
                scene.add(lattice_shape(g, ta, "shape_a"), "a");
                scene.add(lattice_shape(g, tb, "shape_b"), b_moves ? "b" : "");
                if (g.chance(0.3)) scene.add_ground();
                AnalyticCase c = scene.build();
                const Vec3<double> at(lattice(g), lattice(g), lattice(g));
                place_free(c, "a", g, at);
                if (b_moves)
                    place_free(c, "b", g, g.chance(0.3) ? at : Vec3<double>(lattice(g), 0, lattice(g)));
                ToyState t = toy(std::move(c));
                StepScratch<double> s(t.world);
                check_regular(t, s, g);
                ++configurations;
                touching += !s.contacts.points.empty();
            }
        }
    }
    CHECK(configurations >= 1000);
    CHECK(touching > configurations / 2);
}

// Joints exactly at the ends of their ranges, at rest and without error, with coinciding frames.
TEST_CASE("degenerate steps: joints, equalities, friction and actuators exactly at their bounds") {
    for (int trial = 0; trial < 300; ++trial) {
        CAPTURE(trial);
        Stream g(static_cast<std::uint64_t>(trial), "bounds");
        Settings settings = sweeping();
        settings.slop = g.pick({0.0, 1e-4});
        settings.compliance = g.pick({0.0, 1e-6});
        ModelBuilder builder;
        const auto add = [&](const char* name, JointType joint, int parent) {
            BodySpec b = solid(name, joint, 1, Vec3<double>::Constant(0.01), Vec3<double>::Unit(g.below(3)));
            b.parent = parent;
            if (g.chance(0.5)) b.placement = {0.1, 0, 0};
            if (g.chance(0.3)) b.dry_friction.assign(joint_nv(joint), g.pick({1e-6, 1.0}));
            if (joint_nv(joint) == 1) {
                b.lower = g.pick({0.0, -0.5, -unlimited});
                b.upper = g.pick({0.0, 0.5, 0.5});
            }
            if (joint == JointType::spherical) b.upper = g.pick({0.5, pi, unlimited});
            return builder.add_body(b);
        };
        const int arm = add("arm", g.pick({JointType::revolute, JointType::prismatic}), -1);
        const int hand = add("hand", JointType::revolute, arm), head = add("head", JointType::spherical, arm);
        const int rail = add("rail", JointType::prismatic, -1), ship = add("ship", JointType::free, -1);
        const auto hold = [&](EqualityType type, int a, int b, double chance) {
            EqualitySpec e;
            e.name = "hold" + std::to_string(a) + "_" + std::to_string(b);
            e.type = type;
            e.body_a = a;
            e.body_b = b;
            if (g.chance(chance)) builder.add_equality(e);
        };
        hold(EqualityType::connect, ship, head, 0.3);
        hold(EqualityType::weld, ship, -1, 0.3);
        hold(EqualityType::coupling, rail, arm, 0.3);
        hold(EqualityType::weld, hand, rail, 0.2);
        ActuatorSpec a;
        a.name = "servo";
        a.type = g.pick({ActuatorType::servo, ActuatorType::velocity});
        a.body = rail;
        a.kp = 2;
        a.kd = g.pick({0.0, 1.0});
        a.force_lower = -1;
        a.force_upper = 1;
        a.control_upper = 0.5;
        builder.add_actuator(a);
        Model m = builder.build();
        ShapeSet none = build_shapes(m, {});
        ToyState t{World(std::move(m), std::move(none), settings), {}, {}, {}};
        const World& w = t.world;
        t.theta = w.model.layout.nominal();
        t.x = VecX<double>::Zero(w.nx());
        t.u = VecX<double>::Constant(w.nu(), g.pick({0.0, 0.5}));
        VecX<double> d = VecX<double>::Zero(w.nv());
        for (double& x : d)
            x = g.chance(0.3) ? g.pick({0.5, -0.5}) : 0;
        retract(w.model, w.model.neutral_configuration().data(), d.data(), t.x.data());
        for (double& x : t.x.tail(w.nv()))
            x = g.chance(0.3) ? g.pick({1.0, -1.0}) : 0;
        StepScratch<double> s(w);
        check_regular(t, s, g);
    }
}

namespace {

// A state where two smooth pieces of the step meet, and the direction across the boundary.
struct KinkyState {
    const char* name;
    ToyState t;
    VecX<double> dtheta, dx, du;
    KinkyState(const char* what, AnalyticCase c)
        : name(what),
          t(toy(std::move(c))),
          dtheta(VecX<double>::Zero(t.world.np())),
          dx(VecX<double>::Zero(t.world.ndx())),
          du(VecX<double>::Zero(t.world.nu())) {}
};

// all numbers are sums of few powers of two, so that gaps are exact
constexpr double exact_radius = 0.125;

AnalyticCase resting_ball(double gap, double restitution = 0, double fall = 0) {
    Settings settings = sweeping();
    settings.slop = 0.0078125;
    settings.time_step = 0.0009765625;
    AnalyticScene scene(settings);
    scene.add_ground(1, restitution);
    scene.add_ball("ball", 2, exact_radius, 0.5, restitution);
    AnalyticCase c = scene.build();
    c.q("ball", 2) = exact_radius + gap;
    c.v("ball", 0) = 0.25;
    c.v("ball", 1) = 0.125;
    c.v("ball", 2) = -fall;
    return c;
}

AnalyticCase slider(double at, double limit) {
    Settings settings = sweeping();
    settings.time_step = 0.0009765625;
    settings.slop = 0.0078125;
    AnalyticScene scene(settings, {0, 0, 0});
    BodySpec b = solid("slider", JointType::prismatic, 1, Vec3<double>::Constant(0.01));
    b.upper = limit;
    const int body = scene.add(b);
    ActuatorSpec a;
    a.name = "servo";
    a.type = ActuatorType::general;
    a.body = body;
    a.gain = 1;
    a.bias = {0, -2, 0};
    a.force_upper = 1;
    scene.add(a);
    AnalyticCase c = scene.build();
    c.q("slider") = at;
    return c;
}

std::vector<KinkyState> kinky_states() {
    std::vector<KinkyState> all;
    const auto add = [&](const char* name, AnalyticCase c) -> KinkyState& {
        return all.emplace_back(name, std::move(c));
    };
    const auto z = [](KinkyState& k) { k.dx[k.t.world.model.bodies[0].v0 + 2] = 1; };
    z(add("a gap of 0", resting_ball(0)));
    z(add("a penetration of the slop", resting_ball(-0.0078125)));
    {
        AnalyticCase c = resting_ball(-0.0625, 0, 0);  // erp (gap + slop) = recovery speed times h
        const double recovery = -c.parameter("contact/erp") * (-0.0625 + 0.0078125) / c.time_step();
        c.parameter("contact/recovery_speed") = recovery;
        z(add("a recovery at its cap", std::move(c)));
    }
    {
        KinkyState& k = add("two restitutions alike", resting_ball(0, 0.5, 1));
        k.dtheta[k.t.world.shapes.restitution.at(1)] = 1;
    }
    {
        AnalyticCase c = slider(0.5, 0.5);
        c.v("slider") = 0.03125;
        add("a joint at its limit", std::move(c)).dx[0] = 1;
    }
    {
        AnalyticCase c = slider(-0.5, unlimited);
        add("a servo at its greatest force", std::move(c)).dx[0] = 1;
    }
    {
        AnalyticCase c = slider(-0.25, unlimited);
        c.v("slider") = 1;
        KinkyState& k = add("a gain on the velocity of 0", std::move(c));
        k.dtheta[k.t.world.model.actuator.bias.at(0) + 2] = 1;
    }
    return all;
}

}  // namespace

TEST_CASE(
    "degenerate steps: where two pieces meet, the gradient is that of one piece, and no stencil spans both") {
    for (KinkyState& k : kinky_states()) {
        CAPTURE(std::string(k.name));
        Stream g(1, k.name);
        StepScratch<double> s(k.t.world);
        const Model& m = k.t.world.model;
        check_regular(k.t, s, g);
        double sharpest = 0;
        for (int trial = 0; trial < 10; ++trial) {
            const VecX<double> w = random_vector(k.t.world.ndx(), g, Regime::random);
            const double rate = run_step_adjoint(k.t, s, w).pair(k.dtheta, k.dx, k.du);
            const VecX<double> here = run_step(k.t, s);
            const double e = 1e-7;
            const auto to = [&](double by) {
                return state_difference(m, here, run_step(moved_state(k.t, by, k.dtheta, k.dx, k.du), s))
                           .dot(w) /
                       by;
            };
            const double right = to(e);
            const std::uint64_t hash_right = branch_hash(s);
            const double left = to(-e);
            CHECK(branch_hash(s) != hash_right);
            const double size = std::abs(right) + std::abs(left);
            CAPTURE(right);
            CAPTURE(left);
            CAPTURE(rate);
            CHECK(std::min(std::abs(rate - right), std::abs(rate - left)) <= 1e-5 * (size + 1e-3));
            sharpest = std::max(sharpest, std::abs(right - left) / size);
        }
        CHECK(sharpest > 1e-4);  // the derivative has a jump
    }
}

TEST_CASE("degenerate steps: the gradient by friction at 0 is that at a small friction") {
    KinkyState k("no friction", resting_ball(-0.001));
    const int friction = k.t.world.shapes.friction.at(1);
    k.t.theta[friction] = 0;
    k.dtheta[friction] = 1;
    StepScratch<double> s(k.t.world);
    Stream g(1, k.name);
    check_regular(k.t, s, g);
    const VecX<double> here = run_step(k.t, s);
    const VecX<double> right =
        state_difference(k.t.world.model, here, run_step(moved_state(k.t, 1e-7, k.dtheta, k.dx, k.du), s)) /
        1e-7;
    CHECK(right.norm() > 1e-3);
    for (int trial = 0; trial < 10; ++trial) {
        const VecX<double> w = random_vector(k.t.world.ndx(), g, Regime::random);
        CHECK(std::abs(run_step_adjoint(k.t, s, w).pair(k.dtheta, k.dx, k.du) - right.dot(w)) <=
              1e-5 * right.norm() * w.norm());
    }
}
