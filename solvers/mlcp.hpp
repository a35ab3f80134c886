// The complementarity problem of an island, which every solver takes, and how far a vector is from solving it.
//
//   find x with  s = A x + b  and, row by row or contact by contact,
//   unilateral rows: 0 <= x, s >= 0, x s = 0       free rows: s = 0
//   boxed rows:  -mu <= x <= mu,   friction rows: -mu x_n <= x <= mu x_n:   s >= 0 at the lower end, <= 0 at the upper, 0 between
//
// or, by the law of the cone, for the two friction rows T of a normal row n together: |x_T| <= mu x_n, and if s_T is not 0 then
// x_T = -mu x_n s_T/|s_T|. The relaxed cone, a convex problem, has s_n = mu |s_T| instead of s_n = 0 where a contact slides: what
// slides lifts off (Anitescu 2006; De Saxce's correction is what makes the difference).
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/linalg.hpp"

namespace costate {

// What `normal` says of a row that leans on no normal row.
inline constexpr int unilateral_row = -1, boxed_row = -2, free_row = -3;

enum class FrictionLaw { box, cone, relaxed_cone };

// A is symmetric (rows x rows, row-major) with a positive diagonal.
template <class T> struct MlcpView {
    int rows;
    const T* A;
    const T* b;         // (rows)
    const T* mu;        // (rows) of friction and boxed rows; of a cone the first friction row's counts
    const int* normal;  // (rows) index of a friction row's normal row in the caller's numbering, or one of the above
    int first_row;      // of the island in that numbering
    const unsigned char* dropped = nullptr;  // (rows) 1: x is 0, as no impulse moves the row (solvers/delassus.hpp); null: none
    bool drops(int r) const { return dropped != nullptr && dropped[r] != 0; }
    int normal_of(int r) const { return normal[r] - first_row; }
    const T& a(int r, int s) const { return A[r * rows + s]; }
    // whether row r is the normal of a contact that can open: the two after it are its friction
    bool contact_at(int r) const {
        return r + 2 < rows && !drops(r) && normal[r] == unilateral_row && normal[r + 1] == first_row + r &&
               normal[r + 2] == first_row + r;
    }
};

// s_r of s = A x + b
template <class T> T row_velocity(const MlcpView<T>& p, const T* x, int r) {
    T s = p.b[r];
    for (int c = 0; c < p.rows; ++c) s += p.a(r, c) * x[c];
    return s;
}
template <class T> void mlcp_velocity(const MlcpView<T>& p, const T* x, T* s) {
    for (int r = 0; r < p.rows; ++r) s[r] = row_velocity(p, x, r);
}

// The point of the cone |x_T| <= mu x_n that is nearest to x, in place.
inline void project_on_cone_inplace(double mu, double* x) {
    const double tangent = std::hypot(x[1], x[2]);
    if (x[0] >= 0 && tangent <= mu * x[0]) return;
    if (mu * tangent <= -x[0]) {
        x[0] = x[1] = x[2] = 0;
        return;
    }
    const double n = (x[0] + mu * tangent) / (1 + mu * mu);
    x[0] = n, x[1] *= mu * n / tangent, x[2] *= mu * n / tangent;
}

// How far x is from a solution, as a velocity: the largest entry of (x - projection of x - s/a) a, where a is the row's diagonal,
// and one number for the three rows of a cone. Infinite where x or s is not a number.
template <class T> double mlcp_residual(const MlcpView<T>& p, const T* x, FrictionLaw law = FrictionLaw::box) {
    double worst = 0;
    const auto velocity = [&](int r) {
        const double s = value_of(row_velocity(p, x, r));
        if (!std::isfinite(s)) worst = std::numeric_limits<double>::infinity();
        return s;
    };
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) continue;
        const double diagonal = value_of(p.a(r, r));
        if (law != FrictionLaw::box && p.contact_at(r)) {
            const double mu = value_of(p.mu[r + 1]);
            double s[3] = {velocity(r), velocity(r + 1), velocity(r + 2)}, y[3];
            if (law == FrictionLaw::cone) s[0] += mu * std::hypot(s[1], s[2]);
            for (int i = 0; i < 3; ++i) y[i] = value_of(x[r + i]) - s[i] / diagonal;
            project_on_cone_inplace(mu, y);
            for (int i = 0; i < 3; ++i) worst = std::max(worst, std::abs(value_of(x[r + i]) - y[i]) * diagonal);
            r += 2;
            continue;
        }
        const double target = value_of(x[r]) - velocity(r) / diagonal;
        const double bound = p.normal[r] == free_row ? std::abs(target) : value_of(p.mu[r]) * (p.normal[r] >= 0 ? std::max(0.0, value_of(x[p.normal_of(r)])) : 1);
        const double projected = p.normal[r] == unilateral_row ? std::max(0.0, target) : std::clamp(target, -bound, bound);
        worst = std::max(worst, std::abs(value_of(x[r]) - projected) * diagonal);
    }
    return worst;
}

// What the residual of a solution may be: 1e-11 of the velocities, and the round-off of A x where impulses are huge, up to 1e-6 of
// them: where it is more, nothing is left to judge by, as on the way to infinity of a problem that has no solution.
template <class T> double acceptable_residual(const MlcpView<T>& p, const T* x) {
    double b = 0, round_off = 0;
    for (int r = 0; r < p.rows; ++r) {
        double sum = 0;
        for (int c = 0; c < p.rows; ++c) sum += std::abs(value_of(p.a(r, c)) * value_of(x[c]));
        b = std::max(b, std::abs(value_of(p.b[r]))), round_off = std::max(round_off, 4e-16 * sum);
    }
    return std::min(1e-11 * (1 + b) + round_off, 1e-6 * (1 + b));
}


}  // namespace costate
