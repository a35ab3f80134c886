// Islands whose Delassus operator is not multiplied out: the same step and the same gradient as by the dense
// operator, memory that grows with the contacts, and exact solvers that end.
#include <doctest/doctest.h>

#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_derivatives.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double radius = 0.05;

struct Heap {
    World world;
    VecX<double> theta, x, u;
};

// Spheres in a box-shaped heap on the ground, `overlap` deep in each other, with random velocities.
Heap sphere_heap(int side, double overlap, const Settings& settings) {
    Rng g(7);
    ModelBuilder builder;
    std::vector<ShapeSpec> shapes;
    const int count = side * side * side;
    for (int i = 0; i < count; ++i) {
        BodySpec body;
        body.name = "ball" + std::to_string(i);
        body.joint = JointType::free;
        body.mass.m = 1;
        body.mass.I = 0.4 * radius * radius * Mat3<double>::Identity();
        builder.add_body(body);
        ShapeSpec shape;
        shape.name = body.name;
        shape.body = i;
        shape.size = {radius, 0, 0};
        shape.friction = 0.7;
        shapes.push_back(shape);
    }
    ShapeSpec ground;
    ground.name = "ground";
    ground.type = ShapeType::plane;
    shapes.push_back(ground);
    Model model = builder.build();
    ShapeSet set = build_shapes(model, shapes);
    Heap heap{World(std::move(model), std::move(set), settings), {}, {}, {}};
    const World& w = heap.world;
    heap.theta = w.model.layout.nominal();
    heap.x.setZero(w.nx());
    heap.x.head(w.nq()) = w.model.neutral_configuration();
    const double spacing = 2 * radius - overlap;
    for (int i = 0; i < count; ++i) {
        const Vec3<double> cell(i % side, i / side % side, i / side / side);
        heap.x.segment<3>(7 * i) =
            spacing * cell + Vec3<double>(0, 0, radius - overlap) + 0.1 * overlap * g.vec3(Regime::random);
        heap.x.segment<6>(w.nq() + 6 * i) = 0.3 * random_vector(6, g, Regime::random);
    }
    return heap;
}

struct Result {
    VecX<double> next, x_bar, theta_bar;
    double residual = 0;
    bool factored = false;
};

Result step_and_pull_back(Heap heap, int most_dense_rows) {
    World& w = heap.world;
    w.settings.most_dense_rows = most_dense_rows;
    StepScratch<double> s(w);
    Result r{VecX<double>(w.nx()), VecX<double>::Zero(w.ndx()), VecX<double>::Zero(w.np())};
    step(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, r.next.data());
    s.clear_bars();
    Rng g(3);
    const VecX<double> next_bar = random_vector(w.ndx(), g, Regime::random);
    VecX<double> u_bar(0);
    step_adj(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, next_bar.data(), r.theta_bar.data(),
             r.x_bar.data(), u_bar.data());
    r.residual = solver_residual(w, s);
    r.factored = s.rows.islands.front().factored;
    return r;
}

double relative(const VecX<double>& a, const VecX<double>& b) { return (a - b).norm() / (1 + b.norm()); }

struct NamedSettings {
    const char* name;
    Settings settings;
};
std::vector<NamedSettings> all_settings() {
    std::vector<NamedSettings> all;
    const auto add = [&](const char* name) -> Settings& {
        all.push_back({name, {}});
        all.back().settings.time_step = 2e-3;
        return all.back().settings;
    };
    add("pgs");
    add("pgs, implicit").gradient = ImpulseGradient::implicit;
    add("lcp").solver = SolverType::lcp;
    add("ncp").solver = SolverType::ncp;
    Settings& relaxed = add("ncp, relaxed");
    relaxed.solver = SolverType::ncp, relaxed.relaxed = true;
    return all;
}

}  // namespace

