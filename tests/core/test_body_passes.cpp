// The dot-product test of the passes over one body or one dof that the algorithms of core are made of.
#include "core/dynamics/aba.hpp"
#include "tests/support/stage_pass.hpp"
#include "tests/support/toy_models.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Parameters -> mass, centre of mass and inertia of every body.
struct MassPropertiesPass : StagePass {
    Model m;
    VecX<double> theta, theta_bar;
    VecX<D> theta_dual;
    std::vector<MassProperties<D>> bodies;
    std::vector<MassProperties<double>> bodies_bar;
    MassPropertiesPass(Rng& g, Regime)
        : m(toy_model(g)),
          theta(m.layout.nominal()),
          theta_bar(theta.size()),
          theta_dual(theta.cast<D>()),
          bodies(m.bodies.size()),
          bodies_bar(m.bodies.size()) {
        for (const ParameterSlice& slice : {m.mass, m.com, m.inertia}) {
            const int at = slice.offset, n = slice.width * static_cast<int>(bodies.size());
            in.add(theta.data() + at, theta_dual.data() + at, theta_bar.data() + at, n);
        }
        out.add<MassProperties<double>>(bodies, bodies_bar);
    }
    void run_duals() override {
        for (size_t i = 0; i < bodies.size(); ++i)
            bodies[i] = mass_properties(m, theta_dual.data(), static_cast<int>(i));
    }
    void run_adjoint() override {
        for (size_t i = 0; i < bodies.size(); ++i)
            mass_properties_adj(m, static_cast<int>(i), bodies_bar[i], theta_bar.data());
    }
};

// The way back.
struct StoreMassPropertiesPass : StagePass {
    Model m;
    VecX<double> theta_bar;
    VecX<D> theta_dual;
    std::vector<MassProperties<double>> bodies, bodies_bar;
    std::vector<MassProperties<D>> bodies_dual;
    StoreMassPropertiesPass(Rng& g, Regime r)
        : m(toy_model(g)),
          theta_bar(m.layout.size()),
          theta_dual(m.layout.size()),
          bodies(m.bodies.size()),
          bodies_bar(bodies.size()),
          bodies_dual(bodies.size()) {
        for (MassProperties<double>& b : bodies)
            b = Probe<MassProperties<double>>::random(g, r);
        in.add<MassProperties<double>>(bodies, bodies_dual, bodies_bar);
        for (const ParameterSlice& slice : {m.mass, m.com, m.inertia})
            out.add<double>(theta_dual.data() + slice.offset, theta_bar.data() + slice.offset,
                            slice.width * static_cast<int>(bodies.size()));
    }
    void run_duals() override {
        for (size_t i = 0; i < bodies.size(); ++i)
            store_mass_properties(m, static_cast<int>(i), bodies_dual[i], theta_dual.data());
    }
    void run_adjoint() override {
        for (size_t i = 0; i < bodies.size(); ++i)
            store_mass_properties_adj(m, static_cast<int>(i), theta_bar.data(), bodies_bar[i]);
    }
};

