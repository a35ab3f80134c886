// Time steps of several environments of one world at once, in the lanes of vector registers (core/math/lanes.hpp).
// Every lane gets the bits of `step` and `step_adj` by itself, whatever is in the lanes beside it.
//
// The environments of a step must take the same branches, but for contacts, limits and saturated actuators, which each
// lane has by itself. Where they do not, a call returns false, and the caller steps them one by one. Environments with
// equal `branches` in their last steps seldom part in the next.
#pragma once

#include <cstdint>
#include <memory>

#include "solvers/step/step.hpp"

namespace costate {

// Arrays have the entry first and then the lane: x (nx x width). One thread at a time may use it.
class LaneStep {
public:
    virtual ~LaneStep() = default;
    virtual int width() const = 0;
    // The parameters of each lane (width), each (np); they must outlive the next steps.
    virtual void set_parameters(const double* const* theta) = 0;

    // wrenches (6 bodies x width), or null. False if the lanes part; x_next is then unspecified.
    virtual bool step(const double* x, const double* u, double* x_next, const double* wrenches = nullptr) = 0;
    // The reverse of the last step, which returned true. Adds to the covectors as `step_adj` does; theta_bar (np x
    // width), wrenches_bar or null. False if the lanes part; the covectors are then as before.
    virtual bool step_adj(const double* x, const double* u, const double* x_next_bar, double* theta_bar,
                          double* x_bar, double* u_bar, const double* wrenches = nullptr,
                          double* wrenches_bar = nullptr) = 0;
    // The same in its parts, for those who seed covectors between them (solvers/step/step.hpp). pull_back adds to the
    // covectors in the order of `step_adj` on doubles; where it returns false, they are not specified.
    virtual void clear_bars() = 0;
    virtual bool pull_back(const double* x, const double* u, const double* x_next_bar, double* theta_bar,
                           double* x_bar, double* u_bar, const double* wrenches, double* wrenches_bar) = 0;
    // `observe` and `observe_adj` of solvers/step/step.hpp. False if the lanes part.
    virtual bool observe(const double* x) = 0;
    virtual bool observe_adj(const double* x, double* theta_bar, double* x_bar) = 0;
    // A StepScratch<Lanes<width()>>, and the parameters (np x width) as its lanes.
    virtual void* scratch() = 0;
    virtual const double* parameters() const = 0;
    virtual void outcomes(SolverOutcome* of_lane) = 0;  // (width) of the last step
    virtual std::uint64_t branches() const = 0;
};

// How many environments of a world this machine steps in lanes; 1: there are no lanes. COSTATE_LANES in the environment
// asks for a width: 1 turns lanes off, others are those that were built. Throws std::invalid_argument if it is none.
int lane_width(const World& w);
// Null without lanes.
std::unique_ptr<LaneStep> make_lane_step(const World& w);

// A hash of the branches of a step that lanes share or, with different contacts and rows, share less well.
template <class T> std::uint64_t shared_branches(const StepScratch<T>& s) {
    std::uint64_t hash = s.contacts.detection.hash();
    const auto mix = [&](std::uint64_t value) { hash = mixed(hash, value); };
    for (const Saturation<T>& at : s.saturations)
        mix(static_cast<std::uint64_t>(at.muscle.speed) << 8 |
            static_cast<std::uint64_t>(at.muscle.length) << 5 | static_cast<std::uint64_t>(at.implicit));
    for (const Side side : s.springs)
        mix(static_cast<std::uint64_t>(side));
    for (const ActivationSides<T>& side : s.activation_sides)
        mix(static_cast<std::uint64_t>(side.time) << 8 | static_cast<std::uint64_t>(side.unit_control) << 6 |
            static_cast<std::uint64_t>(side.unit_activation) << 4);
    for (const ContactPoint<T>& c : s.contacts.points) {
        const ContactSources& from = c.sources;
        mix(static_cast<std::uint64_t>(c.tangent_axis));
        for (const int parameter : {from.friction.first, from.torsional, from.rolling})
            mix(static_cast<std::uint64_t>(parameter));
    }
    for (const RowBlock& b : s.rows.blocks) {
        mix(static_cast<std::uint64_t>(is_located<T>(b)) | static_cast<std::uint64_t>(b.kind) << 8 |
            static_cast<std::uint64_t>(b.side + 1) << 16 | static_cast<std::uint64_t>(b.capped) << 24 |
            static_cast<std::uint64_t>(b.index) << 32);
    }
    for (const unsigned char dropped : s.rows.dropped)
        mix(dropped);
    return hash;
}

}  // namespace costate
