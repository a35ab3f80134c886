// Exact contact solvers: supported weights, heavy bodies on light ones, problems without a solution, box
// against cone.
#include <random>

#include "solvers/step/observation.hpp"
#include "tests/support/analytic.hpp"
#include "tests/support/walk.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr SolverType exact_solvers[] = {SolverType::lcp, SolverType::ncp};

double weight_above(const World& w, const VecX<double>& theta, int first) {
    double mass = 0;
    for (int i = first; i < static_cast<int>(w.model.bodies.size()); ++i)
        mass += theta[w.model.mass.at(i)];
    return mass * g0;
}

// The force of the world on the bodies that stand on it, N.
Vec3<double> force_of_ground(const Scene& s, const StepScratch<double>& scratch) {
    Vec3<double> sum = Vec3<double>::Zero();
    for (int i = 0; i < static_cast<int>(scratch.contacts.points.size()); ++i) {
        const ContactObservation<double> c = observe_contact(s.world, scratch, i);
        REQUIRE((c.body_a >= 0) != (c.body_b >= 0));
        sum += (c.body_a >= 0 ? 1 : -1) * c.impulse;
    }
    return sum / s.theta[s.world.time_step.at(0)];
}

Settings exactly(SolverType solver, double h, double compliance) {
    Settings s = rigid(h, 50, compliance);
    s.solver = solver;
    return s;
}

AnalyticScene& with_box(AnalyticScene& scene, const std::string& name, double mass,
                        const Vec3<double>& half) {
    const Vec3<double> square = half.cwiseProduct(half);
    scene.add(solid(name, JointType::free, mass, mass / 3 * (Vec3<double>::Constant(square.sum()) - square)));
    scene.add(shape(name, ShapeType::box, half), name);
    return scene;
}

// A tower of boxes, smaller ones on larger ones, with gaps of 0.1 mm.
AnalyticCase tower(SolverType solver, const std::vector<double>& masses) {
    AnalyticScene scene(exactly(solver, 1e-3, 1e-12));
    scene.add_ground();
    const double side = 0.1;
    for (size_t i = 0; i < masses.size(); ++i)
        with_box(scene, "box" + std::to_string(i), masses[i],
                 {0.3 - 0.05 * double(i), 0.25 - 0.04 * double(i), side});
    AnalyticCase c = scene.build();
    for (size_t i = 0; i < masses.size(); ++i)
        c.q("box" + std::to_string(i), 2) = side * double(2 * i + 1) + 1e-4 * double(i + 1);
    return c;
}

// The force on box i from below, N, in one step from x, and its gradient by the parameters.
std::pair<double, VecX<double>> force_under(const AnalyticCase& c, const VecX<double>& x, int i) {
    const World& w = c.world;
    StepScratch<double> s(w);
    VecX<double> next(w.nx()), x_bar = VecX<double>::Zero(w.ndx()), u_bar = VecX<double>::Zero(w.nu()),
                               theta_bar = VecX<double>::Zero(w.np());
    const VecX<double> none = x_bar;
    step(w, {c.theta.data(), x.data(), c.u.data()}, s, next.data());
    s.clear_bars();
    double sum = 0;
    for (int n = 0; n < static_cast<int>(s.contacts.points.size()); ++n) {
        const ContactPoint<double>& point = s.contacts.points[n];
        if (std::max(point.body_a, point.body_b) != i) continue;
        const int row = s.rows.contact_row[n];
        if (row < 0) continue;
        sum += s.impulses.lambda[row] / c.time_step();
        s.impulses.lambda_bar[row] = 1 / c.time_step();
    }
    step_adj(w, {c.theta.data(), x.data(), c.u.data()}, s, none.data(),
             {theta_bar.data(), x_bar.data(), u_bar.data()});
    return {sum, theta_bar};
}

}  // namespace

namespace {

struct Stance {
    const char* name;
    int steps;
    double tolerance;  // for the biped, which still sways by 0.5 mm/s
};

}  // namespace

