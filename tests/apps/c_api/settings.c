/* Under every setting: whole states, their derivatives, batches of them in both kinds of gradients, and what
 * the solver says of itself. */
#include "settings.h"

static int same(const double* a, const double* b, int n) { return memcmp(a, b, (size_t)n * sizeof *a) == 0; }

static double dot(const double* a, const double* b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

enum { warm_contacts = 4 };               /* of settings.h: so many keys are the first of what is kept */
static int is_key(const Case* c, int i) { /* entry i of a tangent vector */
    return i >= 2 * c->nv && i < 2 * c->nv + warm_contacts;
}

/* Sizes, and a state on its way: after two steps from near the first, with a little less than these keep: an
 * impulse at its bound, from which a solver starts, is a kink. */
typedef struct {
    int nx, ndx, kept; /* kept: numbers behind (q, v) */
    double* x;
} Start;

static Start start_of(const Case* c) {
    Start s = {0};
    s.nx = costate_model_nx(c->model);
    s.ndx = s.nx - c->nq + c->nv;
    s.kept = s.nx - c->nq - c->nv;
    s.x = numbers(s.nx);
    memcpy(s.x, c->q, (size_t)c->nq * sizeof *c->q);
    memcpy(s.x + c->nq, c->v, (size_t)c->nv * sizeof *c->v);
    for (int k = 0; k < 2; ++k)
        CHECK(costate_state_step(c->model, s.x, c->u, s.x) == COSTATE_OK);
    for (int i = 2 * c->nv; i < s.ndx; ++i)
        if (!is_key(c, i)) s.x[i + c->nq - c->nv] *= 0.9;
    return s;
}

/* Steps of (q, v) are those of states that keep nothing. */
static void pairs_are_states(Case* c, const Settings* settings) {
    (void)settings;
    const int nq = c->nq, nv = c->nv, nu = c->nu, np = c->np;
    Start s = start_of(c);
    memset(s.x + nq + nv, 0, (size_t)s.kept * sizeof *s.x);
    double *next = numbers(s.nx), *pair = numbers(nq + nv), *bar = noises(s.ndx, 1),
           *pair_bar = numbers(2 * nv);
    double *x_bar = numbers(s.ndx), *u_bar = numbers(2 * nu), *theta_bar = numbers(2 * np);
    CHECK(costate_state_step(c->model, s.x, c->u, next) == COSTATE_OK);
    CHECK(costate_step(c->model, s.x, s.x + nq, c->u, pair, pair + nq) == COSTATE_OK);
    CHECK(same(next, pair, nq + nv));
    memset(bar + 2 * nv, 0, (size_t)s.kept * sizeof *bar);
    CHECK(costate_state_step_vjp(c->model, s.x, c->u, bar, x_bar, u_bar, theta_bar) == COSTATE_OK);
    CHECK(costate_step_vjp(c->model, s.x, s.x + nq, c->u, bar, bar + nv, pair_bar, pair_bar + nv, u_bar + nu,
                           theta_bar + np) == COSTATE_OK);
    CHECK(same(x_bar, pair_bar, 2 * nv) && same(u_bar, u_bar + nu, nu) &&
          same(theta_bar, theta_bar + np, np));
    double *dot_next = numbers(s.ndx), *pair_dot = numbers(2 * nv), *x_dot = noises(s.ndx, 1);
    memset(x_dot + 2 * nv, 0, (size_t)s.kept * sizeof *bar);
    CHECK(costate_state_step_jvp(c->model, s.x, c->u, x_dot, NULL, NULL, dot_next) == COSTATE_OK);
    CHECK(costate_step_jvp(c->model, s.x, s.x + nq, c->u, x_dot, x_dot + nv, NULL, NULL, pair_dot,
                           pair_dot + nv) == COSTATE_OK);
    CHECK(same(dot_next, pair_dot, 2 * nv));
    free(s.x), free(next), free(pair), free(bar), free(pair_bar), free(x_bar), free(u_bar), free(theta_bar);
    free(dot_next), free(pair_dot), free(x_dot);
}

/* The state s moved by e along d (ndx), one of keys staying where they are. */
static void move_state(const Case* c, const Start* s, const double* d, double e, double* x) {
    double* scaled = numbers(s->ndx);
    for (int i = 0; i < s->ndx; ++i)
        scaled[i] = e * d[i];
    CHECK(costate_retract(c->model, s->x, scaled, x) == COSTATE_OK);
    for (int i = c->nv; i < s->ndx; ++i)
        x[i + c->nq - c->nv] = s->x[i + c->nq - c->nv] + (is_key(c, i) ? 0 : scaled[i]);
    free(scaled);
}

/* <bar, jvp(dot)> = <vjp(bar), dot>, and central differences have the same slope. */
static void products(Case* c, const Settings* settings) {
    const int nv = c->nv, nu = c->nu, np = c->np;
    const double e = 1e-6;
    Start s = start_of(c);
    const int n = s.ndx;
    double *x_dot = noises(n, 1), *u_dot = noises(nu, 1), *theta_dot = numbers(np);
    double *y_dot = numbers(n), *y_bar = noises(n, 1), *apart = numbers(n);
    double *x_bar = numbers(n), *u_bar = numbers(nu), *theta_bar = numbers(np);
    double *theta = numbers(np), *moved = numbers(np), *u = numbers(nu),
           *side[2] = {numbers(s.nx), numbers(s.nx)};
    CHECK(costate_model_get_parameters(c->model, theta, (size_t)np) == COSTATE_OK);
    for (int i = 0; i < np; ++i)
        theta_dot[i] = 0.1 * theta[i] * noise();
    CHECK(costate_state_step_jvp(c->model, s.x, c->u, x_dot, u_dot, theta_dot, y_dot) == COSTATE_OK);
    CHECK(costate_state_step_vjp(c->model, s.x, c->u, y_bar, x_bar, u_bar, theta_bar) == COSTATE_OK);
    for (int k = 0; k < 2; ++k) {
        const double length = k ? e : -e;
        for (int i = 0; i < np; ++i)
            moved[i] = theta[i] + length * theta_dot[i];
        for (int i = 0; i < nu; ++i)
            u[i] = c->u[i] + length * u_dot[i];
        move_state(c, &s, x_dot, length, side[k]);
        CHECK(costate_model_set_parameters(c->model, moved, (size_t)np) == COSTATE_OK);
        CHECK(costate_state_step(c->model, side[k], u, side[k]) == COSTATE_OK);
    }
    CHECK(costate_model_set_parameters(c->model, theta, (size_t)np) == COSTATE_OK);
    CHECK(costate_difference(c->model, side[0], side[1], apart) == COSTATE_OK);
    for (int i = nv; i < n; ++i)
        apart[i] = side[1][i + c->nq - nv] - side[0][i + c->nq - nv];
    for (int i = 0; i < n; ++i)
        if (is_key(c, i)) CHECK(x_bar[i] == 0 && y_dot[i] == 0 && apart[i] == 0);

    const double backward = dot(x_bar, x_dot, n) + dot(u_bar, u_dot, nu) + dot(theta_bar, theta_dot, np);
    double size = 1;
    for (int i = 0; i < n; ++i)
        size += fabs(y_bar[i] * y_dot[i]) + fabs(x_bar[i] * x_dot[i]);
    for (int i = 0; i < np; ++i)
        size += fabs(theta_bar[i] * theta_dot[i]);
    if (is_step_gradient(settings)) {
        CHECK_NEAR(dot(y_bar, y_dot, n), backward, 1e-10 * size);
        CHECK_NEAR(dot(y_bar, apart, n) / (2 * e), backward, 1e-7 * size);
    }
    free(x_dot), free(u_dot), free(theta_dot), free(y_dot), free(y_bar), free(apart), free(x_bar),
        free(u_bar);
    free(theta_bar), free(theta), free(moved), free(u), free(side[0]), free(side[1]), free(s.x);
}

/* The rows of the Jacobian are what the step pulls back. */
static void jacobian(Case* c, const Settings* settings) {
    (void)settings;
    const int nu = c->nu, np = c->np;
    Start s = start_of(c);
    const int n = s.ndx;
    double *y_bar = noises(n, 1), *x_bar = numbers(n), *u_bar = numbers(nu), *theta_bar = numbers(np);
    double *by_x = numbers(n * n), *by_u = numbers(n * nu), *by_theta = numbers(n * np);
    CHECK(costate_state_step_vjp(c->model, s.x, c->u, y_bar, x_bar, u_bar, theta_bar) == COSTATE_OK);
    CHECK(costate_state_step_jacobian(c->model, s.x, c->u, by_x, by_u, by_theta) == COSTATE_OK);
    const double size = 1 + largest(by_x, n * n) + largest(by_u, n * nu) + largest(by_theta, n * np);
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j)
            x_bar[j] -= y_bar[i] * by_x[i * n + j];
        for (int j = 0; j < nu; ++j)
            u_bar[j] -= y_bar[i] * by_u[i * nu + j];
        for (int j = 0; j < np; ++j)
            theta_bar[j] -= y_bar[i] * by_theta[i * np + j];
    }
    CHECK(largest(x_bar, n) <= 1e-10 * size && largest(u_bar, nu) <= 1e-10 * size);
    CHECK(largest(theta_bar, np) <= 1e-10 * size);
    CHECK(costate_state_step_jacobian(c->model, s.x, c->u, NULL, NULL, NULL) == COSTATE_OK);
    free(y_bar), free(x_bar), free(u_bar), free(theta_bar), free(by_x), free(by_u), free(by_theta), free(s.x);
}

