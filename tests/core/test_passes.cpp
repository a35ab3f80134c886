// The dot-product test of every pass of core: adaptors that flatten scratch arrays. Each pass is lifted at
// its own inputs (axes, velocities, inertias, ...), so an error is found in the pass that makes it.
#include "core/dynamics/aba.hpp"
#include "core/dynamics/crba.hpp"
#include "core/dynamics/integrate.hpp"
#include "core/dynamics/ltl.hpp"
#include "core/dynamics/rnea.hpp"
#include "tests/support/pass_case.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Parameters and state -> poses, axes, velocities, inertias, seen in a frame that does not move with the
// root. A joint without axis has no use for axis_rotation, one without pitch none for pitch.
struct KinematicsPass : PassCase {
    int inputs_without_effect = 0;
    KinematicsPass(Rng& g, Regime r) : PassCase(g, r) {
        for (const Body& b : m.bodies)
            inputs_without_effect += (b.nv == 1 ? 0 : 3) + (b.joint == JointType::helical ? 0 : 1);
        for (const ParameterSlice& s : {m.rotation, m.axis_rotation})
            for (double& x : theta.segment(s.offset, 3 * bodies()))
                x = g.around_zero(r);
        kinematics(m, theta.data(), q.data(), v.data(), k);
    }
    // its parameters
    std::vector<ParameterSlice> slices() const {
        return {m.mass, m.com, m.inertia, m.placement, m.rotation, m.axis_rotation, m.pitch};
    }
    int bodies() const { return static_cast<int>(m.bodies.size()); }
    int inputs() const { return 20 * bodies() + 2 * m.nv; }
    int outputs() const { return 22 * bodies() + 6 * m.nv; }
    Covector forward(const Covector& x_dot) const {
        Cursor c{x_dot.data(), nullptr};
        VecX<D> th = theta.cast<D>();
        for (const auto& s : slices())
            th.segment(s.offset, s.width * bodies()) = c.lift(slice(s, bodies()));
        const VecX<D> qd = lift_configuration(m, q, c.in);
        c.in += m.nv;
        const VecX<D> vd = c.lift(v);
        Kinematics<D> kd(m);
        kinematics(m, th.data(), qd.data(), vd.data(), kd);
        Covector y = sized(outputs());
        c.out = y.data();
        const auto moved = [&](int tree) { return Vec3<D>(kd.origin[tree] - k.origin[tree].cast<D>()); };
        const auto shift = [](const Motion<D>& a, const Vec3<D>& o) {
            return Motion<D>{a.ang, a.lin + o.cross(a.ang)};
        };
        const auto tree_of = [&](size_t i) { return m.bodies[i].tree; };
        for (size_t i = 0; i < m.bodies.size(); ++i)
            c.put_tangent<Transform<double>>({kd.X[i].R, kd.X[i].p + moved(tree_of(i))});
        for (size_t j = 0; j < m.dofs.size(); ++j)
            c.put_tangent<Motion<double>>(
                shift(kd.S[j], moved(tree_of(static_cast<size_t>(m.dofs[j].body)))));
        for (size_t i = 0; i < m.bodies.size(); ++i)
            c.put_tangent<Motion<double>>(shift(kd.V[i], moved(tree_of(i))));
        for (size_t i = 0; i < m.bodies.size(); ++i) {
            const Transform<D> X{kd.X[i].R, kd.X[i].p + moved(tree_of(i))};
            c.put_tangent<RigidInertia<double>>(
                place_inertia(X, mass_properties(m, th.data(), static_cast<int>(i))));
        }
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        Cursor c{y_bar.data(), nullptr};
        KinematicsBar<double> b(m);
        for (auto& x : b.X)
            x = c.bar<Transform<double>>();
        for (auto& x : b.S)
            x = c.bar<Motion<double>>();
        for (auto& x : b.V)
            x = c.bar<Motion<double>>();
        for (auto& x : b.I)
            x = c.bar<RigidInertia<double>>();
        Cursor p{prior.data(), nullptr};
        VecX<double> theta_bar = VecX<double>::Zero(theta.size());
        for (const auto& s : slices())
            theta_bar.segment(s.offset, s.width * bodies()) = p.bars(s.width * bodies());
        VecX<double> q_bar = p.bars(m.nv), v_bar = p.bars(m.nv);
        kinematics_adj(m, theta.data(), q.data(), v.data(), k, b, theta_bar.data(), q_bar.data(),
                       v_bar.data());
        Covector x_bar = sized(inputs());
        Cursor out{nullptr, x_bar.data()};
        for (const auto& s : slices())
            out.put_all(theta_bar.segment(s.offset, s.width * bodies()));
        out.put_all(q_bar);
        out.put_all(v_bar);
        return x_bar;
    }
};

