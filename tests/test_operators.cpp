// Every line of an operators.inc becomes the test of that pair.
#include "core/aba.hpp"
#include "core/rnea.hpp"
#include "solvers/bias.hpp"
#include "solvers/equality_rows.hpp"
#include "tests/check_adjoint.hpp"
#include "tests/probe_contact.hpp"

using namespace costate;

// One case after the other.
template <> struct costate::test::Probe<BiasRule> : costate::test::EnumeratorProbe<BiasRule> {
    static BiasRule random(Rng& g, Regime) {
        static int drawn = 0;
        return {static_cast<BiasCase>(drawn++ % 5), g.uniform(0.5, 1), g.uniform(0.5, 1)};
    }
};

#define PASS(f, Adaptor)  // tests/test_*_pass*.cpp
#include "core/operators.inc"
#include "collision/operators.inc"
#include "solvers/operators.inc"
#include "adjoint/operators.inc"
