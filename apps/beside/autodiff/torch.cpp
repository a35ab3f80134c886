// libtorch: every number a tensor of its own, every operation a node of autograd's graph.
#include <torch/torch.h>

#include "apps/beside/autodiff/taped_rollout.hpp"

namespace costate {

// A tensor is a handle that its copies share, so nothing is done in place.
struct Number {
    torch::Tensor t;
    Number() = default;
    // NOLINT(google-explicit-constructor)
    Number(double value) : t(torch::scalar_tensor(value, torch::kFloat64)) {}
    // NOLINT(google-explicit-constructor)
    Number(torch::Tensor tensor) : t(std::move(tensor)) {}
    Number& operator+=(const Number& b) { return *this = *this + b; }
    Number& operator-=(const Number& b) { return *this = *this - b; }
    Number& operator*=(const Number& b) { return *this = *this * b; }
    Number& operator/=(const Number& b) { return *this = *this / b; }
    friend Number operator-(const Number& a) { return a.t.neg(); }
    friend Number operator+(const Number& a, const Number& b) { return a.t.add(b.t); }
    friend Number operator-(const Number& a, const Number& b) { return a.t.sub(b.t); }
    friend Number operator*(const Number& a, const Number& b) { return a.t.mul(b.t); }
    friend Number operator/(const Number& a, const Number& b) { return a.t.div(b.t); }
    friend Number sqrt(const Number& a) { return a.t.sqrt(); }
    friend Number sin(const Number& a) { return a.t.sin(); }
    friend Number cos(const Number& a) { return a.t.cos(); }
    friend Number exp(const Number& a) { return a.t.exp(); }
    friend Number atan2(const Number& y, const Number& x) { return y.t.atan2(x.t); }
};

struct Torch {
    using Type = Number;
    static double value(const Number& a) { return *a.t.data_ptr<double>(); }
};
using Scalar = Active<Torch>;

}  // namespace costate

COSTATE_WITHOUT_EXACT_SOLVERS(costate::Scalar)

namespace costate {

const Tool tool{"libtorch", TORCH_VERSION, "graph, reverse"};

Differentiated differentiate(const Scene& s, const Checkpointing&) {
    torch::set_num_threads(1);
    Differentiated result;
    result.forward_evaluations = s.steps;
    const Inputs inputs(s);
    VecX<Scalar> in = inputs.at(s).cast<Scalar>();
    for (Scalar& x : in)
        x.a.t.requires_grad_(true);
    const Stopwatch forward;
    const Scalar out = rollout_loss<Scalar>(s, s.steps, in.data());
    result.forward_seconds = forward.seconds();
    result.loss = value_of(out);
    const Stopwatch backward;
    out.a.t.backward();
    VecX<double> gradient(inputs.size());
    for (int i = 0; i < in.size(); ++i) {
        const torch::Tensor& g = in[i].a.t.grad();
        gradient[i] = g.defined() ? g.item<double>() : 0.0;
    }
    result.backward_seconds = backward.seconds();
    result.gradient = inputs.gradient(gradient);
    return result;
}

}  // namespace costate
