#include "solvers/complementarity/cone_sweeps.hpp"

#include "core/math/dual.hpp"

namespace costate {

namespace {

enum class UpdateKind { normal, friction, cone, row };

// One update of a sweep, of the rows first ... first + rows - 1.
struct Update {
    UpdateKind kind;
    int first, rows;
};

// visit(update) from the first update of a sweep to the last, or in reverse.
template <class T, class Visit>
void for_each_update(const MlcpView<T>& p, FrictionLaw law, const Visit& visit) {
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) continue;
        const int friction = p.friction_rows(r);
        if (friction == 0) {
            visit(Update{UpdateKind::row, r, 1});
            continue;
        }
        if (law == FrictionLaw::relaxed_cone) {
            visit(Update{UpdateKind::cone, r, 1 + friction});
        } else {
            visit(Update{UpdateKind::normal, r, 1});
            visit(Update{UpdateKind::friction, r + 1, friction});
        }
        r += friction;
    }
}
template <class T, class Visit>
void for_each_update_backwards(const MlcpView<T>& p, FrictionLaw law, const Visit& visit) {
    for (int r = p.rows; r-- > 0;) {
        const int n = p.type[r] == RowType::friction ? p.normal_of(r) : r, friction = p.friction_rows(n);
        if (friction == 0) {
            if (!p.drops(r)) visit(Update{UpdateKind::row, r, 1});
            continue;
        }
        r = n;
        if (law == FrictionLaw::relaxed_cone) {
            visit(Update{UpdateKind::cone, n, 1 + friction});
            continue;
        }
        visit(Update{UpdateKind::friction, n + 1, friction});
        visit(Update{UpdateKind::normal, n, 1});
    }
}

// l, and its derivative by each row's A_rr
template <class T> struct Step {
    T l{};
    double share = 1;
    Step(const MlcpView<T>& p, const Update& update) {
        int count = 0;
        for (int r = update.first; r < update.first + update.rows; ++r)
            if (!p.drops(r)) {
                l += p.diagonal(r);
                ++count;
            }
        if (update.kind == UpdateKind::friction && count <= 2) share = 1.1 / count;
        l *= T(share);
    }
};

// |x| of n numbers with some x_i != 0; 0 otherwise, without derivative
template <class T> T norm(const T* x, int n) {
    using std::sqrt;
    T squared(0);
    for (int i = 0; i < n; ++i)
        squared += x[i] * x[i];
    return squared == T(0) ? T(0) : sqrt(squared);
}

