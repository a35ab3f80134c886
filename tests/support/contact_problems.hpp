// Contact problems with a solution by construction: A = J M^-1 J^T + R and b = -J v* + slack, so that the
// velocity v* keeps every contact open. Rigid bodies of unit size touch each other and the ground at random
// points.
#pragma once

#include <random>

#include "solvers/complementarity/mlcp.hpp"

namespace costate::test {

enum class Family { scattered, stacked, heavy_on_light, redundant };

struct ContactProblem {
    using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Matrix A;
    Eigen::VectorXd b, mu;
    std::vector<RowType> type;
    std::vector<int> normal;
    MlcpView<double> view() const {
        return {static_cast<int>(b.size()), A.data(), b.data(), type.data(), normal.data(), mu.data(), 0};
    }
};

// condim: rows of each contact, as of a shape; torsional and rolling arms are up to 0.2.
inline ContactProblem contact_problem(Family family, unsigned seed, int condim = 3) {
    std::mt19937 g(seed);
    std::normal_distribution<double> gauss;
    std::uniform_real_distribution<double> uniform;
    const auto vector = [&] { return Eigen::Vector3d(gauss(g), gauss(g), gauss(g)); };
    const auto integer = [&](int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(g); };

    const int bodies = family == Family::redundant ? 1 : integer(1, 5);
    Eigen::VectorXd inverse_mass(6 * bodies);
    for (int i = 0; i < bodies; ++i) {
        const bool stacked = family == Family::stacked || family == Family::heavy_on_light;
        const double mass = family == Family::heavy_on_light
                                ? std::pow(10, 4 * (bodies > 1 ? double(i) / (bodies - 1) : 0))
                                : (stacked ? 1 : std::exp(gauss(g)));
        inverse_mass.segment<3>(6 * i).setConstant(1 / (0.1 * mass));
        inverse_mass.segment<3>(6 * i + 3).setConstant(1 / mass);
    }
    struct Touch {
        int a, b;
        Eigen::Vector3d p_a, p_b, n;
    };
    std::vector<Touch> touches;
    if (family == Family::scattered) {
        for (int c = integer(1, 2 * bodies); c-- > 0;) {
            const int a = integer(0, bodies - 1), b = integer(-1, bodies - 1);
            const Eigen::Vector3d n = vector().normalized();
            if (a != b) touches.push_back({a, b, -0.5 * n + 0.1 * vector(), 0.5 * n + 0.1 * vector(), n});
        }
        if (touches.empty()) touches.push_back({0, -1, {0, 0, -0.5}, Eigen::Vector3d::Zero(), {0, 0, 1}});
    } else {  // stacked boxes, or a box on the ground with redundant points
        const int corners = family == Family::redundant ? integer(4, 10) : integer(3, 4);
        for (int i = 0; i < bodies; ++i)
            for (int c = 0; c < corners; ++c) {
                const double angle = 2 * M_PI * (c + 0.2 * uniform(g)) / corners;
                const Eigen::Vector3d p(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0);
                touches.push_back(
                    {i, i - 1, p - Eigen::Vector3d(0, 0, 0.5), p + Eigen::Vector3d(0, 0, 0.5), {0, 0, 1}});
            }
    }
    const int contacts = static_cast<int>(touches.size());
    Eigen::MatrixXd J = Eigen::MatrixXd::Zero(condim * contacts, 6 * bodies);
    ContactProblem p;
    p.mu.setZero(condim * contacts);
    const double friction = uniform(g), torsional = condim > 3 ? 0.2 * uniform(g) : 0,
                 rolling = condim > 4 ? 0.2 * uniform(g) : 0;
    for (int c = 0; c < contacts; ++c) {
        const Touch& t = touches[c];
        const Eigen::Vector3d t1 = t.n.unitOrthogonal(), directions[3] = {t.n, t1, t.n.cross(t1)};
        for (int r = 0; r < condim; ++r) {
            const Eigen::Vector3d& d = directions[r % 3];
            const int row = condim * c + r;
            const auto put = [&](int body, const Eigen::Vector3d& point, double sign) {
                Eigen::Vector3d moment = point.cross(d), force = d;
                if (r >= 3) {
                    moment = (r == 3 ? torsional : rolling) * d;
                    force.setZero();
                }
                J.block<1, 3>(row, 6 * body) = sign * moment.transpose();
                J.block<1, 3>(row, 6 * body + 3) = sign * force.transpose();
            };
            put(t.a, t.p_a, 1);
            if (t.b >= 0) put(t.b, t.p_b, -1);
            p.type.push_back(r == 0 ? RowType::unilateral : RowType::friction);
            p.normal.push_back(condim * c);
            if (r > 0) p.mu[row] = friction;
        }
    }
    p.A = J * inverse_mass.asDiagonal() * J.transpose();
    p.A.diagonal().array() += 1e-6;
    Eigen::VectorXd v(6 * bodies);
    for (double& x : v)
        x = gauss(g);
    p.b = -J * v;
    for (int c = 0; c < contacts; ++c)
        p.b[condim * c] += uniform(g) < 0.5 ? 0 : uniform(g);
    return p;
}

}  // namespace costate::test
