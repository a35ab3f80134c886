// Every line of an operators.inc becomes the test of that pair.
#include "tests/check_adjoint.hpp"

using namespace costate;

#define PASS(f, Adaptor)  // scratch-based passes: tests/test_passes.cpp
#include "core/operators.inc"
