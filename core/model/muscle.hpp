// The force of a muscle, by MuJoCo's model: with the activation w, the length l and its rate l' of what it drives, after the
// gear,
//
//   f = -F (w FL(L) FV(V) + FP(L)),   L = r_0 + (l - l_0)/L_0,   V = l'/(L_0 v_max),   L_0 = (l_1 - l_0)/(r_1 - r_0)
//
// F: peak force; l_0, l_1: shortest and longest length; r_0, r_1: the same in units of the optimal length L_0. The curves are
// pieces of parabolas and straight lines with continuous slopes:
//
//   FL   1 at L = 1, 0 at L <= l_min and L >= l_max, 1/2 in the middle between
//   FV   0 at V <= -1, (V + 1)^2 up to V = 0, then up to fv_max at V >= fv_max - 1
//   FP   0 at L <= 1, fp_max/2 in the middle between 1 and l_max, straight beyond
#pragma once

#include <span>

#include "core/model/parameters.hpp"

namespace costate {

// The numbers of a muscle, in their order in theta.
struct MuscleSpec {
    double force = 0;
    double length_range[2] = {0, 1}, range[2] = {0.75, 1.05};
    double lmin = 0.5, lmax = 1.6, vmax = 1.5, fpmax = 1.3, fvmax = 1.2;
};
struct MuscleQuantity {
    const char* name;  // in files and paths of parameters
    int width;
    ParameterRange range;
    double* (*of)(MuscleSpec&);  // (width)
};
std::span<const MuscleQuantity> muscle_quantities();

// Indices of the numbers of a muscle, counted from its first in theta.
struct MuscleAt {
    enum { force, shortest, longest, range_0, range_1, lmin, lmax, vmax, fpmax, fvmax, count };
};

// The pieces of the curves on which a muscle is.
struct MusclePiece {
    // of L: below l_min; rising below and above 1/2; falling above and below 1/2; beyond l_max
    enum Length : unsigned char { slack, low, rising, falling, high, taut } length = slack;
    enum Speed : unsigned char { fast, shortening, lengthening, yielding } speed = fast;
};

// L and V.
template <class T> struct MuscleStretch {
    T L, V;
    MuscleStretch(const T* p, const T& length, const T& rate) {
        const T L_0 =
            (p[MuscleAt::longest] - p[MuscleAt::shortest]) / (p[MuscleAt::range_1] - p[MuscleAt::range_0]);
        L = p[MuscleAt::range_0] + (length - p[MuscleAt::shortest]) / L_0;
        V = rate / (L_0 * p[MuscleAt::vmax]);
    }
};

// p: the numbers of the muscle
template <class T> MusclePiece muscle_piece(const T* p, const T& length, const T& rate) {
    const MuscleStretch<T> at(p, length, rate);
    const Value<T> L = value_of(at.L), V = value_of(at.V), lmin = value_of(p[MuscleAt::lmin]),
                   lmax = value_of(p[MuscleAt::lmax]), yield = value_of(p[MuscleAt::fvmax]) - 1, one(1);
    using Piece = MusclePiece;
    return {L < lmin                  ? Piece::slack
            : L <= (lmin + one) * 0.5 ? Piece::low
            : L <= one                ? Piece::rising
            : L <= (one + lmax) * 0.5 ? Piece::falling
            : L <= lmax               ? Piece::high
                                      : Piece::taut,
            V <= Value<T>(-1)  ? Piece::fast
            : V <= Value<T>(0) ? Piece::shortening
            : V <= yield       ? Piece::lengthening
                               : Piece::yielding};
}

// The curves and their partial derivatives.
template <class T> struct MuscleCurves {
    T FL, FL_L, FL_lmin, FL_lmax;
    T FV, FV_V, FV_fvmax;
    T FP, FP_L, FP_lmax, FP_fpmax;

    MuscleCurves(const T* p, const MuscleStretch<T>& at, MusclePiece piece)
        : FL(0),
          FL_L(0),
          FL_lmin(0),
          FL_lmax(0),
          FV(0),
          FV_V(0),
          FV_fvmax(0),
          FP(0),
          FP_L(0),
          FP_lmax(0),
          FP_fpmax(0) {
        const T &lmin = p[MuscleAt::lmin], &lmax = p[MuscleAt::lmax], &fpmax = p[MuscleAt::fpmax], half(0.5);
        const T s = half * (T(1) - lmin), t = half * (lmax - T(1));  // half the widths of both sides
        switch (piece.length) {
            case MusclePiece::slack:
            case MusclePiece::taut: break;
            case MusclePiece::low: {
                const T x = (at.L - lmin) / s;
                FL = half * x * x;
                FL_L = x / s;
                FL_lmin = x * (half * x - T(1)) / s;
                break;
            }
            case MusclePiece::rising: {
                const T x = (T(1) - at.L) / s;
                FL = T(1) - half * x * x;
                FL_L = x / s;
                FL_lmin = -(half * x * x / s);
                break;
            }
            case MusclePiece::falling: {
                const T x = (at.L - T(1)) / t;
                FL = T(1) - half * x * x;
                FL_L = -(x / t);
                FL_lmax = half * x * x / t;
                break;
            }
            case MusclePiece::high: {
                const T x = (lmax - at.L) / t;
                FL = half * x * x;
                FL_L = -(x / t);
                FL_lmax = x * (T(1) - half * x) / t;
                break;
            }
        }
        const T x = (at.L - T(1)) / t;
        if (piece.length == MusclePiece::falling) {
            FP_fpmax = half * x * x;
            FP_L = fpmax * x / t;
            FP_lmax = -(fpmax * half * x * x / t);
        } else if (piece.length > MusclePiece::falling) {
            FP_fpmax = x - half;
            FP_L = fpmax / t;
            FP_lmax = -(fpmax * half * x / t);
        }
        FP = fpmax * FP_fpmax;
        const T &V = at.V, &fvmax = p[MuscleAt::fvmax], y = fvmax - T(1);
        switch (piece.speed) {
            case MusclePiece::fast: break;
            case MusclePiece::shortening: FV = (V + T(1)) * (V + T(1)), FV_V = T(2) * (V + T(1)); break;
            case MusclePiece::lengthening:
                FV = fvmax - (y - V) * (y - V) / y, FV_V = T(2) * (y - V) / y, FV_fvmax = V * V / (y * y);
                break;
            case MusclePiece::yielding: FV = fvmax, FV_fvmax = T(1); break;
        }
    }
};

// The force per activation, and the force without activation.
template <class T> struct MuscleForce { T active, passive; };

template <class T> MuscleForce<T> muscle_force(const T* p, const T& length, const T& rate) {
    const MuscleStretch<T> at(p, length, rate);
    const MuscleCurves<T> c(p, at, muscle_piece(p, length, rate));
    return {-(p[MuscleAt::force] * c.FL * c.FV), -(p[MuscleAt::force] * c.FP)};
}
template <class T>
void muscle_force_adj(const T* p, const T& length, const T& rate, const MuscleForce<T>& bar, T* p_bar,
                      T& length_bar, T& rate_bar) {
    const MuscleStretch<T> at(p, length, rate);
    const MuscleCurves<T> c(p, at, muscle_piece(p, length, rate));
    const T &F = p[MuscleAt::force], a = -(F * bar.active), b = -(F * bar.passive);
    p_bar[MuscleAt::force] -= bar.active * c.FL * c.FV + bar.passive * c.FP;
    p_bar[MuscleAt::lmin] += a * c.FV * c.FL_lmin;
    p_bar[MuscleAt::lmax] += a * c.FV * c.FL_lmax + b * c.FP_lmax;
    p_bar[MuscleAt::fpmax] += b * c.FP_fpmax;
    p_bar[MuscleAt::fvmax] += a * c.FL * c.FV_fvmax;
    const T L_bar = a * c.FV * c.FL_L + b * c.FP_L, V_bar = a * c.FL * c.FV_V;
    // L = r_0 + (l - l_0) k,   V = l' k/v_max,   k = 1/L_0 = (r_1 - r_0)/(l_1 - l_0)
    const T width = p[MuscleAt::longest] - p[MuscleAt::shortest],
            k = (p[MuscleAt::range_1] - p[MuscleAt::range_0]) / width, &vmax = p[MuscleAt::vmax];
    const T k_bar = L_bar * (length - p[MuscleAt::shortest]) + V_bar * rate / vmax;
    length_bar += L_bar * k;
    rate_bar += V_bar * k / vmax;
    p_bar[MuscleAt::vmax] -= V_bar * rate * k / (vmax * vmax);
    p_bar[MuscleAt::range_0] += L_bar - k_bar / width;
    p_bar[MuscleAt::range_1] += k_bar / width;
    p_bar[MuscleAt::shortest] += k_bar * k / width - L_bar * k;
    p_bar[MuscleAt::longest] -= k_bar * k / width;
}

}  // namespace costate
