// A header that includes headers of all folders below it.
#include <costate/solvers/step/step.hpp>

double sum(const costate::VecX<double>& x) { return x.sum(); }
