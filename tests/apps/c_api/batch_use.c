/* What reinforcement learning asks of batches: resets, parameters of each environment, one that diverges,
 * Jacobians. */
#include <stdint.h>

#include "check.h"

static int same(const double* a, const double* b, int n) { return memcmp(a, b, (size_t)n * sizeof *a) == 0; }

static costate_batch* open_batch(const Case* c, int n_env, int n_threads, int own_parameters) {
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = n_threads, o.own_parameters = own_parameters;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c->model, &o, &b) == COSTATE_OK);
    return b;
}

static int parameter_index(const Case* c, const char* wanted) {
    char name[128];
    for (int i = 0; i < c->np; ++i)
        if (costate_model_name(c->model, COSTATE_PARAMETER, i, name, sizeof name) > 0 &&
            strcmp(name, wanted) == 0)
            return i;
    CHECK(!"there is such a parameter");
    return 0;
}

static void resets(void) {
    Case c = open_case("go1_stand", 0, 0);
    const int nx = c.nq + c.nv, n_env = 4;
    char name[64];
    CHECK(costate_model_count(c.model, COSTATE_KEYFRAME) == 1);
    CHECK(costate_model_name(c.model, COSTATE_KEYFRAME, 0, name, sizeof name) > 0 &&
          strcmp(name, "robot/home") == 0);
    costate_batch *b = open_batch(&c, n_env, 3, 0), *one = open_batch(&c, 1, 1, 0);
    double *x = numbers(n_env * nx), *y = numbers(n_env * nx), *start = numbers(nx),
           *noise_size = numbers(2 * c.nv), *d = numbers(c.nv);
    CHECK(costate_model_initial_state(c.model, start, start + c.nq) == COSTATE_OK);
    CHECK(costate_batch_state(b, x, NULL) == 0);
    for (int e = 0; e < n_env; ++e)
        CHECK(same(x + e * nx, start, nx));

    /* Noise is the seed's, whichever environment has it and whoever else is reset. */
    for (int i = 0; i < 2 * c.nv; ++i)
        noise_size[i] = i == 2 ? 0 : 0.01 * (i + 1);
    const uint64_t seeds[4] = {11, 12, 13, 11}, other = 12;
    CHECK(costate_batch_reset(b, NULL, 4, NULL, NULL, 0, noise_size, seeds) == COSTATE_OK);
    CHECK(costate_batch_state(b, x, NULL) == 0);
    CHECK(same(x, x + 3 * nx, nx) && !same(x, x + nx, nx));
    CHECK(costate_batch_reset(one, NULL, 1, NULL, NULL, 0, noise_size, &other) == COSTATE_OK);
    CHECK(costate_batch_state(one, y, NULL) == 0);
    CHECK(same(y, x + nx, nx));
    double most = 0;
    for (int e = 0; e < n_env; ++e) {
        CHECK(costate_difference(c.model, start, x + e * nx, d) == COSTATE_OK);
        CHECK_NEAR(d[2], 0, 1e-15);
        for (int i = 0; i < c.nv; ++i) {
            CHECK(fabs(d[i]) <= noise_size[i] * (1 + 1e-9) &&
                  fabs(x[e * nx + c.nq + i]) <= noise_size[c.nv + i]);
            if (noise_size[i] > 0 && fabs(d[i]) / noise_size[i] > most) most = fabs(d[i]) / noise_size[i];
        }
    }
    CHECK(most > 0.9);

    /* Some start anew in the keyframe, which the scene starts in too but for what "initial" says; the others
     * stay. */
    const int some[2] = {2, 0};
    CHECK(costate_batch_reset(b, some, 2, "robot/home", NULL, 0, NULL, NULL) == COSTATE_OK);
    CHECK(costate_batch_state(b, y, NULL) == 0);
    CHECK(same(y + nx, x + nx, nx) && same(y + 3 * nx, x + 3 * nx, nx) && same(y, y + 2 * nx, nx));
    CHECK_NEAR(y[2], 0.287755846, 0);
    CHECK_NEAR(y[8], 0.9, 0);
    /* A row for each; quaternions are normalised. */
    x[3] *= 2, x[4] *= 2, x[5] *= 2, x[6] *= 2;
    CHECK(costate_batch_reset(b, some, 2, NULL, x, (size_t)(2 * nx), NULL, NULL) == COSTATE_OK);
    CHECK(costate_batch_state(b, y, NULL) == 0);
    CHECK(same(y, x + nx, nx));
    for (int k = 3; k < 7; ++k)
        CHECK_NEAR(2 * y[2 * nx + k], x[k], 1e-15);
    CHECK(costate_batch_free(b) == COSTATE_OK && costate_batch_free(one) == COSTATE_OK);
    free(x), free(y), free(start), free(noise_size), free(d);
    close_case(&c);
}

