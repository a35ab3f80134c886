/* A program of the first header of 0.1 with scenes, which had 55 functions: it runs with every library of 0.1. It does not
 * include costate.h, which has grown. What it declares is frozen: a change of the library that breaks this file breaks
 * the programs of users. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct costate_model costate_model;
typedef struct costate_batch costate_batch;
typedef struct costate_interrupt {
    int (*ask)(void* data);
    void* data;
} costate_interrupt;
typedef struct costate_load_options {
    size_t size;
    const char* base;
    const char* const* search;
    size_t n_search;
    int strict, self_collision, hull_vertices;
} costate_load_options;
typedef struct costate_contact {
    int body_a, body_b;
    double point[3], normal[3], gap, impulse[3];
} costate_contact;
typedef struct costate_batch_options {
    int n_env, n_threads, substeps, own_parameters, ambient;
    size_t checkpoint_bytes;
} costate_batch_options;
typedef struct costate_optimize_options {
    size_t size;
    const char* method;
    int iterations, max_loss_evaluations;
    double learning_rate;
    double* losses;
    size_t n_losses;
    const costate_interrupt* interrupt;
} costate_optimize_options;
typedef struct costate_optimize_result {
    double initial_loss, final_loss, seconds;
    int iterations, loss_evaluations, gradient_evaluations;
    char stopped[96];
} costate_optimize_result;

const char* costate_last_error(void);
int costate_version(int);
int costate_model_load_with(const char*, const costate_load_options*, costate_model**);
int costate_model_free(costate_model*);
int costate_model_nq(const costate_model*);
int costate_model_nx(const costate_model*);
int costate_model_nu(const costate_model*);
int costate_model_initial_state(const costate_model*, double*, double*);
int costate_contacts(const costate_model*, const double*, const double*, const double*, costate_contact*,
                     size_t);
int costate_batch_create(const costate_model*, const costate_batch_options*, costate_batch**);
int costate_batch_free(costate_batch*);
int costate_batch_reset(costate_batch*, const int*, size_t, const char*, const double*, size_t, const double*,
                        const uint64_t*);
int costate_batch_step(costate_batch*, const double*, const double*, double*, int*);
int costate_batch_backward(costate_batch*, int, const double*, const double*, const int*, const double*,
                           double*, double*, double*, size_t);
int costate_scene_variables(const costate_model*, double*, double*, double*);
int costate_scene_gradient(const costate_model*, const double*, double*, double*, const costate_interrupt*);
int costate_scene_optimize(const costate_model*, const costate_optimize_options*, double*,
                           costate_optimize_result*);

enum { version = 100, n_env = 2, most = 256 };

static void* copy_alone(const void* from, size_t size) { /* with nothing behind it that may be read */
    void* to = malloc(size);
    if (!to) abort();
    return memcpy(to, from, size);
}
static int failed(const char* what) {
    fprintf(stderr, "%s: %s\n", what, costate_last_error());
    return 1;
}

static int robots(void) {
    costate_load_options options = {0};
    options.size = sizeof options;
    costate_load_options* alone = copy_alone(&options, sizeof options);
    costate_model* m = NULL;
    const int loaded = costate_model_load_with("go1_stand", alone, &m);
    free(alone);
    if (loaded < 0) return failed("load");
    const int nx = costate_model_nx(m), nq = costate_model_nq(m), nu = costate_model_nu(m);
    double q[most], v[most], u[most] = {0}, x[most], next[most], bar[most], x_bar[most], u_bar[most];
    if (nx * n_env > most || costate_model_initial_state(m, q, v) < 0) return failed("state");
    q[2] -= 0.01; /* into the ground */
    costate_contact contacts[64];
    const int count = costate_contacts(m, q, v, u, contacts, 64);
    if (count < 4 || contacts[0].normal[2] < 0.99) return failed("contacts");
    const costate_batch_options batch_options = {n_env, 1, 5, 0, 0, 0};
    costate_batch* batch = NULL;
    if (costate_batch_create(m, &batch_options, &batch) < 0 ||
        costate_batch_reset(batch, NULL, n_env, NULL, NULL, 0, NULL, NULL) < 0)
        return failed("batch");
    for (int e = 0; e < n_env; ++e) {
        memcpy(x + e * nx, q, (size_t)nq * sizeof *q);
        memcpy(x + e * nx + nq, v, (size_t)(nx - nq) * sizeof *v);
    }
    for (int i = 0; i < most; ++i)
        bar[i] = i % 3 == 0;
    if (costate_batch_step(batch, x, u, next, NULL) != 0 ||
        costate_batch_backward(batch, 1, x, u, NULL, bar, x_bar, u_bar, NULL, 0) != 0)
        return failed("step");
    double most_of_u = 0;
    for (int i = 0; i < n_env * nu; ++i)
        most_of_u = fmax(most_of_u, fabs(u_bar[i]));
    if (!(most_of_u > 0) || memcmp(next, x, (size_t)nx * sizeof *x) == 0) return failed("gradient");
    return costate_batch_free(batch) < 0 || costate_model_free(m) < 0;
}

static int scenes(void) {
    costate_model* m = NULL;
    double y[most], gradient[most], losses[4], loss = 0;
    if (costate_model_load_with("throw", NULL, &m) < 0 ||
        costate_scene_variables(m, NULL, NULL, NULL) > most ||
        costate_scene_variables(m, y, NULL, NULL) < 0 ||
        costate_scene_gradient(m, y, &loss, gradient, NULL) < 0)
        return failed("scene");
    costate_optimize_options options = {0};
    options.size = sizeof options, options.method = "gradient_descent", options.iterations = 3;
    options.losses = losses, options.n_losses = 4;
    costate_optimize_options* alone = copy_alone(&options, sizeof options);
    costate_optimize_result result;
    const int optimized = costate_scene_optimize(m, alone, y, &result);
    free(alone);
    if (optimized < 0 || result.initial_loss != loss || result.iterations != 3 || !(losses[3] < losses[0]))
        return failed("optimize");
    return costate_model_free(m) < 0;
}

int main(void) {
    if (costate_version(version) < 0) return failed("version");
    return robots() + scenes();
}
