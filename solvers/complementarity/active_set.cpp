#include "solvers/complementarity/active_set.hpp"

#include "solvers/complementarity/laws.hpp"
#include "solvers/complementarity/row_equation.hpp"

namespace costate {

namespace {

// True if G does not depend on x.
template <class T> bool is_linear(const ActiveSet<T>& set) {
    return std::ranges::none_of(set.state,
                                [](RowState s) { return s == RowState::sliding || s == RowState::dilating; });
}

// The right-hand side -F in set.work, and the factor of G.
template <class T> void factor_dense(const MlcpView<T>& p, ActiveSet<T>& set, const T* x) {
    const size_t n = set.active.size(), kept = set.structure.kept, fixed = n - kept;
    const int* columns = set.active.data();
    set.work.resize(n);
    set.structure.fixed.clear();
    set.structure.symmetric = is_linear(set);
    for (size_t i = kept; i < n; ++i) {
        const Equation<T> e = equation(p, set.state, x, set.s.data(), columns[i]);
        set.work[i] = -e.F;
        const bool by_normal = e.count_x > 1 && set.state[e.row_x[1]] != RowState::separating;
        set.structure.fixed.push_back(
            {by_normal ? set.position[e.row_x[1]] : -1, by_normal ? value_of(e.K[1]) : 0});
        set.structure.symmetric &= !by_normal;
    }
    // out[j - first] = the entry of a row in active column j, for from <= j < to
    const auto gather = [&](int row, size_t from, size_t to, double* out, size_t first = 0) {
        const T* A = p.A + row * p.rows;
        for (size_t j = from; j < to; ++j)
            out[j - first] = value_of(A[columns[j]]);
    };
    int first_gathered = -1;
    set.solver.factor(set.structure, [&](size_t i, size_t from, double* g, double* b) {
        const Equation<T> e = equation(p, set.state, x, set.s.data(), columns[i]);
        set.work[i] = -e.F;
        if (set.state[columns[i]] == RowState::clamping) {
            gather(columns[i], from, kept, g);
            gather(columns[i], kept, n, b, kept);
            return;
        }
        if (e.count_s > 0 && first_gathered != e.row_s) {  // a contact's friction rows follow each other
            first_gathered = e.row_s;
            set.gathered.resize(max_contact_rows * n);
            for (int k = 0; k < e.count_s; ++k)
                gather(e.row_s + k, 0, n, set.gathered.data() + k * n);
        }
        Weighted<double> parts[max_contact_rows];
        for (int k = 0; k < e.count_s; ++k)
            parts[k] = {set.gathered.data() + k * n, value_of(e.P[k])};
        weighted_sum(parts, e.count_s, kept, g);
        for (int k = 0; k < e.count_s; ++k)
            parts[k].x += kept;
        weighted_sum(parts, e.count_s, fixed, b);
        for (int k = 0; k < e.count_x; ++k)
            if (set.state[e.row_x[k]] != RowState::separating)
                g[set.position[e.row_x[k]]] += value_of(e.K[k]);
    });
}

// The same with P and K for every contact instead of G.
template <class T> void assemble_groups(const MlcpView<T>& p, ActiveSet<T>& set, const T* x) {
    const int n = static_cast<int>(set.active.size());
    std::vector<RowGroup>& groups = set.factored.groups;
    groups.clear();
    set.work.resize(set.active.size());
    for (int i = 0; i < n; ++i) {
        const int r = set.active[i];
        if (p.type[r] != RowType::friction) groups.push_back({i});
        ++groups.back().count;  // friction rows follow their normal row
    }
    for (RowGroup& g : groups) {
        const int* rows = set.active.data() + g.first;
        for (int i = 0; i < g.count; ++i) {
            const Equation<T> e = equation(p, set.state, x, set.s.data(), rows[i]);
            set.work[g.first + i] = -e.F;
            for (int j = 0; j < g.count; ++j) {
                for (int k = 0; k < e.count_s; ++k)
                    if (e.row_s + k == rows[j]) g.P[i * g.count + j] += value_of(e.P[k]);
                for (int k = 0; k < e.count_x; ++k)
                    if (e.row_x[k] == rows[j]) g.K[i * g.count + j] += value_of(e.K[k]);
            }
        }
    }
}

// Linearises the equations at x, and factors G.
template <class T> void assemble(const MlcpView<T>& p, ActiveSet<T>& set, const T* x) {
    set.has_factor = true;
    if (p.factored == nullptr) {
        factor_dense(p, set, x);
        return;
    }
    assemble_groups(p, set, x);
    if constexpr (std::is_same_v<T, double>) {
        set.factored.factor(*p.factored, set.active);
    } else {
        set.values.take(*p.factored);
        set.factored.factor(set.values.view, set.active);
    }
}

// G z or G^T z on the active rows, with the derivatives of G carried by p and x.
template <class T>
std::vector<T> product(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, bool transposed,
                       const std::vector<T>& z) {
    const size_t rows = p.rows, n = set.active.size();
    std::vector<T> full(rows, T(0)), out(rows, T(0)), result(n, T(0));
    std::vector<Equation<T>> equations;
    for (const int r : set.active)
        equations.push_back(equation(p, set.state, x, set.s.data(), r));
    for (size_t i = 0; i < n; ++i) {
        const Equation<T>& e = equations[i];
        if (!transposed) full[set.active[i]] = z[i];
        for (int k = 0; transposed && k < e.count_s; ++k)
            full[e.row_s + k] += e.P[k] * z[i];
    }
    operator_product(p, full.data(), out.data());
    if (transposed) {
        for (size_t i = 0; i < n; ++i)
            for (int k = 0; k < equations[i].count_x; ++k)
                out[equations[i].row_x[k]] += equations[i].K[k] * z[i];
        for (size_t i = 0; i < n; ++i)
            result[i] = out[set.active[i]];
        return result;
    }
    for (size_t i = 0; i < n; ++i) {
        const Equation<T>& e = equations[i];
        for (int k = 0; k < e.count_s; ++k)
            result[i] += e.P[k] * out[e.row_s + k];
        for (int k = 0; k < e.count_x; ++k)
            result[i] += e.K[k] * full[e.row_x[k]];
    }
    return result;
}

// z <- G^-1 z or G^-T z, for the values of G
template <class T> void solve_values(const MlcpView<T>& p, ActiveSet<T>& set, bool transposed, double* z) {
    if (p.factored == nullptr)
        transposed ? set.solver.solve_transposed_inplace(z) : set.solver.solve_inplace(z);
    else
        transposed ? set.factored.solve_transposed_inplace(z) : set.factored.solve_inplace(z);
}

// set.work <- G^-1 set.work or G^-T set.work, with x as in `assemble`
template <class T>
void solve_equations_inplace(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, bool transposed) {
    if constexpr (std::is_same_v<T, double>) {
        solve_values(p, set, transposed, set.work.data());
    } else {  // d = G^-1 (f_dot - G_dot z)
        std::vector<double> part(set.work.size());
        std::vector<T> z(set.work.size());
        std::ranges::transform(set.work, part.begin(), [](const T& f) { return f.v; });
        solve_values(p, set, transposed, part.data());
        std::ranges::copy(part, z.begin());
        const std::vector<T> moved = product(p, set, x, transposed, z);
        for (size_t i = 0; i < part.size(); ++i)
            part[i] = set.work[i].d - moved[i].d;
        solve_values(p, set, transposed, part.data());
        for (size_t i = 0; i < part.size(); ++i)
            set.work[i] = {z[i].v, part[i]};
    }
}

// Lists the active rows. The others get no impulse. True if this changes the value of x.
template <class T> bool activate(const MlcpView<T>& p, ActiveSet<T>& set, T* x) {
    const bool dense = p.factored == nullptr;
    const auto is_fixed = [&](RowState s) { return dense && (s == RowState::lower || s == RowState::upper); };
    bool changed = false;
    set.active.clear();
    set.position.resize(p.rows);
    const auto add = [&](int r) {
        set.position[r] = static_cast<int>(set.active.size());
        set.active.push_back(r);
    };
    for (int r = 0; r < p.rows; ++r)
        if (set.state[r] == RowState::separating) {
            changed |= value_of(x[r]) != 0;
            x[r] = T(0);
        } else if (!is_fixed(set.state[r])) {
            add(r);
        }
    set.structure.kept = static_cast<int>(set.active.size());
    for (int r = 0; r < p.rows; ++r)
        if (is_fixed(set.state[r])) add(r);
    set.s.resize(p.rows);
    return changed;
}

// s: A x + b, or null. factored: set.solver already has the factor of G.
template <class T>
void newton_step(const MlcpView<T>& p, ActiveSet<T>& set, const T* s, bool factored, T* x) {
    if (activate(p, set, x) || s == nullptr)
        mlcp_velocity(p, x, set.s.data());
    else if (s != set.s.data())
        std::copy_n(s, p.rows, set.s.data());
    if (factored) {
        set.has_factor = true;
        set.work.clear();
        for (const int r : set.active)
            set.work.push_back(-equation(p, set.state, x, set.s.data(), r).F);
    } else {
        assemble(p, set, x);
    }
    solve_equations_inplace(p, set, x, false);
    for (size_t i = 0; i < set.active.size(); ++i)
        x[set.active[i]] += set.work[i];
    mlcp_velocity(p, x, set.s.data());
}

}  // namespace

template <class T> void solve_active_set(const MlcpView<T>& p, ActiveSet<T>& set, T* x) {
    newton_step<T>(p, set, nullptr, false, x);
}

bool solve_states(const MlcpView<double>& p, ActiveSet<double>& set, const std::vector<RowState>& states,
                  bool has_factor, const double* s, double* x) {
    const bool factored = has_factor && p.factored == nullptr && is_linear(set) && set.state == states;
    set.state = states;
    newton_step(p, set, s, factored, x);
    return !factored;
}

void differentiate_solution(const MlcpView<Dual<double>>& p, ActiveSet<Dual<double>>& set, Dual<double>* x) {
    activate(p, set, x);
    for (int r = 0; r < p.rows; ++r)
        x[r].d = 0;
    mlcp_velocity(p, x, set.s.data());
    assemble(p, set, x);
    std::vector<double> z(set.active.size());
    std::ranges::transform(set.work, z.begin(), [](const Dual<double>& f) { return f.d; });
    solve_values(p, set, false, z.data());
    for (size_t i = 0; i < z.size(); ++i)
        x[set.active[i]].d = z[i];
    mlcp_velocity(p, x, set.s.data());
}

template <class T>
void solve_active_set_adj(const MlcpView<T>& p, ActiveSet<T>& set, const T* x, const T* x_bar, T* s_bar,
                          T* bound_bar) {
    const size_t n = set.active.size();
    if (!set.has_factor || !is_linear(set)) assemble(p, set, x);
    for (size_t i = 0; i < n; ++i)
        set.work[i] = -x_bar[set.active[i]];
    solve_equations_inplace(p, set, x, true);
    for (size_t i = 0; i < n; ++i) {
        const Equation<T> e = equation(p, set.state, x, set.s.data(), set.active[i]);
        const T& z = set.work[i];
        for (int k = 0; k < e.count_s; ++k)
            s_bar[e.row_s + k] += e.P[k] * z;
        bound_bar[e.row_bound] += e.r_bound * z;
    }
}

void active_set_response(const MlcpView<double>& p, ActiveSet<double>& set, const double* x, int columns,
                         const double* ds, double* dx) {
    const size_t n = set.active.size(), width = columns;
    if (!set.has_factor || !is_linear(set)) assemble(p, set, x);
    set.columns.assign(n * width, 0);
    for (size_t i = 0; i < n; ++i) {
        const Equation<double> e = equation(p, set.state, x, set.s.data(), set.active[i]);
        for (int k = 0; k < e.count_s; ++k)
            for (size_t c = 0; c < width; ++c)
                set.columns[i * width + c] -= e.P[k] * ds[(e.row_s + k) * width + c];
    }
    if (p.factored == nullptr) {
        set.solver.solve_columns_inplace(set.columns.data(), columns);
    } else {
        for (size_t c = 0; c < width; ++c) {
            for (size_t i = 0; i < n; ++i)
                set.work[i] = set.columns[i * width + c];
            set.factored.solve_inplace(set.work.data());
            for (size_t i = 0; i < n; ++i)
                set.columns[i * width + c] = set.work[i];
        }
    }
    for (size_t r = 0; r < set.state.size(); ++r)
        if (set.state[r] == RowState::separating) std::fill_n(dx + r * width, width, 0.0);
    for (size_t i = 0; i < n; ++i)
        std::copy_n(set.columns.data() + i * width, width, dx + set.active[i] * width);
}

template <class T>
void classify(const MlcpView<T>& p, FrictionLaw law, const T* x_at, const T* s_at, RowState* state) {
    const auto diagonal = [&](int r) { return value_of(p.diagonal(r)); };
    const auto x = [&](int r) { return value_of(x_at[r]); };
    const auto s = [&](int r) { return value_of(s_at[r]); };
    const auto step = [&](int r) { return x(r) - s(r) / diagonal(r); };
    double no_slip = 0;  // slower slip is round-off, and its direction has no meaning
    for (int r = 0; r < p.rows; ++r)
        no_slip = std::max(no_slip, 1e-10 * std::abs(value_of(p.b[r])));
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) {
            state[r] = RowState::separating;
        } else if (p.type[r] == RowType::free) {
            state[r] = RowState::clamping;
        } else if (const int rows = law != FrictionLaw::box ? p.friction_rows(r) : 0; rows > 0) {
            const double mu = value_of(p.mu(r + 1)), a = diagonal(r);
            double moves[max_friction_rows], target[max_friction_rows];  // 0 where no impulse acts
            for (int i = 0; i < rows; ++i) {
                moves[i] = p.drops(r + 1 + i) ? 0 : s(r + 1 + i);
                target[i] = x(r + 1 + i) - moves[i] / a;
            }
            const double slip = length_of(moves, rows), tangent = length_of(target, rows);
            const double n = x(r) - (s(r) + (law == FrictionLaw::cone ? mu * slip : 0)) / a;
            const bool sticks = n > 0 && tangent <= mu * n;
            const bool pulls_at_rest = n <= 0 && slip <= no_slip;
            const bool breaks = !sticks && (mu * tangent <= -n || pulls_at_rest);
            RowState friction = sticks || slip <= no_slip ? RowState::clamping : RowState::sliding;
            // no friction, whichever way it will slip
            if (breaks || (mu == 0 && slip <= no_slip)) friction = RowState::separating;
            state[r] = breaks ? RowState::separating : RowState::clamping;
            if (friction == RowState::sliding && law == FrictionLaw::relaxed_cone)
                state[r] = RowState::dilating;
            for (int t = r + 1; t <= r + rows; ++t)
                state[t] = p.drops(t) ? RowState::separating : friction;
            r += rows;
        } else if (p.type[r] == RowType::unilateral) {
            state[r] = step(r) > 0 ? RowState::clamping : RowState::separating;
        } else {
            const bool boxed = p.type[r] == RowType::boxed;
            const int n = boxed ? r : p.normal_of(r);
            if (!boxed && state[n] == RowState::separating) {
                state[r] = RowState::separating;
                continue;
            }
            const double bound = boxed ? value_of(p.max_impulse(r)) : value_of(p.mu(r)) * std::max(0.0, x(n)),
                         y = step(r);
            state[r] = y > bound ? RowState::upper : (y < -bound ? RowState::lower : RowState::clamping);
            // no friction, whichever way it will slip
            if (bound == 0 && y == 0) state[r] = RowState::separating;
        }
    }
}

