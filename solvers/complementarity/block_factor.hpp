// LU factors of a sparse matrix of dense blocks whose pattern is symmetric, as that of a heap: a block for
// each tree, and one for each two trees that touch. Blocks are eliminated by minimum degree (George & Liu
// 1989), one after the other with what they fill in: with D the block of the diagonal,
//
//   H = L (D + U),   L_ik = H_ik D_k^-1,   H_ij -= L_ik U_kj    for all i, j that k is left with
//
// Pivots are sought within D, so H should be about as good without pivots from elsewhere. Nothing is
// allocated for a pattern that takes no more room than one seen before.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace costate {

class BlockFactor {
public:
    // Where the entries of a block stand: that of row a and column b is data[a * row + b * column].
    struct Block {
        double* data;
        int row, column;
        double& operator()(int a, int b) const { return data[a * row + b * column]; }
    };

    // start (blocks + 1): first row of each block; touching: the blocks beside the diagonal, each two once or
    // more often, either way round. Does nothing where all is as in the last call.
    void analyse(const int* start, int blocks, std::vector<std::pair<int, int>>& touching);
    void set_identity();
    Block block(int i, int j);                       // of H, to be filled before `factor`
    bool factor();                                   // false if a pivot is 0 or not finite
    void solve_inplace(double* y) const;             // y <- H^-1 y
    void solve_transposed_inplace(double* y) const;  // y <- H^-T y
    double work() const { return work_; }            // multiplications of a factorisation

private:
    // One block column and, transposed, its block row, in the order of elimination.
    struct Column {
        int block, size;         // its number in start_, and its width
        int below;               // rows of its panels, which are (below x size), column-major
        size_t first, count;     // its blocks below: left_[first ... first + count)
        size_t diagonal, panel;  // where D and the panels start
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
    std::vector<std::vector<int>> neighbours_;  // while ordering
    std::vector<std::pair<int, int>> queue_;    // (degree, block): a heap, with entries out of date
    std::vector<int> degree_, place_, merged_;  // (blocks): -1 once eliminated; the column of each
    std::vector<Column> columns_;
    std::vector<int> left_;                         // columns that each column is left with, in order
    std::vector<int> offset_;                       // as left_: their first rows in the panels of the column
    std::vector<double> diagonal_, lower_, upper_;  // D and its factors; H_ik and L_ik; H_ki^T
    std::vector<int> pivots_;                       // as start_
    std::vector<double> product_;                   // work
    double work_ = 0;
};

}  // namespace costate
