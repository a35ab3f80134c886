// Every line of an operators.inc becomes the test of that pair.
#include "core/aba.hpp"
#include "core/queries.hpp"
#include "core/rnea.hpp"
#include "solvers/bias.hpp"
#include "solvers/compliance.hpp"
#include "solvers/equality_rows.hpp"
#include "tests/check_adjoint.hpp"
#include "tests/probe_contact.hpp"

using namespace costate;

// One case after the other.
template <> struct costate::test::Probe<BiasCase> : costate::test::EnumeratorProbe<BiasCase> {
    static BiasCase random(Rng&, Regime) {
        static int drawn = 0;
        return static_cast<BiasCase>(drawn++ % 6);
    }
};

#define PASS(f, Adaptor)  // tests/test_*_pass*.cpp
#include "core/operators.inc"
#include "collision/operators.inc"
#include "solvers/operators.inc"
#include "adjoint/operators.inc"
