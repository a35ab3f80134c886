#include "solvers/complementarity/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/instruction_sets.hpp"

namespace costate {

COSTATE_EVERY_INSTRUCTION_SET
void add_product(const SymmetricRows& rows, const double* x, double* y) {
    const size_t n = rows.n, count = rows.count;
    double* __restrict to = y;
    for (size_t c = 0; c < n; ++c) {
        const double* __restrict column = rows.A + c * n + rows.first;
        const double by = x[c];
        for (size_t r = 0; r < count; ++r)
            to[r] += column[r] * by;
    }
}

COSTATE_EVERY_INSTRUCTION_SET
void add_absolute_product(const SymmetricRows& rows, const double* x, double* y) {
    const size_t n = rows.n, count = rows.count;
    double* __restrict to = y;
    for (size_t c = 0; c < n; ++c) {
        const double* __restrict column = rows.A + c * n + rows.first;
        const double by = x[c];
        for (size_t r = 0; r < count; ++r)
            to[r] += std::abs(column[r] * by);
    }
}

COSTATE_EVERY_INSTRUCTION_SET
void add_scaled(const double* x, double by, int n, double* y) {
    const double* __restrict from = x;
    double* __restrict to = y;
    for (int i = 0; i < n; ++i)
        to[i] += by * from[i];
}

COSTATE_EVERY_INSTRUCTION_SET
void weighted_sum(const Weighted<double>* parts, int count, size_t n, double* y) {
    double* __restrict to = y;
    for (size_t k = 0; k < n; ++k)
        to[k] = 0;
    for (int i = 0; i < count; ++i) {
        const double* __restrict from = parts[i].x;
        const double weight = parts[i].weight;
        for (size_t k = 0; k < n; ++k)
            to[k] += weight * from[k];
    }
}

// Four pivots at once take half the time of one after the other.
COSTATE_EVERY_INSTRUCTION_SET
bool factor_symmetric_inplace(double* A, size_t n) {
    constexpr size_t pivots_together = 4;
    for (size_t k = 0; k < n; k += pivots_together) {
        const size_t end = std::min(n, k + pivots_together);
        for (size_t p = k; p < end; ++p) {
            const double* __restrict from = A + p * n;
            if (!(from[p] > 0)) return false;
            for (size_t i = p + 1; i < end; ++i) {
                double* __restrict row = A + i * n;
                const double l = from[i] / from[p];
                for (size_t j = i; j < n; ++j)
                    row[j] -= l * from[j];
            }
        }
        if (end == n) return true;
        const double* __restrict u0 = A + k * n;
        const double* __restrict u1 = u0 + n;
        const double* __restrict u2 = u1 + n;
        const double* __restrict u3 = u2 + n;
        for (size_t i = end; i < n; ++i) {
            double* __restrict row = A + i * n;
            const double l0 = u0[i] / u0[k], l1 = u1[i] / u1[k + 1], l2 = u2[i] / u2[k + 2],
                         l3 = u3[i] / u3[k + 3];
            for (size_t j = i; j < n; ++j)
                row[j] -= l0 * u0[j] + l1 * u1[j] + l2 * u2[j] + l3 * u3[j];
        }
    }
    return true;
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_symmetric_inplace(const double* U, size_t n, double* x) {
    double* __restrict to = x;
    for (size_t k = 0; k < n; ++k) {
        const double* __restrict row = U + k * n;
        const double l = to[k] /= row[k];
        for (size_t j = k + 1; j < n; ++j)
            to[j] -= l * row[j];
    }
    for (size_t k = n; k-- > 0;) {
        const double* __restrict row = U + k * n;
        double sum[4] = {};
        size_t j = k + 1;
        for (; j + 4 <= n; j += 4)
            for (size_t i = 0; i < 4; ++i)
                sum[i] += row[j + i] * to[j + i];
        for (; j < n; ++j)
            sum[0] += row[j] * to[j];
        to[k] -= (sum[0] + sum[1] + (sum[2] + sum[3])) / row[k];
    }
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_symmetric_columns_inplace(const double* U, size_t n, double* X, size_t columns) {
    for (size_t k = 0; k < n; ++k) {
        const double* row = U + k * n;
        double* __restrict from = X + k * columns;
        for (size_t c = 0; c < columns; ++c)
            from[c] /= row[k];
        for (size_t j = k + 1; j < n; ++j) {
            double* __restrict to = X + j * columns;
            for (size_t c = 0; c < columns; ++c)
                to[c] -= row[j] * from[c];
        }
    }
    for (size_t k = n; k-- > 0;) {
        const double* row = U + k * n;
        double* __restrict to = X + k * columns;
        for (size_t j = k + 1; j < n; ++j) {
            const double l = row[j] / row[k];
            const double* __restrict from = X + j * columns;
            for (size_t c = 0; c < columns; ++c)
                to[c] -= l * from[c];
        }
    }
}

}  // namespace costate
