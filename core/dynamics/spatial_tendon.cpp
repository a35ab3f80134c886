#include "core/dynamics/spatial_tendon.hpp"

namespace costate {

template double path_length(const Model&, const double*, const Kinematics<double>&, const Tendon&);
template double path_arm(const Model&, const double*, const Kinematics<double>&, const Tendon&, int);

template double wrap_turn(WrapShape, const Vec3<double>&, const Vec3<double>&, const Vec3<double>&,
                          const double&, const Vec3<double>*);

template WrapArc<double> helix_arc(const Vec3<double>&, const Vec3<double>&, const Vec3<double>&,
                                   const double&, double);

}  // namespace costate
