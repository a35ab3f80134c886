#include "solvers/complementarity/factors/lu.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/instruction_sets.hpp"
#include "solvers/complementarity/factors/pivot_blocks.hpp"

namespace costate {

COSTATE_EVERY_INSTRUCTION_SET
bool factor_lu_inplace(double* lu, size_t n, double smallest, int* pivots) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k) {
        size_t p = k;
        for (size_t i = k + 1; i < n; ++i)
            if (std::abs(lu[i * length + k]) > std::abs(lu[p * length + k])) p = i;
        pivots[k] = static_cast<int>(p);
        double* row_k = lu + k * length;
        if (p != k) std::swap_ranges(row_k, row_k + n, lu + p * length);
        if (!(std::abs(row_k[k]) > smallest)) return false;
        for (size_t i = k + 1; i < n; ++i) {
            double* row_i = lu + i * length;
            if (row_i[k] != 0) subtract_row(row_i, row_k, row_i[k] /= row_k[k], k + 1, n);
        }
    }
    return true;
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_lu_inplace(const double* lu, size_t n, const int* pivots, double* x) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k)
        std::swap(x[k], x[pivots[k]]);
    for (size_t i = 1; i < n; ++i)
        x[i] -= dot(lu + i * length, x, i);
    for (size_t i = n; i-- > 0;)
        x[i] = (x[i] - dot(lu + i * length + i + 1, x + i + 1, n - i - 1)) / lu[i * length + i];
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_lu_columns_inplace(const double* lu, size_t n, const int* pivots, double* X, size_t columns) {
    const size_t length = row_length(n);
    const auto subtract = [&](size_t i, size_t j) {
        const double l = lu[i * length + j];
        double* __restrict to = X + i * columns;
        const double* __restrict from = X + j * columns;
        for (size_t c = 0; c < columns; ++c)
            to[c] -= l * from[c];
    };
    for (size_t k = 0; k < n; ++k)
        if (const size_t p = pivots[k]; p != k)
            std::swap_ranges(X + k * columns, X + (k + 1) * columns, X + p * columns);
    for (size_t i = 1; i < n; ++i)
        for (size_t j = 0; j < i; ++j)
            subtract(i, j);
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; ++j)
            subtract(i, j);
        for (size_t c = 0; c < columns; ++c)
            X[i * columns + c] /= lu[i * length + i];
    }
}

void solve_lu_transposed_inplace(const double* lu, size_t n, const int* pivots, double* x) {
    const size_t length = row_length(n);
    for (size_t i = 0; i < n; ++i) {
        x[i] /= lu[i * length + i];
        for (size_t j = i + 1; j < n; ++j)
            x[j] -= lu[i * length + j] * x[i];
    }
    for (size_t i = n; i-- > 0;)
        for (size_t j = 0; j < i; ++j)
            x[j] -= lu[i * length + j] * x[i];
    for (size_t k = n; k-- > 0;)
        std::swap(x[k], x[pivots[k]]);
}

COSTATE_EVERY_INSTRUCTION_SET
bool factor_unpivoted_inplace(double* lu, size_t n) {
    const size_t length = row_length(n), end = whole_blocks(n);
    complete_blocks(lu, n);
    for (size_t k = 0; k < end; k += pivots_together) {
        double *u0 = lu + k * length, *u1 = u0 + length, *u2 = u1 + length;
        for (size_t p = 0; p < pivots_together; ++p) {
            const double *from = u0 + p * length, pivot = from[k + p];
            if (!(std::abs(pivot) > 0)) return false;
            for (size_t i = p + 1; i < pivots_together; ++i) {
                double* row = u0 + i * length;
                const double l = row[k + p] / pivot;
                for (size_t j = p + 1; j < pivots_together; ++j)
                    row[k + j] -= l * from[k + j];
                row[k + p] = l;
                subtract_row(row, from, l, k + pivots_together, end);
            }
        }
        double inverse[pivots_together];
        invert_pivots(u0 + k, length, inverse);
        for (size_t i = k + pivots_together; i < end; ++i) {
            double* row = lu + i * length;
            const double l0 = row[k] * inverse[0], l1 = (row[k + 1] - l0 * u0[k + 1]) * inverse[1],
                         l2 = (row[k + 2] - l0 * u0[k + 2] - l1 * u1[k + 2]) * inverse[2],
                         l3 = (row[k + 3] - l0 * u0[k + 3] - l1 * u1[k + 3] - l2 * u2[k + 3]) * inverse[3];
            four(row + k).v = Four{l0, l1, l2, l3};
            subtract_four_rows(row, u0, length, row + k, k + pivots_together, end);
        }
    }
    return true;
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_unpivoted_inplace(const double* lu, size_t n, double* x) {
    const size_t length = row_length(n), end = whole_blocks(n);
    std::fill(x + n, x + end, 0.0);
    double rest[pivots_together];
    for (size_t k = 0; k < end; k += pivots_together) {
        const double *l0 = lu + k * length, *l1 = l0 + length, *l2 = l1 + length, *l3 = l2 + length;
        four_dots(l0, length, x, 0, k, rest);
        const double z0 = x[k] - rest[0], z1 = x[k + 1] - rest[1] - l1[k] * z0,
                     z2 = x[k + 2] - rest[2] - l2[k] * z0 - l2[k + 1] * z1,
                     z3 = x[k + 3] - rest[3] - l3[k] * z0 - l3[k + 1] * z1 - l3[k + 2] * z2;
        four(x + k).v = Four{z0, z1, z2, z3};
    }
    for (size_t k = end; k > 0;) {
        k -= pivots_together;
        const double *u0 = lu + k * length, *u1 = u0 + length, *u2 = u1 + length;
        double inverse[pivots_together];
        invert_pivots(u0 + k, length, inverse);
        four_dots(u0, length, x, k + pivots_together, end, rest);
        const double w3 = (x[k + 3] - rest[3]) * inverse[3],
                     w2 = (x[k + 2] - rest[2] - u2[k + 3] * w3) * inverse[2],
                     w1 = (x[k + 1] - rest[1] - u1[k + 2] * w2 - u1[k + 3] * w3) * inverse[1],
                     w0 = (x[k] - rest[0] - u0[k + 1] * w1 - u0[k + 2] * w2 - u0[k + 3] * w3) * inverse[0];
        four(x + k).v = Four{w0, w1, w2, w3};
    }
}

}  // namespace costate
