// Derivatives of functions by differences, with the accuracy to which they are known, and the verdict on a derivative
// that is to be judged by them.
//
//   clean   within 1e-5 of the column's largest entry, or of 0.1 if that is larger, or within 20 times the
//           accuracy of the differences
//   noisy   the accuracy of the differences is only 1e-2
//   kink    equal to one of the two one-sided derivatives, which differ
//   ties    the one-sided derivatives differ, and it is neither of them: several branches meet
//   WRONG   different from the differences, although the differences from both sides agree
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace costate::test {

using Vector = std::vector<double>;

inline double largest(const Vector& x) {
    double most = 0;
    for (const double e : x)
        most = std::max(most, std::abs(e));
    return most;
}
inline double apart(const Vector& a, const Vector& b) {
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

// The limit of differences, and its accuracy.
struct Limit {
    Vector value;
    double known_to = INFINITY;
};

// differences[k] at decreasing steps[k], with errors proportional to step^order. Each is extrapolated with
// the next.
inline Limit limit_of(const std::vector<Vector>& differences, const Vector& steps, int order) {
    Limit best;
    Vector before;
    for (size_t k = 0; k + 1 < steps.size(); ++k) {
        const double r = std::pow(steps[k] / steps[k + 1], order);
        Vector now(differences[k].size());
        for (size_t i = 0; i < now.size(); ++i)
            now[i] = (r * differences[k + 1][i] - differences[k][i]) / (r - 1);
        if (k > 0 && apart(now, before) < best.known_to) best = {now, apart(now, before)};
        before = now;
    }
    return best;
}

// The derivatives of a step by one variable: from both sides, from below and from above.
struct Differences {
    Limit central, below, above;
    // moved(e): the change of the result if the variable changes by e
    explicit Differences(const std::function<Vector(double)>& moved) {
        const Vector steps{1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7, 3e-8};
        std::vector<Vector> both, lower, upper;
        for (const double e : steps) {
            Vector plus = moved(e), minus = moved(-e), middle(plus.size());
            for (size_t i = 0; i < plus.size(); ++i) {
                middle[i] = (plus[i] - minus[i]) / (2 * e);
                plus[i] /= e;
                minus[i] /= -e;
            }
            both.push_back(middle);
            upper.push_back(plus);
            lower.push_back(minus);
        }
        central = limit_of(both, steps, 2);
        below = limit_of(lower, steps, 1);
        above = limit_of(upper, steps, 1);
    }
};

enum Class { clean, noisy, kink, ties, wrong, classes };
inline constexpr const char* class_names[] = {"clean", "noisy", "kink", "ties", "WRONG"};

struct Verdict {
    Class is = clean;
    double error = 0;  // relative to the column
};

inline Verdict judge(const Vector& column, const Differences& fd) {
    const auto vague = [](const Limit& limit) {
        return 20 * limit.known_to > 1e-2 * std::max(0.1, largest(limit.value));
    };
    const auto agrees = [&](const Vector& a, const Limit& b) {
        return apart(a, b.value) <= std::max(1e-5 * std::max(0.1, largest(b.value)), 20 * b.known_to);
    };
    Verdict v{clean, apart(column, fd.central.value) / std::max(0.1, largest(fd.central.value))};
    if (agrees(column, fd.central)) {
        if (vague(fd.central) && v.error > 1e-5) v.is = noisy;
        return v;
    }
    const bool one_sided = agrees(column, fd.below) || agrees(column, fd.above);
    const Limit& rougher = fd.below.known_to > fd.above.known_to ? fd.below : fd.above;
    const Limit& finer = fd.below.known_to > fd.above.known_to ? fd.above : fd.below;
    if (one_sided)
        v.is = kink;
    else if (vague(finer))
        v.is = noisy;
    else
        v.is = agrees(finer.value, rougher) ? wrong : ties;
    return v;
}

}  // namespace costate::test