enum { n_env = 3 };

static costate_batch* open_batch(const Case* c, int n_threads, int ambient) {
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = n_threads, o.ambient = ambient, o.substeps = 2;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c->model, &o, &b) == COSTATE_OK);
    return b;
}

/* States of three environments, each of its own length of quaternions. */
static double* states_around(const Case* c, const Start* s) {
    double* x = numbers(n_env * s->nx);
    for (int e = 0; e < n_env; ++e) {
        double* d = noises(s->ndx, 1e-5);
        move_state(c, s, d, 1, x + e * s->nx);
        free(d);
    }
    return x;
}

/* Ambient gradients are tangent ones in other words, every environment's at its own place. */
static void ambient_and_tangent(Case* c, const Settings* settings) {
    (void)settings;
    const int nq = c->nq, nv = c->nv;
    Start s = start_of(c);
    const int nx = s.nx, ndx = s.ndx;
    double *x = states_around(c, &s), *u = noises(n_env * c->nu, 0.3), *next = numbers(n_env * nx);
    double *bar = noises(n_env * ndx, 1), *ambient_bar = numbers(n_env * nx);
    double *x_bar = numbers(n_env * ndx), *ambient_x_bar = numbers(n_env * nx), *found = numbers(ndx);
    for (int e = 0; e < n_env; ++e)
        for (int k = 3; k < 7; ++k)
            x[e * nx + k] *= 1 + 0.3 * e;
    costate_batch *tangent = open_batch(c, 1, 0), *ambient = open_batch(c, 2, 1);
    CHECK(costate_batch_step(tangent, x, u, next, NULL) == 0);
    for (int e = 0; e < n_env; ++e) {
        CHECK(costate_gradient_to_ambient(c->model, next + e * nx, bar + e * ndx, ambient_bar + e * nx) ==
              COSTATE_OK);
        memcpy(ambient_bar + e * nx + nq, bar + e * ndx + nv, (size_t)(ndx - nv) * sizeof *bar);
    }
    CHECK(costate_batch_backward(tangent, 1, x, u, NULL, bar, x_bar, NULL, NULL, 0) == 0);
    CHECK(costate_batch_backward(ambient, 1, x, u, NULL, ambient_bar, ambient_x_bar, NULL, NULL, 0) == 0);
    for (int e = 0; e < n_env; ++e) {
        const double size = largest(x_bar + e * ndx, ndx);
        CHECK(size > 0.1);
        CHECK(costate_gradient_to_tangent(c->model, x + e * nx, ambient_x_bar + e * nx, found) == COSTATE_OK);
        memcpy(found + nv, ambient_x_bar + e * nx + nq, (size_t)(ndx - nv) * sizeof *found);
        for (int i = 0; i < ndx; ++i)
            CHECK_NEAR(found[i], x_bar[e * ndx + i], 1e-12 * size);
        for (int i = 2 * nv; i < ndx; ++i)
            if (is_key(c, i)) CHECK(x_bar[e * ndx + i] == 0);
    }
    CHECK(costate_batch_free(tangent) == COSTATE_OK && costate_batch_free(ambient) == COSTATE_OK);
    free(s.x), free(x), free(u), free(next), free(bar), free(ambient_bar), free(x_bar), free(ambient_x_bar),
        free(found);
}

