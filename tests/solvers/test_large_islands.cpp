// Islands with a factored Delassus operator: the same step and gradient as with the dense operator, memory
// proportional to the contacts, and bounded work of exact solvers.
#include <fstream>

#include <doctest/doctest.h>

#include "scenes/format/json.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/jacobian.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/step_derivatives.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr double heap_radius = 0.05;

struct Heap {
    World world;
    VecX<double> theta, x, u;
};

// In the neutral configuration, at rest.
Heap heap_of(const ModelBuilder& builder, const std::vector<ShapeSpec>& shapes, const Settings& settings) {
    Model model = builder.build();
    ShapeSet set = build_shapes(model, shapes);
    Heap heap{World(std::move(model), std::move(set), settings), {}, {}, {}};
    const World& w = heap.world;
    heap.theta = w.model.layout.nominal();
    heap.x.setZero(w.nx());
    heap.x.head(w.nq()) = w.model.neutral_configuration();
    return heap;
}

// A box-shaped heap of spheres on the ground that overlap by `overlap`, with random velocities.
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
        body.mass.I = 0.4 * heap_radius * heap_radius * Mat3<double>::Identity();
        builder.add_body(body);
        ShapeSpec shape;
        shape.name = body.name;
        shape.body = i;
        shape.size = {heap_radius, 0, 0};
        shape.friction = 0.7;
        shapes.push_back(shape);
    }
    ShapeSpec ground;
    ground.name = "ground";
    ground.type = ShapeType::plane;
    shapes.push_back(ground);
    builder.set_soft(settings.law == ContactLaw::mujoco);
    Heap heap = heap_of(builder, shapes, settings);
    const World& w = heap.world;
    const double spacing = 2 * heap_radius - overlap;
    for (int i = 0; i < count; ++i) {
        const Vec3<double> cell(i % side, i / side % side, i / side / side);
        heap.x.segment<3>(7 * i) = spacing * cell + Vec3<double>(0, 0, heap_radius - overlap) +
                                   0.1 * overlap * g.vec3(Regime::random);
        heap.x.segment<6>(w.nq() + 6 * i) = 0.3 * random_vector(6, g, Regime::random);
    }
    return heap;
}

// A wall of bricks, `courses` high and half a brick apart from course to course, that stands on the ground or
// flies.
Heap wall(int courses, bool on_the_ground) {
    constexpr int bricks = 4;
    const Vec3<double> half(0.1, 0.05, 0.04);
    ModelBuilder builder;
    std::vector<ShapeSpec> shapes;
    for (int i = 0; i < bricks * courses; ++i) {
        BodySpec body;
        body.name = "brick" + std::to_string(i);
        body.joint = JointType::free;
        body.mass.m = 2 + 0.1 * i;
        body.mass.I = Vec3<double>(2.7e-3, 7.7e-3, 8.3e-3).asDiagonal();
        builder.add_body(body);
        ShapeSpec shape;
        shape.name = body.name;
        shape.type = ShapeType::box;
        shape.body = i;
        shape.size = half;
        shape.friction = 0.7;
        shapes.push_back(shape);
    }
    if (on_the_ground) {
        ShapeSpec ground;
        ground.name = "ground";
        ground.type = ShapeType::plane;
        shapes.push_back(ground);
    }
    Settings settings;
    settings.time_step = 2e-3;
    Heap heap = heap_of(builder, shapes, settings);
    for (int i = 0; i < bricks * courses; ++i) {
        const int course = i / bricks;
        heap.x.segment<3>(7 * i) =
            Vec3<double>((2.1 * (i % bricks) + course % 2) * half.x(), 0, (2 * course + 1) * half.z());
    }
    return heap;
}

struct Result {
    VecX<double> next, x_bar, theta_bar;
    double residual = 0;
    bool factored = false, swept = false, recovered_by_sweeps = false;
};

