// Rollouts backwards in time: each control step is run again from the state it began in, and pulled back.
#include "apps/c_api/ambient.hpp"
#include "apps/c_api/batch.hpp"

namespace costate::c_api {

ParameterGradient::ParameterGradient(Batch& batch, double* out, size_t size) : batch_(batch), out_(out) {
    const size_t np = batch.np(), all = static_cast<size_t>(batch.options.n_env) * np;
    if (!out && size == 0) return;
    check_given("theta_bar", out);
    if (size != np && size != all)
        throw Failure(COSTATE_BAD_ARGUMENT, "theta_bar has " + std::to_string(size) +
                                                " numbers and must have " + std::to_string(np) +
                                                " for a sum or " + std::to_string(all) +
                                                " for each environment");
    summed_ = size != all;
    rows_ = summed_ ? batch.theta_bar.data() : out;
}

void ParameterGradient::finish() const {
    if (!summed_) return;
    std::copy_n(rows_, batch_.np(), out_);
    for (size_t e = 1; e < static_cast<size_t>(batch_.options.n_env); ++e)
        for (size_t i = 0; i < batch_.np(); ++i)
            out_[i] += row(e)[i];
}

void read_state_bar(const Batch& b, const double* x, const double* given, double* tangent) {
    const World& w = b.world();
    if (!b.options.ambient) return void(std::copy_n(given, b.ndx(), tangent));
    tangent_from_ambient(w.model, x, given, tangent);
    std::copy(given + w.nq(), given + w.nx(), tangent + w.nv());
}

void write_state_bar(const Batch& b, const double* x, const double* tangent, double* out) {
    const World& w = b.world();
    if (!b.options.ambient) return void(std::copy_n(tangent, b.ndx(), out));
    ambient_from_tangent(w.model, x, tangent, out);
    std::copy(tangent + w.nv(), tangent + w.ndx(), out + w.nq());
}

namespace {

// Where a backward call reads and writes; rows of control step t and environment e.
struct Reverse {
    Batch& b;
    const double *x, *u, *states_bar;
    double *x_bar, *u_bar;
    const ParameterGradient& parameters;

    size_t row(size_t t, size_t e) const { return t * static_cast<size_t>(b.options.n_env) + e; }
    bool step(Lane& lane, size_t t, size_t e, bool last) const;
    void environment(Lane& lane, size_t e, size_t completed, size_t steps) const;
};

// Pulls lane.x_bar and what is given back through a control step; false if there is no finite result.
bool Reverse::step(Lane& lane, size_t t, size_t e, bool last) const {
    VecX<double>& x0 = lane.workspace->x;
    copy_state(b.world(), x + row(t, e) * b.nx(), x0.data());
    lane.u = Eigen::Map<const VecX<double>>(u + row(t, e) * b.nu(), lane.u.size());
    lane.rollout.forward(lane.theta, x0, lane.u);
    if (lane.rollout.divergence()) return false;
    read_state_bar(b, lane.rollout.last_state().data(), states_bar + row(t, e) * b.n_bar(),
                   lane.end_bar.data());
    if (!last) lane.end_bar += lane.x_bar;
    lane.steps.end_bar = lane.end_bar.data();
    Gradient& g = lane.gradient;
    lane.rollout.backward(lane.theta, lane.u, g);
    lane.x_bar = g.initial_state;
    if (u_bar) write(g.controls, u_bar + row(t, e) * b.nu());
    if (parameters.wanted()) {
        Eigen::Map<VecX<double>> sum(parameters.row(e), g.parameters.size());
        if (last)
            sum = g.parameters;
        else
            sum += g.parameters;
    }
    return g.controls.allFinite() && g.initial_state.allFinite() && g.parameters.allFinite();
}

void Reverse::environment(Lane& lane, size_t e, size_t completed, size_t steps) const {
    lane.theta = Eigen::Map<const VecX<double>>(b.parameters(e), lane.theta.size());
    bool finite = true;
    for (size_t t = completed; finite && t-- > 0;)
        finite = step(lane, t, e, t + 1 == completed);
    if (finite && completed > 0 && parameters.wanted())
        finite = Eigen::Map<const VecX<double>>(parameters.row(e), lane.theta.size()).allFinite();
    b.next_status[e] = finite ? COSTATE_OK : COSTATE_DIVERGED;
    const size_t kept = finite ? completed : 0;
    if (kept == 0) {
        lane.x_bar.setZero();
        if (parameters.wanted()) std::fill_n(parameters.row(e), b.np(), 0.0);
    }
    if (u_bar)
        for (size_t t = kept; t < steps; ++t)
            std::fill_n(u_bar + row(t, e) * b.nu(), b.nu(), 0.0);
    if (x_bar) write_state_bar(b, x + e * b.nx(), lane.x_bar.data(), x_bar + e * b.n_bar());
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_backward(costate_batch* batch, int n_steps, const double* x, const double* u,
                           const int* completed, const double* states_bar, double* x_bar, double* u_bar,
                           double* theta_bar, size_t theta_size) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        const size_t n_env = b.options.n_env, steps = read_step_count(n_steps);
        check_states(b, "x", x, steps);
        check_rows("u", u, steps, n_env, b.nu());
        check_rows("states_bar", states_bar, steps, n_env, b.n_bar());
        for (size_t e = 0; completed && e < n_env; ++e)
            if (completed[e] < 0 || completed[e] > n_steps)
                throw Failure(COSTATE_BAD_ARGUMENT, "completed[" + std::to_string(e) + "] is " +
                                                        std::to_string(completed[e]) + ", of " +
                                                        std::to_string(n_steps) + " steps");
        const ParameterGradient parameters(b, theta_bar, theta_size);
        const Reverse reverse{b, x, u, states_bar, x_bar, u_bar, parameters};
        b.begin();
        b.for_each([&](Lane& lane, size_t e) {
            reverse.environment(lane, e, completed ? static_cast<size_t>(completed[e]) : steps, steps);
        });
        parameters.finish();
        return static_cast<int>(std::count(b.next_status.begin(), b.next_status.end(), COSTATE_DIVERGED));
    });
}
}
