// Rotating bodies with a known answer: free bodies, a heavy top, a chain moved only by its own motors. h is
// the step.
#include <complex>

#include "core/dynamics/integrate.hpp"
#include "tests/support/analytic.hpp"

using namespace costate;
using namespace costate::test;

namespace {

AnalyticCase free_body(double h, const Vec3<double>& inertia, const Vec3<double>& omega) {
    AnalyticScene scene({.gyroscopic = Gyroscopic::explicit_bias, .time_step = h}, Vec3<double>::Zero());
    scene.add(solid("body", JointType::free, 1, inertia));
    AnalyticCase c = scene.build();
    for (int k = 0; k < 3; ++k)
        c.v("body", 3 + k) = omega[k];
    return c;
}

// The final angle of a free body about axis k, relative to one radian before.
Sensitivity turn(const AnalyticCase& c, int steps, int k) {
    const VecX<double> end = states(c, steps).back(), back = -VecX<double>::Unit(6, 3 + k);
    Term t;
    t.kind = TermKind::configuration;
    t.norm = TermNorm::distance;
    t.dofs = {3 + k};
    t.q_target = VecX<double>(7);
    retract(c.world.model, end.data(), back.data(), t.q_target.data());
    return loss(c, steps, {t});
}

// L = R I omega in world axes, and its derivative by the initial orientation and angular velocity (6
// columns):
//   dL = R (I d omega - [I omega]x d phi)
// where d phi and d omega are the derivatives of the final state.
struct AngularMomentum {
    Vec3<double> L;
    Eigen::Matrix<double, 3, 6> by_first;
};
AngularMomentum angular_momentum(const AnalyticCase& c, int steps, const Vec3<double>& inertia) {
    Eigen::Matrix<double, 3, 6> d_phi, d_omega;
    VecX<double> x;
    for (int k = 0; k < 3; ++k) {
        const Sensitivity phi = turn(c, steps, k), omega = rate(c, steps, "body", 3 + k);
        d_phi.row(k) << phi.g.initial_state.segment<3>(3).transpose(),
            phi.g.initial_state.tail<3>().transpose();
        d_omega.row(k) << omega.g.initial_state.segment<3>(3).transpose(),
            omega.g.initial_state.tail<3>().transpose();
        x = phi.last;
    }
    const Mat3<double> R = rotation_matrix<double>({x[3], {x[4], x[5], x[6]}});
    const Vec3<double> l = inertia.cwiseProduct(x.tail<3>());
    return {R * l, R * (inertia.asDiagonal() * d_omega - skew(l) * d_phi)};
}

}  // namespace

// E = omega . I omega/2 and L = R I omega are conserved, so grad Q(x_N) pulled back to x_0 tends to grad
// Q(x_0) for Q = E and the components of L.
TEST_CASE(
    "analytic 5, torque-free body about its middle axis: drift of energy, momentum and their gradients "
    "halves with h") {
    const Vec3<double> inertia(0.1, 0.2, 0.3), omega(0.05, 3, 0.02);
    std::array<double, 3> e, e_grad, l, l_grad;
    double flipped = 0;
    size_t k = 0;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
        const AnalyticCase c = free_body(h, inertia, omega);
        const int steps = static_cast<int>(std::lround(4.2 / h));
        Objective energy;
        for (int a = 0; a < 3; ++a) {
            Term t;
            t.kind = TermKind::joint_velocity;
            t.dofs = {3 + a};
            t.weight = 0.5 * inertia[a];
            energy.push_back(t);
        }
        const Sensitivity first = loss(c, 0, energy), last = loss(c, steps, energy);
        const AngularMomentum L0 = angular_momentum(c, 0, inertia), L = angular_momentum(c, steps, inertia);
        flipped = last.last.tail<3>()[1];
        e[k] = error(last.value, first.value);
        e_grad[k] = (last.g.initial_state - first.g.initial_state).norm() / first.g.initial_state.norm();
        l[k] = (L.L - L0.L).norm() / L0.L.norm();
        l_grad[k++] = (L.by_first - L0.by_first).norm() / L0.by_first.norm();
    }
    CHECK(flipped < -1);  // from 3
    CHECK(e[0] <= 5e-3);
    CHECK(l[0] <= 5e-3);
    for (const auto& errors : {e, e_grad, l, l_grad})
        CHECK(first_order(errors));
}

