// LaneStep for W lanes, for the files that instantiate it.
#pragma once

#include "core/math/lanes.hpp"
#include "solvers/complementarity/pgs.inl"
#include "solvers/step/lane_step.hpp"
#include "solvers/step/step.inl"

namespace costate {

template <int W> class LaneStepOf final : public LaneStep {
    using T = Lanes<W>;

public:
    explicit LaneStepOf(const World& w) : world_(w), scratch_(w), theta_(w.np()) {
        bars_.clear(w);
        scratch_.contacts.lane_theta.resize(W);
    }
    int width() const override { return W; }
    void set_parameters(const double* const* theta) override {
        std::copy_n(theta, W, scratch_.contacts.lane_theta.begin());
        const bool shared = std::all_of(theta, theta + W, [&](const double* it) { return it == theta[0]; });
        for (size_t n = 0; n < theta_.size(); ++n)
            theta_[n] = shared ? T(theta[0][n]) : T::each([&](int i) { return theta[i][n]; });
    }

    bool step(const double* x, const double* u, double* x_next, const double* wrenches) override try {
        costate::step(world_, {theta_.data(), lanes(x), lanes(u), lanes(wrenches)}, scratch_, lanes(x_next));
        return true;
    } catch (const LanesPart&) {
        return false;
    }

    bool step_adj(const double* x, const double* u, const double* x_next_bar, double* theta_bar,
                  double* x_bar, double* u_bar, const double* wrenches, double* wrenches_bar) override {
        bars_.clear(world_);
        clear_bars();
        if (!pull_back(x, u, x_next_bar, numbers(bars_.theta), numbers(bars_.x), numbers(bars_.u), wrenches,
                       wrenches_bar != nullptr ? numbers(bars_.wrenches) : nullptr))
            return false;
        bars_.add_to({lanes(theta_bar), lanes(x_bar), lanes(u_bar), lanes(wrenches_bar)});
        return true;
    }

    void clear_bars() override { scratch_.clear_bars(); }
    bool pull_back(const double* x, const double* u, const double* x_next_bar, double* theta_bar,
                   double* x_bar, double* u_bar, const double* wrenches, double* wrenches_bar) override try {
        // a lane without rows is pulled back by the equations of motion, one with rows here by its sweeps
        if (!scratch_.rows.blocks.empty() && !has_implicit_gradient(world_, scratch_) &&
            lanes_with_rows(scratch_.rows) != all_lanes<T>)
            return false;
        costate::step_adj(world_, {theta_.data(), lanes(x), lanes(u), lanes(wrenches)}, scratch_,
                          lanes(x_next_bar),
                          {lanes(theta_bar), lanes(x_bar), lanes(u_bar), lanes(wrenches_bar)});
        return true;
    } catch (const LanesPart&) {
        return false;
    }

    bool observe(const double* x) override try {
        costate::observe(world_, theta_.data(), lanes(x), scratch_);
        return true;
    } catch (const LanesPart&) {
        return false;
    }
    bool observe_adj(const double* x, double* theta_bar, double* x_bar) override try {
        costate::observe_adj(world_, theta_.data(), lanes(x), scratch_, lanes(theta_bar), lanes(x_bar));
        return true;
    } catch (const LanesPart&) {
        return false;
    }

    void* scratch() override { return &scratch_; }
    const double* parameters() const override { return reinterpret_cast<const double*>(theta_.data()); }

    void outcomes(SolverOutcome* of_lane) override {
        T residual(0);
        LaneMask<W> converged = T(0) == T(0);
        const bool exact = !scratch_.impulses.status.empty();
        for (size_t i = 0; i < scratch_.rows.islands.size(); ++i) {
            const MlcpView<T> p = island_problem(scratch_.rows, scratch_.delassus, scratch_.impulses, i);
            const T* lambda = scratch_.impulses.lambda.data() + scratch_.rows.islands[i].row;
            const T of_island = mlcp_residual(p, lambda, world_.friction_law());
            residual = larger(residual, of_island);
            if (!exact) {
                converged = converged & !(of_island > acceptable_residual(p, lambda));
                continue;
            }
            for (int lane = 0; lane < W; ++lane)
                if (scratch_.impulses.sets[i].status[lane] == SolverStatus::unsolved)
                    converged.bits[lane] = 0;
        }
        for (int lane = 0; lane < W; ++lane)
            of_lane[lane] = {residual[lane], converged.bits[lane] != 0};
    }

    std::uint64_t branches() const override { return shared_branches(scratch_); }

private:
    static const T* lanes(const double* x) { return reinterpret_cast<const T*>(x); }
    static T* lanes(double* x) { return reinterpret_cast<T*>(x); }
    static double* numbers(std::vector<T>& x) { return reinterpret_cast<double*>(x.data()); }

    const World& world_;
    StepScratch<T> scratch_;
    std::vector<T> theta_;
    typename TwoActiveSets<T>::Pullback bars_;
};

}  // namespace costate
