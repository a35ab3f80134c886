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

// The sums of four rows with x over first <= j < end, which are multiples of four. The rows are `length` apart.
inline void four_dots(const double* rows, size_t length, const double* x, size_t first, size_t end,
                      double* sums) {
    Four a = {0, 0, 0, 0}, b = a, c = a, d = a;
    for (size_t j = first; j < end; j += 4) {
        const double* row = rows + j;
        a += four(row).v * four(x + j).v;
        b += four(row + length).v * four(x + j).v;
        c += four(row + 2 * length).v * four(x + j).v;
        d += four(row + 3 * length).v * four(x + j).v;
    }
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7),
               cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
    four(sums).v = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

}  // namespace costate
