#include "solvers/complementarity/factors/block_factor.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

namespace costate {

void BlockFactor::analyse(const int* start, int blocks, std::vector<std::pair<int, int>>& touching) {
    for (auto& [i, j] : touching)
        if (i > j) std::swap(i, j);
    std::sort(touching.begin(), touching.end());
    touching.erase(std::unique(touching.begin(), touching.end()), touching.end());
    if (std::equal(start_.begin(), start_.end(), start, start + blocks + 1) && touching == touching_) return;
    start_.assign(start, start + blocks + 1);
    touching_ = touching;
    order();
    // layout of the panels
    size_t diagonal = 0, panel = 0;
    int most = 0;
    work_ = 0;
    offset_.resize(left_.size());
    for (Column& c : columns_) {
        c.diagonal = diagonal;
        c.panel = panel;
        c.below = 0;
        for (size_t k = c.first; k < c.first + c.count; ++k) {
            offset_[k] = c.below;
            c.below += columns_[left_[k]].size;
        }
        const double size = c.size;
        for (size_t k = c.first; k < c.first + c.count; ++k)
            work_ += 2.0 * (c.below - offset_[k]) * columns_[left_[k]].size * size;
        work_ += size * size * (size / 3 + c.below);
        most = std::max(most, c.below);
        diagonal += c.size * c.size;
        panel += c.size * c.below;
    }
    diagonal_.resize(diagonal);
    lower_.resize(panel);
    upper_.resize(panel);
    pivots_.resize(start_.back());
    product_.resize(most);
}

// Minimum degree: the block with the fewest rows in neighbouring blocks is next. Its elimination connects its
// neighbours.
void BlockFactor::order() {
    const size_t blocks = start_.size() - 1;
    const auto size = [&](int i) { return start_[i + 1] - start_[i]; };
    if (neighbours_.size() < blocks) neighbours_.resize(blocks);
    for (auto& list : neighbours_)
        list.clear();
    for (const auto& [i, j] : touching_) {
        neighbours_[i].push_back(j);
        neighbours_[j].push_back(i);
    }
    degree_.assign(blocks, 0);
    place_.assign(blocks, 0);
    queue_.clear();
    columns_.clear();
    left_.clear();
    const auto enqueue = [&](int i) {
        int degree = 0;
        for (const int j : neighbours_[i])
            degree += size(j);
        degree_[i] = degree;
        queue_.emplace_back(degree, i);
        std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
    };
    for (size_t i = 0; i < blocks; ++i) {
        std::sort(neighbours_[i].begin(), neighbours_[i].end());
        enqueue(static_cast<int>(i));
    }
    while (!queue_.empty()) {
        std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
        const auto [degree, i] = queue_.back();
        queue_.pop_back();
        if (degree_[i] != degree) continue;
        degree_[i] = -1;
        place_[i] = static_cast<int>(columns_.size());
        const std::vector<int>& beside = neighbours_[i];
        columns_.push_back({i, size(i), 0, left_.size(), beside.size(), 0, 0});
        left_.insert(left_.end(), beside.begin(), beside.end());
        for (const int j : beside) {
            std::vector<int>& list = neighbours_[j];
            merged_.clear();
            std::set_union(list.begin(), list.end(), beside.begin(), beside.end(),
                           std::back_inserter(merged_));
            std::erase_if(merged_, [&, eliminated = i](int k) { return k == eliminated || k == j; });
            list.assign(merged_.begin(), merged_.end());
            enqueue(j);
        }
    }
    for (const Column& c : columns_) {
        const auto first = left_.begin() + static_cast<std::ptrdiff_t>(c.first),
                   last = first + static_cast<std::ptrdiff_t>(c.count);
        std::transform(first, last, first, [&](int i) { return place_[i]; });
        std::sort(first, last);
    }
}

void BlockFactor::set_identity() {
    for (std::vector<double>* part : {&diagonal_, &lower_, &upper_})
        std::fill(part->begin(), part->end(), 0.0);
    for (const Column& c : columns_)
        for (int a = 0; a < c.size; ++a)
            diagonal_[c.diagonal + (a * (c.size + 1))] = 1;
}

BlockFactor::Block BlockFactor::block(int i, int j) {
    const int row = place_[i], column = place_[j];
    const Column& c = columns_[std::min(row, column)];
    if (row == column) return {diagonal_.data() + c.diagonal, 1, c.size};
    const auto first = left_.begin() + static_cast<std::ptrdiff_t>(c.first),
               last = first + static_cast<std::ptrdiff_t>(c.count);
    const auto at = std::lower_bound(first, last, std::max(row, column)) - left_.begin();
    const size_t values = c.panel + offset_[at];
    if (row > column) return {lower_.data() + values, 1, c.below};
    return {upper_.data() + values, c.below, 1};
}

// D = P^T L U in place, with the pivots.
bool BlockFactor::factor_diagonal(const Column& c) {
    const int n = c.size;
    double* D = diagonal_.data() + c.diagonal;
    int* pivots = pivots_.data() + start_[c.block];
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(D[k * n + i]) > std::abs(D[k * n + p])) p = i;
        pivots[k] = p;
        for (int j = 0; p != k && j < n; ++j)
            std::swap(D[j * n + k], D[j * n + p]);
        const double pivot = D[k * n + k];
        if (pivot == 0 || !std::isfinite(pivot)) return false;
        for (int i = k + 1; i < n; ++i)
            D[k * n + i] /= pivot;
        for (int j = k + 1; j < n; ++j) {
            const double factor = D[j * n + k];
            for (int i = k + 1; i < n; ++i)
                D[j * n + i] -= factor * D[k * n + i];
        }
    }
    return true;
}

