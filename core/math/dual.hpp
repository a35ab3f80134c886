// Forward-mode dual number v + d eps with eps^2 = 0. Tests compare every hand-written adjoint with it
// (without a step size, so to round-off), and `step_adj` instantiated on it gives Hessian-vector products.
#pragma once

#include <cmath>
#include <ostream>

#include <Eigen/Core>

#include "core/math/elementary.hpp"

namespace costate {

template <class T> struct Dual {
    T v{};  // value
    T d{};  // derivative along the chosen direction

    Dual() = default;
    // NOLINT(google-explicit-constructor): constants mix with duals everywhere
    Dual(const T& value) : v(value) {}
    Dual(const T& value, const T& derivative) : v(value), d(derivative) {}
    // NOLINT
    template <class S>
    requires(std::is_arithmetic_v<S> && !std::is_same_v<S, T>) Dual(S value) : v(static_cast<T>(value)) {}

    Dual& operator+=(const Dual& b) {
        v += b.v;
        d += b.d;
        return *this;
    }
    Dual& operator-=(const Dual& b) {
        v -= b.v;
        d -= b.d;
        return *this;
    }
    Dual& operator*=(const Dual& b) {
        d = d * b.v + v * b.d;
        v *= b.v;
        return *this;
    }
    Dual& operator/=(const Dual& b) {
        v /= b.v;
        d = (d - v * b.d) / b.v;
        return *this;
    }

    friend Dual operator-(const Dual& a) { return {-a.v, -a.d}; }
    friend Dual operator+(const Dual& a) { return a; }
    friend Dual operator+(Dual a, const Dual& b) { return a += b; }
    friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
    friend Dual operator*(Dual a, const Dual& b) { return a *= b; }
    friend Dual operator/(Dual a, const Dual& b) { return a /= b; }

    // Comparisons compare values.
    friend bool operator<(const Dual& a, const Dual& b) { return a.v < b.v; }
    friend bool operator>(const Dual& a, const Dual& b) { return a.v > b.v; }
    friend bool operator<=(const Dual& a, const Dual& b) { return a.v <= b.v; }
    friend bool operator>=(const Dual& a, const Dual& b) { return a.v >= b.v; }
    friend bool operator==(const Dual& a, const Dual& b) { return a.v == b.v; }
    friend bool operator!=(const Dual& a, const Dual& b) { return a.v != b.v; }

    friend Dual sqrt(const Dual& a) {
        using std::sqrt;
        const T r = sqrt(a.v);
        return {r, a.d / (T(2) * r)};
    }
    friend SinCos<Dual> sin_cos(const Dual& a) {
        const SinCos<T> f = sin_cos(a.v);
        return {{f.sin, a.d * f.cos}, {f.cos, -a.d * f.sin}};
    }
    friend Dual sin(const Dual& a) { return sin_cos(a).sin; }
    friend Dual cos(const Dual& a) { return sin_cos(a).cos; }
    friend Dual exp(const Dual& a) {
        const T e = exp(a.v);
        return {e, a.d * e};
    }
    friend Dual log(const Dual& a) { return {log(a.v), a.d / a.v}; }
    friend Dual abs(const Dual& a) { return a.v < T(0) ? -a : a; }
    friend Dual atan2(const Dual& y, const Dual& x) {
        return {atan2(y.v, x.v), (y.d * x.v - x.d * y.v) / (x.v * x.v + y.v * y.v)};
    }
    friend bool isfinite(const Dual& a) {
        using std::isfinite;
        return isfinite(a.v) && isfinite(a.d);
    }
    friend std::ostream& operator<<(std::ostream& os, const Dual& a) {
        return os << a.v << '+' << a.d << "eps";
    }
};

template <class T> double value_of(const Dual<T>& x) { return value_of(x.v); }

}  // namespace costate

template <class T> struct Eigen::NumTraits<costate::Dual<T>> : Eigen::NumTraits<T> {
    using Real = costate::Dual<T>;
    using NonInteger = costate::Dual<T>;
    using Nested = costate::Dual<T>;
    using Literal = costate::Dual<T>;
    enum {
        IsComplex = 0,
        IsInteger = 0,
        IsSigned = 1,
        RequireInitialization = 1,
        ReadCost = 2,
        AddCost = 2,
        MulCost = 4
    };
    static Real epsilon() { return Real(NumTraits<T>::epsilon()); }
    static Real dummy_precision() { return Real(NumTraits<T>::dummy_precision()); }
    static Real highest() { return Real(NumTraits<T>::highest()); }
    static Real lowest() { return Real(NumTraits<T>::lowest()); }
};
