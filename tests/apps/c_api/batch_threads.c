/* Several threads on one batch and on batches of their own, while handles are freed. */
#include <pthread.h>

#include "check.h"

enum { threads = 3, n_env = 4, steps = 20, most = 256 };

static Case model;
static costate_batch* shared;
static int nx, wrong[threads]; /* each thread counts its own */
static double start[n_env * most], u[n_env * most], expected[n_env * most];

static costate_batch* make(void) {
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = 2;
    costate_batch* b = NULL;
    return costate_batch_create(model.model, &o, &b) == COSTATE_OK ? b : NULL;
}

/* From `start` to x by steps of the caller's states; returns the first status that is not 0. */
static int roll(costate_batch* b, double* x) {
    int status = COSTATE_OK;
    memcpy(x, start, (size_t)(n_env * nx) * sizeof *x);
    for (int t = 0; t < steps && status == COSTATE_OK; ++t)
        status = costate_batch_step(b, x, u, x, NULL);
    return status;
}

static void* same_batch(void* argument) {
    int* count = argument;
    double x[n_env * most];
    for (int k = 0; k < 3; ++k)
        *count += roll(shared, x) != COSTATE_OK || memcmp(x, expected, (size_t)(n_env * nx) * sizeof *x) != 0;
    return NULL;
}

static void* own_batch(void* argument) {
    int* count = argument;
    double x[n_env * most];
    costate_batch* b = make();
    *count += !b || roll(b, x) != COSTATE_OK || memcmp(x, expected, (size_t)(n_env * nx) * sizeof *x) != 0;
    *count += costate_batch_free(b) != COSTATE_OK;
    return NULL;
}

static void* until_freed(void* argument) {
    int* count = argument;
    double x[n_env * most];
    int status = COSTATE_OK;
    while (status == COSTATE_OK)
        status = roll(shared, x);
    *count += status != COSTATE_BAD_HANDLE || !strstr(costate_last_error(), "freed");
    return NULL;
}

static void free_all(void) {
    double x[n_env * most];
    CHECK(costate_model_free(model.model) == COSTATE_OK);
    for (int k = 0; k < 3; ++k)
        CHECK(roll(shared, x) == COSTATE_OK);
    CHECK(memcmp(x, expected, (size_t)(n_env * nx) * sizeof *x) == 0);
    CHECK(costate_batch_free(shared) == COSTATE_OK);
}

static void run(void* (*work)(void*), void (*meanwhile)(void)) {
    pthread_t ids[threads];
    for (int i = 0; i < threads; ++i)
        if (pthread_create(&ids[i], NULL, work, &wrong[i])) abort();
    if (meanwhile) meanwhile();
    for (int i = 0; i < threads; ++i)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < threads; ++i)
        CHECK(wrong[i] == 0);
}

int main(void) {
    model = open_case("throw", 0.1, 0.3);
    nx = costate_model_nx(model.model);
    CHECK(nx <= most && model.nu <= most);
    for (int e = 0; e < n_env; ++e) {
        memcpy(start + e * nx, model.q, (size_t)model.nq * sizeof *start);
        for (int i = 0; i < model.nv; ++i)
            start[e * nx + model.nq + i] = model.v[i] * (e + 1);
    }
    for (int i = 0; i < n_env * model.nu; ++i)
        u[i] = 0.3 * noise();
    shared = make();
    CHECK(roll(shared, expected) == COSTATE_OK);
    CHECK(memcmp(start, expected, (size_t)(n_env * nx) * sizeof *start) != 0);
    run(same_batch, NULL);
    run(own_batch, NULL);
    run(until_freed, free_all);
    free(model.q), free(model.v), free(model.u);
    return failures ? 1 : 0;
}
