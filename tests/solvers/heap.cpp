// A separate program that counts every call of the allocator, including Bullet's, while steps run. `step` and
// `step_adj` must not allocate after a first rollout, a rollout may allocate only its checkpoints, and the
// heap sizes of `costate bench` must be the requested bytes.
#include <malloc.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "adjoint/batch/batch.hpp"
#include "adjoint/checkpoints/schedule.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "apps/cli/memory_use.hpp"
#include "solvers/step/step.hpp"
#include "tests/support/sample_shapes.hpp"
#include "tests/support/sweeping.hpp"
#include "tests/support/toy_worlds.hpp"

namespace {
bool counting = false;
long calls = 0, bytes = 0;  // while counting; bytes requested
long live = 0;              // allocated bytes, always counted

// glibc's allocator, called by the replacements below
extern "C" void* __libc_malloc(size_t);
extern "C" void* __libc_calloc(size_t, size_t);
extern "C" void* __libc_realloc(void*, size_t);
extern "C" void* __libc_memalign(size_t, size_t);
extern "C" void __libc_free(void*);

void* counted(void* p, size_t n) {
    if (counting) {
        ++calls;
        bytes += static_cast<long>(n);
    }
    live += static_cast<long>(malloc_usable_size(p));
    return p;
}
void release(void* p) { live -= static_cast<long>(malloc_usable_size(p)); }
}  // namespace

extern "C" {
void* malloc(size_t n) { return counted(__libc_malloc(n), n); }
void* calloc(size_t n, size_t size) { return counted(__libc_calloc(n, size), n * size); }
void* realloc(void* p, size_t n) { return release(p), counted(__libc_realloc(p, n), n); }
void* aligned_alloc(size_t alignment, size_t n) { return counted(__libc_memalign(alignment, n), n); }
void* memalign(size_t alignment, size_t n) { return counted(__libc_memalign(alignment, n), n); }
int posix_memalign(void** p, size_t alignment, size_t n) {
    *p = counted(__libc_memalign(alignment, n), n);
    return *p == nullptr ? ENOMEM : 0;
}
void free(void* p) {
    release(p);
    __libc_free(p);
}
}

