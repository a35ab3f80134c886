// Motion with a known answer, without contact: particles, springs, pendulums. Values and gradients; h is the
// step.
#include <algorithm>

#include "tests/support/analytic.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// K(k) and E(k) by the arithmetic-geometric mean:
//   a, b <- (a + b)/2, sqrt(a b)   from 1, sqrt(1 - k^2)
//   c_0 = k,   c_n+1 = (a_n - b_n)/2
//   K = pi/(2 a)
//   E = K (1 - sum of 2^(n-1) c_n^2)
std::pair<double, double> elliptic(double k) {
    double a = 1, b = std::sqrt(1 - k * k), sum = 0.5 * k * k, power = 1;
    for (int n = 0; n < 8; ++n, power *= 2) {
        const double c = 0.5 * (a - b), mean = 0.5 * (a + b);
        b = std::sqrt(a * b);
        a = mean;
        sum += power * c * c;
    }
    const double K = pi / (2 * a);
    return {K, K * (1 - sum)};
}

AnalyticCase free_particle(double h) {
    AnalyticScene scene({.time_step = h});
    scene.add(ball("ball", 0.7, 0.1));
    return scene.build();
}

}  // namespace

//   v_n = v0 - n h g
//   z_n = z0 + n h v0 - g h^2 n (n + 1)/2
TEST_CASE("analytic 1, free fall: exact") {
    const double h = 1e-3, z0 = 1.3, v0 = 2.1;
    for (const int n : {1, 7, 1000}) {
        AnalyticCase c = free_particle(h);
        c.q("ball", 2) = z0;
        c.v("ball", 2) = v0;
        const Sensitivity z = position(c, n, "ball", 2), v = velocity(c, n, "ball", 2);
        const double sum = 0.5 * n * (n + 1);
        CHECK(error(z.value, z0 + n * h * v0 - g0 * h * h * sum) <= 1e-12);
        CHECK(error(v.value, v0 - n * h * g0) <= 1e-12);
        CHECK(error(z.to_q("ball", 2), 1) <= 1e-12);
        CHECK(error(z.to_v("ball", 2), n * h) <= 1e-12);
        CHECK(error(z.to("world/gravity", 2), h * h * sum) <= 1e-12);  // g = -gravity_z
        CHECK(error(z.to("world/time_step"), n * v0 - 2 * g0 * h * sum) <= 1e-12);
        CHECK(error(z.to("bodies/ball/mass"), 0) <= 1e-12);
        CHECK(error(v.to_v("ball", 2), 1) <= 1e-12);
        CHECK(error(v.to("world/gravity", 2), n * h) <= 1e-12);
    }
}

namespace {

// The point x + s u at which the parabola of the steps reaches the ground, from the last node above the
// ground with position (x, z) and velocity (u, w):
//   z + s w - g s (s + h)/2 = 0
struct Landing {
    double range, by_angle, by_speed;
};
Landing landing(double h, double speed, double angle) {
    AnalyticCase c = free_particle(h);
    const double u = c.v("ball", 0) = speed * std::cos(angle), w0 = c.v("ball", 2) = speed * std::sin(angle);
    const int n = static_cast<int>(2 * w0 / g0 / h) - 1;
    const Sensitivity x = position(c, n, "ball", 0), z = position(c, n, "ball", 2),
                      w = velocity(c, n, "ball", 2);
    const double b = w.value - 0.5 * g0 * h, s = 2 * z.value / (std::sqrt(b * b + 2 * g0 * z.value) - b);
    const auto derivative = [&](double du, double dw) {  // along a change of the initial velocity
        const auto along = [&](const Sensitivity& y) {
            return y.to_v("ball", 0) * du + y.to_v("ball", 2) * dw;
        };
        const double ds = -(along(z) + s * along(w)) / (w.value - g0 * (s + 0.5 * h));
        return along(x) + u * ds + s * du;
    };
    return {x.value + s * u, derivative(-w0, u), derivative(std::cos(angle), std::sin(angle))};
}

}  // namespace

