// Probe<X>: the operations of the adjoint test on a type: random values, a lift to dual numbers along a
// tangent, the tangent of a dual result, and the conversions between bars and plain covectors. Tangents
// follow the library's conventions: left twists for Transform, body rotation vectors for Quaternion, six
// numbers for a symmetric matrix.
#pragma once

#include <random>
#include <vector>

#include "core/math/bar.hpp"
#include "core/math/dual.hpp"

namespace costate::test {

using D = Dual<double>;
using Covector = std::vector<double>;

// small: in the range of series for small angles, with significant last terms.
enum class Regime { neutral, near_neutral, small, random };
inline double scale_of(Regime r) {
    return r == Regime::neutral ? 0 : (r == Regime::near_neutral ? 1e-8 : (r == Regime::small ? 4e-3 : 1));
}

struct Rng {
    std::mt19937_64 engine;
    explicit Rng(unsigned seed) : engine(seed) {}
    double normal() { return std::normal_distribution<double>()(engine); }
    double uniform(double lo, double hi) { return std::uniform_real_distribution<double>(lo, hi)(engine); }
    // A number around 0 in the given regime.
    double around_zero(Regime r) { return r == Regime::neutral ? 0.0 : scale_of(r) * normal(); }
    Vec3<double> vec3(Regime r) { return {around_zero(r), around_zero(r), around_zero(r)}; }
    Covector covector(int n) {
        Covector c(static_cast<size_t>(n));
        for (double& x : c)
            x = normal();
        return c;
    }
};

template <class X> struct Probe;

// An index or enumerator: no tangent.
template <> struct Probe<int> {
    static constexpr int size = 0;
    using Lifted = int;
    static int random(Rng&, Regime) { return 1; }
    static int lift(int x, const double*) { return x; }
    static NoBar bar(const double*) { return {}; }
    static void covector(const NoBar&, double*) {}
};

template <> struct Probe<double> {
    static constexpr int size = 1;
    using Lifted = D;
    static double random(Rng& g, Regime r) {
        return r == Regime::random ? g.uniform(0.5, 2) : 1 + g.around_zero(r);
    }
    static D lift(double x, const double* d) { return {x, d[0]}; }
    static void tangent(const D& x, double* d) { d[0] = x.d; }
    static double bar(const double* c) { return c[0]; }
    static void covector(double b, double* c) { c[0] = b; }
};

template <> struct Probe<Vec3<double>> {
    static constexpr int size = 3;
    using Lifted = Vec3<D>;
    static Vec3<double> random(Rng& g, Regime r) { return g.vec3(r); }
    static Vec3<D> lift(const Vec3<double>& x, const double* d) {
        return {D(x[0], d[0]), D(x[1], d[1]), D(x[2], d[2])};
    }
    static void tangent(const Vec3<D>& x, double* d) {
        for (int i = 0; i < 3; ++i)
            d[i] = x[i].d;
    }
    static Vec3<double> bar(const double* c) { return {c[0], c[1], c[2]}; }
    static void covector(const Vec3<double>& b, double* c) {
        for (int i = 0; i < 3; ++i)
            c[i] = b[i];
    }
};
using P3 = Probe<Vec3<double>>;

template <> struct Probe<Mat3<double>> {
    static constexpr int size = 9;
    using Lifted = Mat3<D>;
    static void tangent(const Mat3<D>& x, double* d) {
        for (int i = 0; i < 9; ++i)
            d[i] = x(i / 3, i % 3).d;
    }
    static Mat3<double> bar(const double* c) {
        Mat3<double> m;
        for (int i = 0; i < 9; ++i)
            m(i / 3, i % 3) = c[i];
        return m;
    }
    static void covector(const Mat3<double>& m, double* c) {
        for (int i = 0; i < 9; ++i)
            c[i] = m(i / 3, i % 3);
    }
};

// A symmetric 3x3 block inside the inertias: six numbers xx yy zz xy xz yz; its bar pairs by trace(A^T B).
struct SymmetricProbe {
    static constexpr int size = 6;
    static constexpr int row[6] = {0, 1, 2, 0, 0, 1}, col[6] = {0, 1, 2, 1, 2, 2};
    static Mat3<double> random(Rng& g, Regime r) {
        const Mat3<double> w = 0.3 * Mat3<double>::NullaryExpr([&] { return g.around_zero(r); });
        return Mat3<double>::Identity() + w + w.transpose();
    }
    static Mat3<D> lift(const Mat3<double>& x, const double* d) {
        Mat3<D> m;
        for (int k = 0; k < 6; ++k)
            m(row[k], col[k]) = m(col[k], row[k]) = D(x(row[k], col[k]), d[k]);
        return m;
    }
    static void tangent(const Mat3<D>& x, double* d) {
        for (int k = 0; k < 6; ++k)
            d[k] = x(row[k], col[k]).d;
    }
    static Mat3<double> bar(const double* c) {
        Mat3<double> m;
        for (int k = 0; k < 6; ++k)
            m(row[k], col[k]) = m(col[k], row[k]) = k < 3 ? c[k] : 0.5 * c[k];
        return m;
    }
    static void covector(const Mat3<double>& b, double* c) {
        for (int k = 0; k < 6; ++k)
            c[k] = k < 3 ? b(row[k], row[k]) : b(row[k], col[k]) + b(col[k], row[k]);
    }
};

template <> struct Probe<Motion<double>> {
    static constexpr int size = 6;
    using Lifted = Motion<D>;
    static Motion<double> random(Rng& g, Regime r) { return {g.vec3(r), g.vec3(r)}; }
    static Motion<D> lift(const Motion<double>& x, const double* d) {
        return {P3::lift(x.ang, d), P3::lift(x.lin, d + 3)};
    }
    static void tangent(const Motion<D>& x, double* d) {
        P3::tangent(x.ang, d);
        P3::tangent(x.lin, d + 3);
    }
    static Force<double> bar(const double* c) { return {P3::bar(c), P3::bar(c + 3)}; }
    static void covector(const Force<double>& b, double* c) {
        P3::covector(b.ang, c);
        P3::covector(b.lin, c + 3);
    }
};

template <> struct Probe<Force<double>> {
    static constexpr int size = 6;
    using Lifted = Force<D>;
    static Force<double> random(Rng& g, Regime r) { return {g.vec3(r), g.vec3(r)}; }
    static Force<D> lift(const Force<double>& x, const double* d) {
        return {P3::lift(x.ang, d), P3::lift(x.lin, d + 3)};
    }
    static void tangent(const Force<D>& x, double* d) {
        P3::tangent(x.ang, d);
        P3::tangent(x.lin, d + 3);
    }
    static Motion<double> bar(const double* c) { return {P3::bar(c), P3::bar(c + 3)}; }
    static void covector(const Motion<double>& b, double* c) {
        P3::covector(b.ang, c);
        P3::covector(b.lin, c + 3);
    }
};

template <> struct Probe<Quaternion<double>> {
    static constexpr int size = 3;
    using Lifted = Quaternion<D>;
    static Quaternion<double> random(Rng& g, Regime r) { return quaternion_exp<double>(g.vec3(r)); }
    static Quaternion<D> lift(const Quaternion<double>& q, const double* d) {
        const Quaternion<double> dq = quaternion_product<double>(q, {0.0, 0.5 * P3::bar(d)});
        return {D(q.w, dq.w), Vec3<D>(D(q.v[0], dq.v[0]), D(q.v[1], dq.v[1]), D(q.v[2], dq.v[2]))};
    }
    static void tangent(const Quaternion<D>& q, double* d) {
        const Quaternion<double> inverse{q.w.v, -Vec3<double>(q.v[0].v, q.v[1].v, q.v[2].v)};
        const Quaternion<double> dq{q.w.d, Vec3<double>(q.v[0].d, q.v[1].d, q.v[2].d)};
        P3::covector(2.0 * quaternion_product(inverse, dq).v, d);
    }
    static Vec3<double> bar(const double* c) { return P3::bar(c); }
    static void covector(const Vec3<double>& b, double* c) { P3::covector(b, c); }
};

template <> struct Probe<Transform<double>> {
    static constexpr int size = 6;
    using Lifted = Transform<D>;
    static Transform<double> random(Rng& g, Regime r) {
        return {rotation_matrix(Probe<Quaternion<double>>::random(g, r)), g.vec3(r)};
    }
    static Transform<D> lift(const Transform<double>& X, const double* d) {
        const Vec3<double> w = P3::bar(d);
        const Mat3<double> dR = skew(w) * X.R;
        const Vec3<double> dp = w.cross(X.p) + P3::bar(d + 3);
        Transform<D> Y;
        for (int i = 0; i < 3; ++i) {
            Y.p[i] = D(X.p[i], dp[i]);
            for (int j = 0; j < 3; ++j)
                Y.R(i, j) = D(X.R(i, j), dR(i, j));
        }
        return Y;
    }
    static void tangent(const Transform<D>& X, double* d) {
        Mat3<double> R, dR;
        Vec3<double> p, dp;
        for (int i = 0; i < 3; ++i) {
            p[i] = X.p[i].v;
            dp[i] = X.p[i].d;
            for (int j = 0; j < 3; ++j) {
                R(i, j) = X.R(i, j).v;
                dR(i, j) = X.R(i, j).d;
            }
        }
        const Mat3<double> W = dR * R.transpose();
        const Vec3<double> w(W(2, 1), W(0, 2), W(1, 0));
        P3::covector(w, d);
        P3::covector(dp - w.cross(p), d + 3);
    }
    static Force<double> bar(const double* c) { return Probe<Motion<double>>::bar(c); }
    static void covector(const Force<double>& b, double* c) { Probe<Motion<double>>::covector(b, c); }
};

// The two ten-parameter types differ only in the name of their vector.
template <class X, class XD> struct TenParameterProbe {
    static constexpr int size = 10;
    using Lifted = XD;
    static X random(Rng& g, Regime r) {
        return {Probe<double>::random(g, r), g.vec3(r), SymmetricProbe::random(g, r)};
    }
    static XD lift(const X& x, const double* d) {
        const auto& [m, h, I] = x;
        return {D(m, d[0]), P3::lift(h, d + 1), SymmetricProbe::lift(I, d + 4)};
    }
    static void tangent(const XD& x, double* d) {
        const auto& [m, h, I] = x;
        d[0] = m.d;
        P3::tangent(h, d + 1);
        SymmetricProbe::tangent(I, d + 4);
    }
    static X bar(const double* c) { return {c[0], P3::bar(c + 1), SymmetricProbe::bar(c + 4)}; }
    static void covector(const X& b, double* c) {
        const auto& [m, h, I] = b;
        c[0] = m;
        P3::covector(h, c + 1);
        SymmetricProbe::covector(I, c + 4);
    }
};
template <> struct Probe<RigidInertia<double>> : TenParameterProbe<RigidInertia<double>, RigidInertia<D>> {};
template <>
struct Probe<MassProperties<double>> : TenParameterProbe<MassProperties<double>, MassProperties<D>> {};

template <> struct Probe<ArticulatedInertia<double>> {
    static constexpr int size = 21;
    using Lifted = ArticulatedInertia<D>;
    static ArticulatedInertia<double> random(Rng& g, Regime r) {
        return {SymmetricProbe::random(g, r), Mat3<double>::NullaryExpr([&] { return g.around_zero(r); }),
                SymmetricProbe::random(g, r)};
    }
    static ArticulatedInertia<D> lift(const ArticulatedInertia<double>& x, const double* d) {
        ArticulatedInertia<D> A{SymmetricProbe::lift(x.I, d), {}, SymmetricProbe::lift(x.M, d + 15)};
        for (int i = 0; i < 9; ++i)
            A.H(i / 3, i % 3) = D(x.H(i / 3, i % 3), d[6 + i]);
        return A;
    }
    static void tangent(const ArticulatedInertia<D>& x, double* d) {
        SymmetricProbe::tangent(x.I, d);
        Probe<Mat3<double>>::tangent(x.H, d + 6);
        SymmetricProbe::tangent(x.M, d + 15);
    }
    // H occurs twice in the 6x6 matrix.
    static ArticulatedInertia<double> bar(const double* c) {
        return {SymmetricProbe::bar(c), 0.5 * Probe<Mat3<double>>::bar(c + 6), SymmetricProbe::bar(c + 15)};
    }
    static void covector(const ArticulatedInertia<double>& b, double* c) {
        SymmetricProbe::covector(b.I, c);
        Probe<Mat3<double>>::covector(2 * b.H, c + 6);
        SymmetricProbe::covector(b.M, c + 15);
    }
};

}  // namespace costate::test
