// A solution of the cone's law also solves the box's law if the friction rows of every contact are rotated
// such that the first row is along its slip: there the box touches the disk of the cone, and the second row
// has no slip and no force. The boxed problem, which always has a solution, is therefore solved repeatedly
// with rows rotated to the slip of the last solution.
#include "solvers/complementarity/cone.hpp"

namespace costate {

namespace {

// Rotates rows t and t + 1 of the square matrix A and of b, and the columns of A:
//   (a, b) -> (c a + s b, c b - s a)
void rotate_rows_inplace(int rows, int t, double c, double s, double* A, double* b) {
    const auto rotate = [&](double& x, double& y) {
        const double was = x;
        x = c * x + s * y;
        y = c * y - s * was;
    };
    for (int i = 0; i < rows; ++i)
        rotate(A[t * rows + i], A[(t + 1) * rows + i]);
    for (int i = 0; i < rows; ++i)
        rotate(A[i * rows + t], A[i * rows + t + 1]);
    rotate(b[t], b[t + 1]);
}

}  // namespace

bool rotated_boxes(const MlcpView<double>& p, RotatedBoxes& w, double* x, bool by_pivots) {
    const size_t n = p.rows;
    w.A.assign(p.A, p.A + n * n);
    w.b.assign(p.b, p.b + n);
    w.x.assign(x, x + n);
    w.s.resize(n);
    const MlcpView<double> rotated{p.rows,   w.A.data(), w.b.data(),  p.type,
                                   p.normal, p.bound,    p.first_row, p.dropped};
    w.cosine.assign(n, 1);  // of row t: (t1, t2) = (c x - s y, s x + c y) of rotated rows (x, y)
    w.sine.assign(n, 0);
    mlcp_velocity(p, x, w.s.data());
    for (int r = 0; r < p.rows; ++r) {
        if (!p.contact_at(r)) continue;
        if (p.drops(r + 1) || p.drops(r + 2)) {  // at most one direction is left: box and cone agree
            r += 2;
            continue;
        }
        const int t = r + 1;
        const double bound = p.mu(t) * x[r], force = length_of(x[t], x[t + 1]),
                     slip = length_of(w.s[t], w.s[t + 1]);
        double c = 1, s = 0;
        if (force > (1 - 1e-6) * bound && force > 0) c = -x[t] / force, s = -x[t + 1] / force;
        if (slip > 1e-9 && force <= (1 + 1e-6) * bound) {
            c = w.s[t] / slip;
            s = w.s[t + 1] / slip;
        }
        rotate_rows_inplace(p.rows, t, c, s, w.A.data(), w.b.data());
        const double x1 = w.x[t], x2 = w.x[t + 1];
        w.x[t] = c * x1 + s * x2;
        w.x[t + 1] = c * x2 - s * x1;
        w.cosine[t] = c;
        w.sine[t] = s;
        r += 2;
    }
    const bool solved = by_pivots ? lcp_by_pivots(rotated, w.lcp, w.set, w.x.data())
                                  : lcp(rotated, w.lcp, w.set, w.x.data()) != SolverStatus::unsolved;
    std::copy(w.x.begin(), w.x.end(), x);
    for (int r = 0; r < p.rows; ++r) {
        if (!p.contact_at(r)) continue;
        const size_t t = r + 1;
        x[t] = w.cosine[t] * w.x[t] - w.sine[t] * w.x[t + 1];
        x[t + 1] = w.sine[t] * w.x[t] + w.cosine[t] * w.x[t + 1];
        r += 2;
    }
    return solved;
}

}  // namespace costate
