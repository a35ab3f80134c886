#include "collision/contact/contact.hpp"

namespace costate {

template Contact<double> contact(const Shape&, const Shape&, const FeaturePair&, const Transform<double>&,
                                 const Transform<double>&, const Vec3<double>&, const Vec3<double>&);
template void contact_adj(const Shape&, const Shape&, const FeaturePair&, const Transform<double>&,
                          const Transform<double>&, const Vec3<double>&, const Vec3<double>&,
                          const Contact<double>&, Force<double>&, Force<double>&, Vec3<double>&,
                          Vec3<double>&);
template Contact<Dual<double>> contact(const Shape&, const Shape&, const FeaturePair&,
                                       const Transform<Dual<double>>&, const Transform<Dual<double>>&,
                                       const Vec3<Dual<double>>&, const Vec3<Dual<double>>&);
template void contact_adj(const Shape&, const Shape&, const FeaturePair&, const Transform<Dual<double>>&,
                          const Transform<Dual<double>>&, const Vec3<Dual<double>>&,
                          const Vec3<Dual<double>>&, const Contact<Dual<double>>&, Force<Dual<double>>&,
                          Force<Dual<double>>&, Vec3<Dual<double>>&, Vec3<Dual<double>>&);

}  // namespace costate