namespace {
using namespace costate;
using namespace costate::test;

constexpr ShapeType moving_types[] = {ShapeType::sphere,   ShapeType::capsule,   ShapeType::box,
                                      ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh};
bool met[8][8];  // pairs of shape types that were in contact

constexpr int rotors = 8;  // with activations of every type: read at the start of a step, then read early

// Two free bodies of every type of shape, thrown together on a hill of triangles, between a plane and a
// height field; some have a rotor.
ToyState every_shape_state(unsigned seed) {
    Rng g(seed);
    ModelBuilder builder;
    std::vector<ShapeSpec> shapes{toy_shape(g, "ground", ShapeType::plane, -1, Vec3<double>::Zero()),
                                  toy_shape(g, "field", ShapeType::terrain, -1, {0.5, 0.5, 0.2}),
                                  toy_shape(g, "hill", ShapeType::terrain, -1, {1, 1, 1})};
    shapes[1].terrain = random_terrain(g, 5, 0.5).terrain;
    shapes[1].position = {0.5, 0, 0};
    shapes[2].terrain = triangle_terrain({{-1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0.2, 0, 0.1}},
                                         {{0, 1, 3}, {0, 3, 2}, {1, 2, 3}});
    shapes[2].position = {-0.3, 0, 0};
    for (int i = 0; i < 12; ++i) {
        const ShapeType type = moving_types[i % 6];
        const std::string name = shape_type_name(type) + std::to_string(i / 6);
        BodySpec body = random_body(g, i, -1, JointType::free);
        body.name = name;
        body.placement.setZero();
        body.R_PB.setIdentity();
        body.damping.clear();
        body.stiffness.clear();
        body.mass.c *= 0.1;
        body.mass.I += 0.02 * Mat3<double>::Identity();
        const Vec3<double> size(g.uniform(0.1, 0.2), g.uniform(0.1, 0.2), g.uniform(0.1, 0.2));
        ShapeSpec shape = toy_shape(g, name, type, builder.add_body(body), size);
        if (type == ShapeType::mesh) shape.hull = random_mesh(g, 12).hull;
        shapes.push_back(shape);
    }
    for (int k = 0; k < rotors; ++k) {
        ActuatorSpec rotor;
        rotor.name = "rotor" + std::to_string(k);
        rotor.type = ActuatorType::thruster;
        rotor.body = k;
        rotor.activation = {static_cast<ActivationType>(k % 4), {0.01, 0.02}, k == 7 ? 0.5 : 0.0, k >= 4};
        builder.add_actuator(rotor);
    }
    Model m = builder.build();
    ShapeSet set = build_shapes(m, shapes);
    ToyState t{World(std::move(m), std::move(set), Settings()), {}, {}, {}};
    const Model& model = t.world.model;
    t.theta = model.layout.nominal();
    VecX<double> d = random_vector(model.nv, g, Regime::random), q(model.nq);
    for (const Body& b : model.bodies)
        d.segment(b.v0, 3) = Vec3<double>(g.uniform(-0.5, 0.7), g.uniform(-0.3, 0.3), g.uniform(0.1, 0.4));
    retract(model, model.neutral_configuration().data(), d.data(), q.data());
    t.x.resize(t.world.nx());
    t.x << q, 0.5 * random_vector(model.nv, g, Regime::random), VecX<double>::Zero(rotors);
    t.u = VecX<double>::Ones(rotors);
    return t;
}

// A pendulum under an activation of every type, at the joint, with the law of a muscle and by a tendon.
ToyState activated_state() {
    ModelBuilder builder;
    BodySpec arm;
    arm.name = "arm";
    arm.joint = JointType::revolute;
    arm.axis = Vec3<double>::UnitY();
    arm.mass = {1, {0, 0, -0.3}, 0.1 * Mat3<double>::Identity()};
    const int body = builder.add_body(arm);
    TendonSpec tendon;
    tendon.name = "tendon";
    tendon.joints = {{body, 0.7}};
    const int along = builder.add_tendon(tendon);
    for (int k = 0; k < 16; ++k) {
        ActuatorSpec a;
        a.name = "actuator" + std::to_string(k);
        a.body = body;
        a.tendon = k % 2 == 0 ? -1 : along;
        a.type = k / 8 == 0 ? ActuatorType::motor : ActuatorType::muscle;
        if (a.type == ActuatorType::muscle) a.muscle = {2, {-2, 2}, {0.7, 1.3}};
        a.activation = {
            static_cast<ActivationType>(k / 2 % 4), {0.01, 0.02}, k % 4 == 3 ? 0.5 : 0.0, k % 2 == 1};
        a.activation->upper = 0.8;
        builder.add_actuator(a);
    }
    Model m = builder.build();
    ShapeSet none = build_shapes(m, {});
    ToyState t{World(std::move(m), std::move(none), Settings()), {}, {}, {}};
    t.theta = t.world.model.layout.nominal();
    t.x.setConstant(t.world.nx(), 0.3);
    t.u = VecX<double>::LinSpaced(t.world.nu(), -1, 1);
    return t;
}

// A cube of 4 x 4 x 4 spheres on the ground with overlaps of 1 mm and random velocities: one island of
// hundreds of rows.
ToyState sphere_heap_state(const Settings& settings) {
    Rng g(9);
    constexpr double radius = 0.05, pitch = 2 * radius - 1e-3;
    ModelBuilder builder;
    std::vector<ShapeSpec> shapes{toy_shape(g, "ground", ShapeType::plane, -1, Vec3<double>::Zero())};
    shapes[0].position.setZero();
    shapes[0].R_BS.setIdentity();
    for (int i = 0; i < 64; ++i) {
        BodySpec body;
        body.name = "ball" + std::to_string(i);
        body.joint = JointType::free;
        body.mass = {1, Vec3<double>::Zero(), 0.4 * radius * radius * Mat3<double>::Identity()};
        ShapeSpec shape;
        shape.name = body.name;
        shape.body = builder.add_body(body);
        shape.size = {radius, 0, 0};
        shape.friction = 0.6;
        shapes.push_back(shape);
    }
    Model m = builder.build();
    ShapeSet set = build_shapes(m, shapes);
    ToyState t{World(std::move(m), std::move(set), settings), {}, {}, {}};
    const World& w = t.world;
    t.theta = w.model.layout.nominal();
    t.x.setZero(w.nx());
    t.x.head(w.nq()) = w.model.neutral_configuration();
    for (int i = 0; i < 64; ++i)
        t.x.segment<3>(7 * i) =
            pitch * Vec3<double>(i % 4, i / 4 % 4, i / 16) + Vec3<double>(0, 0, radius - 1e-3);
    t.x.tail(w.nv()) = 0.2 * random_vector(w.nv(), g, Regime::random);
    return t;
}

// Runs the steps and adjoints of a rollout twice, and counts every call of the allocator in the second run.
// Returns the number of contacts.
int run(const ToyState& t) {
    const World& w = t.world;
    StepScratch<double> s(w);
    const size_t steps = w.nu() > 0 ? 50 : 20;
    std::vector<VecX<double>> x(steps + 1, VecX<double>(w.nx()));
    VecX<double> theta_bar = VecX<double>::Zero(w.np()), x_bar = VecX<double>::Zero(w.ndx()),
                 u_bar = VecX<double>::Zero(w.nu()), seed_bar = VecX<double>::Ones(w.ndx());
    x[0] = t.x;
    const auto type = [&](int shape) { return static_cast<size_t>(w.shapes.shapes[shape].type); };
    int contacts = 0;
    // not counted twice: ncp swaps arrays of its scratch, which both grow
    for (const bool count : {false, false, true}) {
        counting = count;
        for (size_t k = 0; k < steps; ++k) {
            step(w, {t.theta.data(), x[k].data(), t.u.data()}, s, x[k + 1].data());
            s.clear_bars();
            step_adj(w, {t.theta.data(), x[k].data(), t.u.data()}, s, seed_bar.data(),
                     {theta_bar.data(), x_bar.data(), u_bar.data()});
            for (const auto& point : s.contacts.points) {
                const size_t a = type(point.features.a), b = type(point.features.b);
                met[a][b] = met[b][a] = true;
                ++contacts;
            }
        }
        counting = false;
    }
    return contacts / 3;
}

// Visits every combination of solver, gradient, impact, complementarity-aware gradient and warm start, and by
// MuJoCo's law of solver and integrator. The states have no singular active set, whose least-squares solution
// allocates.
template <class Visit> void for_each_setting(const Visit& visit) {
    Settings s = test::sweeping();
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp, SolverType::apgd})
        for (const ImpulseGradient gradient : {ImpulseGradient::swept, ImpulseGradient::implicit})
            for (const Impact impact : {Impact::start, Impact::elastic, Impact::located})
                for (const bool aware : {false, true})
                    for (const bool warm : {false, true}) {
                        s.solver = solver;
                        s.gradient = gradient;
                        s.impact = impact;
                        s.complementarity_aware = aware;
                        s.warm_start = warm;
                        visit(s);
                    }
    s = test::soft_sweeping(FrictionCone::elliptic);
    s.relaxed = true;
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp, SolverType::apgd})
        for (const Integrator integrator :
             {Integrator::semi_implicit, Integrator::mujoco_euler, Integrator::mujoco_implicitfast,
              Integrator::mujoco_explicit, Integrator::mujoco_rk4}) {
            s.solver = solver;
            s.integrator = integrator;
            visit(s);
        }
}