// S, V, I, v, accelerations, armature, gravity -> joint forces.
struct RneaPass : PassCase {
    VecX<double> a;
    mutable RneaScratch<double> s;
    // velocities of a free root's translation and of a root's one-dof joint; mass and vertical moment of a
    // body turning about a fixed point
    static constexpr int inputs_without_effect = 6;
    static constexpr double roundoff = 1e-14;
    RneaPass(Rng& g, Regime r) : PassCase(g, r), a(random_vector(m.nv, g, r)), s(m) {}
    int inputs() const { return kinematic_inputs() + 3 * m.nv + 3; }
    int outputs() const { return m.nv; }
    Covector forward(const Covector& x_dot) const {
        Cursor c{x_dot.data(), nullptr};
        const Kinematics<D> kd = lift(c);
        const VecX<D> vd = c.lift(v), ad = c.lift(a);
        VecX<D> th = theta.cast<D>(), tau(m.nv);
        th.segment(m.armature.offset, m.nv) = c.lift(slice(m.armature, m.nv));
        th.segment(m.gravity.offset, 3) = c.lift(slice(m.gravity, 1));
        RneaScratch<D> sd(m);
        rnea(m, th.data(), kd, vd.data(), ad.data(), sd, tau.data());
        Covector y = sized(outputs());
        Cursor{nullptr, y.data()}.put_tangents(tau);
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        VecX<double> tau(m.nv), theta_bar = VecX<double>::Zero(theta.size());
        rnea(m, theta.data(), k, v.data(), a.data(), s, tau.data());
        Cursor p{prior.data(), nullptr};
        KinematicsBar<double> b = bar(p);
        VecX<double> v_bar = p.bars(m.nv), a_bar = p.bars(m.nv);
        theta_bar.segment(m.armature.offset, m.nv) = p.bars(m.nv);
        theta_bar.segment(m.gravity.offset, 3) = p.bars(3);
        rnea_adj(m, theta.data(), k, v.data(), a.data(), s, y_bar.data(), b, theta_bar.data(), v_bar.data(),
                 a_bar.data());
        Covector x_bar = sized(inputs());
        Cursor out{nullptr, x_bar.data()};
        put(out, b);
        out.put_all(v_bar);
        out.put_all(a_bar);
        out.put_all(theta_bar.segment(m.armature.offset, m.nv));
        out.put_all(theta_bar.segment(m.gravity.offset, 3));
        return x_bar;
    }
};

// S, I, armature -> mass matrix on its pattern.
struct CrbaPass : PassCase {
    mutable CrbaScratch<double> s;
    // mass and first moment of a body turning about a fixed point
    static constexpr int inputs_without_effect = 4;
    CrbaPass(Rng& g, Regime r) : PassCase(g, r), s(m) {}
    int inputs() const { return 6 * m.nv + 10 * static_cast<int>(m.bodies.size()) + m.nv; }
    int outputs() const { return m.mass_matrix_size; }
    Covector forward(const Covector& x_dot) const {
        Cursor c{x_dot.data(), nullptr};
        Kinematics<D> kd(m);
        for (size_t j = 0; j < k.S.size(); ++j)
            kd.S[j] = c.lift(k.S[j]);
        for (size_t i = 0; i < k.I.size(); ++i)
            kd.I[i] = c.lift(k.I[i]);
        VecX<D> th = theta.cast<D>(), M(m.mass_matrix_size);
        th.segment(m.armature.offset, m.nv) = c.lift(slice(m.armature, m.nv));
        CrbaScratch<D> sd(m);
        crba(m, th.data(), kd, sd, M.data());
        Covector y = sized(outputs());
        Cursor{nullptr, y.data()}.put_tangents(M);
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        VecX<double> M(m.mass_matrix_size), theta_bar = VecX<double>::Zero(theta.size());
        crba(m, theta.data(), k, s, M.data());
        Cursor p{prior.data(), nullptr};
        KinematicsBar<double> b(m);
        for (auto& x : b.S)
            x = p.bar<Motion<double>>();
        for (auto& x : b.I)
            x = p.bar<RigidInertia<double>>();
        theta_bar.segment(m.armature.offset, m.nv) = p.bars(m.nv);
        crba_adj(m, k, s, y_bar.data(), b, theta_bar.data());
        Covector x_bar = sized(inputs());
        Cursor out{nullptr, x_bar.data()};
        for (const auto& x : b.S)
            out.put<Motion<double>>(x);
        for (const auto& x : b.I)
            out.put<RigidInertia<double>>(x);
        out.put_all(theta_bar.segment(m.armature.offset, m.nv));
        return x_bar;
    }
};

