#include "core/math/inertia.hpp"

namespace costate {

template RigidInertia<double> place_inertia(const Transform<double>&, const MassProperties<double>&);

}  // namespace costate
