/* Under every setting: sensors, external wrenches, runs within a budget of bytes, and derivatives along directions. */
#include "settings.h"

static double dot(const double* a, const double* b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}
static int same(const double* a, const double* b, int n) { return memcmp(a, b, (size_t)n * sizeof *a) == 0; }

enum { n_env = 3, steps = 4 };

typedef struct {
    int nx, ndx, ny, nw;
    double* x;
} Sizes;

static Sizes sizes_of(const Case* c) {
    Sizes s;
    s.nx = costate_model_nx(c->model), s.ndx = s.nx - c->nq + c->nv, s.ny = costate_model_ny(c->model);
    s.nw = 6 * costate_model_count(c->model, COSTATE_BODY);
    s.x = numbers(s.nx);
    memcpy(s.x, c->q, (size_t)c->nq * sizeof *c->q);
    memcpy(s.x + c->nq, c->v, (size_t)c->nv * sizeof *c->v);
    return s;
}

/* <bar, jvp(dot)> = <vjp(bar), dot> for the next state, sensors and wrenches; the step is that without sensors. */
static void observations(Case* c, const Settings* settings) {
    const Sizes s = sizes_of(c);
    const int np = c->np, nu = c->nu;
    double *w = noises(s.nw, 0.1), *next = numbers(s.nx), *other = numbers(s.nx), *y = numbers(s.ny);
    CHECK(costate_observe(c->model, s.x, c->u, NULL, next, y) == COSTATE_OK);
    CHECK(costate_state_step(c->model, s.x, c->u, other) == COSTATE_OK);
    CHECK(same(next, other, s.nx));
    CHECK(costate_observe(c->model, s.x, c->u, w, next, y) == COSTATE_OK);
    CHECK(largest(y, s.ny) > 0 && !same(next, other, s.nx));

    double *x_dot = noises(s.ndx, 1), *u_dot = noises(nu, 1), *w_dot = noises(s.nw, 1),
           *theta_dot = numbers(np), *theta = numbers(np), *next_bar = noises(s.ndx, 1),
           *y_bar = noises(s.ny, 1);
    double *next_dot = numbers(s.ndx), *y_dot = numbers(s.ny), *x_bar = numbers(s.ndx), *u_bar = numbers(nu),
           *w_bar = numbers(s.nw), *theta_bar = numbers(np);
    CHECK(costate_model_get_parameters(c->model, theta, (size_t)np) == COSTATE_OK);
    for (int i = 0; i < np; ++i)
        theta_dot[i] = 0.1 * theta[i] * noise();
    for (int i = 2 * c->nv; i < s.ndx; ++i)
        x_dot[i] = next_bar[i] = 0;
    CHECK(costate_observe_jvp(c->model, s.x, c->u, w, x_dot, u_dot, w_dot, theta_dot, next_dot, y_dot) ==
          COSTATE_OK);
    CHECK(costate_observe_vjp(c->model, s.x, c->u, w, next_bar, y_bar, x_bar, u_bar, w_bar, theta_bar) ==
          COSTATE_OK);
    const double forward = dot(next_bar, next_dot, s.ndx) + dot(y_bar, y_dot, s.ny),
                 backward = dot(x_bar, x_dot, s.ndx) + dot(u_bar, u_dot, nu) + dot(w_bar, w_dot, s.nw) +
                            dot(theta_bar, theta_dot, np);
    double size = 1;
    for (int i = 0; i < s.ny; ++i)
        size += fabs(y_bar[i] * y_dot[i]);
    for (int i = 0; i < s.ndx; ++i)
        size += fabs(x_bar[i] * x_dot[i]);
    if (is_step_gradient(settings)) CHECK_NEAR(forward, backward, 1e-9 * size);

    /* the Jacobian has the products with unit vectors as rows */
    double *by_x = numbers(s.ny * s.ndx), *by_u = numbers(s.ny * nu), *by_theta = numbers(s.ny * np);
    CHECK(costate_observe_jacobian(c->model, s.x, c->u, by_x, by_u, by_theta) == COSTATE_OK);
    for (int row = 0; row < s.ny; row += 3) {
        memset(y_bar, 0, (size_t)s.ny * sizeof *y_bar);
        y_bar[row] = 1;
        CHECK(costate_observe_vjp(c->model, s.x, c->u, NULL, NULL, y_bar, x_bar, u_bar, NULL, theta_bar) ==
              COSTATE_OK);
        CHECK(same(x_bar, by_x + row * s.ndx, s.ndx) && same(u_bar, by_u + row * nu, nu) &&
              same(theta_bar, by_theta + row * np, np));
    }
    free(s.x), free(w), free(next), free(other), free(y), free(x_dot), free(u_dot), free(w_dot),
        free(theta_dot);
    free(theta), free(next_bar), free(y_bar), free(next_dot), free(y_dot), free(x_bar), free(u_bar),
        free(w_bar);
    free(theta_bar), free(by_x), free(by_u), free(by_theta);
}