TEST_CASE("a large island: the step and its gradient are those of the Delassus operator multiplied out") {
    for (const NamedSettings& it : all_settings()) {
        CAPTURE(it.name);
        const Heap heap = sphere_heap(3, 2e-4, it.settings);
        const Result factored = step_and_pull_back(heap, 0), dense = step_and_pull_back(heap, 1000000);
        CHECK(factored.factored);
        CHECK(!dense.factored);
        if (it.settings.solver != SolverType::pgs) {
            CHECK(factored.residual <= 1e-10);
            CHECK(dense.residual <= 1e-10);
        }
        CHECK(relative(factored.next, dense.next) <= 1e-9);
        CHECK(relative(factored.x_bar, dense.x_bar) <= 1e-9);
        CHECK(relative(factored.theta_bar, dense.theta_bar) <= 1e-9);
    }
}

// <x_bar+, dx+> = <x_bar, dx>
TEST_CASE("a large island: dual numbers and the adjoint agree") {
    for (const NamedSettings& it : all_settings()) {
        // of a solution
        if (it.settings.solver == SolverType::pgs && it.settings.gradient == ImpulseGradient::implicit)
            continue;
        CAPTURE(it.name);
        Heap heap = sphere_heap(3, 2e-4, it.settings);
        heap.world.settings.most_dense_rows = 0;
        const World& w = heap.world;
        const Result r = step_and_pull_back(heap, 0);
        Rng g(3);
        const VecX<double> next_bar = random_vector(w.ndx(), g, Regime::random);
        const VecX<double> x_dot = random_vector(w.ndx(), g, Regime::random),
                           theta_dot = random_vector(w.np(), g, Regime::random);
        VecX<double> u_dot(0), next_dot(2 * w.nv());
        StepScratch<D> d(w);
        step_jvp(w, heap.theta.data(), heap.x.data(), heap.u.data(), theta_dot.data(), x_dot.data(),
                 u_dot.data(), d, next_dot.data());
        const double forwards = next_bar.dot(next_dot),
                     backwards = r.x_bar.dot(x_dot) + r.theta_bar.dot(theta_dot);
        CHECK(std::abs(forwards - backwards) <= 1e-9 * next_bar.norm() * next_dot.norm());
    }
}

TEST_CASE("a large island: a closed-form Jacobian is that of the adjoints") {
    Settings settings;
    settings.solver = SolverType::lcp;
    settings.most_dense_rows = 0;
    const Heap heap = sphere_heap(2, 2e-4, settings);
    const World& w = heap.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    StepJacobian closed(w), adjoints(w);
    step(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, next.data());
    step_jacobian(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, closed);
    step_jacobian_by_adjoints(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, adjoints);
    CHECK((closed.by_x - adjoints.by_x).norm() <= 1e-9 * adjoints.by_x.norm());
}

// More than 23 000 contacts in one island: the square of their rows has more numbers than an int counts, and
// takes 39 GB.
TEST_CASE("a large island: 216 spheres in one place make a step") {
    Settings settings;
    settings.sweeps = 3;
    Heap heap = sphere_heap(6, 2 * radius - 1e-6, settings);
    StepScratch<double> s(heap.world);
    VecX<double> next(heap.world.nx());
    step(heap.world, heap.theta.data(), heap.x.data(), heap.u.data(), s, next.data());
    CHECK(next.allFinite());
    CHECK(s.rows.islands.front().rows > 65000);
    CHECK(s.delassus.A.empty());
    CHECK(s.delassus.W.size() == s.rows.J.size());
}

// Whatever a heap is like, exact solvers end with finite impulses: here each sphere is inside dozens of
// others.
TEST_CASE("a large island: exact solvers end on a jammed heap") {
    for (const NamedSettings& it : all_settings()) {
        CAPTURE(it.name);
        const Heap heap = sphere_heap(3, 1.4 * radius, it.settings);
        const Result r = step_and_pull_back(heap, 0);
        CHECK(r.next.allFinite());
        CHECK(r.x_bar.allFinite());
        CHECK(r.theta_bar.allFinite());
    }
}
