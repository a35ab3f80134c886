// The test of an operator pair, generated from its signatures.
//
// For random inputs x, tangents dx and output covectors w: <J dx, w> by dual numbers (no step size) against
// <dx, J* w> by the hand-written adjoint, to 1e-12. Bars start at values other than zero, so an adjoint that
// overwrites them fails. Inputs are compared before and after. Three regimes as in manif: neutral elements,
// 1e-8 away from them, and random. Every input must have an effect, for an operator with cases in at least
// one random draw.
#pragma once

#include <algorithm>
#include <cstring>
#include <tuple>
#include <type_traits>

#include <doctest/doctest.h>

#include "tests/support/probe.hpp"

namespace costate::test {

// The required signature of the adjoint of O f(const I&...).
template <class F> struct AdjointOf;
template <class O, class... I> struct AdjointOf<O (*)(const I&...)> {
    using type = void (*)(const I&..., const Bar<O>&, Bar<I>&...);
};

inline double pairing(const Covector& a, const Covector& b) {
    double s = 0;
    for (size_t i = 0; i < a.size(); ++i)
        s += a[i] * b[i];
    return s;
}
inline double norm(const Covector& a) { return std::sqrt(pairing(a, a)); }

// The dot-product test: y_dot = J x_dot, x_bar = J* y_bar.
inline bool duals_agree(const Covector& x_dot, const Covector& x_bar, const Covector& y_dot,
                        const Covector& y_bar, double tolerance) {
    const double scale = norm(y_dot) * norm(y_bar) + norm(x_dot) * norm(x_bar);
    return std::abs(pairing(y_dot, y_bar) - pairing(x_dot, x_bar)) <= tolerance * scale + 1e-15;
}

// Sets matters[k] if input k has an effect.
template <class O, class... I, size_t... K>
void check_adjoint_in(Regime regime, unsigned seed, std::vector<bool>& matters, O (*)(const I&...),
                      typename Probe<O>::Lifted (*f_dual)(const typename Probe<I>::Lifted&...),
                      void (*f_adj)(const I&..., const Bar<O>&, Bar<I>&...), std::index_sequence<K...>) {
    CAPTURE(static_cast<int>(regime));
    CAPTURE(seed);
    Rng g(seed);
    const std::tuple<I...> x{Probe<I>::random(g, regime)...};
    const std::tuple<I...> x_before = x;
    const std::tuple<Covector, std::conditional_t<true, Covector, I>...> drawn{g.covector(Probe<O>::size),
                                                                               g.covector(Probe<I>::size)...};
    const Covector& y_bar = std::get<0>(drawn);
    const std::vector<Covector> x_dot{std::get<K + 1>(drawn)...};

    const auto forward = [&](const std::vector<Covector>& d) {
        Covector y_dot(static_cast<size_t>(Probe<O>::size));
        Probe<O>::tangent(f_dual(Probe<I>::lift(std::get<K>(x), d[K].data())...), y_dot.data());
        return y_dot;
    };
    const auto adjoint = [&](const std::vector<Covector>& prior) {
        std::tuple<Bar<I>...> bars{Probe<I>::bar(prior[K].data())...};
        f_adj(std::get<K>(x)..., Probe<O>::bar(y_bar.data()), std::get<K>(bars)...);
        std::vector<Covector> out{Covector(static_cast<size_t>(Probe<I>::size))...};
        (Probe<I>::covector(std::get<K>(bars), out[K].data()), ...);
        return out;
    };

    const std::vector<Covector> prior{g.covector(Probe<I>::size)...};
    std::vector<Covector> x_bar = adjoint(prior);
    for (size_t k = 0; k < prior.size(); ++k)
        for (size_t i = 0; i < prior[k].size(); ++i)
            x_bar[k][i] -= prior[k][i];

    // by argument, so that the report names the wrong argument
    for (size_t k = 0; k < sizeof...(I); ++k) {
        CAPTURE(k);
        std::vector<Covector> only{Covector(static_cast<size_t>(Probe<I>::size))...};
        only[k] = x_dot[k];
        const Covector y_dot = forward(only);
        CHECK(duals_agree(x_dot[k], x_bar[k], y_dot, y_bar, 1e-12));
        if (regime == Regime::random && norm(y_dot) > 0 && norm(x_bar[k]) > 0) matters[k] = true;
    }
    CHECK((... &&
           (Probe<I>::size == 0 || std::memcmp(&std::get<K>(x), &std::get<K>(x_before), sizeof(I)) == 0)));
}

template <class O, class... I>
void check_adjoint(O (*f)(const I&...),
                   typename Probe<O>::Lifted (*f_dual)(const typename Probe<I>::Lifted&...),
                   void (*f_adj)(const I&..., const Bar<O>&, Bar<I>&...)) {
    std::vector<bool> matters{Probe<I>::size == 0 ...};
    for (const Regime regime : {Regime::neutral, Regime::near_neutral, Regime::small, Regime::random})
        for (unsigned seed = 1; seed <= 10; ++seed)
            check_adjoint_in(regime, seed, matters, f, f_dual, f_adj, std::index_sequence_for<I...>{});
    for (size_t k = 0; k < matters.size(); ++k) {
        CAPTURE(k);
        CHECK(matters[k]);
    }
}

// A pass works on scratch arrays, which its adaptor flattens. An adaptor is constructed from (Rng&, Regime)
// and has
//   int inputs() / outputs()                                    sizes of tangent and result
//   Covector forward(const Covector& x_dot)                     J x_dot, on dual numbers
//   Covector adjoint(const Covector& y_bar, const Covector& prior)  prior + J* y_bar
//   double roundoff                                         smaller effects do not count; optional, 0
//   int inputs_without_effect                               optional, static or not; a comment has the reason
template <class Adaptor> void check_pass(double tolerance) {
    for (const Regime regime : {Regime::neutral, Regime::near_neutral, Regime::random})
        for (unsigned seed = 1; seed <= 5; ++seed) {
            CAPTURE(static_cast<int>(regime));
            CAPTURE(seed);
            Rng g(seed);
            Adaptor pass(g, regime);
            const Covector y_bar = g.covector(pass.outputs()), prior = g.covector(pass.inputs());
            const Covector x_bar = pass.adjoint(y_bar, Covector(prior.size()));
            Covector excess = pass.adjoint(y_bar, prior);
            for (size_t i = 0; i < prior.size(); ++i)
                excess[i] -= prior[i] + x_bar[i];
            CHECK(norm(excess) <= 1e-13 * (norm(prior) + norm(x_bar)));
            for (int trial = 0; trial < 3; ++trial) {
                const Covector x_dot = g.covector(pass.inputs());
                CHECK(duals_agree(x_dot, x_bar, pass.forward(x_dot), y_bar, tolerance));
            }
            if (regime != Regime::random) continue;
            std::vector<double> effects;
            for (int i = 0; i < pass.inputs(); ++i) {
                Covector only(static_cast<size_t>(pass.inputs()));
                only[i] = 1;
                const Covector y_dot = pass.forward(only);
                CAPTURE(i);
                effects.push_back(norm(y_dot));
                CHECK(duals_agree(only, x_bar, y_dot, y_bar, tolerance));
            }
            double roundoff = 0;
            if constexpr (requires { pass.roundoff; }) roundoff = pass.roundoff;
            const auto without_effect =
                std::count_if(effects.begin(), effects.end(), [&](double e) { return e <= roundoff; });
            if constexpr (requires { pass.inputs_without_effect; })
                CHECK(without_effect == pass.inputs_without_effect);
            else
                CHECK(without_effect == 0);
        }
}

}  // namespace costate::test

#define OP(f)                                                                                                \
    static_assert(                                                                                           \
        std::is_same_v<decltype(&f##_adj<double>), costate::test::AdjointOf<decltype(&f<double>)>::type>);   \
    TEST_CASE("adjoint: " #f) {                                                                              \
        costate::test::check_adjoint(&f<double>, &f<costate::test::D>, &f##_adj<double>);                    \
    }
