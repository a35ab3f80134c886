#include "solvers/complementarity/gauss_seidel.hpp"

namespace costate {

void gauss_seidel_inplace(const MlcpView<double>& p, int sweeps, std::vector<double>& work, double* x) {
    SweptVelocity s(p, work, x);
    for (int k = 0; k < sweeps; ++k)
        for (int r = 0; r < p.rows; ++r) {
            if (p.drops(r)) continue;
            const double y = x[r] - s(r) / p.diagonal(r);
            if (p.type[r] == RowType::unilateral)
                s.set(r, std::max(0.0, y));
            else if (p.type[r] == RowType::free)
                s.set(r, y);
            else {
                const double bound = p.largest_impulse(r, x);
                s.set(r, std::clamp(y, -bound, bound));
            }
        }
}

}  // namespace costate