/* Where frames are does not depend on what is kept, and its reverse has zeros for it. */
static void frames(Case* c, const Settings* settings) {
    (void)settings;
    Start s = start_of(c);
    const int nx = s.nx, ndx = s.ndx, frame[2] = {0, 2};
    double *x = states_around(c, &s), *poses_bar = noises(n_env * 2 * 7, 1),
           *x_bar[2] = {numbers(n_env * ndx), numbers(n_env * nx)};
    double* found = numbers(c->nv);
    costate_batch *tangent = open_batch(c, 2, 0), *ambient = open_batch(c, 2, 1);
    CHECK(costate_batch_poses_vjp(tangent, x, frame, 2, NULL, poses_bar, x_bar[0], NULL, 0) == COSTATE_OK);
    CHECK(costate_batch_poses_vjp(ambient, x, frame, 2, NULL, poses_bar, x_bar[1], NULL, 0) == COSTATE_OK);
    for (int e = 0; e < n_env; ++e) {
        const double *t = x_bar[0] + e * ndx, *a = x_bar[1] + e * nx;
        CHECK(largest(t, 2 * c->nv) > 0.1 && largest(t + 2 * c->nv, s.kept) == 0);
        CHECK(costate_gradient_to_tangent(c->model, x + e * nx, a, found) == COSTATE_OK);
        for (int i = 0; i < c->nv; ++i)
            CHECK_NEAR(found[i], t[i], 1e-12 * largest(t, 2 * c->nv));
        CHECK(same(a + c->nq, t + c->nv, ndx - c->nv));
    }
    CHECK(costate_batch_free(tangent) == COSTATE_OK && costate_batch_free(ambient) == COSTATE_OK);
    free(s.x), free(x), free(poses_bar), free(x_bar[0]), free(x_bar[1]), free(found);
}

