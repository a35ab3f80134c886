// Every line of an operators.inc becomes the test of that pair.
#include "core/dynamics/aba.hpp"
#include "core/dynamics/gyroscopic.hpp"
#include "core/dynamics/queries.hpp"
#include "core/dynamics/rnea.hpp"
#include "core/dynamics/wrenches.hpp"
#include "core/math/normalise.hpp"
#include "core/model/log_cholesky.hpp"
#include "solvers/rows/bias.hpp"
#include "solvers/rows/compliance.hpp"
#include "solvers/rows/equality_rows.hpp"
#include "solvers/sensors/frame_sensors.hpp"
#include "tests/support/check_adjoint.hpp"
#include "tests/support/probe_contact.hpp"

using namespace costate;

// One case after the other.
template <> struct costate::test::Probe<BiasCase> : costate::test::EnumeratorProbe<BiasCase> {
    static BiasCase random(Rng&, Regime) {
        static int drawn = 0;
        return static_cast<BiasCase>(drawn++ % 7);
    }
};

template <> struct costate::test::Probe<BiasInputs<double>> {
    static constexpr int size = 8;
    using Lifted = BiasInputs<D>;
    using One = Probe<double>;
    static BiasInputs<double> random(Rng& g, Regime r) {
        double x[size];
        for (double& number : x)
            number = One::random(g, r);
        return {x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
    }
    static BiasInputs<D> lift(const BiasInputs<double>& x, const double* d) {
        return {D(x.gap, d[0]), D(x.v, d[1]),    D(x.v_free, d[2]),         D(x.restitution, d[3]),
                D(x.erp, d[4]), D(x.slop, d[5]), D(x.recovery_speed, d[6]), D(x.h, d[7])};
    }
    static BiasInputs<double> bar(const double* c) {
        return {c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]};
    }
    static void covector(const BiasInputs<double>& b, double* c) {
        const double x[] = {b.gap, b.v, b.v_free, b.restitution, b.erp, b.slop, b.recovery_speed, b.h};
        std::copy(x, x + size, c);
    }
};

template <> struct costate::test::Probe<TurnsAbout> : costate::test::EnumeratorProbe<TurnsAbout> {
    static TurnsAbout random(Rng& g, Regime) {
        return g.uniform(0, 1) < 0.5 ? TurnsAbout::centre_of_mass : TurnsAbout::origin;
    }
};

// As log_cholesky_body reads it from a vector.
template <> struct costate::test::Probe<LogCholesky<double>> {
    static constexpr int size = 10;
    using Lifted = LogCholesky<D>;
    static LogCholesky<double> random(Rng& g, Regime r) {
        return {g.around_zero(r), g.vec3(r), g.vec3(r), g.vec3(r)};
    }
    static LogCholesky<D> lift(const LogCholesky<double>& y, const double* d) {
        return {D(y.alpha, d[0]), P3::lift(y.d, d + 1), P3::lift(y.s, d + 4), P3::lift(y.t, d + 7)};
    }
    static LogCholesky<double> bar(const double* c) { return LogCholesky<double>::load(c); }
    static void covector(const LogCholesky<double>& b, double* c) {
        std::fill(c, c + 10, 0.0);
        b.add_to(c);
    }
};

#define PASS(f, Adaptor)  // tests/test_*_pass*.cpp
#define PART(f, whole)
#include "adjoint/operators.inc"
#include "collision/operators.inc"
#include "core/operators.inc"
#include "solvers/operators.inc"
