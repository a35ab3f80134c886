// Effects of a change of description on a trajectory and its gradient, without a formula: the world rotated
// about gravity and moved, its bodies in another order, other units, two copies in one scene, saved and
// loaded half-way.
#include <cstdio>
#include <cstdlib>

#include "adjoint/rollout/simulation.hpp"
#include "tests/support/yard.hpp"

using namespace costate;
using namespace costate::test;

namespace {

const int steps = 150;

// Swaps joints/x.0/... and joints/x.1/..., the dofs of a free joint along x and y.
std::string swap_xy(std::string path) {
    const size_t dot = path.find('.');
    if (dot != std::string::npos && path[dot + 1] < '2') path[dot + 1] = path[dot + 1] == '0' ? '1' : '0';
    return path;
}

// True if a rotation is in world axes: for objects of the world, which do not rotate with the view.
bool turns_in_world(const World& w, const std::string& path) {
    if (path == "shapes/ground/rotation") return true;
    for (const Body& b : w.model.bodies)
        if (b.joint == JointType::free && path == "joints/" + b.joint_name + "/rotation") return true;
    return false;
}

// Compares the last state and the gradient of the yard `b`, described by `view`, with those of `a`.
void check_same(const AnalyticCase& a, const Sensitivity& of_a, const AnalyticCase& b,
                const Sensitivity& of_b, const View& view, double tolerance) {
    CHECK(std::abs(of_a.value - of_b.value) <= tolerance * std::abs(of_a.value));
    const auto near = [&](const Vec3<double>& x, const Vec3<double>& expected, double scale) {
        CHECK((x - expected).norm() <= tolerance * (expected.norm() + 1e-2 * scale));
    };
    const double scale = of_a.g.initial_state.norm();
    const int nv = a.world.nv();
    for (const Body& at : a.world.model.bodies) {
        CAPTURE(at.name);
        const Body& bt = b.body(at.name);
        const auto part = [&](const Sensitivity& s, int i) {
            return Vec3<double>(s.g.initial_state.segment<3>(i));
        };
        if (at.joint != JointType::free) {
            for (const int v : {0, nv})
                CHECK(std::abs(of_a.g.initial_state[v + at.v0] - of_b.g.initial_state[v + bt.v0]) <=
                      tolerance * scale);
            continue;
        }
        near(of_b.last.segment<3>(bt.q0), view.point(of_a.last.segment<3>(at.q0)), 1);
        near(of_b.last.segment<3>(b.world.nq() + bt.v0),
             view.R() * of_a.last.segment<3>(a.world.nq() + at.v0), 1);
        near(of_b.last.segment<3>(b.world.nq() + bt.v0 + 3), of_a.last.segment<3>(a.world.nq() + at.v0 + 3),
             1);
        for (const int v : {0, nv}) {
            near(part(of_b, v + bt.v0), view.R() * part(of_a, v + at.v0), scale);
            near(part(of_b, v + bt.v0 + 3), part(of_a, v + at.v0 + 3), scale);
        }
    }
    CHECK(std::abs(of_a.to_u() - of_b.to_u()) <= tolerance * scale);
    const double all = of_a.g.parameters.norm();
    for (const ParameterLayout::Entry& e : a.world.model.layout.entries()) {
        CAPTURE(e.path);
        VecX<double> expected = of_a.g.parameters.segment(e.offset, e.width);
        if (view.quarters % 2 != 0) expected = of_a.g.parameters.segment(a.index(swap_xy(e.path)), e.width);
        const bool of_world = e.path == "world/gravity" || e.path == "shapes/ground/position" ||
                              (e.path.ends_with("/placement") && e.path != "joints/hand/placement") ||
                              turns_in_world(a.world, e.path);
        if (of_world) expected = (view.R() * expected).eval();
        const VecX<double> got = of_b.g.parameters.segment(b.index(e.path), e.width);
        CHECK((got - expected).norm() <= tolerance * (expected.norm() + 1e-3 * all));
    }
}

}  // namespace

TEST_CASE("metamorphic: all intended contacts of the yard occur") {
    const AnalyticCase c = yard();
    const VecX<double> end = states(c, steps).back();
    const auto speed = [&](const char* body, int k) {
        return std::abs(end[c.world.nq() + c.body(body).v0 + k]);
    };
    CHECK(speed("target", 0) > 0.5);
    CHECK(speed("low", 0) > 0.02);
    for (const char* shape : {"tripod_foot0", "tripod_foot1", "tripod_foot2", "crate", "log", "striker",
                              "target", "high", "low", "tip"}) {
        CAPTURE(shape);
        Term t;
        t.kind = TermKind::impulse;
        t.running = true;
        t.shape = c.world.shapes.index(shape);
        CHECK(loss(c, steps, {t}).value > 0.1);
    }
}

