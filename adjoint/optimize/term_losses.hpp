// The loss of a rollout by terms.
#pragma once

#include "adjoint/optimize/optimize.hpp"

namespace costate {

// A term of the loss. The second of two terms with the same name has the suffix " 2".
struct TermCourse {
    std::string name;
    double loss = 0;           // the sum of its shares so far
    std::vector<double> sums;  // this sum at the noted steps
};

// Sums up the shares of the terms during a rollout, whose visitor it is. Notes the sums before every
// `every`-th step, and at the end; 0: does not note them.
class TermShares {
public:
    TermShares(const Simulation& simulation, const double* theta, int every = 0);
    void operator()(int t, const double* x, const double* u);
    const std::vector<TermCourse>& courses() const { return courses_; }
    const std::vector<int>& noted() const { return noted_; }  // steps

private:
    void note(int t);

    const Simulation& simulation_;
    const double* theta_;
    int every_;
    std::vector<int> noted_;
    std::vector<TermCourse> courses_;
};

// The shares of a rollout, which this runs. Throws DivergenceError.
TermShares term_shares(Rollout<Simulation>& rollout, const RolloutInputs& inputs, int every = 0);
// Name and loss of every term, likewise.
std::vector<std::pair<std::string, double>> term_losses(Rollout<Simulation>& rollout,
                                                        const RolloutInputs& inputs);

}  // namespace costate