/* Each environment with gravity of its own is the same as a batch with that gravity, and has its own
 * gradient. */
static void own_parameters(void) {
    Case c = open_case("throw", 0.1, 0.3);
    const int nx = c.nq + c.nv, n_env = 3, np = c.np, gravity = parameter_index(&c, "world/gravity[2]");
    costate_batch *b = open_batch(&c, n_env, 2, 1), *shared = open_batch(&c, n_env, 2, 0);
    double *theta = numbers(n_env * np), *x = numbers(n_env * nx), *next = numbers(n_env * nx),
           *alone = numbers(n_env * nx);
    double *u = noises(n_env * c.nu, 0.3), *bar = noises(n_env * 2 * c.nv, 1);
    double *by_theta = numbers(n_env * np), *by_shared = numbers(n_env * np);
    double *more = numbers(n_env * nx), *less = numbers(n_env * nx), *d = numbers(c.nv);
    for (int e = 0; e < n_env; ++e) {
        CHECK(costate_model_get_parameters(c.model, theta + e * np, (size_t)np) == COSTATE_OK);
        theta[e * np + gravity] *= 1 + 0.5 * e;
        memcpy(x + e * nx, c.q, (size_t)c.nq * sizeof *x),
            memcpy(x + e * nx + c.nq, c.v, (size_t)c.nv * sizeof *x);
    }
    CHECK(costate_batch_set_parameters(b, theta, (size_t)(n_env * np)) == COSTATE_OK);
    CHECK(costate_batch_step(b, x, u, next, NULL) == 0);
    CHECK(costate_batch_backward(b, 1, x, u, NULL, bar, NULL, NULL, by_theta, (size_t)(n_env * np)) == 0);
    for (int e = 0; e < n_env; ++e) {
        CHECK(costate_batch_set_parameters(shared, theta + e * np, (size_t)np) == COSTATE_OK);
        CHECK(costate_batch_step(shared, x, u, alone, NULL) == 0);
        CHECK(same(alone + e * nx, next + e * nx, nx));
        CHECK(e == 0 || !same(alone, next, nx));
        CHECK(costate_batch_backward(shared, 1, x, u, NULL, bar, NULL, NULL, by_shared,
                                     (size_t)(n_env * np)) == 0);
        CHECK(same(by_theta + e * np, by_shared + e * np, np));
    }
    /* By differences, in the last environment */
    const double h = 1e-5;
    const int last = n_env - 1;
    theta[last * np + gravity] += h;
    CHECK(costate_batch_set_parameters(b, theta, (size_t)(n_env * np)) == COSTATE_OK &&
          costate_batch_step(b, x, u, more, NULL) == 0);
    theta[last * np + gravity] -= 2 * h;
    CHECK(costate_batch_set_parameters(b, theta, (size_t)(n_env * np)) == COSTATE_OK &&
          costate_batch_step(b, x, u, less, NULL) == 0);
    CHECK(costate_difference(c.model, less + last * nx, more + last * nx, d) == COSTATE_OK);
    double slope = 0;
    for (int i = 0; i < c.nv; ++i) {
        const int at = last * nx + c.nq + i;
        slope += bar[last * 2 * c.nv + i] * d[i] + bar[last * 2 * c.nv + c.nv + i] * (more[at] - less[at]);
    }
    CHECK_NEAR(by_theta[last * np + gravity], slope / (2 * h), 1e-8);
    CHECK(fabs(slope) > 0);
    /* The model's again, as it has them now */
    theta[gravity] = -1;
    CHECK(costate_batch_set_parameters(b, NULL, 0) == COSTATE_OK);
    CHECK(costate_model_set_parameters(c.model, theta, (size_t)np) == COSTATE_OK);
    CHECK(costate_batch_set_parameters(shared, theta, (size_t)np) == COSTATE_OK);
    CHECK(costate_batch_step(b, x, u, next, NULL) == 0 && costate_batch_step(shared, x, u, alone, NULL) == 0);
    CHECK(same(alone, next, n_env * nx));
    CHECK(costate_batch_free(b) == COSTATE_OK && costate_batch_free(shared) == COSTATE_OK);
    free(theta), free(x), free(next), free(alone), free(u), free(bar), free(by_theta), free(by_shared),
        free(more), free(less), free(d);
    close_case(&c);
}

