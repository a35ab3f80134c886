// Shared parts of the tests of core's passes: a world in a random state, and a cursor that flattens scratch
// arrays.
#pragma once

#include "core/dynamics/kinematics.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/toy_models.hpp"

namespace costate::test {

// A flat covector, read or written from front to back.
struct Cursor {
    const double* in;
    double* out;
    template <class X> auto lift(const X& x) {
        auto y = Probe<X>::lift(x, in);
        in += Probe<X>::size;
        return y;
    }
    template <class X> Bar<X> bar() {
        Bar<X> b = Probe<X>::bar(in);
        in += Probe<X>::size;
        return b;
    }
    template <class X> void put(const Bar<X>& b) {
        Probe<X>::covector(b, out);
        out += Probe<X>::size;
    }
    template <class X> void put_tangent(const typename Probe<X>::Lifted& x) {
        Probe<X>::tangent(x, out);
        out += Probe<X>::size;
    }
    VecX<D> lift(const VecX<double>& x) {
        VecX<D> y = lift_vector(x, in);
        in += x.size();
        return y;
    }
    VecX<double> bars(Eigen::Index n) {
        VecX<double> b = Eigen::Map<const VecX<double>>(in, n);
        in += n;
        return b;
    }
    void put_all(const VecX<double>& b) { out = std::copy(b.begin(), b.end(), out); }
    void put_tangents(const VecX<D>& x) {
        for (const D& xi : x)
            *out++ = xi.d;
    }
};

// A world in a random state, with its kinematics.
struct PassCase {
    Model m;
    VecX<double> theta, q, v;
    Kinematics<double> k;
    PassCase(Rng& g, Regime r)
        : m(toy_model(g)),
          theta(m.layout.nominal()),
          q(random_configuration(m, g, r)),
          v(random_vector(m.nv, g, r)),
          k(m) {
        kinematics(m, theta.data(), q.data(), v.data(), k);
    }
    // S, V and I of the kinematics, the inputs of the dynamics passes.
    int kinematic_inputs() const { return 6 * m.nv + 16 * static_cast<int>(m.bodies.size()); }
    Kinematics<D> lift(Cursor& c) const {
        Kinematics<D> lifted(m);
        for (size_t j = 0; j < k.S.size(); ++j)
            lifted.S[j] = c.lift(k.S[j]);
        for (size_t i = 0; i < k.V.size(); ++i)
            lifted.V[i] = c.lift(k.V[i]);
        for (size_t i = 0; i < k.I.size(); ++i)
            lifted.I[i] = c.lift(k.I[i]);
        return lifted;
    }
    KinematicsBar<double> bar(Cursor& c) const {
        KinematicsBar<double> b(m);
        for (auto& x : b.S)
            x = c.bar<Motion<double>>();
        for (auto& x : b.V)
            x = c.bar<Motion<double>>();
        for (auto& x : b.I)
            x = c.bar<RigidInertia<double>>();
        return b;
    }
    static void put(Cursor& c, const KinematicsBar<double>& b) {
        for (const auto& x : b.S)
            c.put<Motion<double>>(x);
        for (const auto& x : b.V)
            c.put<Motion<double>>(x);
        for (const auto& x : b.I)
            c.put<RigidInertia<double>>(x);
    }
    // Slices of theta read by a pass.
    VecX<double> slice(const ParameterSlice& s, int count) const {
        return theta.segment(s.offset, s.width * count);
    }
};

inline Covector sized(int n) { return Covector(static_cast<size_t>(n)); }

}  // namespace costate::test
