// Products with a symmetric matrix and its columns, and its factorisation A = L D L^T if it is positive definite:
// U = D L^T in the upper triangle, row-major. All instruction sets compute the same bits.
#pragma once

#include <algorithm>
#include <cstddef>

namespace costate {

// The rows first ... first + count - 1 of a symmetric A (n x n).
struct SymmetricRows {
    const double* A;
    int n, first, count;
};

// y (count) += A x, summed in the order of A's columns
void add_product(const SymmetricRows& rows, const double* x, double* y);

// y (count) += |A| |x|
void add_absolute_product(const SymmetricRows& rows, const double* x, double* y);

// y (n) += by x
void add_scaled(const double* x, double by, int n, double* y);

// y (n) = sum of weight x (n) over some parts, in their order
template <class T> struct Weighted {
    const T* x;
    T weight;
};
template <class T> void weighted_sum(const Weighted<T>* parts, int count, size_t n, T* y) {
    std::fill_n(y, n, T(0));
    for (int i = 0; i < count; ++i)
        for (size_t k = 0; k < n; ++k)
            y[k] += parts[i].weight * parts[i].x[k];
}
void weighted_sum(const Weighted<double>* parts, int count, size_t n, double* y);
void add_weighted_sum(const Weighted<double>* parts, int count, size_t n, double* y);  // y (n) += that sum

// A matrix that is factored has row_length(n) entries per row, and a vector of a solve has as many: kernels that
// take four rows and entries at a time also read and write the first ones behind the last one.
constexpr size_t row_length(size_t n) { return (n + 6) / 4 * 4; }
constexpr size_t matrix_size(size_t n) { return (n + 3) / 4 * 4 * row_length(n); }

// A (matrix_size(n)) <- U above and on the diagonal; below is not read. False if a pivot is not positive.
bool factor_symmetric_inplace(double* A, size_t n);

// x (row_length(n)) <- A^-1 x
void solve_symmetric_inplace(const double* U, size_t n, double* x);

// A (matrix_size(n)) += W^T C W on and above the diagonal. C (rows x rows, at most 8) is symmetric, and row i of W has
// the entries W[i] (length) at `column`, in any order.
void add_symmetric_product(const double* const* W, const double* C, int rows, const int* column, int length,
                           double* A, size_t n);

// X <- A^-1 X (n x columns, row-major)
void solve_symmetric_columns_inplace(const double* U, size_t n, double* X, size_t columns);

}  // namespace costate