/* One environment that diverges in the second control step: it stays, has no gradient through that step, and
 * the others do not notice. */
static void divergence(void) {
    Case c = open_case("quadcopter", 0.1, 0.3);
    enum { n_env = 3, n_steps = 3 };
    const int nx = c.nq + c.nv, nu = c.nu, ndx = 2 * c.nv;
    costate_batch *b = open_batch(&c, n_env, 2, 0), *calm = open_batch(&c, n_env, 2, 0);
    double *x = numbers((n_steps + 1) * n_env * nx), *y = numbers((n_steps + 1) * n_env * nx),
           *u = noises(n_steps * n_env * nu, 0.3);
    double *wild = numbers(n_steps * n_env * nu), *bar = noises(n_steps * n_env * ndx, 1),
           *own = numbers(n_env * nx);
    double *by_x[2], *by_u[2], *by_theta[2];
    for (int k = 0; k < 2; ++k)
        by_x[k] = numbers(n_env * ndx), by_u[k] = numbers(n_steps * n_env * nu),
        by_theta[k] = numbers(n_env * c.np);
    memcpy(wild, u, (size_t)(n_steps * n_env * nu) * sizeof *u);
    double* theta = numbers(c.np);
    CHECK(costate_batch_reset(b, NULL, n_env, NULL, NULL, 0, NULL, NULL) == COSTATE_OK);
    CHECK(costate_batch_state(b, x, NULL) == 0);
    for (int i = 0; i < c.nv; ++i)
        x[nx + c.nq + i] = i < 3 ? 1e308 : 0; /* the second leaves all numbers */
    memcpy(y, x, (size_t)(n_env * nx) * sizeof *x);
    memcpy(y + nx, x, (size_t)nx * sizeof *x);
    int completed[n_env], status[n_env];
    const int diverged = costate_batch_rollout(b, n_steps, x, wild, x + n_env * nx, completed);
    CHECK(costate_batch_rollout(calm, n_steps, y, u, y + n_env * nx, NULL) == 0);
    CHECK(diverged == 1 && completed[0] == n_steps && completed[1] < n_steps && completed[2] == n_steps);
    for (int t = 1; t <= n_steps; ++t) {
        for (int e = 0; e < n_env; e += 2)
            CHECK(same(x + (t * n_env + e) * nx, y + (t * n_env + e) * nx, nx));
        for (int i = 0; i < nx; ++i)
            CHECK(isfinite(x[(t * n_env + 1) * nx + i]));
        if (t > completed[1]) CHECK(same(x + (t * n_env + 1) * nx, x + (completed[1] * n_env + 1) * nx, nx));
    }
    costate_batch_backward(b, n_steps, x, wild, completed, bar, by_x[0], by_u[0], by_theta[0],
                           (size_t)(n_env * c.np));
    CHECK(costate_batch_backward(calm, n_steps, y, u, NULL, bar, by_x[1], by_u[1], by_theta[1],
                                 (size_t)(n_env * c.np)) == 0);
    for (int e = 0; e < n_env; e += 2) {
        CHECK(same(by_x[0] + e * ndx, by_x[1] + e * ndx, ndx) &&
              same(by_theta[0] + e * c.np, by_theta[1] + e * c.np, c.np));
        for (int t = 0; t < n_steps; ++t)
            CHECK(same(by_u[0] + (t * n_env + e) * nu, by_u[1] + (t * n_env + e) * nu, nu));
    }
    for (int t = completed[1]; t < n_steps; ++t)
        CHECK(largest(by_u[0] + (t * n_env + 1) * nu, nu) == 0);
    for (int i = 0; i < ndx; ++i)
        CHECK(isfinite(by_x[0][ndx + i]));
    /* Where nobody says what was completed, running it again shows it. */
    CHECK(costate_batch_backward(b, n_steps, x, wild, NULL, bar, by_x[0], by_u[0], theta, (size_t)c.np) == 1);
    CHECK(largest(by_x[0] + ndx, ndx) == 0 && largest(by_x[0], ndx) > 0 && isfinite(largest(theta, c.np)));

    /* On the batch's own states it waits for a reset. */
    CHECK(costate_batch_reset(b, NULL, n_env, NULL, x, (size_t)(n_env * nx), NULL, NULL) == COSTATE_OK);
    int count = 0;
    for (int t = 0; t < n_steps; ++t)
        count = costate_batch_step(b, NULL, u, own, status);
    CHECK(count == 1 && status[0] == COSTATE_OK && status[1] == COSTATE_DIVERGED && status[2] == COSTATE_OK);
    CHECK(costate_batch_rollout(b, 1, NULL, u, own, completed) == 1);
    CHECK(completed[0] == 1 && completed[1] == 0 && completed[2] == 1);
    const int second = 1;
    CHECK(costate_batch_reset(b, &second, 1, NULL, NULL, 0, NULL, NULL) == COSTATE_OK);
    CHECK(costate_batch_state(b, NULL, status) == 0 && status[1] == COSTATE_OK);
    CHECK(costate_batch_step(b, NULL, u, NULL, NULL) == 0);
    CHECK(costate_batch_free(b) == COSTATE_OK && costate_batch_free(calm) == COSTATE_OK);
    for (int k = 0; k < 2; ++k)
        free(by_x[k]), free(by_u[k]), free(by_theta[k]);
    free(x), free(y), free(u), free(wild), free(bar), free(own), free(theta);
    close_case(&c);
}

