/* What batches refuse, and that they are as before then. */
#include <stdint.h>

#include "check.h"

enum { n_env = 3 };

static void options(const Case* c) {
    costate_batch* b = NULL;
    size_t bytes = 17;
    costate_batch_options o = {0};
    CHECK_FAILS(costate_batch_create(c->model, &o, &b), COSTATE_BAD_ARGUMENT, "n_env is 0");
    CHECK_FAILS(costate_batch_bytes(c->model, &o, &bytes), COSTATE_BAD_ARGUMENT, "n_env is 0");
    o.n_env = n_env;
    CHECK_FAILS(costate_batch_create(c->model, &o, NULL), COSTATE_BAD_ARGUMENT, "batch is null");
    CHECK_FAILS(costate_batch_create(c->model, NULL, &b), COSTATE_BAD_ARGUMENT, "options is null");
    CHECK_FAILS(costate_batch_create(NULL, &o, &b), COSTATE_BAD_ARGUMENT, "handle is null");
    CHECK_FAILS(costate_batch_bytes(c->model, &o, NULL), COSTATE_BAD_ARGUMENT, "bytes is null");
    o.n_threads = -1;
    CHECK_FAILS(costate_batch_create(c->model, &o, &b), COSTATE_BAD_ARGUMENT, "n_threads is -1");
    o.n_threads = 1, o.substeps = -3;
    CHECK_FAILS(costate_batch_create(c->model, &o, &b), COSTATE_BAD_ARGUMENT, "substeps is -3");
    o.substeps = 1, o.own_parameters = 2;
    CHECK_FAILS(costate_batch_create(c->model, &o, &b), COSTATE_BAD_ARGUMENT, "own_parameters is 2");
    o.own_parameters = 0, o.ambient = -1;
    CHECK_FAILS(costate_batch_create(c->model, &o, &b), COSTATE_BAD_ARGUMENT, "ambient is -1");
    o.ambient = 0, o.checkpoint_bytes = 8;
    CHECK_FAILS(costate_batch_create(c->model, &o, &b), COSTATE_BAD_ARGUMENT, "the least is");
    CHECK(b == NULL && bytes == 17);
    CHECK(costate_batch_free(NULL) == COSTATE_OK);
}

static void handles(const Case* c) {
    costate_batch_options o = {0};
    o.n_env = n_env;
    costate_batch* b = NULL;
    CHECK_FAILS(costate_batch_step(NULL, NULL, c->u, NULL, NULL), COSTATE_BAD_ARGUMENT, "handle is null");
    CHECK(costate_batch_create(c->model, &o, &b) == COSTATE_OK);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    CHECK_FAILS(costate_batch_free(b), COSTATE_BAD_HANDLE, "freed");
    CHECK_FAILS(costate_batch_step(b, NULL, c->u, NULL, NULL), COSTATE_BAD_HANDLE, "freed");
    CHECK_FAILS(costate_batch_state(b, NULL, NULL), COSTATE_BAD_HANDLE, "freed");
}

