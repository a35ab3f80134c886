// The inverse Hessian of L-BFGS: a multiple of the identity, updated by the last differences of points and of
// gradients (Nocedal & Wright 2006, section 7.2).
#pragma once

#include <deque>
#include <stdexcept>

#include "core/math/linalg.hpp"

namespace costate {

class InverseHessian {
public:
    explicit InverseHessian(double scale) : scale_(scale) {}  // scale: the multiple before the first update

    // Notes that the gradient changed by dg (n) when the point moved by dy (n). A pair without positive curvature
    // is not used.
    void update(const VecX<double>& dy, const VecX<double>& dg);

    // H g (n) of the free entries; the others are 0, in the result as in the pairs.
    VecX<double> apply(const VecX<double>& g, const Eigen::Array<bool, Eigen::Dynamic, 1>& free) const;

    template <class Archive> void transfer(Archive& a) {
        size_t count = pairs_.size();
        a(count);
        if (count > most) throw std::runtime_error("it contains too many pairs of L-BFGS");
        pairs_.resize(count);
        for (Pair& p : pairs_)
            a(p.dy, p.dg);
    }

    bool empty() const { return pairs_.empty(); }
    void clear() { pairs_.clear(); }

private:
    struct Pair {
        VecX<double> dy, dg;
    };
    static constexpr size_t most = 20;
    double scale_;
    std::deque<Pair> pairs_;  // the oldest first
};

}  // namespace costate