/* The Jacobians of a control step of one time step are those of single calls, for the environments asked for. */
static void jacobians(void) {
    Case c = open_case("go1_stand", 0.05, 0.1);
    const int n_env = 3, nx = c.nq + c.nv, ndx = 2 * c.nv, of_x = ndx * ndx, of_u = ndx * c.nu,
              of_theta = ndx * c.np;
    double *x = numbers(n_env * nx), *u = numbers(n_env * c.nu), *one = numbers(of_theta);
    double *by_x = numbers(n_env * of_x), *by_u = numbers(n_env * of_u),
           *by_theta = numbers(n_env * of_theta);
    for (int e = 0; e < n_env; ++e) {
        memcpy(x + e * nx, c.q, (size_t)c.nq * sizeof *x);
        memcpy(x + e * nx + c.nq, c.v, (size_t)c.nv * sizeof *x);
        memcpy(u + e * c.nu, c.u, (size_t)c.nu * sizeof *u);
        x[e * nx + 2] -= 0.01 * e;
    }
    for (int threads = 1; threads <= 2; ++threads) {
        costate_batch* b = open_batch(&c, n_env, threads, 0);
        CHECK(costate_batch_jacobian(b, x, u, NULL, by_x, by_u, by_theta, NULL) == 0);
        for (int e = 0; e < n_env; ++e) {
            const double *xe = x + e * nx, *ue = u + e * c.nu;
            CHECK(costate_state_step_jacobian(c.model, xe, ue, one, NULL, NULL) == COSTATE_OK);
            CHECK(same(by_x + e * of_x, one, of_x) && largest(one, of_x) >= 1);
            CHECK(costate_state_step_jacobian(c.model, xe, ue, NULL, one, NULL) == COSTATE_OK);
            CHECK(same(by_u + e * of_u, one, of_u));
            CHECK(costate_state_step_jacobian(c.model, xe, ue, NULL, NULL, one) == COSTATE_OK);
            CHECK(same(by_theta + e * of_theta, one, of_theta));
        }

        /* on its own states, which do not move; others than those asked for keep what was there */
        CHECK(costate_batch_reset(b, NULL, 3, NULL, x, (size_t)(n_env * nx), NULL, NULL) == COSTATE_OK);
        const unsigned char which[3] = {0, 1, 0};
        int status[3];
        by_x[0] = 17;
        memcpy(one, by_x + of_x, (size_t)of_x * sizeof *one);
        by_x[of_x] = 18;
        CHECK(costate_batch_jacobian(b, NULL, u, which, by_x, NULL, NULL, status) == 0);
        CHECK(by_x[0] == 17 && same(by_x + of_x, one, of_x) && status[0] == COSTATE_OK);

        double* far = noises(n_env * nx, 1e200);
        CHECK(costate_batch_jacobian(b, far, u, which, by_x, by_u, NULL, status) == 1);
        CHECK(status[1] == COSTATE_DIVERGED && status[0] == COSTATE_OK && largest(by_u + of_u, of_u) == 0);
        CHECK(largest(by_x + of_x, of_x) == 0 && by_x[0] == 17);
        CHECK_FAILS(costate_batch_jacobian(b, x, NULL, NULL, by_x, by_u, NULL, NULL), COSTATE_BAD_ARGUMENT,
                    "u is null");
        CHECK(costate_batch_free(b) == COSTATE_OK);
        free(far);
    }
    free(x), free(u), free(one), free(by_x), free(by_u), free(by_theta);
    close_case(&c);
}

