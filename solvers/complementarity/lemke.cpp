// Lemke's complementary pivoting (Cottle, Pang & Stone, The Linear Complementarity Problem, 1992, algorithm
// 4.4.5) on the boxed problem in the form of Stewart & Trinkle,
//
//   w = M z + q >= 0,   z >= 0,   w.z = 0
//
// where a row between bounds has x = d+ - d- and
//
//   w_n  = s_n             >= 0  with  x_n >= 0      unilateral
//   w_d+ = gamma + s_t     >= 0  with  d+  >= 0
//   w_d- = gamma - s_t     >= 0  with  d-  >= 0      between -+ mu x_n or -+ mu
//   w_g  = mu x_n - d+ - d- >= 0 with gamma >= 0
//
// z.Mz = x.Ax + sum of mu x_n gamma >= 0 for z >= 0, so with positive compliance the method ends in a
// solution. Free rows are eliminated first. Rows are scaled. q is perturbed so that no two ratios are equal,
// because only the states of the result are used.
#include <Eigen/LU>

#include "solvers/complementarity/lcp.hpp"

namespace costate {

namespace {

// x = E z + e without the free rows, which follow from the other rows.
struct Variables {
    std::vector<int> free, bounded, unilateral;
    int size() const { return static_cast<int>(unilateral.size() + 3 * bounded.size()); }
};

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Pivots the tableau [w | z | z_0 | q] until z_0 leaves; basis[i] is the column that row i holds.
bool complementary_pivoting(Eigen::Map<Matrix>& t, std::vector<int>& basis, double& work) {
    const int n = static_cast<int>(t.rows()), z0 = 2 * n, q = 2 * n + 1;
    const double round_off = 1e-14 * t.cwiseAbs().maxCoeff();
    const auto swap_in = [&](int row, int column) {
        t.row(row) /= t(row, column);
        for (int i = 0; i < n; ++i)
            if (i != row && t(i, column) != 0) t.row(i) -= t(i, column) * t.row(row);
        basis[row] = column;
    };
    int row;
    if (t.col(q).minCoeff(&row) >= 0) return true;
    int leaving = basis[row];
    swap_in(row, z0);
    for (int pivots = 0; pivots < 50 * n && work < max_work; ++pivots) {
        work += static_cast<double>(t.size());
        const int entering = leaving < n ? leaving + n : leaving - n;  // complement of the last one
        row = -1;
        double least = 0;
        for (int i = 0; i < n; ++i) {
            if (t(i, entering) <= round_off) continue;
            const double ratio = std::max(0.0, t(i, q)) / t(i, entering);
            const bool better =
                row < 0 || ratio < least * (1 - 1e-12) || (ratio <= least * (1 + 1e-12) && basis[i] == z0);
            if (better) {
                row = i;
                least = ratio;
            }
        }
        if (row < 0) return false;  // a ray
        leaving = basis[row];
        swap_in(row, entering);
        if (leaving == z0) return true;
    }
    return false;
}

}  // namespace

bool lemke(const MlcpView<double>& p, std::vector<double>& tableau, double* x, double& work) {
    Variables v;
    for (int r = 0; r < p.rows; ++r) {
        if (p.drops(r)) continue;
        (p.type[r] == RowType::free         ? v.free
         : p.type[r] == RowType::unilateral ? v.unilateral
                                            : v.bounded)
            .push_back(r);
    }
    const int n = v.size(), unilateral = static_cast<int>(v.unilateral.size()),
              bounded = static_cast<int>(v.bounded.size());
    if (n == 0) return false;
    std::vector<int> kept = v.unilateral;
    kept.insert(kept.end(), v.bounded.begin(), v.bounded.end());
    const Eigen::Map<const Matrix> A(p.A, p.rows, p.rows);
    const Eigen::Map<const Eigen::VectorXd> b(p.b, p.rows);
    // s on the kept rows, scaled to a diagonal of 1: x = d x', s' = d s; then eliminate the free rows
    const Eigen::VectorXd d = A.diagonal()(kept).cwiseSqrt().cwiseInverse();
    Eigen::MatrixXd S = A(kept, kept);
    Eigen::VectorXd c = b(kept);
    Eigen::PartialPivLU<Eigen::MatrixXd> free_factor;
    if (!v.free.empty()) {
        free_factor.compute(Eigen::MatrixXd(A(v.free, v.free)));
        S -= A(kept, v.free) * free_factor.solve(Eigen::MatrixXd(A(v.free, kept)));
        c -= A(kept, v.free) * free_factor.solve(Eigen::VectorXd(b(v.free)));
    }
    S = d.asDiagonal() * S * d.asDiagonal();
    c = d.cwiseProduct(c);
    // w = M z + q with z = (x_n; d+; d-; gamma)
    Eigen::MatrixXd M = Eigen::MatrixXd::Zero(n, n), E = Eigen::MatrixXd::Zero(unilateral + bounded, n);
    Eigen::VectorXd q(n);
    E.leftCols(unilateral + bounded).setIdentity();
    E.block(unilateral, unilateral + bounded, bounded, bounded) =
        -Eigen::MatrixXd::Identity(bounded, bounded);
    M = E.transpose() * S * E;
    q = E.transpose() * c;
    for (int i = 0; i < bounded; ++i) {
        const int r = v.bounded[i], up = unilateral + i, down = up + bounded, gamma = down + bounded;
        M(up, gamma) = M(down, gamma) = 1;
        M(gamma, up) = M(gamma, down) = -1;
        if (p.type[r] == RowType::boxed) {
            q[gamma] = p.max_impulse(r) / d[unilateral + i];
            continue;
        }
        const auto normal = std::ranges::find(v.unilateral, p.normal_of(r));
        if (normal != v.unilateral.end())
            M(gamma, static_cast<int>(normal - v.unilateral.begin())) =
                p.mu(r) * d[normal - v.unilateral.begin()] / d[unilateral + i];
    }
    // so that no two ratios are equal; the caller uses only the states
    const double scale = q.cwiseAbs().maxCoeff();
    for (int i = 0; i < n; ++i)
        q[i] += scale * 1e-8 * (1 + std::fmod(0.618034 * (i + 1), 1.0));
    tableau.assign(static_cast<size_t>(n) * static_cast<size_t>(2 * n + 2), 0);
    Eigen::Map<Matrix> t(tableau.data(), n, 2 * n + 2);
    t.leftCols(n).setIdentity();
    t.middleCols(n, n) = -M;
    t.col(2 * n).setConstant(-1);
    t.col(2 * n + 1) = q;
    std::vector<int> basis(n);
    for (int i = 0; i < n; ++i)
        basis[i] = i;
    if (!complementary_pivoting(t, basis, work)) return false;
    Eigen::VectorXd z = Eigen::VectorXd::Zero(n);
    for (int i = 0; i < n; ++i)
        if (const int column = basis[i] - n; column >= 0 && column < n) z[column] = t(i, 2 * n + 1);
    const Eigen::VectorXd y = d.cwiseProduct(E * z);
    std::fill(x, x + p.rows, 0.0);
    for (size_t i = 0; i < kept.size(); ++i)
        x[kept[i]] = y[static_cast<Eigen::Index>(i)];
    if (v.free.empty()) return true;
    const Eigen::VectorXd rest = free_factor.solve(Eigen::VectorXd(-b(v.free) - A(v.free, kept) * y));
    for (size_t i = 0; i < v.free.size(); ++i)
        x[v.free[i]] = rest[static_cast<Eigen::Index>(i)];
    return true;
}

}  // namespace costate