// Projects z = x - s/l on the bounds, in place. x_n: of friction rows, the impulse of their normal row.
template <class T> void bound_inplace(const MlcpView<T>& p, const Update& update, const T& x_n, T* z) {
    const int r = update.first, friction = update.kind == UpdateKind::cone ? update.rows - 1 : update.rows;
    if (update.kind == UpdateKind::friction) {
        const T bound = p.mu(r) * x_n, length = norm(z, friction);
        if (!(length > bound)) return;
        for (int i = 0; i < friction; ++i)
            z[i] *= bound / length;
    } else if (update.kind == UpdateKind::cone) {
        const T &mu = p.mu(r + 1), tangent = norm(z + 1, friction);
        if (z[0] >= T(0) && tangent <= mu * z[0]) return;
        if (mu * tangent <= -z[0]) {
            std::fill_n(z, update.rows, T(0));
            return;
        }
        z[0] = (z[0] + mu * tangent) / (T(1) + mu * mu);
        const T scale = mu * z[0] / tangent;
        for (int i = 1; i <= friction; ++i)
            z[i] *= scale;
    } else if (update.kind == UpdateKind::normal || p.type[r] == RowType::unilateral) {
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
void bound_inplace_adj(const MlcpView<T>& p, const Update& update, const T& x_n, const T* z, T* z_bar,
                       T& x_n_bar, T* bound_bar) {
    const int r = update.first, friction = update.kind == UpdateKind::cone ? update.rows - 1 : update.rows;
    // z_bar.u for u = z_T/|z_T|, from entry `first` on
    const auto along_friction = [&](int first, const T& length) {
        T sum(0);
        for (int i = first; i < first + friction; ++i)
            sum += z[i] / length * z_bar[i];
        return sum;
    };
    if (update.kind == UpdateKind::friction) {
        const T bound = p.mu(r) * x_n, length = norm(z, friction);
        if (!(length > bound)) return;
        const T along = along_friction(0, length);
        bound_bar[r] += along * x_n;
        x_n_bar += along * p.mu(r);
        for (int i = 0; i < friction; ++i)
            z_bar[i] = bound / length * (z_bar[i] - z[i] / length * along);
    } else if (update.kind == UpdateKind::cone) {
        const T &mu = p.mu(r + 1), tangent = norm(z + 1, friction);
        if (z[0] >= T(0) && tangent <= mu * z[0]) return;
        if (mu * tangent <= -z[0]) {
            std::fill_n(z_bar, update.rows, T(0));
            return;
        }
        const T width = T(1) + mu * mu, n = (z[0] + mu * tangent) / width;
        const T along = along_friction(1, tangent), n_bar = z_bar[0] + mu * along;
        bound_bar[r + 1] += n * along + n_bar * (tangent - T(2) * mu * n) / width;
        z_bar[0] = n_bar / width;
        for (int i = 1; i <= friction; ++i) {
            const T u = z[i] / tangent;
            z_bar[i] = u * mu * n_bar / width + mu * n / tangent * (z_bar[i] - u * along);
        }
    } else if (update.kind == UpdateKind::normal || p.type[r] == RowType::unilateral) {
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
void unbounded_values(const MlcpView<T>& p, const Update& update, const Step<T>& step, const T* x, const T* y,
                      T* s, T* z) {
    for (int i = 0, r = update.first; i < update.rows; ++i, ++r) {
        s[i] = z[i] = T(0);
        if (p.drops(r)) continue;
        s[i] = p.b[r] + p.factored->R[r] * x[r] + p.factored->dot(r, y);
        z[i] = x[r] - s[i] / step.l;
    }
}

template <class T> bool moves_nothing(const MlcpView<T>& p, const Update& update) {
    for (int r = update.first; r < update.first + update.rows; ++r)
        if (!p.drops(r)) return false;
    return true;
}

// The normal impulse that bounds an update of friction rows.
template <class T> T normal_impulse(const Update& update, const T* x) {
    return update.kind == UpdateKind::friction ? x[update.first - 1] : T(0);
}

// Updates x, and y with it.
template <class T> void apply(const MlcpView<T>& p, const Update& update, T* x, T* y) {
    if (moves_nothing(p, update)) return;
    T s[max_contact_rows], z[max_contact_rows];
    unbounded_values(p, update, Step<T>(p, update), x, y, s, z);
    bound_inplace(p, update, normal_impulse(update, x), z);
    for (int i = 0, r = update.first; i < update.rows; ++i, ++r) {
        if (p.drops(r)) continue;
        p.factored->add(r, z[i] - x[r], y);
        x[r] = z[i];
    }
}

// Restores x and y before the update, and pulls x_bar and y_bar back.
template <class T>
void apply_adj(const MlcpView<T>& p, const Update& update, const T* x_before, T* x, T* y, ConeTape<T>& tape,
               T* x_bar, const OperatorBar<T>& bar, T* b_bar, T* bound_bar) {
    if (moves_nothing(p, update)) return;
    const FactoredOperator<T>& A = *p.factored;
    const int first = update.first, rows = update.rows;
    T* y_bar = tape.y_bar.data();
    T s[max_contact_rows], z[max_contact_rows], z_bar[max_contact_rows], through_y[max_contact_rows];
    // y += W_r (x'_r - x_r)
    for (int i = 0, r = first; i < rows; ++i, ++r) {
        z_bar[i] = through_y[i] = T(0);
        if (p.drops(r)) continue;
        const T moved = x[r] - x_before[r];
        through_y[i] = A.dot(r, y_bar);
        z_bar[i] = x_bar[r] + through_y[i];
        for (size_t k = A.start[r]; k < A.start[r + 1]; ++k)
            bar.W[k] += moved * y_bar[A.column[k]];
        A.add(r, -moved, y);
        x[r] = x_before[r];
    }
    // projection on the bounds, z = x - s/l
    const Step<T> step(p, update);
    unbounded_values(p, update, step, x, y, s, z);
    T x_n_bar(0);
    bound_inplace_adj(p, update, normal_impulse(update, x), z, z_bar, x_n_bar, bound_bar);
    if (update.kind == UpdateKind::friction) x_bar[first - 1] += x_n_bar;
    T l_bar(0);
    for (int i = 0; i < rows; ++i)
        l_bar += z_bar[i] * s[i] / (step.l * step.l);
    for (int i = 0, r = first; i < rows; ++i, ++r) {
        if (p.drops(r)) continue;
        // s = b + R x + W y
        const T s_bar = -z_bar[i] / step.l;
        tape.diagonal_bar[r] += T(step.share) * l_bar;
        b_bar[r] += s_bar;
        bar.R[r] += s_bar * x[r];
        for (size_t k = A.start[r]; k < A.start[r + 1]; ++k)
            bar.W[k] += s_bar * y[A.column[k]];
        A.add(r, s_bar, y_bar);
        x_bar[r] = z_bar[i] - through_y[i] + A.R[r] * s_bar;
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
        for_each_update(p, law, [&](const Update& update) { apply(p, update, x, y); });
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
        for_each_update_backwards(p, law, [&](const Update& update) {
            apply_adj(p, update, x - m, tape.now.data(), y, tape, x_bar, bar, b_bar, bound_bar);
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
    const double friction = length_of(x + n + 1, p.friction_rows(n));
    return x[n] == 0 || friction < (1 - near) * p.mu(n + 1) * x[n] ? 0 : 1;
}

#define INSTANTIATE(T)                                                                                       \
    template void cone_sweeps(const MlcpView<T>&, FrictionLaw, int, ConeTape<T>&, T*);                       \
    template void cone_sweeps_adj(const MlcpView<T>&, FrictionLaw, ConeTape<T>&, T*, const OperatorBar<T>&,  \
                                  T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