namespace {

// set.state from x
template <class T> void classify_at(const MlcpView<T>& p, FrictionLaw law, ActiveSet<T>& set, const T* x) {
    const size_t n = p.rows;
    set.state.resize(n);
    set.s.resize(n);
    mlcp_velocity(p, x, set.s.data());
    classify(p, law, x, set.s.data(), set.state.data());
}

// Contacts and limits that pull by no more than the residual of a solution get no impulse. True if there are
// any.
bool release_pulling(const MlcpView<double>& p, double* x) {
    bool pulls = false;
    for (int r = 0; r < p.rows; ++r) {
        if (p.type[r] != RowType::unilateral || !(x[r] < 0)) continue;
        std::fill_n(x + r, 1 + p.friction_rows(r), 0.0);
        pulls = true;
    }
    return pulls;
}

// Projects an iterate that is no solution on its bounds. True if it was beyond them.
bool hold_within_bounds(const MlcpView<double>& p, FrictionLaw law, double* x) {
    if (!broken_bound(p, law, x)) return false;
    for (int r = 0; r < p.rows; ++r) {
        const int friction = law == FrictionLaw::box ? 0 : p.friction_rows(r);
        if (p.drops(r))
            x[r] = 0;
        else if (p.type[r] == RowType::unilateral)
            x[r] = std::max(0.0, x[r]);
        else if (p.type[r] != RowType::free)
            x[r] = std::clamp(x[r], -p.largest_impulse(r, x), p.largest_impulse(r, x));
        if (friction == 0) continue;
        const double length = length_of(x + r + 1, friction), bound = p.mu(r + 1) * x[r];
        for (int i = 1; i <= friction && length > bound; ++i)
            x[r + i] *= bound / length;
        r += friction;
    }
    return true;
}

// set <- the states of `found` and their equations, if x solves them; set.settled <- x after one more step. Otherwise
// set stays the one at x.
bool take_states(const ActiveSet<double>& found, const MlcpView<double>& p, FrictionLaw law,
                 ActiveSet<double>& set, const double* x) {
    if (found.state.size() != set.state.size()) return false;
    set.state = found.state;
    linearise_states(p, set, x);
    mlcp_velocity(p, set.settled.data(), set.s.data());
    if (mlcp_residual(p, set.settled.data(), set.s.data(), law) <= acceptable_residual(p, x)) return true;
    classify_at(p, law, set, x);
    linearise_states(p, set, x);
    return false;
}

}  // namespace

