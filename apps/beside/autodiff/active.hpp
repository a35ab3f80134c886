// The scalar of the templated code around the active type of a tool of automatic differentiation. Tools
// differ in what their operators return and in what copies mean; here every result is an Active, and
// comparisons look at values, so that no branch is recorded.
//
// A Tool has   using Type;   static double value(const Type&);
// and Type has a constructor from double, + - * / with += -= *= /=, unary minus, sqrt, sin, cos, exp and
// atan2.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include <Eigen/Core>

#include "core/math/scalar.hpp"

namespace costate {

template <class Tool> class Active {
public:
    using Type = typename Tool::Type;
    Type a{};

    Active() = default;
    // NOLINT: constants mix with it
    template <class S>
    requires std::is_arithmetic_v<S> Active(S value) : a(static_cast<double>(value)) {}

    Active& operator+=(const Active& b) {
        a += b.a;
        return *this;
    }
    Active& operator-=(const Active& b) {
        a -= b.a;
        return *this;
    }
    Active& operator*=(const Active& b) {
        a *= b.a;
        return *this;
    }
    Active& operator/=(const Active& b) {
        a /= b.a;
        return *this;
    }

    friend Active operator-(const Active& x) { return {of, -x.a}; }
    friend Active operator+(const Active& x) { return x; }
    friend Active operator+(const Active& x, const Active& y) { return {of, x.a + y.a}; }
    friend Active operator-(const Active& x, const Active& y) { return {of, x.a - y.a}; }
    friend Active operator*(const Active& x, const Active& y) { return {of, x.a * y.a}; }
    friend Active operator/(const Active& x, const Active& y) { return {of, x.a / y.a}; }
    friend Active sqrt(const Active& x) {
        using std::sqrt;
        return {of, sqrt(x.a)};
    }
    friend Active sin(const Active& x) {
        using std::sin;
        return {of, sin(x.a)};
    }
    friend Active cos(const Active& x) {
        using std::cos;
        return {of, cos(x.a)};
    }
    friend Active exp(const Active& x) {
        using std::exp;
        return {of, exp(x.a)};
    }
    friend Active atan2(const Active& y, const Active& x) {
        using std::atan2;
        return {of, atan2(y.a, x.a)};
    }
    friend Active abs(const Active& x) { return value_of(x) < 0 ? -x : x; }

    friend double value_of(const Active& x) { return Tool::value(x.a); }
    friend bool operator<(const Active& x, const Active& y) { return value_of(x) < value_of(y); }
    friend bool operator>(const Active& x, const Active& y) { return value_of(x) > value_of(y); }
    friend bool operator<=(const Active& x, const Active& y) { return value_of(x) <= value_of(y); }
    friend bool operator>=(const Active& x, const Active& y) { return value_of(x) >= value_of(y); }
    friend bool operator==(const Active& x, const Active& y) { return value_of(x) == value_of(y); }
    friend bool operator!=(const Active& x, const Active& y) { return value_of(x) != value_of(y); }

private:
    struct Of {};
    static constexpr Of of{};
    template <class Expression> Active(Of, Expression&& e) : a(std::forward<Expression>(e)) {}
};

}  // namespace costate

template <class Tool> struct Eigen::NumTraits<costate::Active<Tool>> : Eigen::NumTraits<double> {
    using Real = costate::Active<Tool>;
    using NonInteger = Real;
    using Nested = Real;
    using Literal = Real;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = 4,
        AddCost = 8,
        MulCost = 8
    };
    static Real epsilon() { return Real(NumTraits<double>::epsilon()); }
    static Real dummy_precision() { return Real(NumTraits<double>::dummy_precision()); }
    static Real highest() { return Real(NumTraits<double>::highest()); }
    static Real lowest() { return Real(NumTraits<double>::lowest()); }
};
