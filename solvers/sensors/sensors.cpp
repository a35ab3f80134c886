#include "solvers/sensors/sensors.inl"

namespace costate {

COSTATE_INSTANTIATE_SENSORS(double)

}  // namespace costate