/* Chosen columns are those of all columns, and nothing else is written; with several time steps, too. */
static void jacobian_columns(const char* scene, int substeps) {
    Case c = open_case(scene, 0.05, 0.1);
    const int n_env = 2, nx = costate_model_nx(c.model), ndx = nx - c.nq + c.nv, nu = c.nu, np = c.np;
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = 2, o.substeps = substeps;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c.model, &o, &b) == COSTATE_OK);
    double *x = numbers(n_env * nx), *u = noises(n_env * nu, 0.3);
    const int sizes[3] = {ndx, nu, np};
    double *all[3], *some[3];
    unsigned char* mask[3];
    for (int k = 0; k < 3; ++k) {
        all[k] = numbers(n_env * ndx * sizes[k]), some[k] = numbers(n_env * ndx * sizes[k]);
        mask[k] = calloc((size_t)sizes[k] + 1, 1);
        if (!mask[k]) abort();
        for (int j = 0; j < sizes[k]; ++j)
            mask[k][j] = (unsigned char)(j % 3 == 1);
        for (int i = 0; i < n_env * ndx * sizes[k]; ++i)
            some[k][i] = 17;
    }
    for (int e = 0; e < n_env; ++e) {
        memcpy(x + e * nx, c.q, (size_t)c.nq * sizeof *x);
        memcpy(x + e * nx + c.nq, c.v, (size_t)c.nv * sizeof *x);
        x[e * nx + 2] -= 0.01 * e;
    }
    costate_columns columns = {sizeof columns, mask[0], mask[1], mask[2]};
    CHECK(costate_batch_jacobian(b, x, u, NULL, all[0], all[1], all[2], NULL) == 0);
    CHECK(costate_batch_jacobian_with(b, x, u, NULL, &columns, some[0], some[1], some[2], NULL) == 0);
    for (int k = 0; k < 3; ++k) {
        const double most = largest(all[k], n_env * ndx * sizes[k]);
        for (int i = 0; i < n_env * ndx * sizes[k]; ++i) {
            if (mask[k][i % sizes[k]])
                CHECK_NEAR(some[k][i], all[k][i], 1e-13 * most);
            else
                CHECK(some[k][i] == 17);
        }
    }
    /* one kind alone, and no masks */
    CHECK(costate_batch_jacobian_with(b, x, u, NULL, &columns, NULL, some[1], NULL, NULL) == 0);
    for (int i = 0; i < n_env * ndx * nu; ++i)
        if (mask[1][i % nu]) CHECK_NEAR(some[1][i], all[1][i], 1e-13 * largest(all[1], n_env * ndx * nu));
    CHECK(costate_batch_jacobian_with(b, x, u, NULL, NULL, some[0], some[1], some[2], NULL) == 0);
    for (int k = 0; k < 3; ++k)
        CHECK(same(some[k], all[k], n_env * ndx * sizes[k]));
    columns.size = 1;
    CHECK_FAILS(costate_batch_jacobian_with(b, x, u, NULL, &columns, some[0], NULL, NULL, NULL),
                COSTATE_BAD_ARGUMENT, "sizeof(costate_columns)");
    CHECK(costate_batch_free(b) == COSTATE_OK);
    for (int k = 0; k < 3; ++k)
        free(all[k]), free(some[k]), free(mask[k]);
    free(x), free(u);
    close_case(&c);
}

