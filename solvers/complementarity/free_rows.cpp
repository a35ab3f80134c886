#include "solvers/complementarity/free_rows.hpp"

#include <Eigen/Cholesky>

namespace costate {

bool FreeRows::eliminate(const MlcpView<double>& p, const double* x) {
    kept_.clear();
    free_.clear();
    number_.assign(p.rows, -1);
    for (int r = 0; r < p.rows; ++r) {
        if (p.type[r] != RowType::free) {
            number_[r] = static_cast<int>(kept_.size());
            kept_.push_back(r);
        } else if (!p.drops(r)) {
            free_.push_back(r);
        }
    }
    if (free_.empty() || kept_.empty()) return false;

    const auto take = [&](const std::vector<int>& rows, const std::vector<int>& columns,
                          std::vector<double>& out) {
        out.clear();
        for (const int c : columns)
            for (const int r : rows)
                out.push_back(p.A[r * p.rows + c]);
    };
    take(free_, free_, factor_);
    Matrix L = factor();
    if (Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(L).info() != Eigen::Success) return false;
    take(free_, kept_, coupling_);
    Matrix coupled = coupling();
    L.triangularView<Eigen::Lower>().solveInPlace(coupled);
    of_free_.clear();
    for (const int r : free_)
        of_free_.push_back(p.b[r]);
    Vector b_free = of_free();
    L.triangularView<Eigen::Lower>().solveInPlace(b_free);

    take(kept_, kept_, A_);
    b_.clear();
    bound_.clear();
    x_.clear();
    type_.clear();
    normal_.clear();
    dropped_.clear();
    const Eigen::Index n = count(kept_);
    bool positive = true;
    for (Eigen::Index i = 0; i < n; ++i) {
        const int r = kept_[i];
        for (Eigen::Index j = 0; j <= i; ++j) {  // both halves alike
            const double a = A_[i * n + j] - coupled.col(i).dot(coupled.col(j));
            A_[i * n + j] = A_[j * n + i] = a;
            positive = positive && (i != j || a > 0);
        }
        b_.push_back(p.b[r] - coupled.col(i).dot(b_free));
        bound_.push_back(p.bound[r]);
        x_.push_back(x[r]);
        type_.push_back(p.type[r]);
        normal_.push_back(p.type[r] == RowType::friction ? number_[p.normal_of(r)] : -1);
        dropped_.push_back(p.drops(r) ? 1 : 0);
    }
    return positive;
}

MlcpView<double> FreeRows::rest() const {
    return {static_cast<int>(kept_.size()),
            A_.data(),
            b_.data(),
            type_.data(),
            normal_.data(),
            bound_.data(),
            0,
            dropped_.data()};
}

void FreeRows::restore(const MlcpView<double>& p, double* x) {
    Vector b_free = of_free();
    const Vector rest(x_.data(), count(kept_));
    b_free.noalias() += coupling() * rest;
    factor().triangularView<Eigen::Lower>().transpose().solveInPlace(b_free);
    for (int r = 0; r < p.rows; ++r)
        x[r] = 0;
    for (size_t i = 0; i < kept_.size(); ++i)
        x[kept_[i]] = x_[i];
    for (size_t i = 0; i < free_.size(); ++i)
        x[free_[i]] = -of_free_[i];
}

}  // namespace costate