// Exactly from the parabola of case 1, and as h -> 0:
//   R_h = v cos a (2 v sin a/g - h)
//   dR/da -> 2 v^2 cos(2a)/g
//   dR/dv -> 2R/v
TEST_CASE("analytic 2, projectile: the discrete landing exactly, the range with order 1") {
    const double v = 5;
    for (const double a : {30 * pi / 180, 45 * pi / 180, 70 * pi / 180}) {
        const double R = v * v * std::sin(2 * a) / g0, R_a = 2 * v * v * std::cos(2 * a) / g0,
                     R_v = 2 * R / v;
        std::array<double, 3> e, e_a, e_v;
        size_t k = 0;
        for (const double h : {1e-3, 5e-4, 2.5e-4}) {
            const Landing l = landing(h, v, a);
            CHECK(error(l.range, R - h * v * std::cos(a)) <= 1e-12);
            CHECK(std::abs(l.by_angle - (R_a + h * v * std::sin(a))) <= 1e-11);
            CHECK(error(l.by_speed, R_v - h * std::cos(a)) <= 1e-11);
            e[k] = std::abs(l.range - R);
            e_a[k] = std::abs(l.by_angle - R_a);
            e_v[k++] = std::abs(l.by_speed - R_v);
        }
        CHECK(e[0] <= 5e-3);
        CHECK(e_a[0] <= 5e-3);  // at 45 degrees R_a = 0
        CHECK(first_order(e, 1e-6));
        CHECK(first_order(e_a, 1e-6));
        CHECK(first_order(e_v, 1e-6));
    }
}

// With k = stiffness + kp, d = damping + kd, m with armature, and m' = m + h d:
//   A = [[1 - h^2 k/m', h m/m'], [-h k/m', m/m']]
//   x_n = A^n x_0
//   d(A^n) = sum of A^(n-1-j) dA A^j
TEST_CASE("analytic 3, spring and damper, passive and by a servo: exact") {
    const double h = 5e-3, m = 1.3, armature = 0.2, stiffness = 30, damping = 0.4, kp = 25, kd = 0.9,
                 x0 = 0.7, v0 = -1.1;
    AnalyticScene scene({.time_step = h}, Vec3<double>::Zero());
    BodySpec mass = solid("mass", JointType::prismatic, m, Vec3<double>::Ones(), Vec3<double>::UnitX());
    mass.damping = {damping};
    mass.armature = {armature};
    mass.stiffness = {stiffness};
    mass.rest = {0};
    ActuatorSpec servo;
    servo.name = "servo";
    servo.type = ActuatorType::servo;
    servo.body = scene.add(mass);
    servo.kp = kp;
    servo.kd = kd;
    scene.add(servo);
    AnalyticCase c = scene.build();
    c.q("mass") = x0;
    c.v("mass") = v0;

    using Mat2 = Eigen::Matrix2d;
    const double k = stiffness + kp, M = m + armature, mh = M + h * (damping + kd);
    const auto rows = [&](double of_x, double of_v) {
        return (Mat2() << h * of_x, h * of_v, of_x, of_v).finished();
    };  // dv+, dx+ = h dv+
    const Mat2 A = (Mat2() << 1 - h * h * k / mh, h * M / mh, -h * k / mh, M / mh).finished();
    const Mat2 A_k = rows(-h / mh, 0), A_d = rows(h * h * k / (mh * mh), -h * M / (mh * mh)),
               A_m = rows(h * k / (mh * mh), (mh - M) / (mh * mh));
    for (const int n : {1, 40, 300}) {
        Mat2 power = Mat2::Identity(), by_k = Mat2::Zero(), by_d = Mat2::Zero(), by_m = Mat2::Zero();
        for (int j = 0; j < n; ++j) {
            by_k = A * by_k + A_k * power;
            by_d = A * by_d + A_d * power;
            by_m = A * by_m + A_m * power;
            power = A * power;
        }
        const Eigen::Vector2d start(x0, v0);
        const auto check = [&](const Sensitivity& s, int row) {
            const auto near = [&](double x, double expected) {
                return std::abs(x - expected) <= 1e-12 * std::max(1.0, std::abs(expected));
            };
            CHECK(near(s.value, power.row(row) * start));
            CHECK(near(s.to_q("mass"), power(row, 0)));
            CHECK(near(s.to_v("mass"), power(row, 1)));
            for (const char* path : {"joints/mass/stiffness", "actuators/servo/kp"})
                CHECK(near(s.to(path), by_k.row(row) * start));
            for (const char* path : {"joints/mass/damping", "actuators/servo/kd"})
                CHECK(near(s.to(path), by_d.row(row) * start));
            for (const char* path : {"bodies/mass/mass", "joints/mass/armature"})
                CHECK(near(s.to(path), by_m.row(row) * start));
        };
        check(coordinate(c, n, "mass"), 0);
        check(rate(c, n, "mass"), 1);
    }
}