template <class T> void linearise_at(const MlcpView<T>& p, FrictionLaw law, ActiveSet<T>& set, const T* x) {
    classify_at(p, law, set, x);
    linearise_states(p, set, x);
}

template <class T> void linearise_states(const MlcpView<T>& p, ActiveSet<T>& set, const T* x) {
    set.settled.assign(x, x + p.rows);
    solve_active_set(p, set, set.settled.data());
    mlcp_velocity(p, x, set.s.data());
}

void settle_inplace(const MlcpView<double>& p, FrictionLaw law, ActiveSet<double>& set, double* x,
                    const ActiveSet<double>* found) {
    classify_at(p, law, set, x);
    const double before = mlcp_residual(p, x, set.s.data(), law);
    const bool others = found != nullptr && found->state != set.state,
               has_factor = found != nullptr && p.factored == nullptr && found->solver.full_rank() && !others;
    if (has_factor) set.solver = found->solver;
    set.settled.assign(x, x + p.rows);
    newton_step(p, set, set.s.data(), has_factor, set.settled.data());
    if (mlcp_residual(p, set.settled.data(), set.s.data(), law) <= before)
        std::ranges::copy(set.settled, x);
    else if (others && take_states(*found, p, law, set, x))
        std::ranges::copy(set.settled, x);
    else
        mlcp_velocity(p, x, set.s.data());
    const bool released = release_pulling(p, x);
    if (hold_within_bounds(p, law, x) || released) mlcp_velocity(p, x, set.s.data());
}

void take_solution(const MlcpView<double>& p, FrictionLaw law, ActiveSet<double>& set, double* x) {
    classify_at(p, law, set, x);
    if (activate(p, set, x)) mlcp_velocity(p, x, set.s.data());
    set.work.resize(set.active.size());
    set.has_factor = false;
}

#define INSTANTIATE(T)                                                                                       \
    template void solve_active_set(const MlcpView<T>&, ActiveSet<T>&, T*);                                   \
    template void classify(const MlcpView<T>&, FrictionLaw, const T*, const T*, RowState*);                  \
    template void linearise_states(const MlcpView<T>&, ActiveSet<T>&, const T*);                             \
    template void linearise_at(const MlcpView<T>&, FrictionLaw, ActiveSet<T>&, const T*);                    \
    template void solve_active_set_adj(const MlcpView<T>&, ActiveSet<T>&, const T*, const T*, T*, T*);
INSTANTIATE(double)
INSTANTIATE(Dual<double>)
#undef INSTANTIATE

}  // namespace costate