// The lower panel X <- X D^-1, column by column: X U^-1, then L^-1, then the pivots.
void BlockFactor::divide_panel(const Column& c) {
    const int n = c.size, rows = c.below;
    const double* D = diagonal_.data() + c.diagonal;
    const int* pivots = pivots_.data() + start_[c.block];
    double* X = lower_.data() + c.panel;
    const auto column = [&](int k) { return X + static_cast<std::ptrdiff_t>(k) * rows; };
    const auto subtract = [&](int to, double factor, int from) {
        double *y = column(to), *x = column(from);
        for (int r = 0; r < rows; ++r)
            y[r] -= factor * x[r];
    };
    for (int k = 0; k < n; ++k) {
        for (int d = 0; d < k; ++d)
            subtract(k, D[k * n + d], d);
        double* x = column(k);
        for (int r = 0; r < rows; ++r)
            x[r] /= D[k * n + k];
    }
    for (int k = n; k-- > 0;)
        for (int d = k + 1; d < n; ++d)
            subtract(k, D[k * n + d], d);
    for (int k = n; k-- > 0;)
        if (pivots[k] != k) std::swap_ranges(column(k), column(k) + rows, column(pivots[k]));
}

namespace {

// out = the rows of X (column-major, `stride` apart) times y, of `depth` numbers `step` apart
template <int depth>
void multiply_rows(const double* X, int stride, int rows, const double* y, int step, double* out) {
    for (int r = 0; r < rows; ++r) {
        double sum = X[r] * y[0];
        for (int k = 1; k < depth; ++k)
            sum += X[k * stride + r] * y[k * step];
        out[r] = sum;
    }
}
void multiply_rows(const double* X, int stride, int rows, const double* y, int step, int depth, double* out) {
    if (depth == 6) return multiply_rows<6>(X, stride, rows, y, step, out);  // a free body
    std::fill(out, out + rows, 0.0);
    for (int k = 0; k < depth; ++k) {
        const double *x = X + static_cast<std::ptrdiff_t>(k) * stride, factor = y[k * step];
        for (int r = 0; r < rows; ++r)
            out[r] += factor * x[r];
    }
}

}  // namespace

// to -= left right^T. right: the rows of c's block `from`. left: the rows of the blocks after it, which are
// at other positions in the target's panel.
void BlockFactor::subtract_products(const Column& c, size_t from, const double* left, const double* right,
                                    double* to, const Column& target) {
    const size_t end = c.first + c.count;
    const int skip = offset_[from] + target.size, rows = c.below - skip;
    for (int b = 0; b < target.size; ++b) {
        multiply_rows(left + skip, c.below, rows, right + offset_[from] + b, c.below, c.size,
                      product_.data());
        double* column = to + static_cast<std::ptrdiff_t>(b) * target.below;
        size_t there = target.first;
        for (size_t k = from + 1; k < end; ++k, ++there) {
            while (left_[there] != left_[k])
                ++there;
            const int size = columns_[left_[k]].size;
            const double* product = product_.data() + (offset_[k] - skip);
            for (int a = 0; a < size; ++a)
                column[offset_[there] + a] -= product[a];
        }
    }
}

