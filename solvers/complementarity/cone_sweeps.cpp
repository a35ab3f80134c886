#include "solvers/complementarity/cone_sweeps.hpp"

#include "core/math/dual.hpp"

namespace costate {

namespace {

// Kinds of updates in a sweep. visit(r, kind, rows) from the first update to the last, or in reverse.
enum class Update { normal, tangents, cone, row };

template <class T, class Visit>
void for_each_update(const MlcpView<T>& p, FrictionLaw law, const Visit& visit) {
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) continue;
        if (!p.contact_at(r)) {
            visit(Update::row, r);
            continue;
        }
        if (law == FrictionLaw::relaxed_cone) {
            visit(Update::cone, r);
        } else {
            visit(Update::normal, r);
            visit(Update::tangents, r + 1);
        }
        r += 2;
    }
}
template <class T, class Visit>
void for_each_update_backwards(const MlcpView<T>& p, FrictionLaw law, const Visit& visit) {
    for (int r = p.rows; r-- > 0;) {
        const bool contact = r >= 2 && p.contact_at(r - 2);
        if (!contact) {
            if (!p.drops(r)) visit(Update::row, r);
            continue;
        }
        r -= 2;
        if (law == FrictionLaw::relaxed_cone) {
            visit(Update::cone, r);
            continue;
        }
        visit(Update::tangents, r + 1);
        visit(Update::normal, r);
    }
}

int rows_of(Update kind) { return kind == Update::cone ? 3 : (kind == Update::tangents ? 2 : 1); }

// l, and its derivative by each row's A_rr
template <class T> struct Step {
    T l{};
    double share = 1;
    Step(const MlcpView<T>& p, Update kind, int first) {
        int count = 0;
        for (int r = first; r < first + rows_of(kind); ++r)
            if (!p.drops(r)) l += p.diagonal(r), ++count;
        if (kind == Update::tangents) share = 1.1 / count;
        l *= T(share);
    }
};

template <class T> T norm(const T& a, const T& b) {
    using std::sqrt;
    return sqrt(a * a + b * b);
}

// Projects z = x - s/l on the bounds, in place. x_n: for tangents, the impulse of their normal row.
template <class T> void bound_inplace(const MlcpView<T>& p, Update kind, int r, const T& x_n, T* z) {
    if (kind == Update::tangents) {
        const T bound = p.mu(r) * x_n;
        const bool slides = z[0] * z[0] + z[1] * z[1] > bound * bound;
        const T scale = slides ? T(bound / norm(z[0], z[1])) : T(1);
        z[0] *= scale;
        z[1] *= scale;
    } else if (kind == Update::cone) {
        const T& mu = p.mu(r + 1);
        const bool moves = z[1] != T(0) || z[2] != T(0);
        const T tangent = moves ? norm(z[1], z[2]) : T(0);
        if (z[0] >= T(0) && tangent <= mu * z[0]) return;
        if (mu * tangent <= -z[0]) {
            z[0] = z[1] = z[2] = T(0);
            return;
        }
        z[0] = (z[0] + mu * tangent) / (T(1) + mu * mu);
        const T scale = mu * z[0] / tangent;
        z[1] *= scale;
        z[2] *= scale;
    } else if (kind == Update::normal || p.type[r] == RowType::unilateral) {
        if (z[0] < T(0)) z[0] = T(0);
    } else if (p.type[r] == RowType::boxed) {
        if (z[0] > p.max_impulse(r))
            z[0] = p.max_impulse(r);
        else if (z[0] < -p.max_impulse(r))
            z[0] = -p.max_impulse(r);
    }
}
// z: the value before the projection. z_bar: in, the covector of the result; out, of z.
template <class T>
void bound_inplace_adj(const MlcpView<T>& p, Update kind, int r, const T& x_n, const T* z, T* z_bar,
                       T& x_n_bar, T* bound_bar) {
    if (kind == Update::tangents) {
        const T bound = p.mu(r) * x_n;
        if (!(z[0] * z[0] + z[1] * z[1] > bound * bound)) return;
        const T length = norm(z[0], z[1]), u[2] = {z[0] / length, z[1] / length};
        const T along = u[0] * z_bar[0] + u[1] * z_bar[1];
        bound_bar[r] += along * x_n;
        x_n_bar += along * p.mu(r);
        for (int i = 0; i < 2; ++i)
            z_bar[i] = bound / length * (z_bar[i] - u[i] * along);
    } else if (kind == Update::cone) {
        const T& mu = p.mu(r + 1);
        const bool moves = z[1] != T(0) || z[2] != T(0);
        const T tangent = moves ? norm(z[1], z[2]) : T(0);
        if (z[0] >= T(0) && tangent <= mu * z[0]) return;
        if (mu * tangent <= -z[0]) {
            z_bar[0] = z_bar[1] = z_bar[2] = T(0);
            return;
        }
        const T width = T(1) + mu * mu, n = (z[0] + mu * tangent) / width,
                u[2] = {z[1] / tangent, z[2] / tangent};
        const T along = u[0] * z_bar[1] + u[1] * z_bar[2], n_bar = z_bar[0] + mu * along;
        bound_bar[r + 1] += n * along + n_bar * (tangent - T(2) * mu * n) / width;
        z_bar[0] = n_bar / width;
        for (int i = 0; i < 2; ++i)
            z_bar[i + 1] = u[i] * mu * n_bar / width + mu * n / tangent * (z_bar[i + 1] - u[i] * along);
    } else if (kind == Update::normal || p.type[r] == RowType::unilateral) {
        if (z[0] < T(0)) z_bar[0] = T(0);
    } else if (p.type[r] == RowType::boxed) {
        const int side = z[0] > p.max_impulse(r) ? 1 : (z[0] < -p.max_impulse(r) ? -1 : 0);
        if (side == 0) return;
        bound_bar[r] += T(side) * z_bar[0];
        z_bar[0] = T(0);
    }
}

