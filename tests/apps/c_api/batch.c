/* Batches: what they compute is what single calls compute, to the last bit, whatever the threads, the
 * division and the settings. */
#include "settings.h"

typedef struct {
    int n_env, n_threads, substeps;
    size_t checkpoint_bytes;
} Shape;

static costate_batch* open_batch(const Case* c, Shape s) {
    costate_batch_options o = {0};
    o.n_env = s.n_env, o.n_threads = s.n_threads, o.substeps = s.substeps,
    o.checkpoint_bytes = s.checkpoint_bytes;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c->model, &o, &b) == COSTATE_OK);
    return b;
}

static int same(const double* a, const double* b, int n) { return memcmp(a, b, (size_t)n * sizeof *a) == 0; }

static int state_size(const Case* c) { return costate_model_nx(c->model); }
static int tangent_size(const Case* c) { return state_size(c) - c->nq + c->nv; }

/* n states around that of the case, one after the other. */
static double* states_around(const Case* c, int n) {
    const int nx = state_size(c);
    double* x = numbers(n * nx);
    for (int e = 0; e < n; ++e) {
        double* d = noises(c->nv, 0.02);
        CHECK(costate_retract(c->model, c->q, d, x + e * nx) == COSTATE_OK);
        for (int i = 0; i < c->nv; ++i)
            x[e * nx + c->nq + i] = c->v[i] + 0.1 * noise();
        free(d);
    }
    return x;
}

enum { n_env = 5, n_steps = 3, substeps = 4 };

/* What costate_state_step and costate_state_step_vjp make of a rollout, step by step. */
typedef struct {
    /* (n_steps x n_env x nx), (n_env x ndx), (n_steps x n_env x nu), (n_env x np) */
    double *states, *x_bar, *u_bar, *theta_bar;
} Expected;

static Expected single_calls(const Case* c, const double* x, const double* u, const double* states_bar) {
    const int nu = c->nu, nx = state_size(c), ndx = tangent_size(c), np = c->np;
    Expected r = {numbers(n_steps * n_env * nx), numbers(n_env * ndx), numbers(n_steps * n_env * nu),
                  numbers(n_env * np)};
    double *visited = numbers((n_steps * substeps + 1) * nx), *bar = numbers(ndx), *step_theta = numbers(np),
           *u_part = numbers(nu);
    double *sum = numbers(np), *u_sum = numbers(nu);
    for (int e = 0; e < n_env; ++e) {
        memcpy(visited, x + e * nx, (size_t)nx * sizeof *x);
        for (int k = 0; k < n_steps * substeps; ++k) {
            double *from = visited + k * nx, *to = from + nx;
            CHECK(costate_state_step(c->model, from, u + (k / substeps * n_env + e) * nu, to) == COSTATE_OK);
            if ((k + 1) % substeps == 0)
                memcpy(r.states + (k / substeps * n_env + e) * nx, to, (size_t)nx * sizeof *to);
        }
        memset(bar, 0, (size_t)ndx * sizeof *bar);
        for (int t = n_steps - 1; t >= 0; --t) {
            for (int i = 0; i < ndx; ++i)
                bar[i] += states_bar[(t * n_env + e) * ndx + i];
            memset(sum, 0, (size_t)np * sizeof *sum), memset(u_sum, 0, (size_t)nu * sizeof *u_sum);
            for (int k = (t + 1) * substeps - 1; k >= t * substeps; --k) {
                const double* from = visited + k * nx;
                CHECK(costate_state_step_vjp(c->model, from, u + (t * n_env + e) * nu, bar, bar, u_part,
                                             step_theta) == COSTATE_OK);
                for (int i = 0; i < nu; ++i)
                    u_sum[i] += u_part[i];
                for (int i = 0; i < np; ++i)
                    sum[i] += step_theta[i];
            }
            memcpy(r.u_bar + (t * n_env + e) * nu, u_sum, (size_t)nu * sizeof *u_sum);
            for (int i = 0; i < np; ++i)
                r.theta_bar[e * np + i] += sum[i];
        }
        memcpy(r.x_bar + e * ndx, bar, (size_t)ndx * sizeof *bar);
    }
    free(visited), free(bar), free(step_theta), free(u_part), free(sum), free(u_sum);
    return r;
}