static costate_batch* batch_of(const Case* c, int threads) {
    costate_batch_options options = {0};
    options.n_env = n_env, options.n_threads = threads, options.substeps = 2;
    costate_batch* batch = NULL;
    CHECK(costate_batch_create(c->model, &options, &batch) == COSTATE_OK);
    return batch;
}

typedef struct {
    int ndx, ny, calls, last;
    const double *states_bar, *y_bar;
} Seeds;
static int seed(void* data, int t, const double* states, const double* y, double* states_bar, double* y_bar) {
    Seeds* s = data;
    CHECK(states[0] == states[0] && y[0] == y[0]);
    CHECK(s->calls == 0 ? t == steps - 1 : t == s->last - 1);
    s->last = t, ++s->calls;
    memcpy(states_bar, s->states_bar + t * n_env * s->ndx, (size_t)(n_env * s->ndx) * sizeof *y);
    memcpy(y_bar, s->y_bar + t * n_env * s->ny, (size_t)(n_env * s->ny) * sizeof *y);
    return 0;
}
static int stop(void* data, int t, const double* states, const double* y, double* states_bar, double* y_bar) {
    (void)data, (void)t, (void)states, (void)y, (void)states_bar, (void)y_bar;
    return 1;
}

/* Batches: sensors are those of single states; runs are rollouts; budgets, threads and seeds give the same bits. */
static void runs(Case* c, const Settings* settings) {
    (void)settings;
    const Sizes s = sizes_of(c);
    const int np = c->np, nu = c->nu, all_x = n_env * s.nx, all_dx = n_env * s.ndx, all_y = n_env * s.ny;
    double *x = numbers(all_x), *u = noises(steps * n_env * nu, 0.2), *y = numbers(all_y),
           *single = numbers(s.ny);
    double *w = noises(n_env * s.nw, 0.1), *y_bar = noises(steps * all_y, 1e-3);
    for (int e = 0; e < n_env; ++e) {
        memcpy(x + e * s.nx, s.x, (size_t)s.nx * sizeof *x);
        for (int i = 0; i < c->nv; ++i)
            x[e * s.nx + c->nq + i] += 1e-3 * e * noise();
    }
    costate_batch *one = batch_of(c, 1), *two = batch_of(c, 2);
    double *x_bar = numbers(all_dx), *other_bar = numbers(all_dx), *u_bar = numbers(steps * n_env * nu),
           *w_bar = numbers(n_env * s.nw), *single_bar = numbers(s.ndx), *theta_bar = numbers(n_env * np),
           *single_theta = numbers(np), *single_u = numbers(nu), *single_w = numbers(s.nw);
    CHECK(costate_batch_sensors(two, x, u, w, y, NULL) == 0);
    CHECK(costate_batch_sensors_vjp(two, x, u, w, y_bar, x_bar, u_bar, w_bar, theta_bar,
                                    (size_t)(n_env * np)) == 0);
    double *by_x = numbers(s.ny * n_env * s.ndx), *by_u = numbers(s.ny * n_env * nu),
           *row_x = numbers(s.ny * s.ndx), *row_u = numbers(s.ny * nu);
    CHECK(costate_batch_sensors_jacobian(two, x, u, NULL, by_x, by_u, NULL, NULL) == 0);
    for (int e = 0; e < n_env; ++e) {
        CHECK(costate_observe(c->model, x + e * s.nx, u + e * nu, w + e * s.nw, NULL, single) == COSTATE_OK);
        CHECK(same(single, y + e * s.ny, s.ny));
        CHECK(costate_observe_vjp(c->model, x + e * s.nx, u + e * nu, w + e * s.nw, NULL, y_bar + e * s.ny,
                                  single_bar, single_u, single_w, single_theta) == COSTATE_OK);
        CHECK(same(single_bar, x_bar + e * s.ndx, s.ndx) && same(single_u, u_bar + e * nu, nu));
        CHECK(same(single_theta, theta_bar + e * np, np) && same(single_w, w_bar + e * s.nw, s.nw));
        CHECK(costate_observe_jacobian(c->model, x + e * s.nx, u + e * nu, row_x, row_u, NULL) == COSTATE_OK);
        CHECK(same(row_x, by_x + e * s.ny * s.ndx, s.ny * s.ndx) &&
              same(row_u, by_u + e * s.ny * nu, s.ny * nu));
    }

    double *states = numbers(steps * all_x), *run_states = numbers(steps * all_x),
           *run_y = numbers(steps * all_y);
    double *before = numbers(steps * all_x), *states_bar = noises(steps * all_dx, 1), *theta = numbers(np),
           *other_theta = numbers(np), *other_u = numbers(steps * n_env * nu);
    costate_run run = {0};
    run.size = sizeof run, run.n_steps = steps, run.x = x, run.u = u, run.states = run_states, run.y = run_y;
    CHECK(costate_batch_rollout(one, steps, x, u, states, NULL) == 0);
    CHECK(costate_batch_run(two, &run) == 0);
    CHECK(same(states, run_states, steps * all_x));
    CHECK(costate_batch_sensors(one, states, u + n_env * nu, NULL, y, NULL) == 0);
    CHECK(same(y, run_y + all_y, all_y));

    memcpy(before, x, (size_t)all_x * sizeof *x);
    memcpy(before + all_x, states, (size_t)((steps - 1) * all_x) * sizeof *x);
    CHECK(costate_batch_backward(one, steps, before, u, NULL, states_bar, x_bar, u_bar, theta, (size_t)np) ==
          0);
    costate_run_gradient g = {0};
    g.size = sizeof g, g.states_bar = states_bar, g.x_bar = other_bar, g.u_bar = other_u,
    g.theta_bar = other_theta;
    g.theta_size = (size_t)np;
    for (int budget = 0; budget < 3; ++budget) {
        g.max_bytes = (size_t)(budget * all_x) * sizeof *x;
        CHECK(costate_batch_run_vjp(budget % 2 ? one : two, &run, &g) == 0);
        CHECK(same(x_bar, other_bar, all_dx) && same(u_bar, other_u, steps * n_env * nu));
        CHECK(same(theta, other_theta, np));
    }
    /* with sensors: from arrays, and asked for step by step */
    g.y_bar = y_bar, g.x_bar = x_bar, g.u_bar = u_bar, g.theta_bar = theta, g.max_bytes = 0;
    CHECK(costate_batch_run_vjp(one, &run, &g) == 0);
    CHECK(!same(x_bar, other_bar, all_dx));
    Seeds seeds = {s.ndx, s.ny, 0, 0, states_bar, y_bar};
    g.seed = seed, g.data = &seeds, g.x_bar = other_bar, g.u_bar = other_u, g.theta_bar = other_theta;
    g.max_bytes = (size_t)(2 * all_x) * sizeof *x;
    CHECK(costate_batch_run_vjp(two, &run, &g) == 0);
    CHECK(seeds.calls == steps && same(x_bar, other_bar, all_dx) && same(theta, other_theta, np) &&
          same(u_bar, other_u, steps * n_env * nu));
    g.seed = stop;
    CHECK_FAILS(costate_batch_run_vjp(two, &run, &g), COSTATE_INTERRUPTED, "interrupted");
    g.seed = NULL, g.max_bytes = 8;
    CHECK_FAILS(costate_batch_run_vjp(two, &run, &g), COSTATE_BAD_ARGUMENT, "max_bytes");
    run.n_steps = 0;
    CHECK_FAILS(costate_batch_run(two, &run), COSTATE_BAD_ARGUMENT, "n_steps");
    CHECK_FAILS(costate_batch_run(two, NULL), COSTATE_BAD_ARGUMENT, "run is null");
    u[0] = NAN;
    CHECK_FAILS(costate_batch_sensors(two, x, u, NULL, y, NULL), COSTATE_BAD_ARGUMENT,
                "u[0][0] is not finite");
    CHECK(costate_batch_free(one) == COSTATE_OK && costate_batch_free(two) == COSTATE_OK);
    free(s.x), free(x), free(u), free(y), free(single), free(w), free(y_bar), free(x_bar), free(other_bar),
        free(u_bar);
    free(w_bar), free(single_bar), free(theta_bar), free(single_theta), free(single_u), free(single_w),
        free(by_x);
    free(by_u), free(row_x), free(row_u), free(states), free(run_states), free(run_y), free(before),
        free(states_bar);
    free(theta), free(other_theta), free(other_u);
}