// s for the rows of an update, and z = x - s/l; 0 for dropped rows.
template <class T>
void unbounded_values(const MlcpView<T>& p, Update kind, int r, const Step<T>& step, const T* x, const T* y,
                      T* s, T* z) {
    for (int i = 0; i < rows_of(kind); ++i) {
        s[i] = z[i] = T(0);
        if (p.drops(r + i)) continue;
        s[i] = p.b[r + i] + p.factored->R[r + i] * x[r + i] + p.factored->dot(r + i, y);
        z[i] = x[r + i] - s[i] / step.l;
    }
}

template <class T> bool moves_nothing(const MlcpView<T>& p, Update kind, int r) {
    return kind == Update::tangents && p.drops(r) && p.drops(r + 1);
}

// Updates x, and y with it.
template <class T> void update(const MlcpView<T>& p, Update kind, int r, T* x, T* y) {
    if (moves_nothing(p, kind, r)) return;
    T s[3], z[3];
    unbounded_values(p, kind, r, Step<T>(p, kind, r), x, y, s, z);
    bound_inplace(p, kind, r, kind == Update::tangents ? x[r - 1] : T(0), z);
    for (int i = 0; i < rows_of(kind); ++i) {
        if (p.drops(r + i)) continue;
        p.factored->add(r + i, z[i] - x[r + i], y);
        x[r + i] = z[i];
    }
}

// Restores x and y before the update, and pulls x_bar and y_bar back.
template <class T>
void update_adj(const MlcpView<T>& p, Update kind, int r, const T* x_before, T* x, T* y, ConeTape<T>& tape,
                T* x_bar, const OperatorBar<T>& bar, T* b_bar, T* bound_bar) {
    if (moves_nothing(p, kind, r)) return;
    const FactoredOperator<T>& A = *p.factored;
    const int rows = rows_of(kind);
    T* y_bar = tape.y_bar.data();
    T s[3], z[3], z_bar[3], through_y[3];
    // y += W_r (x'_r - x_r)
    for (int i = 0; i < rows; ++i) {
        z_bar[i] = through_y[i] = T(0);
        if (p.drops(r + i)) continue;
        const T moved = x[r + i] - x_before[r + i];
        through_y[i] = A.dot(r + i, y_bar);
        z_bar[i] = x_bar[r + i] + through_y[i];
        for (size_t k = A.start[r + i]; k < A.start[r + i + 1]; ++k)
            bar.W[k] += moved * y_bar[A.column[k]];
        A.add(r + i, -moved, y);
        x[r + i] = x_before[r + i];
    }
    // projection on the bounds, z = x - s/l
    const Step<T> step(p, kind, r);
    unbounded_values(p, kind, r, step, x, y, s, z);
    T x_n_bar(0);
    bound_inplace_adj(p, kind, r, kind == Update::tangents ? x[r - 1] : T(0), z, z_bar, x_n_bar, bound_bar);
    if (kind == Update::tangents) x_bar[r - 1] += x_n_bar;
    T l_bar(0);
    for (int i = 0; i < rows; ++i)
        l_bar += z_bar[i] * s[i] / (step.l * step.l);
    for (int i = 0; i < rows; ++i) {
        if (p.drops(r + i)) continue;
        // s = b + R x + W y
        const T s_bar = -z_bar[i] / step.l;
        tape.diagonal_bar[r + i] += T(step.share) * l_bar;
        b_bar[r + i] += s_bar;
        bar.R[r + i] += s_bar * x[r + i];
        for (size_t k = A.start[r + i]; k < A.start[r + i + 1]; ++k)
            bar.W[k] += s_bar * y[A.column[k]];
        A.add(r + i, s_bar, y_bar);
        x_bar[r + i] = z_bar[i] - through_y[i] + A.R[r + i] * s_bar;
    }
}

}  // namespace

