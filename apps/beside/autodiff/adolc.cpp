// ADOL-C: operator overloading onto a tape of operations, locations and values, swept backwards.
#include <adolc/adolc.h>

#include <array>

#include "apps/beside/autodiff/taped_rollout.hpp"

namespace costate {

struct AdolC {
    using Type = adouble;
    static double value(const adouble& a) { return a.value(); }
};
using Scalar = Active<AdolC>;

}  // namespace costate

COSTATE_WITHOUT_EXACT_SOLVERS(costate::Scalar)

namespace costate {

const Tool tool{"ADOL-C", COSTATE_ADOLC_VERSION, "tape, reverse"};

namespace {

constexpr short tape = 0;

// Entries of the four parts of a tape.
struct Size {
    double operations = 0, locations = 0, values = 0, taylors = 0;
};

Size tape_size() {
    size_t counts[STAT_SIZE];
    tapestats(tape, counts);
    const auto of = [&](int counter) { return static_cast<double>(counts[counter]); };
    return {of(NUM_OPERATIONS), of(NUM_LOCATIONS), of(NUM_VALUES), of(TAY_STACK_SIZE)};
}

// With buffers that hold all of that: ADOL-C writes to files what its buffers do not hold.
double record(const Scene& s, int steps, const Size& size) {
    const auto room = [](double entries) {
        return static_cast<unsigned>(std::min(1.02 * entries + 1e5, 4.29e9));
    };
    const Inputs inputs(s);
    const VecX<double> at = inputs.at(s);
    double loss = 0;
    trace_on(tape, 1, room(size.operations), room(size.locations), room(size.values), room(size.taylors));
    {
        VecX<Scalar> in(inputs.size());
        for (int i = 0; i < in.size(); ++i)
            in[i].a <<= at[i];
        rollout_loss<Scalar>(s, steps, in.data()).a >>= loss;
    }
    trace_off();
    return loss;
}

// What `steps` steps will take, by short ones.
Size predicted(const Scene& s) {
    const auto of = [&](int steps) {
        record(s, steps, {2e7, 2e7, 2e7, 2e7});
        return tape_size();
    };
    const int a = 1, b = std::min(3, s.steps);
    const Size one = of(a);
    if (b == a) return one;
    const Size more = of(b);
    const auto at_end = [&](double Size::*part) {
        return one.*part + (more.*part - one.*part) / (b - a) * (s.steps - a);
    };
    return {at_end(&Size::operations), at_end(&Size::locations), at_end(&Size::values),
            at_end(&Size::taylors)};
}

}  // namespace

Differentiated differentiate(const Scene& s, const Checkpointing&) {
    static const Size size = predicted(s);  // of the one scene of this process
    Differentiated result;
    result.forward_evaluations = s.steps;
    const Stopwatch forward;
    result.loss = record(s, s.steps, size);
    result.forward_seconds = forward.seconds();
    const Stopwatch backward;
    const Inputs inputs(s);
    VecX<double> gradient(inputs.size());
    double one = 1;
    fos_reverse(tape, 1, inputs.size(), &one, gradient.data());
    result.backward_seconds = backward.seconds();
    result.gradient = inputs.gradient(gradient);
    result.operations = static_cast<std::int64_t>(tape_size().operations);
    return result;
}

}  // namespace costate
