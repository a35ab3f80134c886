// The order in which numbers of n environments are summed: the same bits for any threads and any processes.
//
// Environments are cut into blocks of 16. The numbers of a block are added in order, those of blocks by a binary
// tree over their numbers: node (level l, i) covers the blocks i 2^l to (i + 1) 2^l, and is the sum of its two
// halves, or its first half where the other has no blocks. Who owns whole blocks can add them up as far as the tree
// goes, whatever else is known; what is left to be added does not depend on who does it. The plan knows nothing of
// threads, processes or files.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace costate {

struct Range {
    std::int64_t first = 0, last = 0;  // first <= i < last
    std::int64_t size() const { return last - first; }
    bool operator==(const Range&) const = default;
};

// What owner i of n, 0 <= i < n, has of 0 to `items`: in order, and as even as whole items allow.
inline Range share_of(std::int64_t items, std::int64_t i, std::int64_t n) {
    const auto begin = [&](std::int64_t k) { return k * (items / n) + std::min(k, items % n); };
    return {begin(i), begin(i + 1)};
}

struct SumPlan {
    static constexpr std::int64_t block = 16;
    std::int64_t environments = 0;

    std::int64_t blocks() const { return environments / block + (environments % block > 0 ? 1 : 0); }
    Range environments_of(Range of_blocks) const {
        const auto begin = [&](std::int64_t b) { return b < blocks() ? b * block : environments; };
        return {begin(of_blocks.first), begin(of_blocks.last)};
    }
    // The blocks of owner i of n.
    Range share(std::int64_t i, std::int64_t n) const { return share_of(blocks(), i, n); }
};

// sum += numbers, both (width)
inline void add_numbers(double* sum, const double* numbers, size_t width) {
    for (size_t k = 0; k < width; ++k)
        sum[k] += numbers[k];
}

// The first half of a sum over rows (environments x width), in place: row 16 b becomes the sum of block b.
inline void sum_block(double* rows, const SumPlan& plan, std::int64_t b, size_t width) {
    const Range of = plan.environments_of({b, b + 1});
    for (std::int64_t e = of.first + 1; e < of.last; ++e)
        add_numbers(rows + of.first * width, rows + e * width, width);
}
// The second half: row 0 becomes the sum of all.
inline void sum_blocks(double* rows, const SumPlan& plan, size_t width) {
    for (std::int64_t half = SumPlan::block; half < plan.environments; half *= 2)
        for (std::int64_t e = 0; e + half < plan.environments; e += 2 * half)
            add_numbers(rows + e * width, rows + (e + half) * width, width);
}

// The sums of some blocks, each a vector of `width` numbers, added up as far as the tree goes: of b blocks in a row
// at most 2 log2 b vectors are kept.
class PartialSum {
public:
    PartialSum() = default;
    PartialSum(const SumPlan& plan, size_t width) : plan_(plan), width_(width) {}

    const SumPlan& plan() const { return plan_; }
    size_t width() const { return width_; }
    // Takes the sum of a block (width). Throws std::invalid_argument if the block is there already.
    void add(std::int64_t b, const double* sum) { place(b, {0, std::vector<double>(sum, sum + width_)}); }
    // Takes the blocks of another sum with the same plan and width. Throws std::invalid_argument as above.
    void add(const PartialSum& other) {
        if (other.plan_.environments != plan_.environments || other.width_ != width_)
            throw std::invalid_argument("it is the sum of other environments or numbers");
        for (const auto& [first, node] : other.nodes_)
            if (const auto twice = overlap(first, node.level); twice.size() > 0)
                throw std::invalid_argument(blocks_text(twice) + " twice");
        for (const auto& [first, node] : other.nodes_)
            place(first, node);
    }

    bool complete() const {
        return nodes_.size() == 1 && covered(*nodes_.begin()) == Range{0, plan_.blocks()};
    }
    // of all blocks (width); only of a complete sum
    const std::vector<double>& total() const { return nodes_.begin()->second.sum; }
    // What is not there, in order.
    std::vector<Range> missing() const {
        std::vector<Range> out;
        std::int64_t next = 0;
        for (const auto& node : nodes_) {
            if (covered(node).first > next) out.push_back({next, covered(node).first});
            next = covered(node).last;
        }
        if (next < plan_.blocks()) out.push_back({next, plan_.blocks()});
        return out;
    }
    size_t vectors() const { return nodes_.size(); }

    // For messages: "blocks 4 to 7 are there"
    static std::string blocks_text(Range r) {
        const std::string first = std::to_string(r.first);
        return r.size() == 1 ? "block " + first + " is there"
                             : "blocks " + first + " to " + std::to_string(r.last - 1) + " are there";
    }

    // A reader throws std::runtime_error if the bytes are no sum.
    template <class Archive> void transfer(Archive& a) {
        std::int64_t count = static_cast<std::int64_t>(nodes_.size());
        a(plan_.environments, width_, count);
        if constexpr (requires { a.bytes; }) {
            for (auto [first, node] : nodes_)
                a(first, node.level, node.sum);
        } else {
            nodes_.clear();
            for (std::int64_t n = 0; n < count; ++n) {
                std::int64_t first = 0;
                Node node;
                a(first, node.level, node.sum);
                const bool known = first >= 0 && first < plan_.blocks() && node.level >= 0 &&
                                   node.level < 62 && first % (std::int64_t{1} << node.level) == 0 &&
                                   node.sum.size() == width_;
                if (!known || overlap(first, node.level).size() > 0)
                    throw std::runtime_error("it contains blocks that are not those of its plan");
                place(first, std::move(node));
            }
        }
    }

private:
    struct Node {
        int level = 0;
        std::vector<double> sum;
    };
    Range covered(const std::pair<const std::int64_t, Node>& at) const {
        return covered(at.first, at.second.level);
    }
    Range covered(std::int64_t first, int level) const {
        return {first, std::min(first + (std::int64_t{1} << level), plan_.blocks())};
    }
    // What a node has in common with those that are there.
    Range overlap(std::int64_t first, int level) const {
        const Range mine = covered(first, level);
        for (const auto& node : nodes_) {
            const Range its = covered(node);
            const Range both{std::max(mine.first, its.first), std::min(mine.last, its.last)};
            if (both.size() > 0) return both;
        }
        return {};
    }

    void place(std::int64_t first, Node node) {
        if (const Range twice = overlap(first, node.level); twice.size() > 0)
            throw std::invalid_argument(blocks_text(twice) + " twice");
        for (;;) {
            const std::int64_t size = std::int64_t{1} << node.level;
            if (first == 0 && size >= plan_.blocks()) break;
            const bool is_first_half = first / size % 2 == 0;
            const std::int64_t other = is_first_half ? first + size : first - size;
            if (other < plan_.blocks()) {
                const auto sibling = nodes_.find(other);
                if (sibling == nodes_.end() || sibling->second.level != node.level) break;
                if (is_first_half) {
                    add_numbers(node.sum.data(), sibling->second.sum.data(), width_);
                } else {
                    add_numbers(sibling->second.sum.data(), node.sum.data(), width_);
                    node.sum = std::move(sibling->second.sum);
                    first = other;
                }
                nodes_.erase(sibling);
            }
            ++node.level;
        }
        nodes_.emplace(first, std::move(node));
    }

    SumPlan plan_;
    size_t width_ = 0;
    std::map<std::int64_t, Node> nodes_;  // by their first block
};

}  // namespace costate
