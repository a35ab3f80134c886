// Environments forwards in time, backwards, and where their frames are.
#include <algorithm>

#include "apps/c_api/batch.hpp"
#include "apps/c_api/contact.hpp"
#include "apps/c_api/options.hpp"

namespace costate::c_api {
namespace {

void check_completed(const Batch& b, const int* completed, int n_steps) {
    for (size_t e = 0; completed && e < b.n_env(); ++e)
        if (completed[e] < 0 || completed[e] > n_steps)
            throw Failure(COSTATE_BAD_ARGUMENT, "completed[" + std::to_string(e) + "] is " +
                                                    std::to_string(completed[e]) + ", of " +
                                                    std::to_string(n_steps) + " steps");
}

void check_frames(const Model& m, const int* frames, size_t n) {
    check_given("frames", frames, n);
    for (size_t i = 0; i < n; ++i)
        check_index("frame", frames[i], m.bodies.size() + m.sites.size());
}

struct JacobianOutputs {
    double *by_x, *by_u, *by_theta;
};

int batch_jacobian(const char* function, costate_batch* batch, const double* x, const double* u,
                   const unsigned char* which, const costate_columns* columns, const JacobianOutputs& out,
                   int* status) {
    return with_batch(function, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (x) check_states(b, "x", x, 1);
        check_rows("u", u, 1, b.n_env(), b.nu());
        JacobianColumns chosen;
        if (columns) {
            const costate_columns given = known_options("costate_columns", *columns);
            chosen = {given.x, given.u, given.theta};
        }
        const int diverged =
            s.with_parameters().jacobian(x, u, which, out.by_x, out.by_u, out.by_theta, chosen);
        write_status(b.outcome(), status);
        return diverged;
    });
}

}  // namespace

int check_step_count(int n_steps) {
    if (n_steps < 1)
        throw Failure(COSTATE_BAD_ARGUMENT, "n_steps is " + std::to_string(n_steps) + ", the least is 1");
    return n_steps;
}

Batch::ThetaBar check_theta_bar(const Batch& b, const double* theta_bar, size_t size) {
    const size_t np = b.np(), all = b.n_env() * np;
    if (!theta_bar && size == 0) return Batch::ThetaBar::sum;
    check_given("theta_bar", theta_bar);
    if (size != np && size != all)
        throw Failure(COSTATE_BAD_ARGUMENT, "theta_bar has " + std::to_string(size) +
                                                " numbers and must have " + std::to_string(np) +
                                                " for a sum or " + std::to_string(all) +
                                                " for each environment");
    return size == all ? Batch::ThetaBar::each : Batch::ThetaBar::sum;
}

}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_step(costate_batch* batch, const double* x, const double* u, double* x_next, int* status) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (x) {
            check_states(b, "x", x, 1);
            check_given("x_next", x_next);
        }
        check_rows("u", u, 1, b.n_env(), b.nu());
        const int diverged = s.with_parameters().step(x, u, x_next);
        write_status(b.outcome(), status);
        return diverged;
    });
}

int costate_batch_rollout(costate_batch* batch, int n_steps, const double* x, const double* u, double* states,
                          int* completed) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        check_step_count(n_steps);
        if (x) check_states(b, "x", x, 1);
        check_given("states", states);
        check_rows("u", u, static_cast<size_t>(n_steps), b.n_env(), b.nu());
        return s.with_parameters().rollout(n_steps, x, u, states, completed);
    });
}

int costate_batch_backward(costate_batch* batch, int n_steps, const double* x, const double* u,
                           const int* completed, const double* states_bar, double* x_bar, double* u_bar,
                           double* theta_bar, size_t theta_size) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        const size_t steps = static_cast<size_t>(check_step_count(n_steps));
        check_states(b, "x", x, steps);
        check_rows("u", u, steps, b.n_env(), b.nu());
        check_rows("states_bar", states_bar, steps, b.n_env(), b.state_bar_width());
        check_completed(b, completed, n_steps);
        const Batch::ThetaBar of = check_theta_bar(b, theta_bar, theta_size);
        return s.with_parameters().backward(n_steps, x, u, completed, states_bar, x_bar, u_bar, theta_bar,
                                            of);
    });
}

int costate_batch_jacobian(costate_batch* batch, const double* x, const double* u, const unsigned char* which,
                           double* by_x, double* by_u, double* by_theta, int* status) {
    return batch_jacobian(__func__, batch, x, u, which, nullptr, {by_x, by_u, by_theta}, status);
}

int costate_batch_jacobian_with(costate_batch* batch, const double* x, const double* u,
                                const unsigned char* which, const costate_columns* columns, double* by_x,
                                double* by_u, double* by_theta, int* status) {
    return batch_jacobian(__func__, batch, x, u, which, columns, {by_x, by_u, by_theta}, status);
}

int costate_batch_contacts(costate_batch* batch, const double* x, const double* u, costate_contact* contacts,
                           double* couples, size_t capacity, int* counts) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (x) check_states(b, "x", x, 1);
        check_rows("u", u, 1, b.n_env(), b.nu());
        check_given("counts", counts);
        check_given("contacts", contacts, capacity);
        std::fill_n(counts, b.n_env(), COSTATE_DIVERGED);
        s.with_parameters().observe_steps(x, u, [&](size_t e, const Observation<double>& y) {
            counts[e] = y.contacts();
            const int n = static_cast<int>(std::min<size_t>(counts[e], capacity));
            for (int i = 0; i < n; ++i) {
                write_contact(y.contact(i), contacts[e * capacity + i]);
                if (couples) write(y.couple(i), couples + 3 * (e * capacity + i));
            }
        });
        return std::max(0, *std::max_element(counts, counts + b.n_env()));
    });
}

int costate_batch_poses(costate_batch* batch, const double* x, const int* frames, size_t n, double* poses,
                        double* velocities) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (x) check_states(b, "x", x, 1);
        check_frames(b.world().model, frames, n);
        s.with_parameters().poses(x, frames, n, poses, velocities);
        return COSTATE_OK;
    });
}

int costate_batch_poses_vjp(costate_batch* batch, const double* x, const int* frames, size_t n,
                            const double* poses_bar, const double* velocities_bar, double* x_bar,
                            double* theta_bar, size_t theta_size) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        const Batch& b = s.batch;
        if (x) check_states(b, "x", x, 1);
        check_frames(b.world().model, frames, n);
        if (poses_bar) check_rows("poses_bar", poses_bar, 1, b.n_env(), n * b.pose_bar_width());
        if (velocities_bar) check_rows("velocities_bar", velocities_bar, 1, b.n_env(), n * 6);
        const Batch::ThetaBar of = check_theta_bar(b, theta_bar, theta_size);
        s.with_parameters().poses_backward(x, frames, n, poses_bar, velocities_bar, x_bar, theta_bar, of);
        return COSTATE_OK;
    });
}
}
