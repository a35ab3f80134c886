// The elementary functions against the C library's for long double, which round to more digits; in lanes; and the bits
// of their results, which every machine must give.
#include <doctest/doctest.h>

#include <cstring>

#include "core/math/lanes.hpp"
#include "core/math/random.hpp"

// Elsewhere the C library's functions would be called.
namespace costate {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 undefined = std::numeric_limits<double>::quiet_NaN();

// Distance of y from the truth in units in the last place of a double.
double ulps(double y, long double truth) {
    int exponent;
    std::frexp(truth, &exponent);
    const long double unit = std::ldexp(1.0L, std::max(exponent - 53, -1074));
    return static_cast<double>(std::abs((static_cast<long double>(y) - truth) / unit));
}

class Arguments {
public:
    double within(double most) { return most * (2 * random_.uniform() - 1); }
    double finite() {
        while (true) {
            const std::uint64_t bits = random_.bits()();
            double x;
            std::memcpy(&x, &bits, sizeof x);
            if (std::isfinite(x)) return x;
        }
    }
    double near_a_quarter_turn() {
        const double turns = std::floor(within(1e6)) * (std::numbers::pi / 2);
        return std::nextafter(turns, within(1) * infinity);
    }

private:
    Random random_{7};
};

template <class F, class Truth, class Argument>
double worst(const F& f, const Truth& truth, const Argument& argument) {
    double most = 0;
    for (int i = 0; i < 50000; ++i) {
        const double x = argument();
        const double error = ulps(f(x), truth(static_cast<long double>(x)));
        if (!(error <= most)) most = error;
    }
    return most;
}

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

}  // namespace

TEST_CASE("elementary functions are right within a unit in the last place" *
          doctest::skip(std::numeric_limits<long double>::digits <= 53)) {
    Arguments a;
    const auto sine = [](double x) { return sin(x); };
    const auto cosine = [](double x) { return cos(x); };
    const auto true_sine = [](long double x) { return std::sin(x); };
    const auto true_cosine = [](long double x) { return std::cos(x); };
    for (const double range : {1e-5, 3.0, 1e5, 1e7, 1e15}) {
        CAPTURE(range);
        CHECK(worst(sine, true_sine, [&] { return a.within(range); }) < 1);
        CHECK(worst(cosine, true_cosine, [&] { return a.within(range); }) < 1);
    }
    CHECK(worst(sine, true_sine, [&] { return a.finite(); }) < 1);
    CHECK(worst(cosine, true_cosine, [&] { return a.finite(); }) < 1);
    CHECK(worst(sine, true_sine, [&] { return a.near_a_quarter_turn(); }) < 1);
    CHECK(worst(cosine, true_cosine, [&] { return a.near_a_quarter_turn(); }) < 1);

    const auto power = [](double x) { return exp(x); };
    const auto true_power = [](long double x) { return std::exp(x); };
    for (const double range : {1e-8, 1.0, 700.0})
        CHECK(worst(power, true_power, [&] { return a.within(range); }) < 1);
    CHECK(worst(power, true_power, [&] { return -726 + a.within(19); }) < 1);  // results lose digits

    const auto logarithm = [](double x) { return log(x); };
    const auto true_logarithm = [](long double x) { return std::log(x); };
    CHECK(worst(logarithm, true_logarithm, [&] { return std::abs(a.finite()); }) < 1);
    for (const double range : {1e-6, 0.1, 0.9})
        CHECK(worst(logarithm, true_logarithm, [&] { return 1 + a.within(range); }) < 1);

    double y = 0;
    const auto angle = [&](double x) { return atan2(y, x); };
    const auto true_angle = [&](long double x) { return std::atan2(static_cast<long double>(y), x); };
    for (const double range : {1e-3, 1.0, 1e3})
        CHECK(worst(angle, true_angle, [&] {
                  y = a.within(range);
                  return a.within(1);
              }) < 2.5);
    CHECK(worst(angle, true_angle, [&] {
              y = a.finite();
              return a.finite();
          }) < 2.5);
}

TEST_CASE("elementary functions at zero, infinity and without a value") {
    CHECK(sin(0.0) == 0);
    CHECK(cos(0.0) == 1);
    CHECK(exp(0.0) == 1);
    CHECK(log(1.0) == 0);
    for (const double x : {infinity, -infinity, undefined}) {
        CHECK(std::isnan(sin(x)));
        CHECK(std::isnan(cos(x)));
        CHECK(std::isnan(atan2(x, undefined)));
        CHECK(std::isnan(atan2(undefined, x)));
    }
    CHECK(exp(infinity) == infinity);
    CHECK(exp(710.0) == infinity);
    CHECK(exp(-infinity) == 0);
    CHECK(exp(-746.0) == 0);
    CHECK(std::isnan(exp(undefined)));
    CHECK(log(infinity) == infinity);
    CHECK(log(0.0) == -infinity);
    CHECK(std::isnan(log(-1.0)));
    CHECK(std::isnan(log(undefined)));
    for (const double x : {0.0, -0.0, 1.0, -1.0})
        for (const double y : {0.0, -0.0, 1.0, -1.0})
            CHECK(same_bits(atan2(y, x), std::atan2(y, x)));
}

TEST_CASE_TEMPLATE("lanes have the bits of doubles in elementary functions", T, Lanes<2>, Lanes<4>,
                   Lanes<8>) {
    Arguments a;
    for (int i = 0; i < 20000; ++i) {
        T x, y;
        for (int k = 0; k < T::width; ++k) {
            x.set(k, i % 2 == 0 ? a.within(10) : a.finite());
            y.set(k, a.within(10));
        }
        const SinCos<T> turn = sin_cos(x);
        const T power = exp(y), logarithm = log(x), angle = atan2(y, x);
        bool same = true;
        for (int k = 0; k < T::width; ++k)
            same = same && same_bits(turn.sin[k], sin(x[k])) && same_bits(turn.cos[k], cos(x[k])) &&
                   same_bits(power[k], exp(y[k])) && same_bits(logarithm[k], log(x[k])) &&
                   same_bits(angle[k], atan2(y[k], x[k]));
        REQUIRE(same);
    }
}

TEST_CASE("elementary functions have the same bits on every machine") {
    Arguments a;
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
    const auto add = [&](double x) {
        std::uint64_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        for (int i = 0; i < 64; i += 8)
            hash = (hash ^ (bits >> i & 255)) * 0x100000001b3;
    };
    for (int i = 0; i < 50000; ++i) {
        for (const double x : {a.within(4), a.within(1e6), a.finite(), a.near_a_quarter_turn()}) {
            add(sin(x));
            add(cos(x));
        }
        add(exp(a.within(700)));
        add(log(std::abs(a.finite())));
        const double y = a.within(1), x = a.within(1);
        add(atan2(y, x));
    }
    CHECK(hash == 11701910147921884672u);
}

}  // namespace costate