// I1 = I2: z = omega1 + i omega2 rotates with the rate nu = (I3 - I1) omega3/I1, dz/dt = i nu z. The step
// conserves omega3, and exactly
//   z_n = (1 + i h nu)^n z_0
//   d z_n = n (1 + i h nu)^(n-1) i h d nu z_0
// The phase n atan(h nu) is nu t to order 2.
TEST_CASE("analytic 5, axisymmetric body: exact, body rate") {
    using Complex = std::complex<double>;
    const double h = 1e-3, I1 = 0.2, I3 = 0.3, spin = 5;
    const int n = 1000;
    const AnalyticCase c = free_body(h, {I1, I1, I3}, {0.6, -0.3, spin});
    const double nu = (I3 - I1) * spin / I1;
    const Complex factor(1, h * nu), z0(0.6, -0.3),
        z = std::pow(factor, n) * z0, z_nu = Complex(n, 0) * std::pow(factor, n - 1) * Complex(0, h) * z0;
    const Sensitivity w1 = rate(c, n, "body", 3), w2 = rate(c, n, "body", 4);
    const auto near = [](Complex x, Complex expected) {
        return std::abs(x - expected) <= 1e-11 * std::abs(expected);
    };
    CHECK(near({w1.value, w2.value}, z));
    CHECK(near({w1.to_v("body", 3), w2.to_v("body", 3)}, z / z0));
    CHECK(near({w1.to_v("body", 5), w2.to_v("body", 5)}, z_nu * (I3 - I1) / I1));
    CHECK(near({w1.to("bodies/body/inertia", 2), w2.to("bodies/body/inertia", 2)}, z_nu * spin / I1));
    const auto by_I1 = [](const Sensitivity& w) {
        return w.to("bodies/body/inertia", 0) + w.to("bodies/body/inertia", 1);
    };
    CHECK(near({by_I1(w1), by_I1(w2)}, -z_nu * I3 * spin / (I1 * I1)));
    CHECK(std::abs(std::arg(z / z0 / std::polar(1.0, nu * n * h))) <= 1e-5);
}

namespace {

// Azimuth of a top's axis at T and its derivatives along the family of steady tops, per unit of time.
struct Precession {
    double rate, by_spin, by_gravity, by_angle, by_I3;
};
struct Top {
    double mass = 1, l = 0.1, I1 = 0.022, I3 = 0.02, spin = 20, angle = 60 * pi / 180;  // I1 about the pivot
    bool fast = false;
    double precession() const {
        const double b = I3 * spin, c = std::cos(angle), root = std::sqrt(b * b - 4 * I1 * mass * g0 * l * c);
        return (fast ? b + root : b - root) / (2 * I1 * c);
    }
};
Precession precession(const Top& top, double Omega, const Precession& exact, double h, double T) {
    AnalyticScene scene({.gyroscopic = Gyroscopic::explicit_bias, .time_step = h});
    const double about_com = top.I1 - top.mass * top.l * top.l;
    BodySpec body = solid("top", JointType::spherical, top.mass, {about_com, about_com, top.I3});
    body.mass.c = {0, 0, top.l};
    scene.add(body);
    AnalyticCase c = scene.build();
    const double s = std::sin(top.angle);
    c.q("top", 0) = std::cos(0.5 * top.angle);
    c.q("top", 2) = std::sin(0.5 * top.angle);
    c.v("top", 0) = -s * Omega;
    c.v("top", 2) = top.spin;  // Omega z + (spin - Omega cos a) e3 in body axes
    const int steps = static_cast<int>(std::lround(T / h));
    const Sensitivity x = position(c, steps, "top", 0, {0, 0, 1}),
                      y = position(c, steps, "top", 1, {0, 0, 1});
    const double scale = 1 / (T * (x.value * x.value + y.value * y.value));
    // by the parameter directly, and through the initial state, which depends on Omega
    const auto along = [&](double dOmega, const auto& direct) {
        const auto d = [&](const Sensitivity& r) { return direct(r) - s * dOmega * r.to_v("top", 0); };
        return (x.value * d(y) - y.value * d(x)) * scale;
    };
    return {std::atan2(y.value, x.value) / T,
            along(exact.by_spin, [](const Sensitivity& r) { return r.to_v("top", 2); }),
            along(exact.by_gravity, [](const Sensitivity& r) { return -r.to("world/gravity", 2); }),
            along(exact.by_angle,
                  [&](const Sensitivity& r) {
                      return r.to_q("top", 1) - std::cos(top.angle) * Omega * r.to_v("top", 0);
                  }),
            along(exact.by_I3, [](const Sensitivity& r) { return r.to("bodies/top/inertia", 2); })};
}

}  // namespace

