#include "solvers/complementarity/factors/symmetric_matrix.hpp"

#include <algorithm>
#include <cmath>

#include "core/math/instruction_sets.hpp"
#include "solvers/complementarity/factors/pivot_blocks.hpp"

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

// to[k] += the weighted sum at k for k < n. Eight sums at a time stay in registers.
static inline __attribute__((always_inline)) void add_parts(const Weighted<double>* parts, int count,
                                                            size_t n, double* to) {
    size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        Four a = four(to + k).v, b = four(to + k + 4).v;
        for (int i = 0; i < count; ++i) {
            const double *from = parts[i].x + k, weight = parts[i].weight;
            a += weight * four(from).v;
            b += weight * four(from + 4).v;
        }
        four(to + k).v = a;
        four(to + k + 4).v = b;
    }
    for (; k < n; ++k)
        for (int i = 0; i < count; ++i)
            to[k] += parts[i].weight * parts[i].x[k];
}

COSTATE_EVERY_INSTRUCTION_SET
void add_weighted_sum(const Weighted<double>* parts, int count, size_t n, double* y) {
    add_parts(parts, count, n, y);
}

COSTATE_EVERY_INSTRUCTION_SET
void weighted_sum(const Weighted<double>* parts, int count, size_t n, double* y) {
    for (size_t k = 0; k < n; ++k)
        y[k] = 0;
    add_parts(parts, count, n, y);
}

COSTATE_EVERY_INSTRUCTION_SET
void add_symmetric_product(const double* const* W, const double* C, int rows, const int* column, int length,
                           double* A, size_t n) {
    const auto add = [&](int a, int b, double sum) {
        const size_t row = std::min(column[a], column[b]), col = std::max(column[a], column[b]);
        A[row * row_length(n) + col] += sum;
    };
    for (int b = 0; b < length; ++b) {
        double CW[8];
        for (int i = 0; i < rows; ++i) {
            CW[i] = 0;
            for (int j = 0; j < rows; ++j)
                CW[i] += C[i * rows + j] * W[j][b];
        }
        int a = b;
        for (; a + 4 <= length; a += 4) {
            Four sums = CW[0] * four(W[0] + a).v;
            for (int i = 1; i < rows; ++i)
                sums += CW[i] * four(W[i] + a).v;
            for (int k = 0; k < 4; ++k)
                add(a + k, b, sums[k]);
        }
        for (; a < length; ++a) {
            double sum = 0;
            for (int i = 0; i < rows; ++i)
                sum += CW[i] * W[i][a];
            add(a, b, sum);
        }
    }
}

// Of U, also entries below the diagonal are written, which have no meaning.
COSTATE_EVERY_INSTRUCTION_SET
bool factor_symmetric_inplace(double* A, size_t n) {
    const size_t length = row_length(n), end = whole_blocks(n);
    complete_blocks(A, n);
    for (size_t k = 0; k < end; k += pivots_together) {
        double *u0 = A + k * length, *u1 = u0 + length, *u2 = u1 + length, *u3 = u2 + length;
        for (size_t p = 0; p < pivots_together; ++p) {
            double* from = u0 + p * length;
            if (!(from[k + p] > 0)) return false;
            const double inverse = 1 / from[k + p];
            for (size_t i = p + 1; i < pivots_together; ++i)
                subtract_row(u0 + i * length, from, from[k + i] * inverse, k, end);
        }
        double inverse[pivots_together];
        invert_pivots(u0 + k, length, inverse);
        for (size_t i = k + pivots_together; i < end; ++i) {
            double* row = A + i * length;
            const double l[] = {u0[i] * inverse[0], u1[i] * inverse[1], u2[i] * inverse[2],
                                u3[i] * inverse[3]};
            subtract_four_rows(row, u0, length, l, i / 4 * 4, end);
        }
    }
    return true;
}

// A block of x stays in registers while it changes: a read of four entries of which one was just written waits.
COSTATE_EVERY_INSTRUCTION_SET
void solve_symmetric_inplace(const double* U, size_t n, double* x) {
    const size_t length = row_length(n), end = whole_blocks(n);
    std::fill(x + n, x + end, 0.0);
    for (size_t k = 0; k < end; k += pivots_together) {
        const double *u0 = U + k * length, *u1 = u0 + length, *u2 = u1 + length;
        double inverse[pivots_together];
        invert_pivots(u0 + k, length, inverse);
        const double z0 = x[k] * inverse[0], z1 = (x[k + 1] - z0 * u0[k + 1]) * inverse[1],
                     z2 = (x[k + 2] - z0 * u0[k + 2] - z1 * u1[k + 2]) * inverse[2],
                     z3 = (x[k + 3] - z0 * u0[k + 3] - z1 * u1[k + 3] - z2 * u2[k + 3]) * inverse[3];
        four(x + k).v = Four{z0, z1, z2, z3};
        subtract_four_rows(x, u0, length, x + k, k + pivots_together, end);
    }
    for (size_t k = end; k > 0;) {
        k -= pivots_together;
        const double *u0 = U + k * length, *u1 = u0 + length, *u2 = u1 + length;
        double inverse[pivots_together], rest[pivots_together];
        invert_pivots(u0 + k, length, inverse);
        four_dots(u0, length, x, k + pivots_together, end, rest);
        const double w3 = x[k + 3] - rest[3] * inverse[3],
                     w2 = x[k + 2] - (rest[2] + u2[k + 3] * w3) * inverse[2],
                     w1 = x[k + 1] - (rest[1] + u1[k + 2] * w2 + u1[k + 3] * w3) * inverse[1],
                     w0 = x[k] - (rest[0] + u0[k + 1] * w1 + u0[k + 2] * w2 + u0[k + 3] * w3) * inverse[0];
        four(x + k).v = Four{w0, w1, w2, w3};
    }
}

COSTATE_EVERY_INSTRUCTION_SET
void solve_symmetric_columns_inplace(const double* U, size_t n, double* X, size_t columns) {
    const size_t length = row_length(n);
    for (size_t k = 0; k < n; ++k) {
        const double* row = U + k * length;
        const double inverse = 1 / row[k];
        double* __restrict from = X + k * columns;
        for (size_t c = 0; c < columns; ++c)
            from[c] *= inverse;
        for (size_t j = k + 1; j < n; ++j) {
            double* __restrict to = X + j * columns;
            for (size_t c = 0; c < columns; ++c)
                to[c] -= row[j] * from[c];
        }
    }
    for (size_t k = n; k-- > 0;) {
        const double* row = U + k * length;
        const double inverse = 1 / row[k];
        double* __restrict to = X + k * columns;
        for (size_t j = k + 1; j < n; ++j) {
            const double l = row[j] * inverse;
            const double* __restrict from = X + j * columns;
            for (size_t c = 0; c < columns; ++c)
                to[c] -= l * from[c];
        }
    }
}

}  // namespace costate
