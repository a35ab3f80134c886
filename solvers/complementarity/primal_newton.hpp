// Newton's method for the relaxed law of rows that all have compliance, on the dofs of an island instead of its rows
// (Todorov, Convex and analytically-invertible dynamics with contacts and constraints, ICRA 2014, section III). With a
// factored A = W W^T + R and the change v = W^T x of velocity by the impulses, these are a function of v:
//
//   x(v) = argmin of x.(R x)/2 + u.x over the x within their bounds,   u = b + W v
//
// a projection, row by row or contact by contact. v is the minimum of a strictly convex function with
//
//   gradient v - W^T x(v),   Hessian 1 + W^T D W,   D = -dx/du
//
// Newton's method with a search along each step finds it from any start. The equations have the size of the island's
// dofs, however many contacts there are.
#pragma once

#include "solvers/complementarity/mlcp.hpp"

namespace costate {

class PrimalNewton {
public:
    // x (rows): in, a start; out, the solution. False if A is not factored, a row has no compliance, the island has
    // more than 200 dofs, or the iterates do not settle: then x is the start. Also false if x has come as close to the
    // solution as round-off allows, but not within its residual: with little compliance, about 1e-7 of the diagonal.
    bool solve(const MlcpView<double>& p, double* x);

private:
    // Rows with one projection: a contact, or a single row
    struct Group {
        static constexpr int most = max_contact_rows * max_contact_rows;
        int first, rows;
        double D[most], in_H[most];  // (rows x rows) and that of the last H
    };
    bool collect_groups(const MlcpView<double>& p);
    void find_impulses(const MlcpView<double>& p, const double* u, bool with_derivatives);
    void find_gradient(const MlcpView<double>& p);
    bool find_step(const MlcpView<double>& p);
    double slope_after(const MlcpView<double>& p, double length);
    double search(const MlcpView<double>& p);

    std::vector<Group> groups_;
    std::vector<double> x_, u_, trial_,
        du_;  // (rows) impulses; b + W v, at v and after a part of the step; W dv
    std::vector<double> v_, gradient_, dv_;  // (dofs)
    std::vector<double> H_, factor_;         // (matrix_size(dofs))
};

}  // namespace costate
