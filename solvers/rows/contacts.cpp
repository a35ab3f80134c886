#include "solvers/rows/contacts.hpp"

namespace costate {

template void place_shapes(const World&, const double*, const Kinematics<double>&, ContactScratch<double>&);
template void make_contacts(const World&, const double*, const Kinematics<double>&, ContactScratch<double>&);

}  // namespace costate