namespace {

struct Period {
    double T, by_angle, by_length, by_gravity;
};
// Four times the time from rest at the angle a to the bottom. q = 0 is interpolated linearly between two
// steps.
Period period(double h, double a, double l) {
    AnalyticScene scene({.time_step = h});
    BodySpec bob = solid("bob", JointType::revolute, 1.7, Vec3<double>::Zero(), Vec3<double>::UnitY());
    bob.mass.c = {0, 0, -l};
    scene.add(bob);
    AnalyticCase c = scene.build();
    c.q("bob") = a;
    const std::vector<VecX<double>> all = states(c, static_cast<int>(1.0 / h));
    int n = 0;
    while (all[n + 1][0] > 0)
        ++n;
    const Sensitivity before = coordinate(c, n, "bob"), after = coordinate(c, n + 1, "bob");
    const double q0 = before.value, q1 = after.value;
    const auto derivative = [&](double d0, double d1) {
        return 4 * h * (q0 * d1 - q1 * d0) / ((q0 - q1) * (q0 - q1));
    };
    return {4 * h * (n + q0 / (q0 - q1)), derivative(before.to_q("bob"), after.to_q("bob")),
            -derivative(before.to("bodies/bob/com", 2), after.to("bodies/bob/com", 2)),
            -derivative(before.to("world/gravity", 2), after.to("world/gravity", 2))};
}

}  // namespace

// With Omega = sqrt(m g l/I) and k = sin(a/2), for a point mass I = m l^2:
//   T = 4/Omega K(k)
//   dT/da = (2/Omega)(E - (1 - k^2) K)/(k sqrt(1 - k^2))
//   dT/dl = T/(2l)
//   dT/dg = -T/(2g)
// T_h = T + 2h + O(h^2), because v_n after a start from rest is the velocity half a step earlier. The term 2h
// has no derivative, so errors of gradients are O(h^2).
TEST_CASE("analytic 4, period of a pendulum: order 1, 1e-5 extrapolated") {
    const double a = 60 * pi / 180;
    for (const double l : {1.0, 0.4}) {
        const double Omega = std::sqrt(g0 / l), k = std::sin(0.5 * a);
        const auto [K, E] = elliptic(k);
        const double T = 4 / Omega * K, T_a = 2 / Omega * (E - (1 - k * k) * K) / (k * std::sqrt(1 - k * k));
        if (l == 1.0) CHECK(error(T, 2.152874667) <= 1e-9);
        std::array<double, 3> e, e_a, e_l, e_g;
        Period p[3];
        size_t n = 0;
        for (const double h : {1e-3, 5e-4, 2.5e-4}) {
            p[n] = period(h, a, l);
            e[n] = std::abs(p[n].T - T);
            e_a[n] = std::abs(p[n].by_angle - T_a);
            e_l[n] = std::abs(p[n].by_length - 0.5 * T / l);
            e_g[n] = std::abs(p[n].by_gravity + 0.5 * T / g0);
            ++n;
        }
        CHECK(first_order(e));
        CHECK(e[0] <= 2.1e-3);
        for (const auto& errors : {e_a, e_l, e_g})
            CHECK(*std::max_element(errors.begin(), errors.end()) <= 1e-5);
        CHECK(error(2 * p[1].T - p[0].T, T) <= 1e-5);
        CHECK(error(2 * p[1].by_angle - p[0].by_angle, T_a) <= 1e-5);
        CHECK(error(2 * p[1].by_length - p[0].by_length, 0.5 * T / l) <= 1e-5);
        CHECK(error(2 * p[1].by_gravity - p[0].by_gravity, -0.5 * T / g0) <= 1e-5);
    }
}

namespace {

// n links in a straight line at rest, at an angle from hanging: point masses at the ends of massless rods.
AnalyticCase pendulum_chain(int n, double h, double angle) {
    AnalyticScene scene({.time_step = h});
    for (int i = 0; i < n; ++i) {
        BodySpec link = solid("link" + std::to_string(i), JointType::revolute, 1.0 / n, Vec3<double>::Zero(),
                              Vec3<double>::UnitY());
        link.mass.c = {0, 0, -1.0 / n};
        link.parent = i - 1;
        if (i > 0) link.placement = {0, 0, -1.0 / n};
        scene.add(link);
    }
    AnalyticCase c = scene.build();
    c.q("link0") = angle;
    return c;
}
// sum of m |v|^2/2 + m g z
Objective energy(const AnalyticCase& c, int n) {
    Objective terms;
    for (int i = 0; i < n; ++i) {
        const std::string name = "link" + std::to_string(i);
        Term kinetic = point_term(c, TermKind::velocity, name, 0, {0, 0, -1.0 / n}), potential = kinetic;
        kinetic.norm = TermNorm::squared;
        kinetic.axes.setOnes();
        kinetic.target.setZero();
        kinetic.weight = 0.5 / n;
        potential.kind = TermKind::height;
        potential.norm = TermNorm::linear;
        potential.weight = g0 / n;
        terms.push_back(kinetic);
        terms.push_back(potential);
    }
    return terms;
}

}  // namespace

