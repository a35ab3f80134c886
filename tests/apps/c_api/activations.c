/* Whole states of a model with a filter and a muscle: where they start, and the derivatives of steps and rollouts. */
#include "check.h"

enum { filter = 0, muscle = 1, na = 2, steps = 20 };

typedef struct {
    Case c;
    int nx, ndx, act; /* act: first activation in x */
    double* x;
} Activated;

/* The whole initial state of a keyframe (null: of the file) */
static void start(costate_model* m, const char* keyframe, double* x) {
    const costate_batch_options options = {1, 1, 1, 0, 0, 0};
    costate_batch* batch;
    CHECK(costate_batch_create(m, &options, &batch) == COSTATE_OK);
    CHECK(costate_batch_reset(batch, NULL, 1, keyframe, NULL, 0, NULL, NULL) == COSTATE_OK);
    CHECK(costate_batch_state(batch, x, NULL) == 0);
    CHECK(costate_batch_free(batch) == COSTATE_OK);
}

static Activated open_activated(void) {
    Activated a;
    a.c = open_case("tests/apps/activations.json", 0, 0);
    a.nx = costate_model_nx(a.c.model), a.ndx = a.nx - a.c.nq + a.c.nv, a.act = a.c.nq + a.c.nv;
    a.x = numbers(a.nx);
    start(a.c.model, NULL, a.x);
    return a;
}
static void close_activated(Activated* a) {
    free(a->x);
    close_case(&a->c);
}