void BlockFactor::update(const Column& c) {
    const double *lower = lower_.data() + c.panel, *upper = upper_.data() + c.panel;
    for (size_t k = c.first; k < c.first + c.count; ++k) {
        const Column& target = columns_[left_[k]];
        double* D = diagonal_.data() + target.diagonal;
        for (int b = 0; b < target.size; ++b) {
            multiply_rows(lower + offset_[k], c.below, target.size, upper + offset_[k] + b, c.below, c.size,
                          product_.data());
            for (int a = 0; a < target.size; ++a)
                D[b * target.size + a] -= product_[a];
        }
        subtract_products(c, k, lower, upper, lower_.data() + target.panel, target);
        subtract_products(c, k, upper, lower, upper_.data() + target.panel, target);
    }
}

bool BlockFactor::factor() {
    for (const Column& c : columns_) {
        if (!factor_diagonal(c)) return false;
        divide_panel(c);
        update(c);
    }
    return true;
}

// y <- D^-1 y
void BlockFactor::solve_diagonal_inplace(const Column& c, double* y) const {
    const int n = c.size;
    const double* D = diagonal_.data() + c.diagonal;
    const int* pivots = pivots_.data() + start_[c.block];
    for (int k = 0; k < n; ++k)
        std::swap(y[k], y[pivots[k]]);
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i)
            y[i] -= D[k * n + i] * y[k];
    for (int k = n; k-- > 0;) {
        y[k] /= D[k * n + k];
        for (int i = 0; i < k; ++i)
            y[i] -= D[k * n + i] * y[k];
    }
}

// y <- D^-T y
void BlockFactor::solve_diagonal_transposed_inplace(const Column& c, double* y) const {
    const int n = c.size;
    const double* D = diagonal_.data() + c.diagonal;
    const int* pivots = pivots_.data() + start_[c.block];
    for (int k = 0; k < n; ++k) {
        for (int i = 0; i < k; ++i)
            y[k] -= D[k * n + i] * y[i];
        y[k] /= D[k * n + k];
    }
    for (int k = n; k-- > 0;)
        for (int i = k + 1; i < n; ++i)
            y[k] -= D[k * n + i] * y[i];
    for (int k = n; k-- > 0;)
        std::swap(y[k], y[pivots[k]]);
}

// visit(b, other, X, size): column b of c's panel and the part of y, for each block below
template <class Visit>
void BlockFactor::for_each_below(const Column& c, const std::vector<double>& panel, double* y,
                                 const Visit& visit) const {
    for (size_t k = c.first; k < c.first + c.count; ++k) {
        const Column& below = columns_[left_[k]];
        for (int b = 0; b < c.size; ++b)
            visit(b, y + start_[below.block],
                  panel.data() + c.panel + static_cast<std::ptrdiff_t>(b) * c.below + offset_[k], below.size);
    }
}

// One panel downwards, then the other upwards: L then U, or U^T then L^T.
template <bool transposed> void BlockFactor::solve_both_ways_inplace(double* y) const {
    for (const Column& c : columns_) {
        double* own = y + start_[c.block];
        if (transposed) solve_diagonal_transposed_inplace(c, own);
        for_each_below(c, transposed ? upper_ : lower_, y,
                       [&](int b, double* other, const double* X, int size) {
                           for (int a = 0; a < size; ++a)
                               other[a] -= X[a] * own[b];
                       });
    }
    for (size_t n = columns_.size(); n-- > 0;) {
        const Column& c = columns_[n];
        double* own = y + start_[c.block];
        for_each_below(c, transposed ? lower_ : upper_, y,
                       [&](int b, const double* other, const double* X, int size) {
                           for (int a = 0; a < size; ++a)
                               own[b] -= X[a] * other[a];
                       });
        if (!transposed) solve_diagonal_inplace(c, own);
    }
}

void BlockFactor::solve_inplace(double* y) const { solve_both_ways_inplace<false>(y); }
void BlockFactor::solve_transposed_inplace(double* y) const { solve_both_ways_inplace<true>(y); }

}  // namespace costate