/* What the solver says of a control step is what it says of its time steps, and that it is true. */
static void residuals(Case* c, const Settings* settings) {
    Start s = start_of(c);
    const int nx = s.nx;
    double *x = states_around(c, &s), *u = noises(n_env * c->nu, 0.3), *next = numbers(n_env * nx),
           *mid = numbers(nx);
    double residual[n_env], expected, one;
    int unconverged[n_env], count;
    costate_batch* b = open_batch(c, 2, 0);
    CHECK(costate_batch_residuals(b, residual, unconverged) == 0 && residual[0] == 0 && unconverged[0] == 0);
    CHECK(costate_batch_step(b, x, u, next, NULL) == 0);
    const int environments = costate_batch_residuals(b, residual, unconverged);
    int with = 0;
    for (int e = 0; e < n_env; ++e) {
        count = costate_state_residual(c->model, x + e * nx, u + e * c->nu, &expected);
        CHECK(costate_state_step(c->model, x + e * nx, u + e * c->nu, mid) == COSTATE_OK);
        count += costate_state_residual(c->model, mid, u + e * c->nu, &one);
        CHECK(residual[e] == (one > expected ? one : expected) && unconverged[e] == count);
        with += count > 0;
        if (settings->exact) CHECK(count == 0 && residual[e] < 1e-9);
    }
    CHECK(environments == with);
    CHECK(costate_batch_residuals(b, NULL, NULL) == with);
    CHECK(costate_batch_rollout(b, 1, x, u, next, NULL) == 0);
    double again[n_env];
    CHECK(costate_batch_residuals(b, again, NULL) == with && same(again, residual, n_env));
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(s.x), free(x), free(u), free(next), free(mid);
}