// E(x_N) -> E(x_0). A conserved quantity has a conserved gradient: d E(x_N)/d x_0 -> grad E(x_0)
TEST_CASE("analytic 7, n-link pendulum: the drift of energy and of its gradient halves with h") {
    for (const int n : {1, 2, 5, 16, 64}) {
        CAPTURE(n);
        std::array<double, 3> e, e_grad;
        size_t k = 0;
        for (const double h : {1e-3, 5e-4, 2.5e-4}) {
            const AnalyticCase c = pendulum_chain(n, h, 0.6);
            const Objective terms = energy(c, n);
            const Sensitivity first = loss(c, 0, terms),
                              last = loss(c, static_cast<int>(std::lround(0.3 / h)), terms);
            e[k] = std::abs(last.value - first.value);
            e_grad[k++] =
                (last.g.initial_state - first.g.initial_state).norm() / first.g.initial_state.norm();
        }
        CHECK(e[0] <= 5e-3);
        CHECK(first_order(e));
        CHECK(first_order(e_grad));
    }
}

// An arm at rest: v+ = h M^-1 (u - g(q)), so the torque that keeps the arm at rest is g(q). By the implicit
// function theorem, with q measured from hanging:
//   du/dq = -(dv+/du)^-1 dv+/dq = dg/dq
//   du/dm = -(dv+/du)^-1 dv+/dm = dg/dm
//   g_1 = g0 (m1 c1 sin q1 + m2 (l sin q1 + c2 sin(q1 + q2)))
//   g_2 = g0 m2 c2 sin(q1 + q2)
TEST_CASE("analytic 20, torques that hold an arm: exact") {
    const double m1 = 1.2, m2 = 0.8, c1 = 0.25, c2 = 0.2, l = 0.45, q1 = 0.9, q2 = -2.1;
    AnalyticScene scene({.time_step = 2e-3});
    BodySpec upper = solid("upper", JointType::revolute, m1, {0.02, 0.03, 0.01}, Vec3<double>::UnitY()),
             lower = upper;
    upper.mass.c = {0, 0, -c1};
    lower.name = "lower";
    lower.mass.m = m2;
    lower.mass.c = {0, 0, -c2};
    lower.placement = {0, 0, -l};
    lower.parent = 0;
    for (const BodySpec& b : {upper, lower})
        scene.motor(scene.add(b));
    AnalyticCase c = scene.build();
    c.q("upper") = q1;
    c.q("lower") = q2;

    using Vec2 = Eigen::Vector2d;
    using Mat2 = Eigen::Matrix2d;
    const double s1 = std::sin(q1), s12 = std::sin(q1 + q2), k1 = std::cos(q1), k12 = std::cos(q1 + q2);
    const Vec2 g = g0 * Vec2(m1 * c1 * s1 + m2 * (l * s1 + c2 * s12), m2 * c2 * s12);
    const Mat2 g_q =
        g0 * (Mat2() << (m1 * c1 + m2 * l) * k1 + m2 * c2 * k12, m2 * c2 * k12, m2 * c2 * k12, m2 * c2 * k12)
                 .finished();
    const MotionJacobian free = step_jacobian(c, c.x);
    const Mat2 v_u = free.u.bottomRows(2);
    CHECK((-v_u.inverse() * free.next.tail(2) - g).norm() <= 1e-12 * g.norm());  // v+ is linear in u
    c.u = g;
    const MotionJacobian held = step_jacobian(c, c.x);
    const Mat2 inverse = Mat2(held.u.bottomRows(2)).inverse();
    const auto by = [&](const char* path, int k = 0) {
        return Vec2(-inverse * held.theta.bottomRows(2).col(c.index(path, k)));
    };
    const auto near = [](const auto& x, const auto& expected) {
        return (x - expected).norm() <= 1e-12 * expected.norm();
    };
    CHECK(held.next.tail(2).norm() <= 1e-15);
    CHECK(near(Mat2(-inverse * held.x.bottomLeftCorner(2, 2)), g_q));
    CHECK(near(by("bodies/upper/mass"), g0 * Vec2(c1 * s1, 0)));
    CHECK(near(by("bodies/lower/mass"), g0 * Vec2(l * s1 + c2 * s12, c2 * s12)));
    CHECK(near(by("bodies/lower/com", 2), -g0 * m2 * s12 * Vec2(1, 1)));
    CHECK(near(by("joints/lower/placement", 2), -g0 * m2 * s1 * Vec2(1, 0)));
    CHECK(near(by("world/gravity", 2), -g / g0));
}