/* The contacts of a batch are those of single calls. */
static void contacts(void) {
    Case c = open_case("go1_stand", 0.05, 0.1);
    enum { n_env = 3, room = 8 };
    const int nx = c.nq + c.nv;
    costate_contact many[n_env * room], one[room];
    double *x = numbers(n_env * nx), *u = numbers(n_env * c.nu), couples[n_env * room * 3];
    int counts[n_env], most = 0;
    for (int e = 0; e < n_env; ++e) {
        memcpy(x + e * nx, c.q, (size_t)c.nq * sizeof *x);
        memcpy(x + e * nx + c.nq, c.v, (size_t)c.nv * sizeof *x);
        memcpy(u + e * c.nu, c.u, (size_t)c.nu * sizeof *u);
        x[e * nx + 2] += e == 0 ? 1 : -0.03 * e; /* the first flies */
    }
    for (int threads = 1; threads <= 2; ++threads) {
        costate_batch* b = open_batch(&c, n_env, threads, 0);
        memset(many, 0, sizeof many);
        const int largest_count = costate_batch_contacts(b, x, u, many, couples, room, counts);
        for (int e = 0; e < n_env; ++e) {
            const double* q = x + e * nx;
            const int n = costate_contacts(c.model, q, q + c.nq, u + e * c.nu, one, room);
            CHECK(counts[e] == n && n <= room && (n == 0) == (e == 0));
            if (n > most) most = n;
            for (int i = 0; i < n && i < room; ++i) {
                const costate_contact *a = many + e * room + i, *d = one + i;
                CHECK(a->body_a == d->body_a && a->body_b == d->body_b && a->gap == d->gap);
                CHECK(same(a->point, d->point, 3) && same(a->normal, d->normal, 3));
                CHECK(same(a->impulse, d->impulse, 3) && largest(couples + 3 * (e * room + i), 3) == 0);
            }
        }
        CHECK(largest_count == most);
        /* less room, no room, its own states, and one that diverges */
        many[room / 2].gap = 17;
        CHECK(costate_batch_contacts(b, x, u, many, NULL, 1, counts) == most && many[room / 2].gap == 17);
        CHECK(many[2].body_a == one[0].body_a && many[2].gap == one[0].gap);
        CHECK(costate_batch_contacts(b, x, u, NULL, NULL, 0, counts) == most);
        CHECK(costate_batch_reset(b, NULL, n_env, NULL, x, (size_t)(n_env * nx), NULL, NULL) == COSTATE_OK);
        CHECK(costate_batch_contacts(b, NULL, u, NULL, NULL, 0, counts) == most);
        double* far = numbers(n_env * nx);
        memcpy(far, x, (size_t)(n_env * nx) * sizeof *x);
        for (int i = 0; i < c.nv; ++i)
            far[nx + c.nq + i] = 1e200;
        CHECK(costate_batch_contacts(b, far, u, NULL, NULL, 0, counts) == most);
        CHECK(counts[0] == 0 && counts[1] == COSTATE_DIVERGED && counts[2] == most);
        CHECK_FAILS(costate_batch_contacts(b, x, u, NULL, NULL, 1, counts), COSTATE_BAD_ARGUMENT,
                    "contacts is null");
        CHECK_FAILS(costate_batch_contacts(b, x, u, NULL, NULL, 0, NULL), COSTATE_BAD_ARGUMENT,
                    "counts is null");
        CHECK(costate_batch_free(b) == COSTATE_OK);
        free(far);
    }
    free(x), free(u);
    close_case(&c);
}