/* Noise moves what is kept but not its keys, and a start without a state keeps nothing. */
static void noise_of_what_is_kept(Case* c, const Settings* settings) {
    Start s = start_of(c);
    const int nx = s.nx, first = c->nq + c->nv;
    double *amount = numbers(s.ndx), *x = numbers(n_env * nx);
    const uint64_t seeds[n_env] = {3, 4, 5};
    for (int i = 0; i < s.ndx; ++i)
        amount[i] = 1e-3;
    costate_batch* b = open_batch(c, 1, 0);
    CHECK(costate_batch_reset(b, NULL, n_env, NULL, s.x, (size_t)nx, amount, seeds) == COSTATE_OK);
    CHECK(costate_batch_state(b, x, NULL) == 0);
    int keys = 0;
    for (int e = 0; e < n_env; ++e)
        for (int i = first; i < nx; ++i) {
            const int key = is_key(c, i - c->nq + c->nv);
            keys += key && s.x[i] > 0;
            CHECK(key ? x[e * nx + i] == s.x[i]
                      : x[e * nx + i] != s.x[i] && fabs(x[e * nx + i] - s.x[i]) <= 1e-3);
        }
    CHECK((keys > 0) == settings->warm_start && (s.kept > 0) == settings->warm_start);
    CHECK(costate_batch_reset(b, NULL, n_env, NULL, NULL, 0, NULL, NULL) == COSTATE_OK &&
          costate_batch_state(b, x, NULL) == 0);
    CHECK(largest(x + first, s.kept) == 0);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(s.x), free(amount), free(x);
}

static void refusals(void) {
    Settings settings;
    Case c = open_settings(settings_count - 1, &settings);
    Start s = start_of(&c);
    double *next = numbers(s.nx), *dot_next = numbers(s.ndx), *bad = numbers(s.ndx), residual = 17;
    bad[c.nv + 1] = NAN;
    CHECK_FAILS(costate_state_step(c.model, NULL, c.u, next), COSTATE_BAD_ARGUMENT, "x is null");
    CHECK_FAILS(costate_state_step(c.model, s.x, c.u, NULL), COSTATE_BAD_ARGUMENT, "x_next is null");
    CHECK_FAILS(costate_state_step_jvp(c.model, s.x, c.u, bad, NULL, NULL, dot_next), COSTATE_BAD_ARGUMENT,
                "x_dot[");
    CHECK_FAILS(costate_step_jvp(c.model, c.q, c.v, c.u, NULL, bad + c.nv, NULL, NULL, dot_next, dot_next),
                COSTATE_BAD_ARGUMENT, "v_dot[1] is not finite");
    CHECK_FAILS(costate_state_step_vjp(c.model, s.x, c.u, bad, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "x_next_bar[");
    s.x[s.nx - 1] = INFINITY;
    CHECK_FAILS(costate_state_residual(c.model, s.x, c.u, &residual), COSTATE_BAD_ARGUMENT, "x[");
    CHECK(residual == 17);
    free(s.x), free(next), free(dot_next), free(bad);
    close_case(&c);
}

int main(void) {
    for_each_settings(pairs_are_states);
    for_each_settings(products);
    for_each_settings(jacobian);
    for_each_settings(ambient_and_tangent);
    for_each_settings(frames);
    for_each_settings(residuals);
    for_each_settings(noise_of_what_is_kept);
    refusals();
    return failures ? 1 : 0;
}
