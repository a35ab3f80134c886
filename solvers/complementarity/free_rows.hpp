// The problem without its free rows, which hold equalities. They make sweeps converge slowly: a chain closed by
// an equality passes an impulse on row by row. With f the free rows and k the others,
//
//   x_f = -A_ff^-1 (b_f + A_fk x_k)
//   s_k = (A_kk - A_kf A_ff^-1 A_fk) x_k + b_k - A_kf A_ff^-1 b_f
#pragma once

#include <Eigen/Core>

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

class FreeRows {
public:
    // Eliminates the free rows of a dense problem. False if there are none, or no others, or if they are
    // redundant up to round-off.
    bool eliminate(const MlcpView<double>& p, const double* x);
    MlcpView<double> rest() const;  // of the other rows; its x (rows) is rest_x()
    double* rest_x() { return x_.data(); }
    // x of all rows from rest_x(); once
    void restore(const MlcpView<double>& p, double* x);

private:
    using Matrix = Eigen::Map<Eigen::MatrixXd>;
    using Vector = Eigen::Map<Eigen::VectorXd>;
    Matrix factor() { return {factor_.data(), count(free_), count(free_)}; }
    Matrix coupling() { return {coupling_.data(), count(free_), count(kept_)}; }
    Vector of_free() { return {of_free_.data(), count(free_)}; }
    static Eigen::Index count(const std::vector<int>& rows) { return static_cast<Eigen::Index>(rows.size()); }

    std::vector<int> kept_, free_, number_;  // rows; rows; (rows) number of a kept row
    std::vector<double> factor_;             // (free x free) L of A_ff = L L^T, column-major
    std::vector<double> coupling_;           // (free x kept) L^-1 A_fk, column-major
    std::vector<double> of_free_;            // (free) L^-1 b_f, then -x_f
    std::vector<double> A_, b_, bound_, x_;  // of the kept rows, as in MlcpView
    std::vector<int> normal_;
    std::vector<RowType> type_;
    std::vector<unsigned char> dropped_;
};

}  // namespace costate