TEST_CASE("exact contact: contact forces on a standing robot sum to its weight") {
    for (const SolverType solver : exact_solvers)
        for (const Stance& stance : {Stance{"quadruped_stand", 5000, 1e-8},
                                     {"go1_stand", 3000, 1e-6},
                                     {"biped_stand", 4000, 1e-4}}) {
            CAPTURE(std::string(stance.name));
            Scene s = load_scene(stance.name, stance.steps);
            s.world.settings.solver = solver;
            Vec3<double> force = Vec3<double>::Zero();
            walk(s, stance.steps, [&](const VecX<double>&, const StepScratch<double>& scratch) {
                force = force_of_ground(s, scratch);
            });
            const double weight = weight_above(s.world, s.theta, 0);
            CHECK((force - Vec3<double>(0, 0, weight)).norm() <= stance.tolerance * weight);
        }
}

//   force under box i = g sum of m_j over j >= i
//   d/dm_j = g for j >= i, 0 below
TEST_CASE("analytic 18, exact contact: towers in which each box is heavier than the one below, 1 to 100") {
    for (const SolverType solver : exact_solvers)
        for (const std::vector<double>& masses :
             {std::vector<double>{1, 100}, {1, 10, 100}, {100, 1, 100, 1}}) {
            CAPTURE(static_cast<int>(solver));
            const AnalyticCase c = tower(solver, masses);
            const VecX<double> end = states(c, 300).back();
            CHECK(end.tail(c.world.nv()).cwiseAbs().maxCoeff() <= 1e-6);
            const int k = static_cast<int>(masses.size());
            for (int i = 0; i < k; ++i) {
                CAPTURE(i);
                const auto [force, by] = force_under(c, end, i);
                const double weight = weight_above(c.world, c.theta, i);
                CHECK(error(force, weight) <= 1e-6);
                for (int j = 0; j < k; ++j)
                    CHECK(std::abs(by[c.index("bodies/box" + std::to_string(j) + "/mass")] -
                                   (j >= i ? g0 : 0)) <= 1e-6 * g0);
            }
        }
}

namespace {

// J J^T with fewer velocities than rows, without compliance. A velocity that opens one contact closes
// another, so no impulse opens both.
void check_hopeless(SolverType solver, unsigned seed) {
    std::mt19937 g(seed);
    std::normal_distribution<double> gauss;
    const int contacts = std::uniform_int_distribution<int>(2, 4)(g), rows = 3 * contacts,
              velocities = std::uniform_int_distribution<int>(1, 4)(g);
    MatX J(rows, velocities);
    VecX<double> b(rows), mu = VecX<double>::Zero(rows), x = VecX<double>::Zero(rows);
    for (double& entry : J.reshaped())
        entry = gauss(g);
    for (double& entry : b)
        entry = gauss(g);
    J.row(3) = -J.row(0);
    b[0] = b[3] = -1;
    std::vector<RowType> type;
    std::vector<int> normal;
    for (int c = 0; c < contacts; ++c) {
        mu[3 * c + 1] = mu[3 * c + 2] = 0.5;
        type.insert(type.end(), {RowType::unilateral, RowType::friction, RowType::friction});
        normal.insert(normal.end(), 3, 3 * c);
    }
    const MatX A = J * J.transpose();  // symmetric: row-major too
    const MlcpView<double> p{rows, A.data(), b.data(), type.data(), normal.data(), mu.data(), 0};
    LcpScratch box;
    ConeScratch round;
    ActiveSet<double> set;
    const SolverStatus status =
        solver == SolverType::lcp
            ? lcp(p, box, set, x.data())
            : cone(p, FrictionLaw::cone, ConeMethod::gauss_seidel, round, set, x.data());
    CHECK(status == SolverStatus::unsolved);
    CHECK(x.allFinite());
}

}  // namespace

TEST_CASE("exact contact: problems without a solution end with a status and finite impulses") {
    for (const SolverType solver : exact_solvers)
        for (unsigned seed = 0; seed < 300; ++seed) {
            CAPTURE(seed);
            check_hopeless(solver, seed);
        }
}

