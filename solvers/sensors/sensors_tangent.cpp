// The sensors on dual numbers, compiled by themselves like solvers/step/step_tangent.cpp.
#include "core/math/dual.hpp"
#include "solvers/sensors/sensors.inl"

namespace costate {

COSTATE_INSTANTIATE_SENSORS(Dual<double>)

}  // namespace costate
