// LU factors of a sparse matrix of dense blocks with a symmetric pattern, such as a heap's: a block for each
// tree, and one for each pair of touching trees. Blocks are eliminated one by one, with fill-in, in the order
// of minimum degree (George & Liu 1989). With D the block on the diagonal,
//
//   H = L (D + U),   L_ik = H_ik D_k^-1
//   H_ij -= L_ik U_kj    for all later i, j connected to k
//
// Pivots are chosen within D, so H should need no pivots from other blocks. Allocates only if a pattern needs
// more memory than all before.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace costate {

class BlockFactor {
public:
    // A block. The entry of row a and column b is data[a * row + b * column].
    struct Block {
        double* data;
        int row, column;
        double& operator()(int a, int b) const { return data[a * row + b * column]; }
    };

    // start (blocks + 1): first row of each block. touching: pairs of blocks off the diagonal, in any order,
    // possibly repeated. Does nothing if the pattern is that of the last call.
    void analyse(const int* start, int blocks, std::vector<std::pair<int, int>>& touching);
    void set_identity();
    Block block(int i, int j);                       // of H; fill before `factor`
    bool factor();                                   // false if a pivot is 0 or not finite
    void solve_inplace(double* y) const;             // y <- H^-1 y
    void solve_transposed_inplace(double* y) const;  // y <- H^-T y
    double work() const { return work_; }            // multiplications of a factorisation

private:
    // One block column and, transposed, its block row, in the order of elimination.
    struct Column {
        int block, size;         // its index in start_, and its width
        int below;               // rows of its panels, which are (below x size), column-major
        size_t first, count;     // its blocks below: left_[first ... first + count)
        size_t diagonal, panel;  // offsets of D and the panels
    };
    void order();
    bool factor_diagonal(const Column& c);
    void divide_panel(const Column& c);  // L = H D^-1
    void update(const Column& c);        // the rest of H
    void subtract_products(const Column& c, size_t from, const double* left, const double* right, double* to,
                           const Column& target);
    template <bool transposed> void solve_both_ways_inplace(double* y) const;
    template <class Visit>
    void for_each_below(const Column& c, const std::vector<double>& panel, double* y,
                        const Visit& visit) const;
    void solve_diagonal_inplace(const Column& c, double* y) const;
    void solve_diagonal_transposed_inplace(const Column& c, double* y) const;

    std::vector<int> start_;
    std::vector<std::pair<int, int>> touching_;
    std::vector<std::vector<int>> neighbours_;  // during the ordering
    std::vector<std::pair<int, int>> queue_;    // (degree, block): a heap, with outdated entries
    std::vector<int> degree_, place_, merged_;  // (blocks): -1 once eliminated; the column of each
    std::vector<Column> columns_;
    std::vector<int> left_;                         // blocks below each column, in order
    std::vector<int> offset_;                       // as left_: their first rows in the column's panels
    std::vector<double> diagonal_, lower_, upper_;  // D and its factors; H_ik and L_ik; H_ki^T
    std::vector<int> pivots_;                       // as start_
    std::vector<double> product_;                   // work
    double work_ = 0;
};

}  // namespace costate
