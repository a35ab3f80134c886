// Solves the equations G z = f of an active set, G = P A + K, for a factored A = W W^T + R. P and K are block
// diagonal, one block per contact. With y = W^T z
//
//   B z + P W y = f,      B = P R + K
//   z = B^-1 f - C W y,   C = B^-1 P
//   H y = W^T B^-1 f,     H = 1 + W^T C W
//
// (the Woodbury identity). H has the size of the island's dofs and the pattern of the bodies that touch. It
// is factored densely if there are few dofs, otherwise by trees (solvers/complementarity/factors/block_factor.hpp).
// B^-1 is large, because R is about 1e-6; iterative refinement removes its round-off. In B, R is at least
// 1e-10 of the diagonal, also corrected by refinement. Equations without a unique solution, from redundant
// rows without compliance, then give a finite result. Deterministic.
#pragma once

#include "solvers/complementarity/factors/block_factor.hpp"
#include "solvers/complementarity/factors/dense_solver.hpp"
#include "solvers/complementarity/mlcp.hpp"

namespace costate {

// P, K and their products for the rows of one contact, or for a single row.
struct RowGroup {
    static constexpr int max_rows = max_contact_rows;
    int first = 0, count = 0;                                         // rows of the equations
    double P[max_rows * max_rows] = {}, K[max_rows * max_rows] = {};  // (count x count, row-major)
    double B_inverse[max_rows * max_rows] = {}, C[max_rows * max_rows] = {};
};

class FactoredSolver {
public:
    std::vector<RowGroup> groups;  // fill with P and K before `factor`

    // rows: indices in A, in the order of the groups. A must exist until the last solve.
    void factor(const FactoredOperator<double>& A, const std::vector<int>& rows);
    void solve_inplace(double* z) { refine_inplace<false>(z); }            // z <- G^-1 z
    void solve_transposed_inplace(double* z) { refine_inplace<true>(z); }  // z <- G^-T z

    double expected_work(const FactoredOperator<double>& A);  // multiplications of a factorisation
    double work() const { return work_; }                     // multiplications of the last factorisation

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
    bool factored_ = false;  // H by blocks has factors; false if entries are not finite
    const FactoredOperator<double>* A_ = nullptr;
    std::vector<int> rows_;
    std::vector<double> y_;                // (dofs)
    std::vector<double> f_, rest_, last_;  // (rows)
    std::vector<double> dense_;            // H
    DenseSolver dense_factor_;
    BlockFactor blocks_;        // H, if there are many dofs
    std::vector<int> tree_of_;  // (dofs)
    std::vector<std::pair<int, int>> touching_;
};

}  // namespace costate