//   I1 cos a Omega^2 - I3 omega3 Omega + m g l = 0
//   Omega = [I3 omega3 -+ sqrt(I3^2 omega3^2 - 4 I1 m g l cos a)]/(2 I1 cos a)
//   d Omega = (I3 Omega d omega3 + omega3 Omega d I3 - m l dg + I1 sin a Omega^2 da)
//             /(2 I1 cos a Omega - I3 omega3)
TEST_CASE("analytic 6, heavy top in steady precession, slow and fast: order 1") {
    for (const bool fast : {false, true}) {
        CAPTURE(fast);
        Top top;
        top.fast = fast;
        const double Omega = top.precession(),
                     slope = 2 * top.I1 * std::cos(top.angle) * Omega - top.I3 * top.spin;
        const Precession exact{Omega, top.I3 * Omega / slope, -top.mass * top.l / slope,
                               top.I1 * std::sin(top.angle) * Omega * Omega / slope,
                               top.spin * Omega / slope};
        std::array<std::array<double, 3>, 5> e;
        size_t k = 0;
        for (const double h : {1e-3, 5e-4, 2.5e-4}) {
            const Precession p = precession(top, Omega, exact, h, fast ? 0.08 : 0.5);
            e[0][k] = error(p.rate, exact.rate);
            e[1][k] = error(p.by_spin, exact.by_spin);
            e[2][k] = error(p.by_gravity, exact.by_gravity);
            e[3][k] = error(p.by_angle, exact.by_angle);
            e[4][k++] = error(p.by_I3, exact.by_I3);
        }
        for (const auto& errors : e) {
            CHECK(errors[0] <= 0.02);
            CHECK(first_order(errors));
        }
    }
}

namespace {

// Four bodies in a row without gravity. A motor drives the joint between each body and the previous body.
AnalyticCase chain(double h, JointType joint, const Vec3<double>& axis) {
    AnalyticScene scene({.gyroscopic = Gyroscopic::explicit_bias, .time_step = h}, Vec3<double>::Zero());
    for (int i = 0; i < 4; ++i) {
        BodySpec b = solid("b" + std::to_string(i), i == 0 ? JointType::free : joint, 1 + 0.3 * i,
                           {0.01, 0.02, 0.03}, axis);
        b.mass.c = {0.1, 0, 0};
        b.parent = i - 1;
        if (i > 0) b.placement = {0.3, 0, 0};
        const int body = scene.add(b);
        if (i > 0) scene.motor(body);
    }
    AnalyticCase c = scene.build();
    c.u = Vec3<double>(0.05, -0.03, 0.04);
    c.v("b0", 0) = 0.2;
    c.v("b0", 1) = -0.1;
    return c;
}
const Vec3<double> chain_com(0.1, 0, 0);

// Sums over the bodies in the plane, and their gradients by the three motor torques: momentum p, first moment
// r, and L = sum of m (x v_y - y v_x) + I omega.
struct Totals {
    double L = 0;
    Eigen::Vector2d p = Eigen::Vector2d::Zero(), r = Eigen::Vector2d::Zero();
    Eigen::Matrix<double, 2, 3> p_u = Eigen::Matrix<double, 2, 3>::Zero(), r_u = p_u;
    Eigen::RowVector3d L_u = Eigen::RowVector3d::Zero();
};
Totals totals(const AnalyticCase& c, int steps, bool turning) {
    Totals t;
    double omega = 0;
    Eigen::RowVector3d omega_u = Eigen::RowVector3d::Zero();
    for (int i = 0; i < 4; ++i) {
        const std::string name = "b" + std::to_string(i);
        const double m = 1 + 0.3 * i;
        const Sensitivity r[2] = {position(c, steps, name, 0, chain_com),
                                  position(c, steps, name, 1, chain_com)};
        const Sensitivity v[2] = {velocity(c, steps, name, 0, chain_com),
                                  velocity(c, steps, name, 1, chain_com)};
        for (int a = 0; a < 2; ++a) {
            t.p[a] += m * v[a].value;
            t.r[a] += m * r[a].value;
            t.p_u.row(a) += m * v[a].g.controls.transpose();
            t.r_u.row(a) += m * r[a].g.controls.transpose();
        }
        if (!turning) continue;
        const Sensitivity w = rate(c, steps, name, i == 0 ? 5 : 0);
        omega += w.value;
        omega_u += w.g.controls.transpose();
        t.L += m * (r[0].value * v[1].value - r[1].value * v[0].value) + 0.03 * omega;
        t.L_u += 0.03 * omega_u + m * (r[0].value * v[1].g.controls + v[1].value * r[0].g.controls -
                                       r[1].value * v[0].g.controls - v[0].value * r[1].g.controls)
                                          .transpose();
    }
    return t;
}

}  // namespace

