// What factorisations share that take four pivots at once.
#pragma once

#include <algorithm>

#include "solvers/complementarity/factors/row_kernels.hpp"
#include "solvers/complementarity/factors/symmetric_matrix.hpp"

namespace costate {

// Four pivots at once take half the time of one after the other.
inline constexpr size_t pivots_together = 4;
constexpr size_t whole_blocks(size_t n) {
    return (n + pivots_together - 1) / pivots_together * pivots_together;
}

// Makes A a matrix of whole blocks: the rows and columns behind the last one become those of the identity.
inline void complete_blocks(double* A, size_t n) {
    const size_t length = row_length(n), end = whole_blocks(n);
    for (size_t i = 0; i < n; ++i)
        std::fill(A + i * length + n, A + i * length + end, 0.0);
    for (size_t i = n; i < end; ++i) {
        std::fill_n(A + i * length, end, 0.0);
        A[i * length + i] = 1;
    }
}

// The inverse pivots of the block at `u`, which is k, k of a matrix.
inline void invert_pivots(const double* u, size_t length, double* inverse) {
    const Four pivots = {u[0], u[length + 1], u[2 * length + 2], u[3 * length + 3]};
    four(inverse).v = 1.0 / pivots;
}

// to[j] -= l . (the column j of four rows that are `length` apart) for first <= j < end, which are multiples of four.
inline void subtract_four_rows(double* to, const double* rows, size_t length, const double* l, size_t first,
                               size_t end) {
    const double *r0 = rows, *r1 = r0 + length, *r2 = r1 + length, *r3 = r2 + length;
    const double l0 = l[0], l1 = l[1], l2 = l[2], l3 = l[3];
    for (size_t j = first; j < end; j += 4)
        four(to + j).v -=
            l0 * four(r0 + j).v + l1 * four(r1 + j).v + l2 * four(r2 + j).v + l3 * four(r3 + j).v;
}

}  // namespace costate
