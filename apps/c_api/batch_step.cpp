// Environments forwards in time.
#include "apps/c_api/batch.hpp"

namespace costate::c_api {
namespace {

// Ends a call on the batch's own states, or on others: how many have diverged.
int finish_step(Batch& b, bool own) {
    if (own) {
        b.x.swap(b.x_next);
        b.status.swap(b.next_status);
    }
    const std::vector<int>& status = own ? b.status : b.next_status;
    return static_cast<int>(std::count(status.begin(), status.end(), COSTATE_DIVERGED));
}

}  // namespace

bool control_step(Batch& b, Lane& lane, size_t e, const double* u, const double* from, double* to) {
    VecX<double>& x = lane.workspace->x;
    VecX<double>& x_next = lane.workspace->x_next;
    for (int k = 0; k < b.options.substeps; ++k, x.swap(x_next)) {
        step(b.world(), b.parameters(e), k == 0 ? from : x.data(), u, lane.workspace->step, x_next.data());
        if (!x_next.allFinite()) return false;
        const SolverOutcome outcome = solver_outcome(b.world(), lane.workspace->step);
        b.residual[e] = std::max(b.residual[e], outcome.residual);
        if (!outcome.converged) ++b.unconverged[e];
    }
    write(x, to);
    return true;
}

}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_step(costate_batch* batch, const double* x, const double* u, double* x_next, int* status) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        const size_t n_env = b.options.n_env, nx = b.nx();
        if (x) {
            check_states(b, "x", x, 1);
            check_given("x_next", x_next);
        }
        check_rows("u", u, 1, n_env, b.nu());
        b.begin();
        b.for_each([&](Lane& lane, size_t e) {
            const double *given = (x ? x : b.x.data()) + e * nx, *from = given;
            double* to = b.x_next.data() + e * nx;
            b.residual[e] = 0;
            b.unconverged[e] = 0;
            if (x) {
                copy_state(b.world(), given, to);
                from = to;
            }
            const bool goes_on =
                (x || b.status[e] == COSTATE_OK) && control_step(b, lane, e, u + e * b.nu(), from, to);
            if (!goes_on) std::copy_n(given, nx, to);
            b.next_status[e] = goes_on ? COSTATE_OK : COSTATE_DIVERGED;
        });
        if (x_next) std::copy(b.x_next.begin(), b.x_next.end(), x_next);
        if (status) std::copy(b.next_status.begin(), b.next_status.end(), status);
        return finish_step(b, !x);
    });
}

int costate_batch_rollout(costate_batch* batch, int n_steps, const double* x, const double* u, double* states,
                          int* completed) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        const size_t n_env = b.options.n_env, nx = b.nx(), row = n_env * nx, steps = read_step_count(n_steps);
        if (x) check_states(b, "x", x, 1);
        check_given("states", states);
        check_rows("u", u, steps, n_env, b.nu());
        b.begin();
        b.for_each([&](Lane& lane, size_t e) {
            double* last = b.x_next.data() + e * nx;
            copy_state(b.world(), (x ? x : b.x.data()) + e * nx, last);
            b.residual[e] = 0;
            b.unconverged[e] = 0;
            size_t done = 0;
            while (done < steps && (x || b.status[e] == COSTATE_OK) &&
                   control_step(b, lane, e, u + (done * n_env + e) * b.nu(), last, last)) {
                std::copy_n(last, nx, states + done * row + e * nx);
                ++done;
            }
            b.next_status[e] = done == steps ? COSTATE_OK : COSTATE_DIVERGED;
            if (completed) completed[e] = static_cast<int>(done);
            for (; done < steps; ++done)
                std::copy_n(last, nx, states + done * row + e * nx);
        });
        return finish_step(b, !x);
    });
}
}
