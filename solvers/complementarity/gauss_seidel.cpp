#include "solvers/complementarity/gauss_seidel.hpp"

#include "core/math/instruction_sets.hpp"

namespace costate {

namespace {

// The new impulse of a row from that without bounds.
double within_bounds(const MlcpView<double>& p, int r, const double* x, double y) {
    if (p.type[r] == RowType::free) return y;
    if (p.type[r] == RowType::unilateral) return std::max(0.0, y);
    const double bound = p.largest_impulse(r, x);
    return std::clamp(y, -bound, bound);
}

// Of a dense A. s (rows): A x + b, in and out. inverse (rows): of the diagonal.
COSTATE_EVERY_INSTRUCTION_SET
void sweep_dense(const MlcpView<double>& p, int sweeps, const double* inverse, double* s, double* x) {
    const int n = p.rows;
    double* __restrict to = s;
    for (int k = 0; k < sweeps; ++k)
        for (int r = 0; r < n; ++r) {
            if (p.drops(r)) continue;
            const double value = within_bounds(p, r, x, x[r] - to[r] * inverse[r]), change = value - x[r];
            if (change == 0) continue;
            x[r] = value;
            const double* __restrict row = p.A + r * n;
            for (int c = 0; c < n; ++c)
                to[c] += change * row[c];
        }
}

}  // namespace

void gauss_seidel_inplace(const MlcpView<double>& p, int sweeps, std::vector<double>& work, double* x) {
    if (p.factored == nullptr) {
        const size_t n = p.rows;
        work.resize(2 * n);
        double *s = work.data(), *inverse = s + n;
        for (int r = 0; r < p.rows; ++r)
            inverse[r] = 1 / p.diagonal(r);
        mlcp_velocity(p, x, s);
        return sweep_dense(p, sweeps, inverse, s, x);
    }
    SweptVelocity s(p, work, x);
    for (int k = 0; k < sweeps; ++k)
        for (int r = 0; r < p.rows; ++r)
            if (!p.drops(r)) s.set(r, within_bounds(p, r, x, x[r] - s(r) / p.diagonal(r)));
}

}  // namespace costate