TEST_CASE(
    "metamorphic: turned about gravity by quarter turns and moved, trajectory and gradient move along") {
    for (const int quarters : {0, 1, 2, 3}) {
        CAPTURE(quarters);
        View plain, view;
        view.quarters = quarters;
        view.move = {3.7, -1.2, 0.8};
        // the tangents of other normals rotate with them only for half turns
        plain.oblique = view.oblique = quarters % 2 == 0;
        const AnalyticCase a = yard(plain, 500), b = yard(view, 500);
        const Sensitivity of_a = loss(a, steps, goal(a, plain, "")), of_b = loss(b, steps, goal(b, view, ""));
        check_same(a, of_a, b, of_b, view, 1e-9);
    }
}

TEST_CASE("metamorphic: bodies in another order") {
    View other;
    other.permuted = true;
    const AnalyticCase a = yard({}, 500), b = yard(other, 500);
    CHECK(a.body("tripod").v0 != b.body("tripod").v0);
    const Sensitivity of_a = loss(a, steps, goal(a, {}, "")), of_b = loss(b, steps, goal(b, other, ""));
    check_same(a, of_a, b, of_b, other, 1e-9);
}

namespace {

// The unit of a parameter.
double unit_of(const std::string& path, const View& view) {
    const std::string quantity = path.substr(path.rfind('/') + 1);
    // of a free joint, otherwise an angle
    const bool linear = path.find('.') != std::string::npos && path[path.find('.') + 1] < '3';
    const double inertia = view.mass * view.length * view.length, per_dof = linear ? view.mass : inertia;
    if (quantity == "mass") return view.mass;
    if (quantity == "inertia") return inertia;
    if (quantity == "com" || quantity == "placement" || quantity == "size" || quantity == "position" ||
        quantity == "margin")
        return view.length;
    if (quantity == "damping") return per_dof / view.time;
    if (quantity == "stiffness") return per_dof / (view.time * view.time);
    if (quantity == "armature") return per_dof;
    if (quantity == "rest") return linear ? view.length : 1;
    if (quantity == "kp") return view.torque();
    if (quantity == "kd") return view.torque() * view.time;
    if (quantity == "gravity") return view.length / (view.time * view.time);
    if (quantity == "time_step") return view.time;
    if (quantity == "compliance") return 1 / view.mass;
    if (quantity == "dry_friction") return per_dof * (linear ? view.length : 1) / (view.time * view.time);
    if (quantity == "slop" || quantity == "pitch") return view.length;
    if (quantity == "recovery_speed") return view.speed();
    for (const char* plain : {"friction", "restitution", "erp", "gear", "rotation", "axis_rotation"})
        if (quantity == plain) return 1;
    for (const char* unused : {"gain", "bias", "stall_torque", "no_load_speed"})  // by a servo
        if (quantity == unused) return 1;
    FAIL("a parameter without a unit: ", path);
    return 1;
}

// Compares the state of the free bodies and of the arm, and the gradient, after conversion from the units of
// `view` to those of View{}: equal bits if the units are powers of two, otherwise equal up to `tolerance`.
void check_units(const View& view, double tolerance) {
    const AnalyticCase a = yard(), b = yard(view);
    const World& w = a.world;
    const Sensitivity of_a = loss(a, steps, goal(a, {}, "")), of_b = loss(b, steps, goal(b, view, ""));
    const double unit = view.length * view.length;  // of the loss
    const auto same = [&](double x, double expected, double scale) {
        CHECK(std::abs(x - expected) <= tolerance * (std::abs(expected) + 1e-2 * scale));
    };
    same(of_b.value / unit, of_a.value, 0);
    const double state = of_a.g.initial_state.norm(), all = of_a.g.parameters.norm();
    for (const Body& body : w.model.bodies) {
        CAPTURE(body.name);
        for (int k = 0; k < body.nq; ++k) {
            const double u = body.nq == 7 && k < 3 ? view.length : 1;
            same(of_b.last[body.q0 + k] / u, of_a.last[body.q0 + k], 1);
        }
        for (int k = 0; k < body.nv; ++k) {
            const double u = body.nv == 6 && k < 3 ? view.length : 1;
            const int q = body.v0 + k, v = w.nv() + q, at = w.nq() + q;
            same(of_b.last[at] / (u / view.time), of_a.last[at], 1);
            same(of_b.g.initial_state[q] / (unit / u), of_a.g.initial_state[q], state);
            same(of_b.g.initial_state[v] / (unit * view.time / u), of_a.g.initial_state[v], state);
        }
    }
    same(of_b.to_u() / unit, of_a.to_u(), state);
    for (const ParameterLayout::Entry& e : w.model.layout.entries()) {
        CAPTURE(e.path);
        const double u = unit_of(e.path, view);
        for (int k = e.offset; k < e.offset + e.width; ++k)
            same(of_b.g.parameters[k] / (unit / u), of_a.g.parameters[k], all);
    }
}

}  // namespace

