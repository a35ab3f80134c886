#include "core/math/products.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace costate;

TEST_CASE(
    "products: small products are those of Eigen, for every size and both storage orders of the right "
    "factor") {
    using ByRows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    const auto draw = [&](Eigen::Index rows, Eigen::Index columns) {
        return Eigen::MatrixXd::NullaryExpr(rows, columns, [&] { return normal(random); }).eval();
    };
    for (const Eigen::Index rows : {0, 1, 3, 12, 37})
        for (Eigen::Index inner = 0; inner < 10; ++inner)
            for (const Eigen::Index columns : {0, 1, 5, 18}) {
                const Eigen::MatrixXd L = draw(rows, inner);
                Eigen::MatrixXd R = draw(inner, columns);
                if (inner > 5 && columns > 1) R.col(1).head(5).setZero();
                const Eigen::MatrixXd expected = L * R;
                CHECK((product(L, R) - expected).norm() <= 1e-14 * (1 + expected.norm()));
                CHECK((product(L, ByRows(R)) - expected).norm() <= 1e-14 * (1 + expected.norm()));
            }
}
