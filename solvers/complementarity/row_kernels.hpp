// Kernels on rows of a dense matrix that take four adjacent entries at a time. The compiler's vectors need no
// instruction set: where it has none for four doubles, it takes two.
#pragma once

#include <cstddef>

namespace costate {

typedef double Four __attribute__((vector_size(32), aligned(8)));

// Four doubles of an array. A reference to a Four itself would forget that it is aligned as a double.
struct FourOfArray {
    Four v;
} __attribute__((may_alias));
inline FourOfArray& four(double* x) { return *reinterpret_cast<FourOfArray*>(x); }
inline const FourOfArray& four(const double* x) { return *reinterpret_cast<const FourOfArray*>(x); }

// to[j] -= l from[j] for first <= j < n, and up to three entries more
inline void subtract_row(double* to, const double* from, double l, size_t first, size_t n) {
    for (size_t j = first; j < n; j += 4)
        four(to + j).v -= l * four(from + j).v;
}

// a.b in four sums; those of the last entries go to the first one
inline double dot(const double* a, const double* b, size_t n) {
    Four sum = {0, 0, 0, 0};
    size_t j = 0;
    for (; j + 4 <= n; j += 4)
        sum += four(a + j).v * four(b + j).v;
    double first = sum[0];
    for (; j < n; ++j)
        first += a[j] * b[j];
    return first + sum[1] + (sum[2] + sum[3]);
}

}  // namespace costate