// Mass matrix -> its factor.
struct LtlFactorPass : PassCase {
    VecX<double> M;
    LtlFactorPass(Rng& g, Regime r) : PassCase(g, r), M(m.mass_matrix_size) {
        CrbaScratch<double> s(m);
        crba(m, theta.data(), k, s, M.data());
    }
    int inputs() const { return m.mass_matrix_size; }
    int outputs() const { return m.mass_matrix_size; }
    Covector forward(const Covector& x_dot) const {
        VecX<D> L = Cursor{x_dot.data(), nullptr}.lift(M);
        ltl_factor_inplace(m, L.data());
        Covector y = sized(outputs());
        Cursor{nullptr, y.data()}.put_tangents(L);
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        VecX<double> L = M, L_bar = Eigen::Map<const VecX<double>>(y_bar.data(), m.mass_matrix_size);
        REQUIRE(ltl_factor_inplace(m, L.data()));
        VecX<double> M_bar = Cursor{prior.data(), nullptr}.bars(m.mass_matrix_size);
        ltl_factor_inplace_adj(m, L.data(), L_bar.data(), M_bar.data());
        Covector x_bar = sized(inputs());
        Cursor{nullptr, x_bar.data()}.put_all(M_bar);
        return x_bar;
    }
};

// Mass matrix and right-hand side -> M^-1 b.
struct LtlSolvePass : PassCase {
    VecX<double> M, b;
    LtlSolvePass(Rng& g, Regime r)
        : PassCase(g, r),
          M(m.mass_matrix_size),
          b(random_vector(m.nv, g, Regime::random)) {
        CrbaScratch<double> s(m);
        crba(m, theta.data(), k, s, M.data());
    }
    int inputs() const { return m.mass_matrix_size + m.nv; }
    int outputs() const { return m.nv; }
    Covector forward(const Covector& x_dot) const {
        Cursor c{x_dot.data(), nullptr};
        VecX<D> L = c.lift(M), x = c.lift(b);
        ltl_factor_inplace(m, L.data());
        ltl_solve_inplace(m, L.data(), 0, m.nv, x.data());
        Covector y = sized(outputs());
        Cursor{nullptr, y.data()}.put_tangents(x);
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        VecX<double> L = M, x = b, y = Eigen::Map<const VecX<double>>(y_bar.data(), m.nv);
        REQUIRE(ltl_factor_inplace(m, L.data()));
        ltl_solve_inplace(m, L.data(), 0, m.nv, x.data());
        ltl_solve_inplace(m, L.data(), 0, m.nv, y.data());
        Cursor p{prior.data(), nullptr};
        VecX<double> M_bar = p.bars(m.mass_matrix_size), b_bar = p.bars(m.nv);
        ltl_solve_inplace_adj(m, 0, m.nv, x.data(), y.data(), M_bar.data());
        b_bar += y;
        Covector x_bar = sized(inputs());
        Cursor out{nullptr, x_bar.data()};
        out.put_all(M_bar);
        out.put_all(b_bar);
        return x_bar;
    }
};

// S, V, I, v, gravity, joint forces, diagonal -> accelerations.
struct AbaPass : PassCase {
    VecX<double> tau, d;
    mutable AbaScratch<double> s;
    static constexpr int inputs_without_effect = RneaPass::inputs_without_effect;
    static constexpr double roundoff = RneaPass::roundoff;
    AbaPass(Rng& g, Regime r)
        : PassCase(g, r),
          tau(random_vector(m.nv, g, r)),
          d(slice(m.armature, m.nv)),
          s(m) {}
    int inputs() const { return kinematic_inputs() + 3 * m.nv + 3; }
    int outputs() const { return m.nv; }
    Covector forward(const Covector& x_dot) const {
        Cursor c{x_dot.data(), nullptr};
        const Kinematics<D> kd = lift(c);
        const VecX<D> vd = c.lift(v), td = c.lift(tau), dd = c.lift(d);
        VecX<D> th = theta.cast<D>(), acc(m.nv);
        th.segment(m.gravity.offset, 3) = c.lift(slice(m.gravity, 1));
        AbaScratch<D> sd(m);
        aba(m, th.data(), kd, vd.data(), td.data(), dd.data(), sd, acc.data());
        Covector y = sized(outputs());
        Cursor{nullptr, y.data()}.put_tangents(acc);
        return y;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        VecX<double> acc(m.nv), theta_bar = VecX<double>::Zero(theta.size());
        aba(m, theta.data(), k, v.data(), tau.data(), d.data(), s, acc.data());
        Cursor p{prior.data(), nullptr};
        KinematicsBar<double> b = bar(p);
        VecX<double> v_bar = p.bars(m.nv), tau_bar = p.bars(m.nv), d_bar = p.bars(m.nv);
        theta_bar.segment(m.gravity.offset, 3) = p.bars(3);
        aba_adj(m, k, v.data(), s, acc.data(), y_bar.data(), b, theta_bar.data(), v_bar.data(),
                tau_bar.data(), d_bar.data());
        Covector x_bar = sized(inputs());
        Cursor out{nullptr, x_bar.data()};
        put(out, b);
        out.put_all(v_bar);
        out.put_all(tau_bar);
        out.put_all(d_bar);
        out.put_all(theta_bar.segment(m.gravity.offset, 3));
        return x_bar;
    }
};