Result step_and_pull_back(Heap heap, int max_dense_rows) {
    World& w = heap.world;
    w.settings.max_dense_rows = max_dense_rows;
    StepScratch<double> s(w);
    Result r{VecX<double>(w.nx()), VecX<double>::Zero(w.ndx()), VecX<double>::Zero(w.np())};
    step(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, r.next.data());
    s.clear_bars();
    Rng g(3);
    const VecX<double> next_bar = random_vector(w.ndx(), g, Regime::random);
    VecX<double> u_bar(0);
    step_adj(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next_bar.data(),
             {r.theta_bar.data(), r.x_bar.data(), u_bar.data()});
    r.residual = solver_residual(w, s);
    r.factored = s.rows.islands.front().factored;
    r.swept = s.impulses.any_swept();
    r.recovered_by_sweeps = s.recovery.any_swept();
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
    add("pgs").solver = SolverType::pgs;
    Settings& implicit = add("pgs, implicit");
    implicit.solver = SolverType::pgs;
    implicit.gradient = ImpulseGradient::implicit;
    add("lcp").solver = SolverType::lcp;
    add("ncp").solver = SolverType::ncp;
    Settings& relaxed = add("ncp, relaxed");
    relaxed.solver = SolverType::ncp;
    relaxed.relaxed = true;
    add("ncp by ADMM").cone_method = ConeMethod::admm;
    Settings& soft = add("MuJoCo's law");
    soft.solver = SolverType::ncp;
    soft.relaxed = true;
    soft.law = ContactLaw::mujoco;
    return all;
}

}  // namespace