/* A ball that rests and spins: the couple of torsional friction slows it down. */
static void couples(void) {
    static const char scene[] =
        "{\"ground\": true, \"solver\": {\"type\": \"ncp\"}, \"models\": [{\"name\": \"ball\", "
        "\"position\": [0, 0, 0.1], \"model\": {\"bodies\": [{\"name\": \"ball\", \"joint\": {\"type\": "
        "\"free\"}, "
        "\"mass\": 2, \"inertia\": [0.01, 0.01, 0.01, 0, 0, 0], \"shapes\": [{\"type\": \"sphere\", "
        "\"radius\": 0.1, \"condim\": 4, \"friction\": 0.5, \"torsional_friction\": 0.02}]}]}}]}";
    costate_model* m = NULL;
    CHECK(costate_model_parse(scene, sizeof scene - 1, "json", NULL, NULL, &m) == COSTATE_OK);
    if (!m) exit(1);
    costate_batch_options o = {0};
    o.n_env = 1;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(m, &o, &b) == COSTATE_OK);
    double x[13] = {0, 0, 0.1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9}, next[13], couple[3];
    costate_contact contact;
    int count = 0;
    CHECK(costate_batch_contacts(b, x, NULL, &contact, couple, 1, &count) == 1 && count == 1);
    CHECK(costate_batch_step(b, x, NULL, next, NULL) == 0);
    const double sign = contact.body_a == 0 ? 1 : -1;
    CHECK_NEAR(sign * couple[2], 0.01 * (next[12] - x[12]), 1e-12);
    CHECK_NEAR(fabs(couple[2]), 0.02 * fabs(contact.impulse[2]), 1e-9);
    CHECK(couple[2] != 0 && costate_batch_free(b) == COSTATE_OK && costate_model_free(m) == COSTATE_OK);
}

/* The batch goes on where its model's handle is gone. */
static void model_freed(void) {
    Case c = open_case("throw", 0, 0);
    const int nx = c.nq + c.nv;
    costate_batch *b = open_batch(&c, 2, 2, 0), *other = open_batch(&c, 2, 2, 0);
    double *u = numbers(2 * c.nu), *x = numbers(2 * nx), *y = numbers(2 * nx);
    CHECK(costate_batch_step(b, NULL, u, x, NULL) == 0);
    close_case(&c);
    CHECK(costate_batch_step(b, NULL, u, x, NULL) == 0);
    CHECK(costate_batch_step(other, NULL, u, NULL, NULL) == 0 &&
          costate_batch_step(other, NULL, u, y, NULL) == 0);
    CHECK(same(x, y, 2 * nx) && costate_batch_free(b) == COSTATE_OK &&
          costate_batch_free(other) == COSTATE_OK);
    free(u), free(x), free(y);
}

int main(void) {
    resets();
    own_parameters();
    divergence();
    jacobians();
    jacobian_columns("go1_stand", 1);
    jacobian_columns("go1_stand", 3);
    jacobian_columns("tests/apps/settings_scene.json", 2);
    contacts();
    couples();
    model_freed();
    return failures ? 1 : 0;
}