template <class T>
void cone_sweeps(const MlcpView<T>& p, FrictionLaw law, int sweeps, ConeTape<T>& tape, T* x) {
    const size_t m = p.rows;
    T* y = p.factored->swept;
    tape.sweeps = sweeps;
    tape.x.resize(m * (1 + sweeps));
    std::copy(x, x + m, tape.x.begin());
    std::fill(y, y + p.factored->dofs, T(0));
    for (int r = 0; r < p.rows; ++r)
        p.factored->add(r, x[r], y);
    for (int k = 1; k <= sweeps; ++k) {
        for_each_update(p, law, [&](Update kind, int r) { update(p, kind, r, x, y); });
        std::copy(x, x + m, tape.x.begin() + static_cast<std::ptrdiff_t>(k * m));
    }
}

template <class T>
void cone_sweeps_adj(const MlcpView<T>& p, FrictionLaw law, ConeTape<T>& tape, T* x_bar,
                     const OperatorBar<T>& bar, T* b_bar, T* bound_bar) {
    const FactoredOperator<T>& A = *p.factored;
    const size_t m = p.rows;
    tape.y_bar.assign(A.dofs, T(0));
    tape.diagonal_bar.assign(m, T(0));
    T *x = tape.x.data() + tape.sweeps * m, *y = A.swept;
    for (int k = tape.sweeps; k-- > 0; x -= m) {
        std::fill(y, y + A.dofs, T(0));
        for (int r = 0; r < p.rows; ++r)
            A.add(r, x[r], y);
        tape.now.assign(x, x + m);
        for_each_update_backwards(p, law, [&](Update kind, int r) {
            update_adj(p, kind, r, x - m, tape.now.data(), y, tape, x_bar, bar, b_bar, bound_bar);
        });
    }
    // y = W^T x at the start; A_rr = W_r.W_r + R_r
    for (int r = 0; r < p.rows; ++r) {
        const T& diagonal_bar = tape.diagonal_bar[r];
        x_bar[r] += A.dot(r, tape.y_bar.data());
        bar.R[r] += diagonal_bar;
        for (size_t k = A.start[r]; k < A.start[r + 1]; ++k)
            bar.W[k] += x[r] * tape.y_bar[A.column[k]] + T(2) * diagonal_bar * A.W[k];
    }
}

int cone_code(const MlcpView<double>& p, int r, const double* x) {
    constexpr double near = 1e-9;  // relative to the bound
    if (p.drops(r) || p.type[r] == RowType::free) return 0;
    if (p.type[r] == RowType::boxed) return std::abs(x[r]) >= p.max_impulse(r) ? 1 : 0;
    if (p.type[r] == RowType::unilateral) return x[r] == 0 ? 1 : 0;
    const int n = p.normal_of(r);
    return x[n] == 0 || length_of(x[n + 1], x[n + 2]) < (1 - near) * p.mu(n + 1) * x[n] ? 0 : 1;
}

#define INSTANTIATE(T)                                                                                       \
    template void cone_sweeps(const MlcpView<T>&, FrictionLaw, int, ConeTape<T>&, T*);                       \
    template void cone_sweeps_adj(const MlcpView<T>&, FrictionLaw, ConeTape<T>&, T*, const OperatorBar<T>&,  \
                                  T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
