#include "solvers/complementarity/pgs.inl"

#include "core/math/dual.hpp"

// The recurrences read numbers that were just stored one by one. Vector loads of two numbers would have to
// wait until both stores reach the cache. This file is therefore compiled without loop vectorisation, which
// makes the sweep 2.5 times as fast.

namespace costate {

#define INSTANTIATE(T)                                                                                       \
    template void pgs(const MlcpView<T>&, int, double, PgsTape<T>&, T*);                                     \
    template void pgs_adj(const MlcpView<T>&, PgsTape<T>&, T*, const OperatorBar<T>&, T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
