#include "solvers/complementarity/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/instruction_sets.hpp"
#include "solvers/complementarity/row_kernels.hpp"

namespace costate {

COSTATE_EVERY_INSTRUCTION_SET
void add_product(const SymmetricRows& rows, const double* x, double* y) {
    const size_t n = rows.n, count = rows.count;
    double* __restrict to = y;
    size_t c = 0;
    for (; c + 4 <= n; c += 4) {
        const double* __restrict c0 = rows.A + c * n + rows.first;
        const double *c1 = c0 + n, *c2 = c1 + n, *c3 = c2 + n;
        const double x0 = x[c], x1 = x[c + 1], x2 = x[c + 2], x3 = x[c + 3];
        size_t r = 0;
        for (; r + 4 <= count; r += 4)
            four(to + r).v = four(to + r).v + x0 * four(c0 + r).v + x1 * four(c1 + r).v +
                             x2 * four(c2 + r).v + x3 * four(c3 + r).v;
        for (; r < count; ++r)
            to[r] = to[r] + x0 * c0[r] + x1 * c1[r] + x2 * c2[r] + x3 * c3[r];
    }
    for (; c < n; ++c) {
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
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; k += pivots_together) {
        const size_t end = std::min(n, k + pivots_together);
        for (size_t p = k; p < end; ++p) {
            const double* from = A + p * length;
            if (!(from[p] > 0)) return false;
            for (size_t i = p + 1; i < end; ++i)
                subtract_row(A + i * length, from, from[i] / from[p], i, n);
        }
        if (end == n) return true;
        const double *u0 = A + k * length, *u1 = u0 + length, *u2 = u1 + length, *u3 = u2 + length;
        for (size_t i = end; i < n; ++i) {
            double* row = A + i * length;
            const double l0 = u0[i] / u0[k], l1 = u1[i] / u1[k + 1], l2 = u2[i] / u2[k + 2],
                         l3 = u3[i] / u3[k + 3];
            for (size_t j = i; j < n; j += 4)
                four(row + j).v -=
                    l0 * four(u0 + j).v + l1 * four(u1 + j).v + l2 * four(u2 + j).v + l3 * four(u3 + j).v;
        }
    }
    return true;
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_symmetric_inplace(const double* U, size_t n, double* x) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k) {
        const double* row = U + k * length;
        subtract_row(x, row, x[k] /= row[k], k + 1, n);
    }
    for (size_t k = n; k-- > 0;) {
        const double* row = U + k * length;
        x[k] -= dot(row + k + 1, x + k + 1, n - k - 1) / row[k];
    }
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_symmetric_columns_inplace(const double* U, size_t n, double* X, size_t columns) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k) {
        const double* row = U + k * length;
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
        const double* row = U + k * length;
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
