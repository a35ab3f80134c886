// Sums over environments: the same bits whoever adds which blocks, and in whatever order they arrive.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "adjoint/batch/sum_plan.hpp"
#include "adjoint/checkpoints/archive.hpp"
#include "tests/support/batch_case.hpp"

using namespace costate;
using namespace costate::test;

namespace {

constexpr size_t sum_width = 3;

std::vector<double> random_rows(std::int64_t n, unsigned seed) {
    std::mt19937_64 bits(seed);
    std::vector<double> rows(n * sum_width);
    for (double& x : rows)
        x = std::ldexp(static_cast<double>(bits() >> 11), static_cast<int>(bits() % 40) - 80);
    return rows;
}

// The sum by its definition: the tree over blocks, each added in order.
std::vector<double> sum_by_definition(const std::vector<double>& rows, const SumPlan& plan, int level,
                                      std::int64_t i) {
    if (level == 0) {
        const Range of = plan.environments_of({i, i + 1});
        std::vector<double> sum(rows.begin() + of.first * sum_width,
                                rows.begin() + (of.first + 1) * sum_width);
        for (std::int64_t e = of.first + 1; e < of.last; ++e)
            for (size_t k = 0; k < sum_width; ++k)
                sum[k] += rows[e * sum_width + k];
        return sum;
    }
    std::vector<double> sum = sum_by_definition(rows, plan, level - 1, 2 * i);
    if ((2 * i + 1) << (level - 1) >= plan.blocks()) return sum;
    const std::vector<double> second = sum_by_definition(rows, plan, level - 1, 2 * i + 1);
    for (size_t k = 0; k < sum_width; ++k)
        sum[k] += second[k];
    return sum;
}

// The sum of these blocks, added in a random order.
PartialSum sum_of(const std::vector<double>& rows, const SumPlan& plan, Range blocks, std::mt19937_64& bits) {
    std::vector<double> all = rows;
    std::vector<std::int64_t> order(blocks.size());
    std::iota(order.begin(), order.end(), blocks.first);
    std::shuffle(order.begin(), order.end(), bits);
    PartialSum sum(plan, sum_width);
    for (const std::int64_t b : order) {
        sum_block(all.data(), plan, b, sum_width);
        sum.add(b, all.data() + b * SumPlan::block * sum_width);
    }
    return sum;
}

}  // namespace

TEST_CASE(
    "sum plan: any owners of blocks, in any order, get the bits of the sum in place and of its definition") {
    std::mt19937_64 bits(1);
    for (const std::int64_t n : {1, 15, 16, 17, 32, 33, 80, 100, 1000, 1024, 1025}) {
        CAPTURE(n);
        const SumPlan plan{n};
        const std::vector<double> rows = random_rows(n, 7);
        std::vector<double> in_place = rows;
        for (std::int64_t b = plan.blocks(); b-- > 0;)
            sum_block(in_place.data(), plan, b, sum_width);
        sum_blocks(in_place.data(), plan, sum_width);
        in_place.resize(sum_width);
        CHECK(in_place == sum_by_definition(rows, plan, 7, 0));
        for (const std::int64_t owners : {1, 2, 3, 7, 16, 64}) {
            CAPTURE(owners);
            std::vector<PartialSum> sums;
            std::int64_t next = 0;
            for (std::int64_t i = 0; i < owners; ++i) {
                const Range share = plan.share(i, owners);
                CHECK(share.first == next);
                next = share.last;
                sums.push_back(sum_of(rows, plan, share, bits));
                CHECK(sums.back().vectors() <= 12);
            }
            CHECK(next == plan.blocks());
            std::shuffle(sums.begin(), sums.end(), bits);
            PartialSum all(plan, sum_width);
            for (const PartialSum& sum : sums) {
                CHECK(all.complete() == all.missing().empty());
                ArchiveWriter writer;
                PartialSum copy = sum;
                copy.transfer(writer);
                ArchiveReader reader(writer.bytes);
                PartialSum read;
                read.transfer(reader);
                CHECK(reader.at_end());
                all.add(read);
            }
            REQUIRE(all.complete());
            CHECK(all.missing().empty());
            CHECK(all.total() == in_place);
        }
    }
    // the order matters to the bits: these numbers tell it
    const std::vector<double> rows = random_rows(1000, 7);
    std::vector<double> in_order(sum_width);
    for (size_t e = 0; e < 1000; ++e)
        add_numbers(in_order.data(), rows.data() + e * sum_width, sum_width);
    CHECK(in_order != sum_by_definition(rows, SumPlan{1000}, 6, 0));
}