// True if contacts of every moving type with every moving type, with a plane and with terrain have occurred.
bool all_pairs_met() {
    bool all = true;
    for (const ShapeType a : {ShapeType::plane, ShapeType::sphere, ShapeType::capsule, ShapeType::box,
                              ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::mesh, ShapeType::terrain})
        for (const ShapeType b : moving_types) {
            if (met[static_cast<size_t>(a)][static_cast<size_t>(b)]) continue;
            std::printf("no %s touched a %s\n", shape_type_name(a), shape_type_name(b));
            all = false;
        }
    return all;
}
// A rollout allocates the bytes of its checkpoints and little more. A gradient of twice as many steps
// allocates nothing for the additional steps.
bool rollouts_take_their_checkpoints() {
    const ToyState t = toy_contact_state(1);
    const Objective none;
    Simulation simulation(t.world, none);
    Gradient g;
    long taken[2];
    for (const int twice : {0, 1}) {
        const int steps = twice == 1 ? 2000 : 1000;
        std::vector<ControlChannel> held(t.world.nu());
        for (ControlChannel& c : held)
            c.times = {0};
        const ControlPlan plan(held, steps, 0.001);
        const long before = live;
        Rollout<Simulation> rollout(simulation, plan, Schedule::binomial(steps, 50));
        const auto held_by_it = live - before, checkpoints = static_cast<long>(rollout.store().bytes());
        std::printf("a rollout holds %ld bytes, of which %ld are checkpoints\n", held_by_it, checkpoints);
        if (held_by_it < checkpoints || held_by_it > checkpoints + 8192) return false;
        for (const bool count : {false, true}) {
            bytes = 0;
            counting = count;
            rollout.forward(t.theta, t.x, t.u);
            rollout.backward(t.theta, t.u, g);
            counting = false;
        }
        taken[twice] = bytes;
    }
    std::printf("a gradient of 1000 steps asks for %ld bytes, one of 2000 for %ld\n", taken[0], taken[1]);
    return taken[1] <= taken[0] + 4096;
}