static void arguments(const Case* c, costate_batch* b, int nx) {
    const int nu = c->nu, np = c->np, ndx = 2 * c->nv;
    double *x = numbers(n_env * nx), *u = numbers(2 * n_env * nu), *out = numbers(2 * n_env * nx),
           *bar = numbers(2 * n_env * nx);
    double *theta = numbers(n_env * np), *wide = numbers(2 * n_env * nx);
    CHECK(costate_batch_state(b, x, NULL) == 0);
    for (int i = 0; i < n_env * nx; ++i)
        out[i] = 17;

    CHECK_FAILS(costate_batch_step(b, NULL, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT, "u is null");
    CHECK_FAILS(costate_batch_step(b, x, u, NULL, NULL), COSTATE_BAD_ARGUMENT, "x_next is null");
    u[nu + 2] = NAN;
    CHECK_FAILS(costate_batch_step(b, NULL, u, out, NULL), COSTATE_BAD_ARGUMENT, "u[1][2] is not finite");
    CHECK_FAILS(costate_batch_rollout(b, 1, NULL, u, out, NULL), COSTATE_BAD_ARGUMENT,
                "u[1][2] is not finite");
    u[nu + 2] = 0, u[n_env * nu + nu] = INFINITY;
    CHECK_FAILS(costate_batch_rollout(b, 2, NULL, u, out, NULL), COSTATE_BAD_ARGUMENT,
                "u[1][1][0] is not finite");
    u[n_env * nu + nu] = 0;
    CHECK_FAILS(costate_batch_rollout(b, 0, NULL, u, out, NULL), COSTATE_BAD_ARGUMENT, "n_steps is 0");
    CHECK_FAILS(costate_batch_rollout(b, 1, NULL, u, NULL, NULL), COSTATE_BAD_ARGUMENT, "states is null");
    x[2 * nx + 1] = NAN;
    CHECK_FAILS(costate_batch_step(b, x, u, out, NULL), COSTATE_BAD_ARGUMENT, "x[2][1] is not finite");
    x[2 * nx + 1] = 0;
    for (int k = 3; k < 7; ++k)
        x[nx + k] = 0;
    CHECK_FAILS(costate_batch_step(b, x, u, out, NULL), COSTATE_BAD_ARGUMENT,
                "environment 1 has a quaternion without direction at 3");
    x[nx + 3] = 1;

    CHECK_FAILS(costate_batch_backward(b, 1, NULL, u, NULL, bar, out, NULL, NULL, 0), COSTATE_BAD_ARGUMENT,
                "x is null");
    CHECK_FAILS(costate_batch_backward(b, 1, x, u, NULL, NULL, out, NULL, NULL, 0), COSTATE_BAD_ARGUMENT,
                "states_bar is null");
    const int completed[n_env] = {1, 2, 0};
    CHECK_FAILS(costate_batch_backward(b, 1, x, u, completed, bar, out, NULL, NULL, 0), COSTATE_BAD_ARGUMENT,
                "completed[1] is 2");
    CHECK_FAILS(costate_batch_backward(b, 1, x, u, NULL, bar, out, NULL, theta, 3), COSTATE_BAD_ARGUMENT,
                "theta_bar has 3 numbers");
    CHECK_FAILS(costate_batch_backward(b, 1, x, u, NULL, bar, out, NULL, NULL, (size_t)np),
                COSTATE_BAD_ARGUMENT, "theta_bar is null");
    bar[ndx] = NAN;
    CHECK_FAILS(costate_batch_backward(b, 1, x, u, NULL, bar, out, NULL, NULL, 0), COSTATE_BAD_ARGUMENT,
                "states_bar[1][0]");
    bar[ndx] = 0;

    CHECK(costate_model_get_parameters(c->model, theta, (size_t)np) == COSTATE_OK);
    CHECK_FAILS(costate_batch_set_parameters(b, theta, 3), COSTATE_BAD_ARGUMENT, "theta has 3 numbers");
    CHECK_FAILS(costate_batch_set_parameters(b, NULL, 3), COSTATE_BAD_ARGUMENT, "theta is null");
    CHECK_FAILS(costate_batch_set_parameters(b, theta, (size_t)(n_env * np)), COSTATE_BAD_ARGUMENT,
                "create it with own_parameters");
    theta[0] = -1;
    CHECK_FAILS(costate_batch_set_parameters(b, theta, (size_t)np), COSTATE_BAD_ARGUMENT,
                "mass must be 0 or more");

    const int last =
        costate_model_count(c->model, COSTATE_BODY) + costate_model_count(c->model, COSTATE_SITE);
    CHECK_FAILS(costate_batch_poses(b, NULL, &last, 1, wide, NULL), COSTATE_BAD_ARGUMENT, "no frame");
    CHECK_FAILS(costate_batch_poses(b, NULL, NULL, 1, wide, NULL), COSTATE_BAD_ARGUMENT, "frames is null");
    const int first = 0;
    bar[0] = INFINITY;
    CHECK_FAILS(costate_batch_poses_vjp(b, NULL, &first, 1, bar, NULL, wide, NULL, 0), COSTATE_BAD_ARGUMENT,
                "poses_bar[0][0]");
    for (int i = 0; i < n_env * nx; ++i)
        CHECK(out[i] == 17);
    free(x), free(u), free(out), free(bar), free(theta), free(wide);
}

static void resets(const Case* c, costate_batch* b, int nx) {
    double *x = numbers(n_env * nx), *noise_size = numbers(2 * c->nv);
    const int strange[2] = {1, n_env};
    const uint64_t seeds[n_env] = {0};
    CHECK_FAILS(costate_batch_reset(b, strange, 2, NULL, NULL, 0, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "no environment 3");
    const int twice[3] = {1, 2, 1};
    CHECK_FAILS(costate_batch_reset(b, twice, 3, NULL, NULL, 0, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "environment 1 more than once");
    CHECK_FAILS(costate_batch_reset(b, NULL, 2, NULL, NULL, 0, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "n must be 3");
    CHECK_FAILS(costate_batch_reset(b, strange, 4, NULL, NULL, 0, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "more than the 3");
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, NULL, x, 5, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "x has 5 numbers");
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, NULL, x, (size_t)nx, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "without direction");
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, "home", x, (size_t)nx, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "both given");
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, "robot/hme", NULL, 0, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "robot/home");
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, NULL, NULL, 0, noise_size, NULL), COSTATE_BAD_ARGUMENT,
                "seeds is null");
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, NULL, NULL, 0, NULL, seeds), COSTATE_BAD_ARGUMENT,
                "noise is null");
    noise_size[1] = NAN;
    CHECK_FAILS(costate_batch_reset(b, NULL, n_env, NULL, NULL, 0, noise_size, seeds), COSTATE_BAD_ARGUMENT,
                "noise[1]");
    free(x), free(noise_size);
}

int main(void) {
    Case c = open_case("go1_stand", 0, 0);
    const int nx = costate_model_nx(c.model);
    options(&c);
    handles(&c);
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = 2;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c.model, &o, &b) == COSTATE_OK);
    double *before = numbers(n_env * nx), *after = numbers(n_env * nx);
    CHECK(costate_batch_state(b, before, NULL) == 0);
    arguments(&c, b, nx);
    resets(&c, b, nx);
    CHECK(costate_batch_state(b, after, NULL) == 0);
    CHECK(memcmp(before, after, (size_t)(n_env * nx) * sizeof *after) == 0);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(before), free(after);
    close_case(&c);
    return failures ? 1 : 0;
}
