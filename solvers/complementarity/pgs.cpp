#include "solvers/complementarity/pgs.inl"

#include "core/math/dual.hpp"

// The recurrences read what they wrote a moment ago, one number at a time. Loads of two numbers at once would
// have to wait for both stores to reach the cache, so this file is compiled without loop vectorisation: the
// sweep is 2.5 times as fast.

namespace costate {

#define INSTANTIATE(T)                                                                                       \
    template void pgs(const MlcpView<T>&, int, double, PgsTape<T>&, T*);                                     \
    template void pgs_adj(const MlcpView<T>&, PgsTape<T>&, T*, const OperatorBar<T>&, T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