TEST_CASE("a large island: the step and its gradient are those of the dense Delassus operator") {
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
Result dual_numbers_and_adjoint_agree(Heap heap) {
    heap.world.settings.max_dense_rows = 0;
    const World& w = heap.world;
    const Result r = step_and_pull_back(heap, 0);
    Rng g(3);
    const VecX<double> next_bar = random_vector(w.ndx(), g, Regime::random);
    const VecX<double> x_dot = random_vector(w.ndx(), g, Regime::random),
                       theta_dot = random_vector(w.np(), g, Regime::random);
    VecX<double> u_dot(0), next_dot(2 * w.nv());
    TangentStep d(w);
    step_jvp(w, heap.theta.data(), heap.x.data(), heap.u.data(), theta_dot.data(), x_dot.data(), u_dot.data(),
             d, next_dot.data());
    const double forwards = next_bar.dot(next_dot),
                 backwards = r.x_bar.dot(x_dot) + r.theta_bar.dot(theta_dot);
    CHECK(std::abs(forwards - backwards) <= 1e-9 * next_bar.norm() * next_dot.norm());
    return r;
}
bool of_a_solution(const Settings& s) {
    return s.solver == SolverType::pgs && s.gradient == ImpulseGradient::implicit;
}

TEST_CASE("a large island: dual numbers and the adjoint agree") {
    for (const NamedSettings& it : all_settings()) {
        if (of_a_solution(it.settings)) continue;
        CAPTURE(it.name);
        dual_numbers_and_adjoint_agree(sphere_heap(3, 2e-4, it.settings));
    }
}

// An island that an exact solver leaves unsolved is pulled back through sweeps, so its equations need not
// hold.
TEST_CASE("a large island without a solution: dual numbers and the adjoint agree") {
    for (const NamedSettings& it : all_settings()) {
        if (of_a_solution(it.settings)) continue;
        if (it.settings.cone_method == ConeMethod::admm) continue;  // another start of the same search
        CAPTURE(it.name);
        const bool cone =
            it.settings.solver == SolverType::ncp && !it.settings.relaxed;  // solves the heap of 64
        const Result r = dual_numbers_and_adjoint_agree(sphere_heap(cone ? 5 : 4, heap_radius, it.settings));
        CHECK((r.swept || it.settings.relaxed));  // the convex problem has a solution
    }
}

TEST_CASE(
    "a large island is recovered by sweeps: the spheres come apart, and dual numbers and the adjoint agree") {
    for (const NamedSettings& it : all_settings()) {
        if (of_a_solution(it.settings)) continue;
        if (it.settings.law == ContactLaw::mujoco) continue;  // its constraints recover by forces
        CAPTURE(it.name);
        CHECK(dual_numbers_and_adjoint_agree(sphere_heap(4, 1e-3, it.settings)).recovered_by_sweeps);
    }
    Settings settings;
    settings.solver = SolverType::pgs;
    Heap heap = sphere_heap(4, 1e-3, settings);
    const World& w = heap.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    double deepest[2] = {0, 0};
    for (int t = 0; t <= 100; ++t) {
        step(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next.data());
        if (t == 0)
            heap.x.tail(w.nv()).setZero();
        else
            heap.x = next;
        double& depth = deepest[t == 100];
        if (t == 0 || t == 100)
            for (const ContactPoint<double>& c : s.contacts.points)
                depth = std::max(depth, -c.geometry.gap);
    }
    CHECK(deepest[0] > 9e-4);
    CHECK(deepest[1] < 2.5e-4);
}

TEST_CASE("a large island: a closed-form Jacobian is that of the adjoints") {
    Settings settings;
    settings.solver = SolverType::lcp;
    settings.max_dense_rows = 0;
    const Heap heap = sphere_heap(2, 2e-4, settings);
    const World& w = heap.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    StepJacobian closed(w), adjoints(w);
    step(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next.data());
    step_jacobian(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, closed);
    step_jacobian_by_adjoints(w, heap.theta.data(), heap.x.data(), heap.u.data(), s, adjoints);
    CHECK((closed.by_x - adjoints.by_x).norm() <= 1e-9 * adjoints.by_x.norm());
}

// More than 23 000 contacts in one island: a dense operator would have more entries than an int can count,
// and take 39 GB.
TEST_CASE("a large island: a step of 216 spheres at one point") {
    Settings settings;
    settings.solver = SolverType::pgs;
    settings.sweeps = 3;
    Heap heap = sphere_heap(6, 2 * heap_radius - 1e-6, settings);
    StepScratch<double> s(heap.world);
    VecX<double> next(heap.world.nx());
    step(heap.world, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next.data());
    CHECK(next.allFinite());
    CHECK(s.rows.islands.front().rows > 65000);
    CHECK(s.delassus.A.empty());
    CHECK(s.delassus.W.size() == s.rows.J.size());
}

// A factorisation or two, where sweeps would take thousands.
TEST_CASE("a large island: a wall at rest is solved from the states before the step") {
    Heap heap = wall(6, true);
    const World& w = heap.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    for (int t = 0; t < 20; ++t) {
        CAPTURE(t);
        step(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next.data());
        REQUIRE(s.rows.islands.size() == 1);
        CHECK(s.rows.islands.front().factored);
        CHECK(s.impulses.status.front() == SolverStatus::guessed);
        CHECK(solver_residual(w, s) <= 1e-10);
        heap.x = next;
    }
    CHECK(next.tail(w.nv()).norm() <= 1e-5);  // contacts have a compliance of 1e-6
    dual_numbers_and_adjoint_agree(heap);
}

// The velocities of its contacts are round-off, which is no reason for impulses.
TEST_CASE("a large island: a wall in flight has no impulses") {
    Heap heap = wall(6, false);
    const World& w = heap.world;
    for (int i = 0; i < w.nv() / 6; ++i)
        heap.x.segment<3>(w.nq() + 6 * i) << 0.3, -0.2, -1.7;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    for (int t = 0; t < 20; ++t) {
        step(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next.data());
        heap.x = next;
    }
    REQUIRE(!s.rows.islands.empty());
    CHECK(s.rows.islands.front().factored);
    CHECK(s.impulses.status.front() == SolverStatus::guessed);
    CHECK(is_zero(s.impulses.lambda.data(), s.rows.count));
}

// Where sweeps alone solve a problem, its derivatives must not come from states that the scratch has from another.
TEST_CASE("a large island: a solution without equations leaves no active set") {
    Settings settings;
    settings.solver = SolverType::lcp;
    const Heap heap = sphere_heap(4, 0.01 * heap_radius, settings);
    const World& w = heap.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx());
    step(w, {heap.theta.data(), heap.x.data(), heap.u.data()}, s, next.data());
    REQUIRE(s.rows.islands.size() == 1);
    REQUIRE(s.rows.islands[0].factored);
    const MlcpView<double> p = island_problem(s.rows, s.delassus, s.impulses, 0);
    LargeScratch work;
    std::vector<double> x(p.rows, 0.0);
    REQUIRE(solve_large(p, FrictionLaw::box, work, x.data()) != SolverStatus::unsolved);
    work.set.state.assign(p.rows, RowState::separating);
    CHECK(newton_inplace(p, FrictionLaw::box, work, work_limit(*p.factored), x.data()));
    CHECK(work.set.state.empty());
}

