// Sacado's RAD: operator overloading onto a graph of partial derivatives in an arena, swept backwards.
#define RAD_EQ_ALIAS  // a copy is another name of the same number, not an operation
#include <Trilinos_version.h>
#include <Sacado_trad.hpp>

#include "apps/beside/autodiff/taped_rollout.hpp"

namespace costate {

// An ADvar that is copied as other numbers are: its own assignment wants a right side that is not const.
class Number : public ::Sacado::Rad::ADvar<double> {
public:
    using ADvar::ADvar;
    Number() = default;
    Number(const Number& b) : ADvar() { cv = b.cv; }
    Number& operator=(const Number& b) { return cv = b.cv, *this; }
};

struct Sacado {
    using Type = Number;
    static double value(const Number& a) { return a.val(); }
};
using Scalar = Active<Sacado>;

}  // namespace costate

COSTATE_WITHOUT_EXACT_SOLVERS(costate::Scalar)

namespace costate {

const Tool tool{"Sacado RAD", TRILINOS_VERSION_STRING, "graph, reverse"};

Differentiated differentiate(const Scene& s, const Checkpointing&) {
    Differentiated result;
    result.forward_evaluations = s.steps;
    const Inputs inputs(s);
    const VecX<double> at = inputs.at(s);
    VecX<Scalar> in(inputs.size());
    const Stopwatch forward;
    for (int i = 0; i < in.size(); ++i)
        in[i] = Scalar(at[i]);
    Scalar out = rollout_loss<Scalar>(s, s.steps, in.data());
    result.loss = value_of(out);
    result.forward_seconds = forward.seconds();
    const Stopwatch backward;
    ::Sacado::Rad::ADcontext<double>::Outvar_Gradcomp(out.a);
    VecX<double> gradient(inputs.size());
    for (int i = 0; i < in.size(); ++i)
        gradient[i] = in[i].a.adj();
    result.backward_seconds = backward.seconds();
    result.gradient = inputs.gradient(gradient);
    return result;
}

}  // namespace costate
