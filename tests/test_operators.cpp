// Every line of an operators.inc becomes the test of that pair.
#include "core/aba.hpp"
#include "core/rnea.hpp"
#include "tests/check_adjoint.hpp"
#include "tests/probe_contact.hpp"

using namespace costate;

#define PASS(f, Adaptor)  // scratch-based passes: tests/test_passes.cpp
#include "core/operators.inc"
#include "collision/operators.inc"
