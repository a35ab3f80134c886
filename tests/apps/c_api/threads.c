/* Several threads on one model and on models of their own, while parameters change and models are freed. */
#include <pthread.h>

#include "check.h"

enum { threads = 4, steps = 400 };

static Case shared;
static double expected[64];
static int wrong[threads]; /* each thread counts its own */

/* Final speeds of a rollout; returns the first status that is not 0. */
static int roll(const costate_model* m, double* v) {
    double q[64], u[64] = {0};
    int status = costate_model_initial_state(m, q, v);
    for (int t = 0; t < steps && status == COSTATE_OK; ++t)
        status = costate_step(m, q, v, u, q, v);
    return status;
}

static void* same_model(void* argument) {
    int* count = argument;
    double v[64];
    *count += roll(shared.model, v) != COSTATE_OK || memcmp(v, expected, (size_t)shared.nv * sizeof *v) != 0;
    *count += costate_step(shared.model, NULL, v, v, v, v) != COSTATE_BAD_ARGUMENT ||
              !strstr(costate_last_error(), "q is null");
    return NULL;
}

static void* own_model(void* argument) {
    int* count = argument;
    costate_model* m = NULL;
    double v[64];
    *count += costate_model_load("throw", &m) != COSTATE_OK;
    *count += roll(m, v) != COSTATE_OK || memcmp(v, expected, (size_t)shared.nv * sizeof *v) != 0;
    *count += costate_model_free(m) != COSTATE_OK;
    return NULL;
}

/* Steps until the model is gone: every call works, or says that it is. */
static void* until_freed(void* argument) {
    int* count = argument;
    double v[64];
    int status = COSTATE_OK;
    while (status == COSTATE_OK)
        status = roll(shared.model, v);
    *count += status != COSTATE_BAD_HANDLE || !strstr(costate_last_error(), "freed");
    return NULL;
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

static void change_and_free(void) {
    double* theta = numbers(shared.np);
    CHECK(costate_model_get_parameters(shared.model, theta, (size_t)shared.np) == COSTATE_OK);
    double v[64];
    for (int k = 0; k < 8; ++k) {
        CHECK(costate_model_set_parameters(shared.model, theta, (size_t)shared.np) == COSTATE_OK);
        CHECK(roll(shared.model, v) == COSTATE_OK);
    }
    free(theta);
    close_case(&shared);
}

int main(void) {
    shared = open_case("throw", 0, 0);
    CHECK(shared.nq <= 64 && shared.nu <= 64);
    CHECK(roll(shared.model, expected) == COSTATE_OK);
    CHECK(largest(expected, shared.nv) > 0.1);
    run(same_model, NULL);
    run(own_model, NULL);
    run(until_freed, change_and_free);
    return failures ? 1 : 0;
}
