// LU factorisations of a square matrix. All instruction sets compute the same bits.
#pragma once

#include "solvers/complementarity/factors/symmetric_matrix.hpp"

namespace costate {

// Partial pivoting: lu (matrix_size(n)) <- L below and U on and above the diagonal; pivots (n). False if a pivot is at
// most `smallest`.
bool factor_lu_inplace(double* lu, size_t n, double smallest, int* pivots);

void solve_lu_inplace(const double* lu, size_t n, const int* pivots, double* x);  // x (n) <- A^-1 x
void solve_lu_transposed_inplace(const double* lu, size_t n, const int* pivots,
                                 double* x);  // x (n) <- A^-T x

// X <- A^-1 X (n x columns, row-major)
void solve_lu_columns_inplace(const double* lu, size_t n, const int* pivots, double* X, size_t columns);

// Without pivoting, in less than half of the time: for matrices near symmetric and positive definite ones. False if a
// pivot is 0 or not finite.
bool factor_unpivoted_inplace(double* lu, size_t n);
void solve_unpivoted_inplace(const double* lu, size_t n, double* x);  // x (row_length(n)) <- A^-1 x

}  // namespace costate
