// Small linear programs as references for tests.
#pragma once

#include <cmath>
#include <optional>

#include "core/math/linalg.hpp"

namespace costate::test {

using MatrixX = Eigen::MatrixXd;

// The x that maximises c . x subject to A x <= b and -1 <= x_i <= 1; empty if infeasible. Rows are added one
// by one. A row violated by the best x so far holds with equality, which eliminates a variable (Seidel,
// "Small-dimensional linear programming and convex hulls made easy", 1991). Fast for a few variables.
inline std::optional<VecX<double>> maximise(const MatrixX& A, const VecX<double>& b, const VecX<double>& c) {
    constexpr double tolerance = 1e-13;
    const Eigen::Index n = c.size();
    VecX<double> x = c.unaryExpr([](double slope) { return slope < 0 ? -1.0 : 1.0; });
    for (Eigen::Index row = 0; row < A.rows(); ++row) {
        if (A.row(row).dot(x) <= b[row] + tolerance) continue;
        Eigen::Index out = 0;
        const double pivot = A.row(row).cwiseAbs().maxCoeff(&out);
        if (pivot <= tolerance) return {};
        // x_out = level - share . (the other variables)
        const auto others = [&](const VecX<double>& v) -> VecX<double> {
            VecX<double> rest(n - 1);
            rest << v.head(out), v.tail(n - 1 - out);
            return rest;
        };
        const VecX<double> share = others(A.row(row).transpose()) / A(row, out);
        const double level = b[row] / A(row, out);
        MatrixX reduced(row + 2, n - 1);
        VecX<double> bound(row + 2);
        for (Eigen::Index k = 0; k < row; ++k) {
            reduced.row(k) = others(A.row(k).transpose()).transpose() - A(k, out) * share.transpose();
            bound[k] = b[k] - A(k, out) * level;
        }
        reduced.row(row) = -share.transpose();  // x_out <= 1
        bound[row] = 1 - level;
        reduced.row(row + 1) = share.transpose();  // -x_out <= 1
        bound[row + 1] = 1 + level;
        VecX<double> rest(0);
        if (n == 1) {
            if (bound.minCoeff() < -tolerance) return {};
        } else {
            const std::optional<VecX<double>> best = maximise(reduced, bound, others(c) - c[out] * share);
            if (!best) return {};
            rest = *best;
        }
        x << rest.head(out), level - share.dot(rest), rest.tail(n - 1 - out);
    }
    return x;
}

}  // namespace costate::test