static double dot(const double* a, const double* b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* x displaced by e d, d (ndx) */
static void displace(const Activated* a, const double* x, const double* d, double e, double* out) {
    double* turn = numbers(a->c.nv);
    for (int i = 0; i < a->c.nv; ++i)
        turn[i] = e * d[i];
    CHECK(costate_retract(a->c.model, x, turn, out) == COSTATE_OK);
    for (int i = a->c.nq; i < a->nx; ++i)
        out[i] = x[i] + e * d[i - a->c.nq + a->c.nv];
    free(turn);
}
/* d (ndx) with x = from displaced by d */
static void difference(const Activated* a, const double* from, const double* x, double* d) {
    CHECK(costate_difference(a->c.model, from, x, d) == COSTATE_OK);
    for (int i = a->c.nq; i < a->nx; ++i)
        d[i - a->c.nq + a->c.nv] = x[i] - from[i];
}

static void starts(void) {
    Activated a = open_activated();
    costate_model* m = a.c.model;
    char name[64];
    CHECK(a.c.nu == 3 && costate_model_count(m, COSTATE_ACTIVATION) == na && a.nx == a.act + na);
    CHECK(costate_model_name(m, COSTATE_ACTIVATION, filter, name, sizeof name) > 0 &&
          strcmp(name, "m/servo") == 0);
    CHECK(costate_model_name(m, COSTATE_ACTIVATION, muscle, name, sizeof name) > 0 &&
          strcmp(name, "m/flexor") == 0);
    CHECK_FAILS(costate_model_name(m, COSTATE_ACTIVATION, na, name, sizeof name), COSTATE_BAD_ARGUMENT,
                "there are 2");
    /* "initial" overrides the keyframe in which the instance starts */
    CHECK(a.x[a.act + filter] == 0.25 && a.x[a.act + muscle] == 0.4 && a.x[a.c.nq + 6] == 0.5);
    double* x = numbers(a.nx);
    start(m, "m/tense", x);
    CHECK(x[a.act + filter] == 0.25 && x[a.act + muscle] == 0.9);
    /* (q, v) is no state of this model */
    double *q = numbers(a.c.nq), *v = numbers(a.c.nv);
    CHECK_FAILS(costate_step(m, a.c.q, a.c.v, a.c.u, q, v), COSTATE_BAD_ARGUMENT, "has activations");
    CHECK_FAILS(costate_contacts(m, a.c.q, a.c.v, a.c.u, NULL, 0), COSTATE_BAD_ARGUMENT,
                "whole states or of batches");
    free(x), free(q), free(v);
    close_activated(&a);
}

/* A control reaches its activation in one step, and the joint in two. */
static void controls_reach_activations_first(void) {
    Activated a = open_activated();
    double *one = numbers(a.nx), *two = numbers(a.nx), *u = numbers(a.c.nu), *next = numbers(a.nx);
    u[1] = 0.2, u[2] = 0.7;
    for (int t = 0; t < 2; ++t) {
        CHECK(costate_state_step(a.c.model, t == 0 ? a.x : one, u, t == 0 ? one : two) == COSTATE_OK);
        u[1] = -1, u[2] = 0;
    }
    CHECK_NEAR(one[a.act + filter], 0.25 + 0.005 * (0.2 - 0.25) / 0.04, 1e-15);
    CHECK_NEAR(two[a.act + filter], one[a.act + filter] + 0.005 * (-1 - one[a.act + filter]) / 0.04, 1e-15);
    CHECK(one[a.act + muscle] > 0.4 && two[a.act + muscle] < one[a.act + muscle]);
    CHECK(costate_state_step(a.c.model, a.x, u, next) == COSTATE_OK);
    CHECK(memcmp(one, next, (size_t)a.act * sizeof *one) == 0 && one[a.act + muscle] != next[a.act + muscle]);
    free(one), free(two), free(u), free(next);
    close_activated(&a);
}

/* Columns of central differences against the Jacobian, forward and reverse mode. */
static void derivatives_of_a_step(void) {
    Activated a = open_activated();
    const int ndx = a.ndx, nu = a.c.nu, np = a.c.np, n = ndx + nu;
    const double e = 1e-6;
    double *by_x = numbers(ndx * ndx), *by_u = numbers(ndx * nu), *by_theta = numbers(ndx * np);
    double *next = numbers(a.nx), *dot_in = numbers(n), *dot_out = numbers(ndx), *column = numbers(ndx),
           *bar = noises(ndx, 1), *x_bar = numbers(ndx), *u_bar = numbers(nu), *theta_bar = numbers(np);
    double *moved = numbers(a.nx), *u = numbers(nu), *ahead = numbers(a.nx), *d = numbers(ndx);
    CHECK(costate_state_step(a.c.model, a.x, a.c.u, next) == COSTATE_OK);
    CHECK(costate_state_step_jacobian(a.c.model, a.x, a.c.u, by_x, by_u, by_theta) == COSTATE_OK);
    CHECK(costate_state_step_vjp(a.c.model, a.x, a.c.u, bar, x_bar, u_bar, theta_bar) == COSTATE_OK);
    double along_activations = 0;
    for (int c = 0; c < n; ++c) {
        memset(dot_in, 0, (size_t)n * sizeof *dot_in);
        dot_in[c] = 1;
        CHECK(costate_state_step_jvp(a.c.model, a.x, a.c.u, dot_in, dot_in + ndx, NULL, dot_out) ==
              COSTATE_OK);
        memset(column, 0, (size_t)ndx * sizeof *column);
        for (int side = -1; side <= 1; side += 2) {
            displace(&a, a.x, dot_in, side * e, moved);
            for (int i = 0; i < nu; ++i)
                u[i] = a.c.u[i] + side * e * dot_in[ndx + i];
            CHECK(costate_state_step(a.c.model, moved, u, ahead) == COSTATE_OK);
            difference(&a, next, ahead, d);
            for (int i = 0; i < ndx; ++i)
                column[i] += side * d[i] / (2 * e);
        }
        for (int i = 0; i < ndx; ++i) {
            const double entry = c < ndx ? by_x[i * ndx + c] : by_u[i * nu + c - ndx];
            CHECK_NEAR(entry, column[i], 1e-6 * fmax(1, largest(column, ndx)));
            CHECK_NEAR(dot_out[i], entry, 1e-10 * fmax(1, fabs(entry)));
        }
        CHECK_NEAR(c < ndx ? x_bar[c] : u_bar[c - ndx], dot(bar, dot_out, ndx),
                   1e-9 * fmax(1, largest(dot_out, ndx)));
        if (c >= 2 * a.c.nv && c < ndx)
            along_activations += fabs(dot_out[a.c.nv + 6]) + fabs(dot_out[a.c.nv + 7]);
    }
    CHECK(along_activations > 1e-3); /* activations move the joints */
    /* parameters of activations */
    double* theta = numbers(np);
    CHECK(costate_model_get_parameters(a.c.model, theta, (size_t)np) == COSTATE_OK);
    int found = 0;
    for (int p = 0; p < np; ++p) {
        char name[128];
        CHECK(costate_model_name(a.c.model, COSTATE_PARAMETER, p, name, sizeof name) > 0);
        if (!strstr(name, "time") && !strstr(name, "switch_width")) continue;
        if (strstr(name, "world/")) continue;
        ++found;
        const double was = theta[p];
        memset(column, 0, (size_t)ndx * sizeof *column);
        for (int side = -1; side <= 1; side += 2) {
            theta[p] = was + side * e * was;
            CHECK(costate_model_set_parameters(a.c.model, theta, (size_t)np) == COSTATE_OK);
            CHECK(costate_state_step(a.c.model, a.x, a.c.u, ahead) == COSTATE_OK);
            difference(&a, next, ahead, d);
            for (int i = 0; i < ndx; ++i)
                column[i] += side * d[i] / (2 * e * was);
        }
        theta[p] = was;
        CHECK(costate_model_set_parameters(a.c.model, theta, (size_t)np) == COSTATE_OK);
        CHECK(largest(column, ndx) > 1e-4);
        for (int i = 0; i < ndx; ++i)
            CHECK_NEAR(by_theta[i * np + p], column[i], 1e-5 * fmax(1e-2, largest(column, ndx)));
        CHECK_NEAR(theta_bar[p], dot(bar, column, ndx), 1e-5 * fmax(1e-2, largest(column, ndx)));
    }
    CHECK(found == 4);
    free(by_x), free(by_u), free(by_theta), free(next), free(dot_in), free(dot_out), free(column), free(bar);
    free(x_bar), free(u_bar), free(theta_bar), free(moved), free(u), free(ahead), free(d), free(theta);
    close_activated(&a);
}

/* The gradient of a linear function of all states of a rollout, along a random direction. */
static void gradient_of_a_rollout(void) {
    Activated a = open_activated();
    const int ndx = a.ndx, nx = a.nx, nu = a.c.nu;
    const double e = 1e-6;
    const costate_batch_options options = {1, 1, 2, 0, 0, 0};
    costate_batch* batch;
    CHECK(costate_batch_create(a.c.model, &options, &batch) == COSTATE_OK);
    double *u = noises(steps * nu, 0.5), *states = numbers(steps * nx), *before = numbers(steps * nx),
           *bars = noises(steps * ndx, 1), *x_bar = numbers(ndx), *u_bar = numbers(steps * nu),
           *x_dot = noises(ndx, 1), *u_dot = noises(steps * nu, 1), *moved_x = numbers(nx),
           *moved_u = numbers(steps * nu), *moved = numbers(steps * nx), *d = numbers(ndx);
    CHECK(costate_batch_rollout(batch, steps, a.x, u, states, NULL) == 0);
    memcpy(before, a.x, (size_t)nx * sizeof *before);
    memcpy(before + nx, states, (size_t)((steps - 1) * nx) * sizeof *before);
    CHECK(costate_batch_backward(batch, steps, before, u, NULL, bars, x_bar, u_bar, NULL, 0) == 0);
    double change = 0;
    for (int side = -1; side <= 1; side += 2) {
        displace(&a, a.x, x_dot, side * e, moved_x);
        for (int i = 0; i < steps * nu; ++i)
            moved_u[i] = u[i] + side * e * u_dot[i];
        CHECK(costate_batch_rollout(batch, steps, moved_x, moved_u, moved, NULL) == 0);
        for (int t = 0; t < steps; ++t) {
            difference(&a, states + t * nx, moved + t * nx, d);
            change += side * dot(bars + t * ndx, d, ndx) / (2 * e);
        }
    }
    const double slope = dot(x_bar, x_dot, ndx) + dot(u_bar, u_dot, steps * nu);
    CHECK_NEAR(slope, change, 1e-5 * fmax(1, fabs(change)));
    CHECK(fabs(x_bar[2 * a.c.nv + filter]) > 1e-3 && fabs(x_bar[2 * a.c.nv + muscle]) > 1e-3);
    CHECK(costate_batch_free(batch) == COSTATE_OK);
    free(u), free(states), free(before), free(bars), free(x_bar), free(u_bar), free(x_dot), free(u_dot);
    free(moved_x), free(moved_u), free(moved), free(d);
    close_activated(&a);
}

int main(void) {
    starts();
    controls_reach_activations_first();
    derivatives_of_a_step();
    gradient_of_a_rollout();
    return failures != 0;
}