// Exact solvers end with finite impulses for any heap: here each sphere overlaps dozens of others.
TEST_CASE("a large island: exact solvers end on a jammed heap") {
    for (const NamedSettings& it : all_settings()) {
        CAPTURE(it.name);
        const Heap heap = sphere_heap(3, 1.4 * heap_radius, it.settings);
        const Result r = step_and_pull_back(heap, 0);
        CHECK(r.next.allFinite());
        CHECK(r.x_bar.allFinite());
        CHECK(r.theta_bar.allFinite());
    }
}

namespace {

// Four folded humanoids of capsules and spheres with self-contact, piled up between four walls.
Json humanoid_heap() {
    Json model = Json::parse(std::ifstream("scenes/library/models/humanoid.json"));
    for (Json& body : model["bodies"])
        for (Json& shape : body["shapes"])
            shape.erase("self_collision");
    Json scene{{"steps", 1},
               {"time_step", 0.002},
               {"ground", true},
               {"shapes", Json::array()},
               {"models", Json::array()}};
    const auto wall = [&](const char* name, std::vector<double> position, std::vector<double> turn) {
        scene["shapes"].push_back(
            {{"name", name}, {"type", "plane"}, {"position", position}, {"rpy_deg", turn}});
    };
    constexpr double half = 0.3;
    wall("left", {-half, 0, 0}, {0, 90, 0});
    wall("right", {half, 0, 0}, {0, -90, 0});
    wall("front", {0, -half, 0}, {-90, 0, 0});
    wall("back", {0, half, 0}, {90, 0, 0});
    for (int i = 0; i < 4; ++i) {
        const std::string name = "h" + std::to_string(i);
        scene["models"].push_back({{"name", name},
                                   {"model", model},
                                   {"position", {0.02 * i, -0.02 * i, 0.5 + 0.45 * i}},
                                   {"rpy_deg", {90.0 + 20 * i, 40.0 * i, 70.0 * i}}});
        for (const char* side : {"right", "left"}) {
            Json& joints = scene["initial"]["joints"];
            joints[name + "/" + side + "_hip_y"] = -1.5;
            joints[name + "/" + side + "_knee"] = -2.0;
        }
    }
    return scene;
}

}  // namespace

// The bound stated in solvers/complementarity/large_island.hpp, in multiplications and not in seconds. Many of
// these states are jammed, and exact solvers give up on them.
TEST_CASE(
    "a large island: exact solvers end within a multiple of the work of sweeps, in a heap of humanoids") {
    Scene scene = scene_from_json(humanoid_heap(), "scenes/heap.json");
    World& w = scene.world;
    VecX<double> x = scene.x0, next(w.nx());
    const VecX<double> u = VecX<double>::Zero(w.nu());
    const auto move = [&](SolverType solver, StepScratch<double>& s) {
        w.settings.solver = solver;
        step(w, {scene.theta.data(), x.data(), u.data()}, s, next.data());
    };
    StepScratch<double> s(w);
    int large = 0, solved = 0;
    for (int t = 0; t < 600; ++t) {
        for (const SolverType solver : {SolverType::lcp, SolverType::ncp}) {
            if (t % 30 != 0) continue;
            move(solver, s);
            const auto largest = std::ranges::max_element(s.rows.islands, {}, &Island::rows);
            if (largest == s.rows.islands.end() || largest->rows < 250) continue;
            const size_t i = largest - s.rows.islands.begin();
            REQUIRE(largest->factored);
            const FactoredOperator<double>& A = s.delassus.factored[i];
            const double entries = static_cast<double>(A.start[A.rows] - A.start[0]);
            const SolverScratch& of = s.impulses.solver;
            const double work = (solver == SolverType::lcp ? of.lcp.large : of.cone.large).work;
            CHECK(work <= max_work_of_an_entry * entries + 150 * 2 * entries);
            CHECK(next.allFinite());
            ++large;
            solved += s.impulses.status[i] != SolverStatus::unsolved;
        }
        move(SolverType::pgs, s);
        x = next;
    }
    MESSAGE(solved, " of ", large, " solved");
    CHECK(large >= 10);
    CHECK(solved >= 1);
}
