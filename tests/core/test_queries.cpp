// Mass centre, momentum and energy: the dot-product test, and what mechanics says of them.
#include "core/dynamics/aba.hpp"
#include "core/dynamics/queries.hpp"
#include "tests/support/pass_case.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// V, I, gravity -> a query of the floating tree: the mass of a body that turns about a fixed point would do
// nothing.
template <class Query> struct QueryPass : PassCase {
    BodyRange range{0, 7};
    using PassCase::PassCase;
    int bodies() const { return range.end - range.begin; }
    int inputs() const {
        return (Query::velocities ? 6 * bodies() : 0) + 10 * bodies() + (Query::gravity ? 3 : 0);
    }
    int outputs() const { return Probe<typename Query::Result>::size; }
    // of the ten numbers of each body
    static constexpr int inputs_without_effect = Query::inertia_without_effect * 7;
    Covector forward(const Covector& x_dot) const {
        Cursor c{x_dot.data(), nullptr};
        Kinematics<D> kd(m);
        for (size_t i = 0; i < k.origin.size(); ++i)
            kd.origin[i] = k.origin[i].cast<D>();
        for (int i = range.begin; i < range.end; ++i) {
            const size_t n = i;
            if (Query::velocities) kd.V[n] = c.lift(k.V[n]);
            kd.I[n] = c.lift(k.I[n]);
        }
        VecX<D> th = theta.cast<D>();
        if (Query::gravity) th.segment(m.gravity.offset, 3) = c.lift(slice(m.gravity, 1));
        Covector y = sized(outputs());
        Cursor{nullptr, y.data()}.put_tangent<typename Query::Result>(Query::value(m, th.data(), kd, range));
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        Cursor p{prior.data(), nullptr};
        KinematicsBar<double> b(m);
        VecX<double> theta_bar = VecX<double>::Zero(theta.size());
        for (int i = range.begin; i < range.end; ++i) {
            const size_t n = i;
            if (Query::velocities) b.V[n] = p.bar<Motion<double>>();
            b.I[n] = p.bar<RigidInertia<double>>();
        }
        if (Query::gravity) theta_bar.segment(m.gravity.offset, 3) = p.bars(3);
        Query::value_adj(m, theta.data(), k, range, Probe<typename Query::Result>::bar(y_bar.data()), b,
                         theta_bar.data());
        Covector x_bar = sized(inputs());
        Cursor out{nullptr, x_bar.data()};
        for (int i = range.begin; i < range.end; ++i) {
            const size_t n = i;
            if (Query::velocities) out.put<Motion<double>>(b.V[n]);
            out.put<RigidInertia<double>>(b.I[n]);
        }
        if (Query::gravity) out.put_all(theta_bar.segment(m.gravity.offset, 3));
        return x_bar;
    }
};

struct CentreOfMass {
    using Result = Vec3<double>;
    static constexpr bool velocities = false, gravity = false;
    static constexpr int inertia_without_effect = 6;
    template <class T> static Vec3<T> value(const Model& m, const T*, const Kinematics<T>& k, BodyRange r) {
        return centre_of_mass(m, k, r);
    }
    static void value_adj(const Model& m, const double*, const Kinematics<double>& k, BodyRange r,
                          const Vec3<double>& bar, KinematicsBar<double>& b, double*) {
        centre_of_mass_adj(m, k, r, bar, b);
    }
};
struct Momentum {
    using Result = Force<double>;
    static constexpr bool velocities = true, gravity = false;
    static constexpr int inertia_without_effect = 0;
    template <class T> static Force<T> value(const Model& m, const T*, const Kinematics<T>& k, BodyRange r) {
        return momentum(m, k, r);
    }
    static void value_adj(const Model& m, const double*, const Kinematics<double>& k, BodyRange r,
                          const Motion<double>& bar, KinematicsBar<double>& b, double*) {
        momentum_adj(m, k, r, bar, b);
    }
};
struct KineticEnergy {
    using Result = double;
    static constexpr bool velocities = true, gravity = false;
    static constexpr int inertia_without_effect = 0;
    template <class T> static T value(const Model&, const T*, const Kinematics<T>& k, BodyRange r) {
        return kinetic_energy(k, r);
    }
    static void value_adj(const Model&, const double*, const Kinematics<double>& k, BodyRange r,
                          const double& bar, KinematicsBar<double>& b, double*) {
        kinetic_energy_adj(k, r, bar, b);
    }
};
struct PotentialEnergy {
    using Result = double;
    static constexpr bool velocities = false, gravity = true;
    static constexpr int inertia_without_effect = 8;  // gravity points along z
    template <class T> static T value(const Model& m, const T* theta, const Kinematics<T>& k, BodyRange r) {
        return potential_energy(m, theta, k, r);
    }
    static void value_adj(const Model& m, const double* theta, const Kinematics<double>& k, BodyRange r,
                          const double& bar, KinematicsBar<double>& b, double* theta_bar) {
        potential_energy_adj(m, theta, k, r, bar, b, theta_bar);
    }
};
using CentreOfMassPass = QueryPass<CentreOfMass>;
using MomentumPass = QueryPass<Momentum>;
using KineticEnergyPass = QueryPass<KineticEnergy>;
using PotentialEnergyPass = QueryPass<PotentialEnergy>;

}  // namespace

TEST_CASE("adjoint: centre_of_mass") { check_pass<CentreOfMassPass>(1e-12); }
TEST_CASE("adjoint: momentum") { check_pass<MomentumPass>(1e-12); }
TEST_CASE("adjoint: kinetic_energy") { check_pass<KineticEnergyPass>(1e-12); }
TEST_CASE("adjoint: potential_energy") { check_pass<PotentialEnergyPass>(1e-12); }

TEST_CASE("queries: momentum is mass times the velocity of the mass centre, power is the rate of energy") {
    Rng g(5);
    PassCase w(g, Regime::random);
    const Model& m = w.m;
    const BodyRange all{0, static_cast<int>(m.bodies.size())};
    const double h = 1e-6;
    const auto moved = [&](double dt, const VecX<double>& acc) {
        Kinematics<double> k(m);
        VecX<double> q(m.nq), d = dt * w.v + 0.5 * dt * dt * acc, v = w.v + dt * acc;
        retract(m, w.q.data(), d.data(), q.data());
        kinematics(m, w.theta.data(), q.data(), v.data(), k);
        return k;
    };
    const VecX<double> tau = random_vector(m.nv, g, Regime::random);
    VecX<double> acc(m.nv);
    AbaScratch<double> s(m);
    const VecX<double> no_armature = VecX<double>::Zero(m.nv);
    aba(m, w.theta.data(), w.k, w.v.data(), tau.data(), no_armature.data(), s, acc.data());
    const Kinematics<double> before = moved(-h, acc), after = moved(h, acc);
    double mass = 0;
    for (const RigidInertia<double>& I : w.k.I)
        mass += I.m;
    const Vec3<double> rate = (centre_of_mass(m, after, all) - centre_of_mass(m, before, all)) / (2 * h);
    CHECK((mass * rate - momentum(m, w.k, all).lin).norm() < 1e-6);
    const auto energy = [&](const Kinematics<double>& k) {
        return kinetic_energy(k, all) + potential_energy(m, w.theta.data(), k, all);
    };
    CHECK((energy(after) - energy(before)) / (2 * h) == doctest::Approx(tau.dot(w.v)).epsilon(1e-6));
}