TEST_CASE("metamorphic: other units of mass, length and time; powers of two give the same bits") {
    View view;
    view.mass = 4;
    view.length = 0.5;
    view.time = 2;
    check_units(view, 0);
    view.mass = 1.0 / 1024;
    view.length = 1024;
    view.time = 0.25;
    check_units(view, 0);
    view.mass = 3;
    view.length = 0.7;
    view.time = 1.3;
    check_units(view, 1e-9);
}

// The copies are far apart on a common ground. Values of one copy have equal bits; shared values are the sum
// of both.
TEST_CASE("metamorphic: two copies of a world in one scene move like a single copy") {
    const View here;
    View there;
    there.move = {30, -20, 0};
    there.quarters = 1;
    const std::pair<const View*, std::string> copies[2] = {{&here, "_a"}, {&there, "_b"}};
    AnalyticScene both_scene = empty_yard(here, 50);
    for (const auto& [view, tag] : copies)
        add_yard(both_scene, *view, tag);
    AnalyticCase both = both_scene.build();
    Objective terms;
    for (const auto& [view, tag] : copies) {
        start_yard(both, *view, tag);
        for (const Term& t : goal(both, *view, tag))
            terms.push_back(t);
    }
    const Sensitivity of_both = loss(both, steps, terms);
    double sum = 0, friction = 0, gravity = 0;
    for (const auto& [view, tag] : copies) {
        AnalyticScene scene = empty_yard(here, 50);
        add_yard(scene, *view, tag);
        AnalyticCase alone = scene.build();
        start_yard(alone, *view, tag);
        const Sensitivity s = loss(alone, steps, goal(alone, *view, tag));
        sum += s.value;
        friction += s.to("shapes/ground/friction");
        gravity += s.to("world/gravity", 2);
        for (const Body& body : alone.world.model.bodies) {
            CAPTURE(body.name);
            const Body& twin = both.body(body.name);
            const int v = alone.world.nv() + body.v0, twin_v = both.world.nv() + twin.v0;
            CHECK(s.last.segment(body.q0, body.nq) == of_both.last.segment(twin.q0, twin.nq));
            CHECK(s.last.segment(alone.world.nq() + body.v0, body.nv) ==
                  of_both.last.segment(both.world.nq() + twin.v0, twin.nv));
            CHECK(s.g.initial_state.segment(body.v0, body.nv) ==
                  of_both.g.initial_state.segment(twin.v0, twin.nv));
            CHECK(s.g.initial_state.segment(v, body.nv) == of_both.g.initial_state.segment(twin_v, twin.nv));
        }
        for (const ParameterLayout::Entry& e : alone.world.model.layout.entries()) {
            CAPTURE(e.path);
            if (e.path.find(tag) == std::string::npos) continue;
            CHECK(s.g.parameters.segment(e.offset, e.width) ==
                  of_both.g.parameters.segment(both.index(e.path), e.width));
        }
        CHECK(s.to_u() == of_both.to_u(tag == "_a" ? 0 : 1));
    }
    CHECK(error(of_both.value, sum) <= 1e-13);
    CHECK(error(of_both.to("shapes/ground/friction"), friction) <= 1e-12);
    CHECK(error(of_both.to("world/gravity", 2), gravity) <= 1e-12);
}

// The next step reads only the state. After writing the state as text and reading it into a new world, the
// rollout and its gradient continue with the same bits.
TEST_CASE("metamorphic: saved and loaded half-way") {
    const AnalyticCase whole = yard();
    const Objective terms = goal(whole, {}, "");
    const Sensitivity expected = loss(whole, steps, terms);

    std::string saved;
    char number[32];
    const VecX<double> middle = states(whole, steps / 2).back();
    for (const double x : middle) {
        std::snprintf(number, sizeof number, "%.17g ", x);
        saved += number;
    }
    AnalyticCase second = yard();
    const char* at = saved.c_str();
    for (double& x : second.x) {
        char* end = nullptr;
        x = std::strtod(at, &end);
        at = end;
    }
    const Sensitivity rest = loss(second, steps - steps / 2, terms);
    CHECK(rest.last == expected.last);

    AnalyticCase first = yard();
    const std::vector<VecX<double>> x = states(first, steps / 2);
    const World& w = first.world;
    Simulation simulation(w, terms);
    VecX<double> next(w.nx()), next_bar = rest.g.initial_state, theta_bar = rest.g.parameters,
                               u_bar = rest.g.controls;
    for (int t = steps / 2; t-- > 0;) {
        VecX<double> x_bar = VecX<double>::Zero(w.ndx());
        simulation.run(t, first.theta.data(), x[t].data(), first.u.data(), next.data());
        simulation.run_adj(t, first.theta.data(), x[t].data(), first.u.data(), next_bar.data(),
                           theta_bar.data(), x_bar.data(), u_bar.data());
        next_bar = x_bar;
    }
    CHECK(next_bar == expected.g.initial_state);
    CHECK(theta_bar == expected.g.parameters);
    CHECK(u_bar == expected.g.controls);
}
