#include "core/dynamics/kinematics.hpp"

namespace costate {

template void kinematics(const Model&, const double*, const double*, const double*, Kinematics<double>&);
template void kinematics_adj(const Model&, const double*, const double*, const double*,
                             const Kinematics<double>&, KinematicsBar<double>&, double*, double*, double*);
template void kinematics(const Model&, const Dual<double>*, const Dual<double>*, const Dual<double>*,
                         Kinematics<Dual<double>>&);
template void kinematics_adj(const Model&, const Dual<double>*, const Dual<double>*, const Dual<double>*,
                             const Kinematics<Dual<double>>&, KinematicsBar<Dual<double>>&, Dual<double>*,
                             Dual<double>*, Dual<double>*);

}  // namespace costate
