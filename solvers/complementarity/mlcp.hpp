// The complementarity problem of an island, the input of every solver, and its residual. Find x with s = A x
// + b and, row by row,
//
//   free rows         s = 0
//   unilateral rows   x >= 0,   s >= 0,   x s = 0
//   boxed rows        -bound <= x <= bound
//   friction rows     -mu x_n <= x <= mu x_n
//
// where boxed and friction rows have s >= 0 at the lower bound, s <= 0 at the upper bound and s = 0 between.
// The law of the cone couples the friction rows T of a normal row n:
//
//   |x_T| <= mu x_n,   x_T = -mu x_n s_T/|s_T| if s_T is not 0
//
// The relaxed cone is a convex problem without De Saxce's correction: a sliding contact has s_n = mu |s_T|
// instead of s_n = 0, so sliding bodies lift off (Anitescu 2006).
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/math/lanes.hpp"
#include "core/math/linalg.hpp"
#include "solvers/complementarity/factors/symmetric_matrix.hpp"
#include "solvers/settings.hpp"

namespace costate {

// Normal, two tangents, torsional and two rolling rows (solvers/rows/contact_rows.hpp).
inline constexpr int max_contact_rows = 6, max_friction_rows = max_contact_rows - 1;

// |(x, y)| and |x|. Impulses and velocities have squares within the range of doubles, so this need not be
// std::hypot, which takes several times as long.
inline double length_of(double x, double y) { return std::sqrt(x * x + y * y); }
template <class T> Value<T> length_of(const T* x, int n) {
    using std::sqrt;
    Value<T> sum(0);
    for (int i = 0; i < n; ++i)
        sum += value_of(x[i]) * value_of(x[i]);
    return sqrt(sum);
}

enum class RowType : unsigned char { free, unilateral, boxed, friction };

// A = W W^T + R of a large island, never multiplied out. W is J M^-1/2. Its row r is nonzero only on the dofs
// that move row r.
template <class T> struct FactoredOperator {
    int rows, dofs;  // numbers in the island
    // (rows + 1) row r of W is W[start[r] ... start[r + 1]); all rows of a contact have the same columns
    const size_t* start;
    const int* column;  // as W: 0 ... dofs - 1
    const T* W;         // kg^-1/2
    const T* R;         // (rows) compliance
    const T* diagonal;  // (rows) of A
    T* along;           // (dofs) work: W^T x
    T* swept;           // (dofs) work of SweptVelocity
    T* velocity;        // (rows) work
    const int* tree;    // (trees + 1) first dof of each tree of the island, then dofs
    int trees;
    int length(int r) const { return static_cast<int>(start[r + 1] - start[r]); }
    // W_r . y
    T dot(int r, const T* y) const {
        T sum(0);
        for (size_t k = start[r]; k < start[r + 1]; ++k)
            sum += W[k] * y[column[k]];
        return sum;
    }
    // y += x W_r
    void add(int r, const T& x, T* y) const {
        for (size_t k = start[r]; k < start[r + 1]; ++k)
            y[column[k]] += x * W[k];
    }
};

// A is symmetric with a positive diagonal. Small islands: rows x rows, row-major. Large islands: factored.
template <class T> struct MlcpView {
    int rows;
    const T* A;           // symmetric; null if factored
    const T* b;           // (rows)
    const RowType* type;  // (rows)
    const int* normal;    // (rows) of a friction row: its normal row, in the caller's numbering
    const T* bound;       // (rows) of a friction row: mu; of a boxed row: the largest impulse
    int first_row;        // first row of the island in this numbering
    // (rows) the lanes in which x is 0, because no impulse moves the row (solvers/step/delassus.hpp); null: none
    const LaneBits* dropped = nullptr;
    const FactoredOperator<T>* factored = nullptr;
    const LaneBits* lanes = nullptr;  // (rows) the lanes that have a row; null: all
    // (rows) as s, of the velocity before the impulses: what slipped or opened then probably goes on; null: unknown
    const Value<T>* before = nullptr;
    Condition<T> drops(int r) const { return lanes_in<T>(dropped_lanes(r)); }
    Condition<T> has(int r) const { return lanes_in<T>(lanes_with(r)); }
    // where it has the row and does not drop it
    Condition<T> moves(int r) const {
        return lanes_in<T>(static_cast<LaneBits>(lanes_with(r) & ~dropped_lanes(r)));
    }
    LaneBits dropped_lanes(int r) const { return dropped != nullptr ? dropped[r] : LaneBits{0}; }
    LaneBits lanes_with(int r) const { return lanes != nullptr ? lanes[r] : all_lanes<T>; }
    int normal_of(int r) const { return normal[r] - first_row; }
    // Friction coefficient of a friction row. A cone uses that of its first one.
    const T& mu(int r) const {
        assert(type[r] == RowType::friction);
        return bound[r];
    }
    // of a boxed row
    const T& max_impulse(int r) const {
        assert(type[r] == RowType::boxed);
        return bound[r];
    }
    // Bound of |x_r| of a boxed or friction row at the impulses x, or at none if x_n pulls.
    Value<T> largest_impulse(int r, const T* x) const {
        if (type[r] == RowType::boxed) return value_of(max_impulse(r));
        return value_of(mu(r)) * larger(Value<T>(0), value_of(x[normal_of(r)]));
    }
    const T& diagonal(int r) const { return factored != nullptr ? factored->diagonal[r] : A[r * rows + r]; }
    SymmetricRows dense_rows(int first, int count) const { return {A, rows, first, count}; }
    // A_rs; for a factored A only if r and s are rows of one contact
    T a(int r, int s) const {
        if (factored == nullptr) return A[r * rows + s];
        if (r == s) return factored->diagonal[r];
        T sum(0);
        for (int k = 0; k < factored->length(r); ++k)
            sum += factored->W[factored->start[r] + k] * factored->W[factored->start[s] + k];
        return sum;
    }
    // true if row r is friction of the normal row n
    bool has_normal(int r, int n) const { return type[r] == RowType::friction && normal_of(r) == n; }
    // Number of friction rows, which follow row r, if it is the normal of a contact that can open; otherwise 0.
    int friction_rows(int r) const {
        if (drops(r) || type[r] != RowType::unilateral) return 0;
        int count = 0;
        while (r + count + 1 < rows && has_normal(r + count + 1, r))
            ++count;
        return count;
    }
    bool contact_at(int r) const { return friction_rows(r) > 0; }
};

// y = A x
template <class T> void operator_product(const MlcpView<T>& p, const T* x, T* y) {
    if (p.factored == nullptr) {
        for (int r = 0; r < p.rows; ++r)
            y[r] = std::inner_product(x, x + p.rows, p.A + r * p.rows, T(0));
        return;
    }
    const FactoredOperator<T>& A = *p.factored;
    std::fill(A.along, A.along + A.dofs, T(0));
    for (int r = 0; r < p.rows; ++r)
        A.add(r, x[r], A.along);
    for (int r = 0; r < p.rows; ++r)
        y[r] = A.R[r] * x[r] + A.dot(r, A.along);
}

// s = A x + b
template <class T> T row_velocity(const MlcpView<T>& p, const T* x, int r) {  // for a dense A
    T s = p.b[r];
    for (int c = 0; c < p.rows; ++c)
        s += p.A[r * p.rows + c] * x[c];
    return s;
}
// Of the rows from `first` on, for a dense A.
template <class T> void row_velocities(const MlcpView<T>& p, const T* x, int first, int count, T* s) {
    if constexpr (std::is_same_v<T, double>) {
        std::copy_n(p.b + first, count, s);
        add_product(p.dense_rows(first, count), x, s);
    } else {
        for (int i = 0; i < count; ++i)
            s[i] = row_velocity(p, x, first + i);
    }
}
template <class T> void mlcp_velocity(const MlcpView<T>& p, const T* x, T* s) {
    if (p.factored == nullptr) return row_velocities(p, x, 0, p.rows, s);
    operator_product(p, x, s);
    for (int r = 0; r < p.rows; ++r)
        s[r] += p.b[r];
}

// Projects x = (x_n, x_T) on the cone |x_T| <= mu x_n, in place. friction: number of rows T
inline void project_on_cone_inplace(double mu, int friction, double* x) {
    const double tangent = length_of(x + 1, friction);
    if (x[0] >= 0 && tangent <= mu * x[0]) return;
    if (mu * tangent <= -x[0]) {
        std::fill_n(x, 1 + friction, 0.0);
        return;
    }
    const double n = (x[0] + mu * tangent) / (1 + mu * mu), scale = mu * n / tangent;
    x[0] = n;
    for (int i = 1; i <= friction; ++i)
        x[i] *= scale;
}

// visit(r, e) with the residuals of all rows as velocities: e = |x - projection of (x - s/a)| a, where a is the
// row's diagonal. The rows of a cone share one a. Infinite if s is not finite. s_of(r): s = A x + b, asked for row
// by row. On lanes, e is 0 where a lane does not have the row, and the law is that of the box.
template <class T, class Velocity, class Visit>
void for_each_residual(const MlcpView<T>& p, const T* x, FrictionLaw law, const Velocity& s_of,
                       const Visit& visit) {
    using V = Value<T>;
    using std::isfinite;
    assert(!is_lanes<T> || law == FrictionLaw::box);
    const auto velocity = [&](int r) {
        const V s = value_of(s_of(r));
        if (const Condition<V> finite = isfinite(s); !all(finite))
            visit(r, where(p.moves(r) & !finite, V(std::numeric_limits<double>::infinity()), V(0)));
        return s;
    };
    for (int r = 0; r < p.rows; ++r) {
        const Condition<V> moves = p.moves(r);
        if (!any(moves)) continue;
        const V diagonal = value_of(p.diagonal(r));
        if constexpr (!is_lanes<T>) {
            if (const int friction = law != FrictionLaw::box ? p.friction_rows(r) : 0; friction > 0) {
                const double mu = value_of(p.mu(r + 1));
                double s[max_contact_rows], y[max_contact_rows];
                for (int i = 0; i <= friction; ++i)
                    s[i] = p.drops(r + i) ? 0 : velocity(r + i);
                if (law == FrictionLaw::cone) s[0] += mu * length_of(s + 1, friction);
                for (int i = 0; i <= friction; ++i)
                    y[i] = value_of(x[r + i]) - s[i] / diagonal;
                project_on_cone_inplace(mu, friction, y);
                for (int i = 0; i <= friction; ++i)
                    visit(r + i, std::abs(value_of(x[r + i]) - y[i]) * diagonal);
                r += friction;
                continue;
            }
        }
        const V target = value_of(x[r]) - velocity(r) / diagonal;
        V projected = target;
        if (p.type[r] == RowType::unilateral) {
            projected = larger(V(0), target);
        } else if (p.type[r] != RowType::free) {
            const V bound = p.largest_impulse(r, x);
            projected = clamp_value(target, V(-bound), bound);
        }
        visit(r, where(moves, V(magnitude(V(value_of(x[r]) - projected)) * diagonal), V(0)));
    }
}

template <class T, class Visit>
void for_each_residual(const MlcpView<T>& p, const T* x, FrictionLaw law, const Visit& visit) {
    constexpr int together = 32;
    T some[together] = {};  // velocities of the rows from `first` on, for a dense A
    int first = -together;
    if (p.factored != nullptr) mlcp_velocity(p, x, p.factored->velocity);
    const auto velocity = [&](int r) {
        if (p.factored != nullptr) return p.factored->velocity[r];
        if (r >= first + together) row_velocities(p, x, first = r, std::min(together, p.rows - r), some);
        return some[r - first];
    };
    for_each_residual(p, x, law, velocity, visit);
}

// The largest residual, m/s.
template <class T>
Value<T> mlcp_residual(const MlcpView<T>& p, const T* x, FrictionLaw law = FrictionLaw::box) {
    Value<T> worst(0);
    for_each_residual(p, x, law, [&](int, const Value<T>& e) { worst = larger(worst, e); });
    return worst;
}
// The same with s = A x + b (rows).
template <class T> Value<T> mlcp_residual(const MlcpView<T>& p, const T* x, const T* s, FrictionLaw law) {
    Value<T> worst(0);
    for_each_residual(
        p, x, law, [&](int r) { return s[r]; }, [&](int, const Value<T>& e) { worst = larger(worst, e); });
    return worst;
}

// The largest of the sums of |A_rc x_c|, or of |W||W^T||x| for a factored A.
template <class T> Value<T> largest_absolute_product(const MlcpView<T>& p, const T* x) {
    using V = Value<T>;
    V largest(0);
    if (p.factored != nullptr) {
        const FactoredOperator<T>& A = *p.factored;
        std::fill(A.along, A.along + A.dofs, T(0));
        for (int r = 0; r < p.rows; ++r)
            for (size_t k = A.start[r]; k < A.start[r + 1]; ++k)
                A.along[A.column[k]] += T(magnitude(V(value_of(A.W[k]) * value_of(x[r]))));
        for (int r = 0; r < p.rows; ++r) {
            V sum(0);
            for (size_t k = A.start[r]; k < A.start[r + 1]; ++k)
                sum += magnitude(value_of(A.W[k])) * value_of(A.along[A.column[k]]);
            largest = larger(largest, sum);
        }
        return largest;
    }
    constexpr int together = 32;
    for (int first = 0; first < p.rows; first += together) {
        const int count = std::min(together, p.rows - first);
        V sum[together] = {};
        if constexpr (std::is_same_v<T, double>)
            add_absolute_product(p.dense_rows(first, count), x, sum);
        else
            for (int i = 0; i < count; ++i)
                for (int c = 0; c < p.rows; ++c)
                    sum[i] += magnitude(V(value_of(p.a(first + i, c)) * value_of(x[c])));
        for (int i = 0; i < count; ++i)
            largest = larger(largest, sum[i]);
    }
    return largest;
}

// Tolerance for the residual of a solution: 1e-11 of the velocities, plus the round-off of A x for huge
// impulses, up to 1e-6 of the velocities. Negative, so that no residual is acceptable, if round-off alone
// reaches 1e-2 of the velocities: then the residual has no meaning, as when the iterates of a problem without
// a solution diverge.
template <class T> Value<T> acceptable_residual(const MlcpView<T>& p, const T* x) {
    using V = Value<T>;
    V b(0);
    for (int r = 0; r < p.rows; ++r)
        b = larger(b, where(p.has(r), V(magnitude(value_of(p.b[r]))), V(0)));
    const V round_off = 4e-16 * largest_absolute_product(p, x);
    return where(round_off < 1e-2 * (1 + b), smaller(V(1e-11 * (1 + b) + round_off), V(1e-6 * (1 + b))),
                 V(-1));
}

}  // namespace costate