// A batch steps, rolls out, pulls back and observes frames twice; every call of the allocator in the second
// run counts. It uses one thread: with several, a thread without work in the first run would allocate in the
// second.
bool batches_allocate_nothing() {
    constexpr int n_env = 4, steps = 3;
    const ToyState t = toy_contact_state(3);
    const World& w = t.world;
    Batch batch(w, t.theta, t.x, {.n_env = n_env, .threads = 1, .substeps = 4});
    const VecX<double> x = t.x.replicate(n_env * steps, 1), u = t.u.replicate(n_env * steps, 1);
    const VecX<double> states_bar = VecX<double>::Ones(n_env * steps * w.ndx());
    VecX<double> states(x), x_bar(n_env * w.ndx()), u_bar(u), theta_bar(w.np()), poses(n_env * 7);
    const int frame = 0;
    const long before = calls;
    for (const bool count : {false, true}) {
        batch.reset(nullptr, n_env, [&](size_t, double* out) { std::copy(t.x.begin(), t.x.end(), out); });
        counting = count;
        batch.step(nullptr, u.data(), nullptr);
        batch.rollout(steps, x.data(), u.data(), states.data(), nullptr);
        batch.backward(steps, x.data(), u.data(), nullptr, states_bar.data(), x_bar.data(), u_bar.data(),
                       theta_bar.data());
        batch.poses(nullptr, &frame, 1, poses.data(), nullptr);
        counting = false;
    }
    std::printf("%ld allocations in calls of a batch\n", calls - before);
    return calls == before;
}

// heap_bytes() against the count for a World, its scratch and the growth of the scratch by steps.
bool heap_figures_agree() {
    const std::int64_t figure_before = heap_bytes();
    if (figure_before == 0) return true;  // not available on this system
    const long before = live;
    const ToyState t = toy_contact_state(2);
    const Objective none;
    const Simulation simulation(t.world, none);
    const std::vector<double> large(1 << 20);  // large enough to be mapped, not taken from the heap's pool
    const long counted_bytes = live - before, figure = heap_bytes() - figure_before;
    std::printf("%ld bytes were counted, and the heap's figure rose by %ld\n", counted_bytes, figure);
    return std::abs(figure - counted_bytes) <= counted_bytes / 50 + 16384;
}
}  // namespace

int main() {
    // The counter must count an allocation.
    counting = true;
    delete new volatile int(1);
    std::free(std::malloc(1));
    counting = false;
    if (calls < 2) return std::puts("the counter counts nothing"), 1;
    calls = 0;

    int contacts = 0;
    for (unsigned seed = 1; seed <= 10; ++seed)
        contacts += run(toy_contact_state(seed));
    const long without = calls;
    std::printf("%ld allocations in 500 steps and adjoints with %d contacts\n", calls, contacts);
    for (unsigned seed = 1; seed <= 20; ++seed)
        run(every_shape_state(seed));
    std::printf("%ld allocations in 400 with shapes of every type\n", calls - without);
    const long with_shapes = calls;
    run(activated_state());
    std::printf("%ld allocations in 50 with activations of every type\n", calls - with_shapes);
    const long with_activations = calls;
    int combinations = 0;
    for_each_setting([&](const Settings& settings) {
        const long before = calls;
        run(toy_contact_state(1 + combinations % 3, settings));
        if (calls > before)
            std::printf("%ld allocations by %s, gradient %d, impact %d, integrator %d%s%s\n", calls - before,
                        solver_kind(settings.solver).name, static_cast<int>(settings.gradient),
                        static_cast<int>(settings.impact), static_cast<int>(settings.integrator),
                        settings.complementarity_aware ? ", aware" : "", settings.warm_start ? ", warm" : "");
        ++combinations;
    });
    std::printf("%ld allocations by %d combinations of settings\n", calls - with_activations, combinations);
    const long with_settings = calls;
    int large = 0;
    for (const SolverType solver : {SolverType::pgs, SolverType::lcp, SolverType::ncp}) {
        Settings settings;
        settings.solver = solver;
        settings.time_step = 2e-3;
        large += run(sphere_heap_state(settings));
    }
    std::printf("%ld allocations in 60 with large islands, with %d contacts\n", calls - with_settings, large);
    const long calls_of_steps = calls;
    const bool as_counted =
        batches_allocate_nothing() && heap_figures_agree() && rollouts_take_their_checkpoints();
    return calls_of_steps == 0 && contacts > 500 && all_pairs_met() && as_counted ? 0 : 1;
}
