// The dot-product test of numbers held within a range, and what lanes get.
#include "core/dynamics/range.hpp"
#include "tests/support/stage_pass.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// Ranges with one end, both and none; numbers below, within and above them.
constexpr ParameterInterval ranges[] = {{0, 1}, {0, -1}, {-1, 1}, {-1, -1}};

struct RangePass : StagePass {
    std::vector<double> theta{-1, 2}, theta_bar{0, 0}, x, x_bar, held_bar;
    std::vector<D> theta_dual, x_dual, held_dual;
    RangePass(Rng& g, Regime r) : theta_dual(2) {
        for (const double middle : {-2, 0, 3})
            for (size_t i = 0; i < std::size(ranges); ++i)
                x.push_back(middle + 0.1 * g.around_zero(r));
        x_bar.resize(x.size());
        held_bar = x_bar;
        x_dual.resize(x.size());
        held_dual = x_dual;
        in.add(theta, theta_dual, theta_bar);
        in.add_along_direction(g, [&](Inputs& all) { all.add(x, x_dual, x_bar); });
        out.add<double>(held_dual, held_bar);
    }
    static const ParameterInterval& range(size_t i) { return ranges[i % std::size(ranges)]; }
    void run_duals() override {
        for (size_t i = 0; i < x.size(); ++i)
            held_dual[i] = hold_in_range<D>(range(i), range_sides(x[i], range(i), theta_dual.data()),
                                            theta_dual.data(), x_dual[i]);
    }
    void run_adjoint() override {
        for (size_t i = 0; i < x.size(); ++i)
            hold_in_range_adj(range(i), range_sides(x[i], range(i), theta.data()), held_bar[i],
                              theta_bar.data(), x_bar[i]);
    }
};

}  // namespace

TEST_CASE("adjoint: hold_in_range") { check_pass<RangePass>(1e-14); }

TEST_CASE("hold_in_range: at an end, the derivative is that of the inside") {
    const double theta[] = {-1, 2};
    double theta_bar[] = {0, 0}, x_bar = 0;
    for (const double x : {-1, 2}) {
        const RangeSides<double> sides = range_sides(x, ranges[0], theta);
        CHECK(hold_in_range(ranges[0], sides, theta, x) == x);
        hold_in_range_adj(ranges[0], sides, 1.0, theta_bar, x_bar);
    }
    CHECK(x_bar == 2);
    CHECK((theta_bar[0] == 0 && theta_bar[1] == 0));
}

TEST_CASE("hold_in_range: lanes on three sides get what each has alone") {
    using T = Lanes<4>;
    const double numbers[] = {-3, 0.5, 7, 2}, bars[] = {1, 2, 4, 8};
    const T theta[] = {-1, 2}, x = T::each([&](int i) { return numbers[i]; });
    const double of_one[] = {-1, 2};
    T theta_bar[] = {0, 0}, x_bar(0);
    const RangeSides<T> sides = range_sides(x, ranges[0], theta);
    const T held = hold_in_range(ranges[0], sides, theta, x);
    hold_in_range_adj(ranges[0], sides, T::each([&](int i) { return bars[i]; }), theta_bar, x_bar);
    for (int i = 0; i < T::width; ++i) {
        const RangeSides<double> one = range_sides(numbers[i], ranges[0], of_one);
        double theta_bar_of_one[] = {0, 0}, x_bar_of_one = 0;
        hold_in_range_adj(ranges[0], one, bars[i], theta_bar_of_one, x_bar_of_one);
        CHECK(held[i] == hold_in_range(ranges[0], one, of_one, numbers[i]));
        CHECK(x_bar[i] == x_bar_of_one);
        CHECK((theta_bar[0][i] == theta_bar_of_one[0] && theta_bar[1][i] == theta_bar_of_one[1]));
    }
}