/* Forward products are the transpose of the reverse; Hessian-vector products are differences of gradients. */
static void directions(Case* c, const Settings* settings) {
    const Sizes s = sizes_of(c);
    const int np = c->np, nu = c->nu, all_x = n_env * s.nx, all_dx = n_env * s.ndx,
              all_u = steps * n_env * nu, all_y = n_env * s.ny;
    double *x = numbers(all_x), *u = noises(all_u, 0.2), *x_dot = noises(all_dx, 1),
           *u_dot = noises(all_u, 1);
    double *theta = numbers(np), *theta_dot = numbers(np), *states_dot = numbers(steps * all_dx),
           *states_bar = noises(steps * all_dx, 1), *y_dot = numbers(steps * all_y),
           *y_bar = noises(steps * all_y, 1e-3);
    for (int e = 0; e < n_env; ++e)
        memcpy(x + e * s.nx, s.x, (size_t)s.nx * sizeof *x);
    CHECK(costate_model_get_parameters(c->model, theta, (size_t)np) == COSTATE_OK);
    for (int i = 0; i < np; ++i)
        theta_dot[i] = 0.1 * theta[i] * noise();
    for (int e = 0; e < n_env; ++e)
        for (int i = 2 * c->nv; i < s.ndx; ++i)
            x_dot[e * s.ndx + i] = 0;
    costate_batch* batch = batch_of(c, 2);
    costate_run run = {0};
    run.size = sizeof run, run.n_steps = steps, run.x = x, run.u = u;
    double *x_bar = numbers(all_dx), *u_bar = numbers(all_u), *theta_bar = numbers(np);
    costate_run_gradient g = {0};
    g.size = sizeof g, g.states_bar = states_bar, g.y_bar = y_bar, g.x_bar = x_bar, g.u_bar = u_bar;
    g.theta_bar = theta_bar, g.theta_size = (size_t)np;
    CHECK(costate_batch_run_vjp(batch, &run, &g) == 0);
    CHECK(costate_batch_jvp(batch, &run, x_dot, u_dot, theta_dot, states_dot, y_dot) == 0);
    const double forward = dot(states_bar, states_dot, steps * all_dx) + dot(y_bar, y_dot, steps * all_y),
                 backward =
                     dot(x_bar, x_dot, all_dx) + dot(u_bar, u_dot, all_u) + dot(theta_bar, theta_dot, np);
    double size = 1;
    for (int i = 0; i < steps * all_dx; ++i)
        size += fabs(states_bar[i] * states_dot[i]);
    for (int i = 0; i < steps * all_y; ++i)
        size += fabs(y_bar[i] * y_dot[i]);
    /* forward products differentiate the sweeps, an implicit gradient the equations that they have nearly solved */
    const int implicit = strstr(settings->name, "implicit") != NULL;
    if (is_step_gradient(settings)) CHECK_NEAR(forward, backward, (implicit ? 1e-3 : 1e-8) * size);

    const double e = 1e-6;
    double *u_dot_bar = numbers(all_u), *u_side[2] = {numbers(all_u), numbers(all_u)},
           *moved = numbers(all_u);
    CHECK(costate_batch_hvp(batch, &run, NULL, u_dot, NULL, states_bar, NULL, NULL, u_dot_bar, NULL, 0) == 0);
    run.u = moved, g.y_bar = NULL, g.theta_bar = NULL, g.theta_size = 0;
    for (int k = 0; k < 2; ++k) {
        for (int i = 0; i < all_u; ++i)
            moved[i] = u[i] + (k ? e : -e) * u_dot[i];
        g.u_bar = u_side[k];
        CHECK(costate_batch_run_vjp(batch, &run, &g) == 0);
    }
    const double scale = largest(u_dot_bar, all_u) + 1e-2 * largest(u_bar, all_u);
    for (int i = 0; i < all_u; ++i)
        CHECK_NEAR((u_side[1][i] - u_side[0][i]) / (2 * e), u_dot_bar[i], 1e-3 * scale);
    CHECK_FAILS(costate_batch_hvp(batch, &run, NULL, u_dot, NULL, NULL, NULL, NULL, u_bar, NULL, 0),
                COSTATE_BAD_ARGUMENT, "states_bar is null");
    CHECK(costate_batch_free(batch) == COSTATE_OK);
    free(s.x), free(x), free(u), free(x_dot), free(u_dot), free(theta), free(theta_dot), free(states_dot);
    free(states_bar), free(y_dot), free(y_bar), free(x_bar), free(u_bar), free(theta_bar), free(u_dot_bar);
    free(u_side[0]), free(u_side[1]), free(moved);
}