// p is constant, r moves along a line, dp/du = dr/du = 0: exactly if the mass matrix is constant, as for a
// telescope.
TEST_CASE("analytic 8, telescope in zero gravity: momentum is exact") {
    const AnalyticCase c = chain(1e-3, JointType::prismatic, Vec3<double>::UnitX());
    const int steps = 500;
    const Totals t = totals(c, steps, false);
    const Totals t0 = totals(c, 0, false);
    CHECK((t.p - t0.p).norm() <= 1e-11 * t0.p.norm());
    CHECK((t.r - t0.r - 0.5 * t0.p).norm() <= 1e-11);
    CHECK(t.p_u.norm() <= 1e-11);
    CHECK(t.r_u.norm() <= 1e-11);
}

// The same, and dL/du = 0, with order 1 for revolute joints. The momenta are linear in v through M(q), and a
// step evaluates M at its beginning. These two equations differ by O(h^2):
//   M(q_n) (v_n+1 - v_n) + h c = h tau
//   M(q_n+1) v_n+1 - M(q_n) v_n = h tau
TEST_CASE("analytic 8, chain in zero gravity moved by its own torques") {
    std::array<double, 3> p, p_u, L, L_u, r, r_u;
    size_t k = 0;
    for (const double h : {1e-3, 5e-4, 2.5e-4}) {
        const AnalyticCase c = chain(h, JointType::revolute, Vec3<double>::UnitZ());
        const Totals t0 = totals(c, 0, false), t = totals(c, static_cast<int>(std::lround(0.5 / h)), true);
        const double L0 = t0.r.x() * -0.1 - t0.r.y() * 0.2;
        p[k] = (t.p - t0.p).norm();
        p_u[k] = t.p_u.norm();
        L[k] = std::abs(t.L - L0);
        L_u[k] = t.L_u.norm();
        r[k] = (t.r - t0.r - 0.5 * t0.p).norm();
        r_u[k++] = t.r_u.norm();
    }
    for (const auto& errors : {p, p_u, L, L_u, r, r_u})
        CHECK(first_order(errors));
    CHECK(p[0] <= 5e-3);
    CHECK(L[0] <= 5e-4);
    CHECK(r[0] <= 5e-4);
}

// phi, omega: angle and speed about the axis e of `rest`
//   omega+ = omega - (h k/I) (phi - |rest|),  phi+ = phi + h omega+
TEST_CASE("analytic: a ball swings on the spring of its spherical joint about one axis, as an oscillator") {
    const double h = 0.01, I = 0.3, k = 4, away = 0.8;
    const int steps = 130;
    const Vec3<double> e(1.0 / 3, 2.0 / 3, 2.0 / 3), side(2.0 / 3, 1.0 / 3, -2.0 / 3);
    AnalyticScene scene({.time_step = h}, Vec3<double>::Zero());
    BodySpec body = solid("ball", JointType::spherical, 1, {I, I, I});
    body.stiffness = {k, k, k};
    body.rest = {away * e.x(), away * e.y(), away * e.z()};
    scene.add(body);
    const AnalyticCase c = scene.build();
    const auto oscillated = [&](const Dual<double>& stiffness, const Dual<double>& rest) {
        Dual<double> phi(0), omega(0);
        for (int n = 0; n < steps; ++n) {
            omega -= h / I * stiffness * (phi - rest);
            phi += h * omega;
        }
        return phi;
    };
    Vec3<double> end;
    double by_stiffness = 0, by_rest = 0;
    Sensitivity of_end[3];
    for (int i = 0; i < 3; ++i) {
        of_end[i] = position(c, steps, "ball", i, side);
        end[i] = of_end[i].value;
    }
    const double x = side.dot(end), y = e.cross(side).dot(end);
    for (int i = 0; i < 3; ++i) {
        const double turn = x * e.cross(side)[i] - y * side[i];  // d phi by the position
        for (int j = 0; j < 3; ++j) {
            const std::string dof = "joints/ball." + std::to_string(j);
            by_stiffness += turn * of_end[i].to(dof + "/stiffness");
            by_rest += turn * e[j] * of_end[i].to(dof + "/rest");
        }
    }
    const Dual<double> wanted = oscillated({k, 1}, {away, 0});
    CHECK(std::atan2(y, x) == doctest::Approx(wanted.v).epsilon(1e-11));
    CHECK(by_stiffness == doctest::Approx(wanted.d).epsilon(1e-10));
    CHECK(by_rest == doctest::Approx(oscillated({k, 0}, {away, 1}).d).epsilon(1e-10));
}