struct RetractPass : PassCase {
    VecX<double> d;
    RetractPass(Rng& g, Regime r) : PassCase(g, r), d(random_vector(m.nv, g, r)) {}
    int inputs() const { return 2 * m.nv; }
    int outputs() const { return m.nv; }
    Covector forward(const Covector& x_dot) const {
        const VecX<D> qd = lift_configuration(m, q, x_dot.data()), dd = lift_vector(d, x_dot.data() + m.nv);
        VecX<D> next(m.nq), y(m.nv);
        VecX<double> base(m.nq);
        retract(m, qd.data(), dd.data(), next.data());
        retract(m, q.data(), d.data(), base.data());
        difference<D>(m, base.cast<D>().eval().data(), next.data(), y.data());
        Covector out = sized(outputs());
        Cursor{nullptr, out.data()}.put_tangents(y);
        return out;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        Covector x_bar = prior;
        retract_adj(m, q.data(), d.data(), y_bar.data(), x_bar.data(), x_bar.data() + m.nv);
        return x_bar;
    }
};

struct DifferencePass : PassCase {
    VecX<double> other;
    DifferencePass(Rng& g, Regime r) : PassCase(g, r), other(random_configuration(m, g, r)) {}
    int inputs() const { return 2 * m.nv; }
    int outputs() const { return m.nv; }
    Covector forward(const Covector& x_dot) const {
        const VecX<D> a = lift_configuration(m, q, x_dot.data()),
                      b = lift_configuration(m, other, x_dot.data() + m.nv);
        VecX<D> d(m.nv);
        difference(m, a.data(), b.data(), d.data());
        Covector out = sized(outputs());
        Cursor{nullptr, out.data()}.put_tangents(d);
        return out;
    }
    Covector adjoint(const Covector& y_bar, const Covector& prior) const {
        Covector x_bar = prior;
        difference_adj(m, q.data(), other.data(), y_bar.data(), x_bar.data(), x_bar.data() + m.nv);
        return x_bar;
    }
};

}  // namespace

TEST_CASE("adjoint: kinematics") { check_pass<KinematicsPass>(1e-12); }
TEST_CASE("adjoint: rnea") { check_pass<RneaPass>(1e-12); }
TEST_CASE("adjoint: crba") { check_pass<CrbaPass>(1e-12); }
TEST_CASE("adjoint: ltl_factor_inplace") { check_pass<LtlFactorPass>(1e-11); }
TEST_CASE("adjoint: ltl_solve_inplace") { check_pass<LtlSolvePass>(1e-11); }
TEST_CASE("adjoint: aba") { check_pass<AbaPass>(1e-10); }
TEST_CASE("adjoint: retract") { check_pass<RetractPass>(1e-12); }
TEST_CASE("adjoint: difference") { check_pass<DifferencePass>(1e-12); }

// Identities between the algorithms, at 200 random states.
TEST_CASE("ABA, RNEA and CRBA agree") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
        Rng g(seed);
        PassCase w(g, Regime::random);
        const Model& m = w.m;
        const VecX<double> tau = random_vector(m.nv, g, Regime::random);
        VecX<double> acc(m.nv), back(m.nv), bias(m.nv), M(m.mass_matrix_size);
        AbaScratch<double> aba_scratch(m);
        RneaScratch<double> rnea_scratch(m);
        CrbaScratch<double> crba_scratch(m);
        aba(m, w.theta.data(), w.k, w.v.data(), tau.data(), w.theta.data() + m.armature.offset, aba_scratch,
            acc.data());
        rnea(m, w.theta.data(), w.k, w.v.data(), acc.data(), rnea_scratch, back.data());
        CHECK((back - tau).norm() <= 1e-11 * (1 + acc.norm()));

        rnea(m, w.theta.data(), w.k, w.v.data(), VecX<double>::Zero(m.nv).eval().data(), rnea_scratch,
             bias.data());
        crba(m, w.theta.data(), w.k, crba_scratch, M.data());
        REQUIRE(ltl_factor_inplace(m, M.data()));
        VecX<double> x = tau - bias;
        ltl_solve_inplace(m, M.data(), 0, m.nv, x.data());
        CHECK((x - acc).norm() <= 1e-11 * (1 + acc.norm()));
    }
}