// Without compliance each face pushes the ball into the other. The step stops the ball, and the recovery from
// both faces has no solution.
TEST_CASE(
    "exact contact: a ball that overlaps two faces of a gap too narrow stays finite, and so does its "
    "gradient") {
    for (const SolverType solver : exact_solvers)
        for (const double compliance : {0.0, 1e-6}) {
            AnalyticScene scene(exactly(solver, 1e-3, compliance));
            scene.add_ball("ball", 1, 0.1, 0.5);
            for (const double side : {-1.0, 1.0}) {
                ShapeSpec wall = shape(side < 0 ? "left" : "right", ShapeType::box, {0.5, 0.5, 0.5}, 0.5);
                wall.position = {side * 0.595, 0, 0};
                scene.add(wall);
            }
            AnalyticCase c = scene.build();
            c.v("ball", 1) = 1;
            StepScratch<double> s(c.world);
            VecX<double> next(c.world.nx());
            step(c.world, {c.theta.data(), c.x.data(), c.u.data()}, s, next.data());
            REQUIRE(s.contacts.points.size() == 2);
            REQUIRE(s.impulses.status.size() == 1);
            CHECK(s.impulses.status[0] != SolverStatus::unsolved);
            CHECK(std::abs(next[c.world.nq()]) < 1e-5);
            const Sensitivity d = position(c, 100, "ball", 2);
            CHECK(d.last.allFinite());
            CHECK(d.g.initial_state.allFinite());
            CHECK(d.g.parameters.allFinite());
        }
}

namespace {

// Distance that a block with this speed slides, m, at an angle to the tangents, and its derivative by
// friction.
std::pair<double, double> braking_distance(SolverType solver, double speed, double mu, double angle,
                                           double h) {
    AnalyticScene scene(exactly(solver, h, 1e-12));
    scene.add_ground(mu);
    AnalyticCase c = with_box(scene, "block", 0.8, {0.2, 0.2, 0.05}).build();
    c.q("block", 2) = 0.05;
    c.v("block", 0) = speed * std::cos(angle);
    c.v("block", 1) = speed * std::sin(angle);
    const int steps = static_cast<int>(1.1 * speed / (mu * g0 * h));
    const Sensitivity x = position(c, steps, "block", 0), y = position(c, steps, "block", 1);
    CHECK(x.last.tail(c.world.nv()).cwiseAbs().maxCoeff() <= 1e-9);  // at rest
    const auto along = [&](double by_x, double by_y) {
        return std::cos(angle) * by_x + std::sin(angle) * by_y;
    };
    return {along(x.value, y.value), along(x.to("shapes/ground/friction"), y.to("shapes/ground/friction"))};
}

}  // namespace

// Braked by a = mu g, or sqrt(2) mu g, over N = floor(v/(a h)) steps:
//   d = N h v - a h^2 N (N + 1)/2
//   dd/dmu = -(a/mu) h^2 N (N + 1)/2
TEST_CASE(
    "exact contact: at 45 degrees to the tangents a box of friction brakes sqrt(2) times harder than a "
    "cone") {
    const double speed = 1.2, mu = 0.4, h = 1e-3;
    for (const double angle : {0.0, 0.25 * pi})
        for (const SolverType solver : exact_solvers) {
            const double harder = solver == SolverType::lcp && angle > 0 ? std::sqrt(2.0) : 1,
                         a = harder * mu * g0;
            const double N = std::floor(speed / (a * h)), sum = 0.5 * h * h * N * (N + 1);
            const auto [distance, by_mu] = braking_distance(solver, speed, mu, angle, h);
            CHECK(error(distance, N * h * speed - a * sum) <= 1e-8);
            CHECK(error(by_mu, -a / mu * sum) <= 1e-8);
            CHECK(std::abs(distance - speed * speed / (2 * a)) <= speed * h);
        }
}
