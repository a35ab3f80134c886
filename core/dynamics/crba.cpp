#include "core/dynamics/crba.hpp"

namespace costate {

template void crba(const Model&, const double*, const Kinematics<double>&, CrbaScratch<double>&, double*);

}  // namespace costate