TEST_CASE("sum plan: blocks that are missing, there twice, or of another sum are told") {
    std::mt19937_64 bits(2);
    const SumPlan plan{100};  // seven blocks
    const std::vector<double> rows = random_rows(100, 3);
    PartialSum sum(plan, sum_width);
    CHECK(sum.missing() == std::vector<Range>{{0, 7}});
    sum.add(sum_of(rows, plan, {2, 4}, bits));
    sum.add(sum_of(rows, plan, {6, 7}, bits));
    CHECK(sum.missing() == std::vector<Range>{{0, 2}, {4, 6}});
    CHECK_THROWS_WITH(sum.add(sum_of(rows, plan, {3, 5}, bits)), "block 3 is there twice");
    CHECK_THROWS_WITH(sum.add(sum_of(rows, plan, {0, 7}, bits)), "blocks 2 to 3 are there twice");
    CHECK_THROWS_WITH(sum.add(6, rows.data()), "block 6 is there twice");
    CHECK(sum.missing() == std::vector<Range>{{0, 2}, {4, 6}});
    CHECK_THROWS(sum.add(PartialSum(SumPlan{99}, sum_width)));
    CHECK_THROWS(sum.add(PartialSum(plan, sum_width + 1)));

    ArchiveWriter writer;
    sum.transfer(writer);
    PartialSum read;
    for (const size_t at : {size_t{16}, size_t{24}, size_t{32}}) {  // the count, the first block, the level
        std::vector<char> bytes = writer.bytes;
        bytes[at] = 3;
        ArchiveReader reader(bytes);
        CHECK_THROWS_AS(read.transfer(reader), std::runtime_error);
    }
}

TEST_CASE("sum plan: as many environments as a number can count") {
    const SumPlan plan{std::numeric_limits<std::int64_t>::max()};
    CHECK(plan.blocks() == std::int64_t{1} << 59);
    CHECK(plan.environments_of({plan.blocks() - 1, plan.blocks()}).size() == SumPlan::block - 1);
    CHECK(plan.share(2, 3).last == plan.blocks());
}

TEST_CASE("batch: gradients by parameters are summed by the plan, for any threads") {
    constexpr size_t n = 75;
    const BatchCase c(batch_settings(SolverType::pgs, false));
    VecX<double> x(n * c.nx), states_bar(n * c.ndx), u = c.t.u.replicate(n, 1);
    for (size_t e = 0; e < n; ++e) {
        x.segment(e * c.nx, c.nx) = c.x.segment(e % batch_size * c.nx, c.nx);
        states_bar.segment(e * c.ndx, c.ndx) =
            std::pow(1.3, e) * c.states_bar.segment(e % batch_size * c.ndx, c.ndx);
    }
    std::vector<double> expected(n * c.np);
    const auto pull_back_all = [&](int threads, double* theta_bar, Batch::ThetaBar of) {
        Batch batch(c.w, c.t.theta, c.t.x, {.n_env = n, .threads = threads});
        CHECK(batch.backward(1, x.data(), u.data(), nullptr, states_bar.data(), nullptr, nullptr, theta_bar,
                             of) == 0);
    };
    pull_back_all(1, expected.data(), Batch::ThetaBar::each);
    const SumPlan plan{n};
    for (std::int64_t b = 0; b < plan.blocks(); ++b)
        sum_block(expected.data(), plan, b, c.np);
    sum_blocks(expected.data(), plan, c.np);
    expected.resize(c.np);
    for (const int threads : {1, 2, 5}) {
        CAPTURE(threads);
        std::vector<double> theta_bar(c.np);
        pull_back_all(threads, theta_bar.data(), Batch::ThetaBar::sum);
        CHECK(theta_bar == expected);
    }
}
