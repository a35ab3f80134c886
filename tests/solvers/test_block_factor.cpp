// LU factors by blocks against Eigen's LU of the whole matrix, for random graphs of blocks with one to seven
// rows.
#include "solvers/complementarity/factors/block_factor.hpp"

#include <doctest/doctest.h>

#include <Eigen/LU>

#include "tests/support/random_case.hpp"

using namespace costate;
using namespace costate::test;

namespace {

struct BlockMatrix {
    std::vector<int> start{0};
    std::vector<std::pair<int, int>> touching;
    Eigen::MatrixXd H;
    BlockMatrix(Rng& g, int blocks) {
        for (int i = 0; i < blocks; ++i)
            start.push_back(start.back() + 1 + static_cast<int>(g.uniform(0, 7)));
        const auto any = [&] { return static_cast<int>(g.uniform(0, blocks)); };
        for (int k = 0; k < 2 * blocks; ++k)
            if (const int i = any(), j = any(); i != j) touching.emplace_back(i, j);
        H.setIdentity(start.back(), start.back());
    }
    // Fills both matrices with random numbers of the given size.
    void fill(Rng& g, double size, BlockFactor& factor) {
        factor.analyse(start.data(), static_cast<int>(start.size()) - 1, touching);
        factor.set_identity();
        H.setIdentity();
        const auto add = [&](int i, int j) {
            const BlockFactor::Block block = factor.block(i, j);
            const int row = start[i], column = start[j];
            for (int a = 0; row + a < start[i + 1]; ++a)
                for (int b = 0; column + b < start[j + 1]; ++b) {
                    const double entry = size * g.uniform(-1, 1);
                    block(a, b) += entry;
                    H(row + a, column + b) += entry;
                }
        };
        for (int i = 0; i + 1 < static_cast<int>(start.size()); ++i)
            add(i, i);
        for (const auto& [i, j] : touching) {
            add(i, j);
            add(j, i);
        }
    }
};

}  // namespace

TEST_CASE("block factors solve with the matrix and its transpose") {
    Rng g(5);
    BlockFactor factor;  // one object for all patterns, as in a simulation
    for (const int blocks : {1, 2, 3, 10, 40, 10, 1}) {
        BlockMatrix c(g, blocks);
        for (int trial = 0; trial < 3; ++trial) {
            c.fill(g, 0.2, factor);
            REQUIRE(factor.factor());
            const Eigen::VectorXd y = Eigen::VectorXd::Random(c.H.rows());
            Eigen::VectorXd x = y, z = y;
            factor.solve_inplace(x.data());
            factor.solve_transposed_inplace(z.data());
            const double tolerance = 1e-13 * c.H.inverse().norm() * c.H.norm();
            CHECK((c.H * x - y).norm() <= tolerance * y.norm());
            CHECK((c.H.transpose() * z - y).norm() <= tolerance * y.norm());
        }
    }
}

TEST_CASE("block factors: a singular matrix is reported") {
    Rng g(6);
    BlockFactor factor;
    BlockMatrix c(g, 3);
    c.fill(g, 0.1, factor);
    const BlockFactor::Block block = factor.block(1, 1);
    block(0, 0) = std::numeric_limits<double>::quiet_NaN();
    CHECK(!factor.factor());
}

// A chain of blocks has no fill-in for any numbering: the work is proportional to its length.
TEST_CASE("block factors: a chain is eliminated without fill") {
    const auto work = [](int blocks) {
        std::vector<int> start{0};
        std::vector<std::pair<int, int>> touching;
        for (int i = 0; i < blocks; ++i)
            start.push_back(start.back() + 6);
        for (int i = 0; i < blocks; ++i)
            touching.emplace_back(i * 7 % blocks, (i + 1) * 7 % blocks);
        touching.pop_back();
        BlockFactor factor;
        factor.analyse(start.data(), blocks, touching);
        return factor.work();
    };
    CHECK(work(200) <= 2.1 * work(100));
}