// S, V, v -> velocity products of all bodies.
struct VelocityProductPass : StagePass {
    Model m;
    VecX<double> v, v_bar;
    VecX<D> v_dual;
    Kinematics<double> k;
    Kinematics<D> k_dual;
    KinematicsBar<double> bar;
    std::vector<Motion<D>> c, A;
    std::vector<Force<double>> c_bar, A_bar;
    // axes and velocities of a free root's translation; V of a fixed body; the linear part of V of the two
    // prismatic ones
    static constexpr int inputs_without_effect = 3 * 6 + 3 + 6 + 2 * 3;
    VelocityProductPass(Rng& g, Regime r)
        : m(toy_model(g)),
          v(random_vector(m.nv, g, r)),
          v_bar(m.nv),
          v_dual(v.cast<D>()),
          k(m),
          k_dual(m),
          bar(m),
          c(m.bodies.size()),
          A(c),
          c_bar(m.bodies.size()),
          A_bar(c_bar) {
        const VecX<double> theta = m.layout.nominal(), q = random_configuration(m, g, r);
        kinematics(m, theta.data(), q.data(), v.data(), k);
        // not along axes of its own alone
        for (Motion<double>& V : k.V)
            V = Probe<Motion<double>>::random(g, Regime::random);
        in.add(k.S, k_dual.S, bar.S);
        in.add(k.V, k_dual.V, bar.V);
        in.add(v.data(), v_dual.data(), v_bar.data(), m.nv);
        out.add<Motion<double>>(c, c_bar);
        out.add<Motion<double>>(A, A_bar);
    }
    void run_duals() override {
        for (size_t i = 0; i < c.size(); ++i) {
            c[i] = velocity_product(m, static_cast<int>(i), k_dual, v_dual.data());
            A[i] = bias_acceleration(m, static_cast<int>(i), k_dual, v_dual.data());
        }
    }
    void run_adjoint() override {
        for (size_t i = 0; i < c.size(); ++i) {
            velocity_product_adj(m, static_cast<int>(i), k, v.data(), c_bar[i], bar, v_bar.data());
            bias_acceleration_adj(m, static_cast<int>(i), k, v.data(), A_bar[i], bar, v_bar.data());
        }
    }
};

// A, p before, S, tau, d -> A, p after, and the U, u, D that the outward sweep reads.
struct AbaInwardDofPass : StagePass {
    Model m;
    AbaScratch<double> s;
    AbaScratch<D> s_dual;
    Motion<double> S;
    ArticulatedInertia<double> A, A_bar, A_after_bar;
    Force<double> p, S_bar;
    Motion<double> p_bar, p_after_bar;
    double tau, d, tau_bar, d_bar;
    Motion<D> S_dual;
    ArticulatedInertia<D> A_dual, A_after;
    Force<D> p_dual, p_after;
    D tau_dual, d_dual;
    static constexpr size_t dof = 3;
    AbaInwardDofPass(Rng& g, Regime r)
        : m(toy_model(g)),
          s(m),
          s_dual(m),
          S(Probe<Motion<double>>::random(g, Regime::random)),
          A(Probe<ArticulatedInertia<double>>::random(g, r)),
          p(Probe<Force<double>>::random(g, r)),
          tau(g.around_zero(r)),
          d(g.uniform(1, 2)) {
        in.add(A, A_dual, A_bar);
        in.add(p, p_dual, p_bar);
        in.add(S, S_dual, S_bar);
        in.add(tau, tau_dual, tau_bar);
        in.add(d, d_dual, d_bar);
        out.add<ArticulatedInertia<double>>(A_after, A_after_bar);
        out.add<Force<double>>(p_after, p_after_bar);
        out.add<Force<double>>(s_dual.U[dof], s.U_bar[dof]);
        out.add<double>(s_dual.u[dof], s.u_bar[dof]);
        out.add<double>(s_dual.D[dof], s.D_bar[dof]);
    }
    void run_duals() override {
        A_after = A_dual;
        p_after = p_dual;
        aba_inward_dof(dof, S_dual, tau_dual, d_dual, s_dual, A_after, p_after);
    }
    // The bars of A and p go backwards in place, from after to before.
    void run_adjoint() override {
        ArticulatedInertia<double> A_now = A;
        Force<double> p_now = p;
        aba_inward_dof(dof, S, tau, d, s, A_now, p_now);
        aba_inward_dof_adj(dof, S, s, A_after_bar, p_after_bar, S_bar, tau_bar, d_bar);
        A_bar += A_after_bar;
        p_bar += p_after_bar;
    }
};

}  // namespace

TEST_CASE("adjoint: mass_properties") { check_pass<MassPropertiesPass>(1e-12); }
TEST_CASE("adjoint: store_mass_properties") { check_pass<StoreMassPropertiesPass>(1e-12); }
TEST_CASE("adjoint: velocity_product") { check_pass<VelocityProductPass>(1e-12); }
TEST_CASE("adjoint: aba_inward_dof") { check_pass<AbaInwardDofPass>(1e-12); }
