#include "adjoint/optimize/box_qp.hpp"

#include <Eigen/Cholesky>

namespace costate {

Eigen::MatrixXd BoxQp::response(const Eigen::MatrixXd& B) const {
    Eigen::MatrixXd out = Eigen::MatrixXd::Zero(B.rows(), B.cols());
    if (free.empty()) return out;
    Eigen::MatrixXd part = B(free, Eigen::all);
    L.triangularView<Eigen::Lower>().solveInPlace(part);
    L.transpose().triangularView<Eigen::Upper>().solveInPlace(part);
    out(free, Eigen::all) = part;
    return out;
}

BoxQp solve_box_qp(const Eigen::MatrixXd& H, const VecX<double>& g, const VecX<double>& lower,
                   const VecX<double>& upper, const VecX<double>& start) {
    constexpr int max_iterations = 100;
    constexpr double armijo = 0.1, least_step = 1e-20, tolerance = 1e-12;
    BoxQp qp;
    const auto inside = [&](const VecX<double>& y) {
        return VecX<double>(y.cwiseMax(lower).cwiseMin(upper));
    };
    const auto value = [&](const VecX<double>& y) { return g.dot(y) + 0.5 * y.dot(H * y); };
    qp.x = inside(start);
    std::vector<int> factored;
    for (int iteration = 0; iteration < max_iterations; ++iteration) {
        const VecX<double> gradient = g + H * qp.x;
        qp.free.clear();
        for (int i = 0; i < static_cast<int>(g.size()); ++i)
            if (!(qp.x[i] <= lower[i] && gradient[i] > 0) && !(qp.x[i] >= upper[i] && gradient[i] < 0))
                qp.free.push_back(i);
        if (qp.free.empty()) {
            qp.solved = true;
            return qp;
        }
        if (iteration == 0 || qp.free != factored) {
            const Eigen::LLT<Eigen::MatrixXd> llt(Eigen::MatrixXd(H(qp.free, qp.free)));
            if (llt.info() != Eigen::Success) return qp;
            qp.L = llt.matrixL();
            factored = qp.free;
        }
        const VecX<double> step = -qp.response(gradient);
        const double slope = step.dot(gradient);  // <= 0
        if (-slope <= tolerance * tolerance * (1 + std::abs(value(qp.x)))) {
            qp.solved = true;
            return qp;
        }
        double length = 1;
        VecX<double> next = inside(qp.x + step);
        while (length > least_step && value(next) > value(qp.x) + armijo * gradient.dot(next - qp.x))
            next = inside(qp.x + (length *= 0.6) * step);
        if (next == qp.x || length <= least_step) {  // round-off
            qp.solved = true;
            return qp;
        }
        qp.x = next;
    }
    return qp;
}

}  // namespace costate