static void names(void) {
    Settings settings;
    Case c = open_settings(0, &settings);
    char name[64];
    int layout[2];
    CHECK(costate_model_count(c.model, COSTATE_SENSOR) == 12);
    CHECK(costate_model_name(c.model, COSTATE_SENSOR, 1, name, sizeof name) > 0 &&
          !strcmp(name, "robot/turning"));
    CHECK(costate_model_sensor(c.model, 2, layout, name, sizeof name) == 16 &&
          !strcmp(name, "frame_quaternion"));
    CHECK(layout[0] == 6 && layout[1] == 4);
    CHECK(costate_model_sensor(c.model, 11, layout, NULL, 0) == 11);
    CHECK(costate_model_ny(c.model) == layout[0] + layout[1]);
    CHECK_FAILS(costate_model_sensor(c.model, 12, layout, NULL, 0), COSTATE_BAD_ARGUMENT,
                "there is no sensor 12");
    CHECK_FAILS(costate_model_sensor(c.model, 0, layout, name, 3), COSTATE_BAD_ARGUMENT, "smaller");
    double* x = numbers(costate_model_nx(c.model));
    memcpy(x, c.q, (size_t)c.nq * sizeof *x);
    memcpy(x + c.nq, c.v, (size_t)c.nv * sizeof *x);
    CHECK_FAILS(costate_observe(c.model, x, NULL, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT, "u is null");
    free(x);
    close_case(&c);
}

int main(void) {
    settings_scene = "tests/apps/sensors_scene.json"; /* the same with sensors */
    names();
    for_each_settings(observations);
    for_each_settings(runs);
    for_each_settings(directions);
    return failures != 0;
}
