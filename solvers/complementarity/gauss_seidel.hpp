// Projected Gauss-Seidel without a record for its reverse: the start of exact solvers, and what they do between
// other methods.
#pragma once

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

// s = A x + b while x changes row by row, as in a sweep. work: becomes s of a dense A.
class SweptVelocity {
public:
    SweptVelocity(const MlcpView<double>& p, std::vector<double>& work, double* x) : p_(p), x_(x) {
        if (p.factored != nullptr) {
            std::fill(p.factored->swept, p.factored->swept + p.factored->dofs, 0.0);
            for (int r = 0; r < p.rows; ++r)
                p.factored->add(r, x[r], p.factored->swept);
            return;
        }
        work.resize(p.rows);
        s_ = work.data();
        mlcp_velocity(p, x, s_);
    }
    double operator()(int r) const {
        if (p_.factored == nullptr) return s_[r];
        return p_.b[r] + p_.factored->R[r] * x_[r] + p_.factored->dot(r, p_.factored->swept);
    }
    // x_r <- value
    void set(int r, double value) {
        const double change = value - x_[r];
        x_[r] = value;
        if (change == 0) return;
        if (p_.factored != nullptr)
            p_.factored->add(r, change, p_.factored->swept);
        else
            add_scaled(p_.A + r * p_.rows, change, p_.rows, s_);
    }

private:
    const MlcpView<double>& p_;
    double *x_, *s_ = nullptr;
};

// Runs `sweeps` sweeps on the boxed problem from x, in place.
void gauss_seidel_inplace(const MlcpView<double>& p, int sweeps, std::vector<double>& work, double* x);

inline bool is_zero(const double* x, int rows) {
    return std::all_of(x, x + rows, [](double impulse) { return impulse == 0; });
}
// A start for exact solvers: x, or the impulses of a few sweeps if x is 0.
inline void guess_inplace(const MlcpView<double>& p, std::vector<double>& work, double* x) {
    constexpr int sweeps = 10;
    if (is_zero(x, p.rows)) gauss_seidel_inplace(p, sweeps, work, x);
}

}  // namespace costate
