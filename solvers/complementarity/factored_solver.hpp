// Solves the equations G z = f of an active set, G = P A + K, where A = W W^T + R is factored. P and K do not
// leave the rows of one contact, so that with y = W^T z
//
//   B z + P W y = f,      B = P R + K
//   z = B^-1 f - C W y,   C = B^-1 P
//   H y = W^T B^-1 f,     H = 1 + W^T C W
//
// and H has the size of the island's dofs and the pattern of the bodies that touch (the Woodbury identity).
// It is factored dense where dofs are few, else tree by tree (solvers/complementarity/block_factor.hpp).
// Where B^-1 is large, R being 1e-6, round-off is too, and steps of refinement take it away. R counts as at
// least 1e-10 of the diagonal in B, also refined away: of equations without a solution of their own,
// redundant rows without compliance, the result is a finite compromise. Deterministic.
#pragma once

#include "solvers/complementarity/block_factor.hpp"
#include "solvers/complementarity/dense_solver.hpp"
#include "solvers/complementarity/mlcp.hpp"

namespace costate {

// Of the rows of one contact, or of one row: at most three, that follow each other.
struct RowGroup {
    static constexpr int max_rows = 3;
    int first = 0, count = 0;                                         // in the order of the equations
    double P[max_rows * max_rows] = {}, K[max_rows * max_rows] = {};  // (count x count, row-major)
    double B_inverse[max_rows * max_rows] = {}, C[max_rows * max_rows] = {};
};

class FactoredSolver {
public:
    std::vector<RowGroup> groups;  // to be filled with P and K before `factor`

    // rows: of A, in the order in which the groups name them. A stays where it is until the last solve.
    void factor(const FactoredOperator<double>& A, const std::vector<int>& rows);
    void solve_inplace(double* z) { refine_inplace<false>(z); }            // z <- G^-1 z
    void solve_transposed_inplace(double* z) { refine_inplace<true>(z); }  // z <- G^-T z

    double expected_work(const FactoredOperator<double>& A);  // multiplications of a factorisation of A
    double work() const { return work_; }                     // those of the last one

private:
    void find_pattern();
    void eliminate_rows(double share);
    void add_products(const RowGroup& g);
    template <bool transposed> void solve_dofs_inplace();
    template <bool transposed> void refine_inplace(double* z);
    template <bool transposed> void once_inplace(double* z);
    template <bool transposed> void product(const double* z, double* f);  // f = G z or G^T z

    int dofs_ = 0;
    double work_ = 0;
    bool by_trees_ = false;
    bool factored_ = false;  // whether H by blocks has factors: not if its entries are not finite
    const FactoredOperator<double>* A_ = nullptr;
    std::vector<int> rows_;
    std::vector<double> y_;                // (dofs)
    std::vector<double> f_, rest_, last_;  // (rows)
    std::vector<double> dense_;            // H
    DenseSolver dense_factor_;
    BlockFactor blocks_;        // H where dofs are many
    std::vector<int> tree_of_;  // (dofs)
    std::vector<std::pair<int, int>> touching_;
};

}  // namespace costate