/* The same by a batch. */
static void whole(const Case* c, Shape shape, const double* x, const double* u, const double* states_bar,
                  const Expected* r) {
    const int nu = c->nu, nx = state_size(c), ndx = tangent_size(c), np = c->np;
    costate_batch* b = open_batch(c, shape);
    double *states = numbers((n_steps + 1) * n_env * nx), *x_bar = numbers(n_env * ndx),
           *u_bar = numbers(n_steps * n_env * nu), *theta_bar = numbers(n_env * np), *sum = numbers(np),
           *own = numbers(n_env * nx);
    int completed[n_env], status[n_env];
    memcpy(states, x, (size_t)(n_env * nx) * sizeof *x);
    double* after = states + n_env * nx;
    CHECK(costate_batch_rollout(b, n_steps, x, u, after, completed) == 0);
    CHECK(same(after, r->states, n_steps * n_env * nx));
    for (int e = 0; e < n_env; ++e)
        CHECK(completed[e] == n_steps);
    CHECK(costate_batch_backward(b, n_steps, states, u, completed, states_bar, x_bar, u_bar, theta_bar,
                                 (size_t)(n_env * np)) == 0);
    CHECK(same(x_bar, r->x_bar, n_env * ndx));
    CHECK(same(u_bar, r->u_bar, n_steps * n_env * nu));
    CHECK(same(theta_bar, r->theta_bar, n_env * np));
    /* summed in the order of environments */
    CHECK(costate_batch_backward(b, n_steps, states, u, NULL, states_bar, NULL, NULL, sum, (size_t)np) == 0);
    for (int i = 0; i < np; ++i)
        for (int e = 1; e < n_env; ++e)
            theta_bar[i] += r->theta_bar[e * np + i];
    CHECK(same(sum, theta_bar, np));
    /* step by step, on the batch's own states and on those of the caller */
    CHECK(costate_batch_reset(b, NULL, n_env, NULL, x, (size_t)(n_env * nx), NULL, NULL) == COSTATE_OK);
    for (int t = 0; t < n_steps; ++t) {
        CHECK(costate_batch_step(b, t ? own : x, u + t * n_env * nu, own, status) == 0);
        CHECK(same(own, r->states + t * n_env * nx, n_env * nx));
        CHECK(costate_batch_step(b, NULL, u + t * n_env * nu, NULL, NULL) == 0);
        CHECK(costate_batch_state(b, after, status) == 0);
        CHECK(same(own, after, n_env * nx));
    }
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(states), free(x_bar), free(u_bar), free(theta_bar), free(sum), free(own);
}

/* The same by two batches, of the first environments and the others. */
static void divided(const Case* c, int first, const double* x, const double* u, const double* states_bar,
                    const Expected* r) {
    const int nu = c->nu, nx = state_size(c), ndx = tangent_size(c), np = c->np;
    for (int part = 0; part < 2; ++part) {
        const int begin = part ? first : 0, n = part ? n_env - first : first;
        costate_batch* b = open_batch(c, (Shape){n, 2, substeps, 0});
        double *states = numbers((n_steps + 1) * n * nx), *u_part = numbers(n_steps * n * nu),
               *bar_part = numbers(n_steps * n * ndx);
        double *u_bar = numbers(n_steps * n * nu), *x_bar = numbers(n * ndx), *theta_bar = numbers(n * np);
        memcpy(states, x + begin * nx, (size_t)(n * nx) * sizeof *x);
        for (int t = 0; t < n_steps; ++t) {
            memcpy(u_part + t * n * nu, u + (t * n_env + begin) * nu, (size_t)(n * nu) * sizeof *u);
            memcpy(bar_part + t * n * ndx, states_bar + (t * n_env + begin) * ndx,
                   (size_t)(n * ndx) * sizeof *u);
        }
        CHECK(costate_batch_rollout(b, n_steps, states, u_part, states + n * nx, NULL) == 0);
        CHECK(costate_batch_backward(b, n_steps, states, u_part, NULL, bar_part, x_bar, u_bar, theta_bar,
                                     (size_t)(n * np)) == 0);
        for (int t = 0; t < n_steps; ++t) {
            CHECK(same(states + (t + 1) * n * nx, r->states + (t * n_env + begin) * nx, n * nx));
            CHECK(same(u_bar + t * n * nu, r->u_bar + (t * n_env + begin) * nu, n * nu));
        }
        CHECK(same(x_bar, r->x_bar + begin * ndx, n * ndx));
        CHECK(same(theta_bar, r->theta_bar + begin * np, n * np));
        CHECK(costate_batch_free(b) == COSTATE_OK);
        free(states), free(u_part), free(bar_part), free(u_bar), free(x_bar), free(theta_bar);
    }
}

static void same_bits(Case* c, const Settings* settings) {
    (void)settings;
    const int nx = state_size(c), ndx = tangent_size(c);
    double *x = states_around(c, n_env), *u = noises(n_steps * n_env * c->nu, 0.3),
           *states_bar = noises(n_steps * n_env * ndx, 1);
    const Expected r = single_calls(c, x, u, states_bar);
    for (int e = 0; e < n_env; ++e)
        CHECK(largest(r.x_bar + e * ndx, ndx) > 0);
    const size_t state = (size_t)nx * sizeof *x;
    for (int threads = 1; threads <= 4; threads *= 2) {
        whole(c, (Shape){n_env, threads, substeps, 0}, x, u, states_bar, &r);
        whole(c, (Shape){n_env, threads, substeps, state * (size_t)threads}, x, u, states_bar,
              &r); /* one checkpoint a thread */
    }
    for (int first = 1; first < n_env; ++first)
        divided(c, first, x, u, states_bar, &r);
    free(r.states), free(r.x_bar), free(r.u_bar), free(r.theta_bar), free(x), free(u), free(states_bar);
}

static void same_bits_of(const char* name, double position, double velocity) {
    Case c = open_case(name, position, velocity);
    same_bits(&c, NULL);
    close_case(&c);
}

int main(void) {
    same_bits_of("go1_stand", 0, 0.01);
    same_bits_of("throw", 0.1, 0.3);
    same_bits_of("box_slide", 0, 0.01);
    same_bits_of("four_bar", 0, 0.02);
    for_each_settings(same_bits);
    return failures ? 1 : 0;
}
