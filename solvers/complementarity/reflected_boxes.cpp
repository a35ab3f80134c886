// A solution of the cone's law also solves the box's law if the friction rows of every contact are reflected
// such that the first row is along its slip: there the box touches the ball of the cone, and the other rows
// have no slip and no force. The boxed problem, which always has a solution, is therefore solved repeatedly
// with rows reflected to the slip of the last solution.
#include "solvers/complementarity/cone.hpp"

namespace costate {

namespace {

// y <- H y for the reflection that exchanges the unit vector u (n) and the first axis. y_i = y[i * stride]. With
// u_0 <= 0:
//   H = 1 - w w^T/(1 - u_0),   w = e_0 - u
void reflect_inplace(const double* u, int n, double* y, int stride) {
    double along = y[0];
    for (int i = 0; i < n; ++i)
        along -= u[i] * y[i * stride];
    along /= 1 - u[0];
    y[0] -= along;
    for (int i = 0; i < n; ++i)
        y[i * stride] += along * u[i];
}

// Reflects the rows and columns t ... t + n - 1 of the square matrix A, and these entries of b and x.
void reflect_rows_inplace(int rows, int t, int n, const double* u, double* A, double* b, double* x) {
    for (int c = 0; c < rows; ++c)
        reflect_inplace(u, n, A + t * rows + c, rows);
    for (int r = 0; r < rows; ++r)
        reflect_inplace(u, n, A + r * rows + t, 1);
    reflect_inplace(u, n, b + t, 1);
    reflect_inplace(u, n, x + t, 1);
}

// Direction of the slip s (n) at the impulses x (n), or against x where nothing slips; the sign with u_0 <= 0,
// as the box is symmetric. s of dropped rows becomes 0.
void slip_direction(const unsigned char* dropped, double* s, const double* x, int n, double bound,
                    double* u) {
    for (int i = 0; i < n && dropped != nullptr; ++i)
        if (dropped[i] != 0) s[i] = 0;
    const double force = length_of(x, n), slip = length_of(s, n);
    std::fill_n(u, n, 0.0);
    u[0] = -1;
    const double* along = force > (1 - 1e-6) * bound && force > 0 ? x : nullptr;
    if (slip > 1e-9 && force <= (1 + 1e-6) * bound) along = s;
    if (along == nullptr) return;
    const double length = along == x ? force : slip;
    for (int i = 0; i < n; ++i)
        u[i] = (along[0] > 0 ? -along[i] : along[i]) / length;
}

// visit(t, n) for the friction rows t ... t + n - 1 of every contact, of which row t is not dropped.
template <class Visit> void for_each_friction(const MlcpView<double>& p, const Visit& visit) {
    for (int r = 0; r < p.rows; ++r) {
        const int end = r + 1 + p.friction_rows(r);
        int t = r + 1;
        while (t < end && p.drops(t))
            ++t;
        if (t < end) visit(t, end - t);
        r = end - 1;
    }
}

}  // namespace

bool reflected_boxes(const MlcpView<double>& p, ReflectedBoxes& w, double* x, bool by_pivots) {
    const size_t n = p.rows;
    w.A.assign(p.A, p.A + n * n);
    w.b.assign(p.b, p.b + n);
    w.x.assign(x, x + n);
    w.s.resize(n);
    w.u.resize(n);
    const MlcpView<double> reflected{p.rows,   w.A.data(), w.b.data(),  p.type,
                                     p.normal, p.bound,    p.first_row, p.dropped};
    mlcp_velocity(p, x, w.s.data());
    for_each_friction(p, [&](int t, int rows) {
        slip_direction(p.dropped != nullptr ? p.dropped + t : nullptr, w.s.data() + t, x + t, rows,
                       p.mu(t) * x[p.normal_of(t)], w.u.data() + t);
        reflect_rows_inplace(p.rows, t, rows, w.u.data() + t, w.A.data(), w.b.data(), w.x.data());
    });
    const bool solved = by_pivots ? lcp_by_pivots(reflected, w.lcp, w.set, w.x.data())
                                  : lcp(reflected, w.lcp, w.set, w.x.data()) != SolverStatus::unsolved;
    std::copy(w.x.begin(), w.x.end(), x);
    for_each_friction(p, [&](int t, int rows) { reflect_inplace(w.u.data() + t, rows, x + t, 1); });
    return solved;
}

}  // namespace costate
