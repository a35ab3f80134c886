// Matrices as C has them, row by row.
#pragma once

#include "core/math/linalg.hpp"

namespace costate::c_api {

// Writes a matrix by rows and returns the place behind it.
inline double* write_rows(const Eigen::MatrixXd& m, double* out) {
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(out, m.rows(),
                                                                                       m.cols()) = m;
    return out + m.size();
}

}  // namespace costate::c_api
