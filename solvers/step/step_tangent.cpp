// The step on dual numbers, compiled by itself: the compiler inlines less where both scalars share a file.
#include "core/math/dual.hpp"
#include "solvers/step/step.inl"

namespace costate {

COSTATE_INSTANTIATE_STEP(Dual<double>)

}  // namespace costate
