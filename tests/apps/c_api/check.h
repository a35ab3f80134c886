/* What the tests of the C API share: checks that count, numbers that repeat, states of any model. */
#ifndef COSTATE_TESTS_CHECK_H
#define COSTATE_TESTS_CHECK_H

#include <costate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, costate_last_error());       \
            ++failures;                                                                                      \
        }                                                                                                    \
    } while (0)
#define CHECK_NEAR(a, b, tolerance)                                                                          \
    do {                                                                                                     \
        const double left = (a), right = (b);                                                                \
        if (!(fabs(left - right) <= (tolerance))) {                                                          \
            fprintf(stderr, "%s:%d: %s = %.17g, %s = %.17g\n", __FILE__, __LINE__, #a, left, #b, right);     \
            ++failures;                                                                                      \
        }                                                                                                    \
    } while (0)
/* The call fails with this status, and its sentence holds these words. */
#define CHECK_FAILS(call, wanted, words)                                                                     \
    do {                                                                                                     \
        const int got = (call);                                                                              \
        if (got != (wanted) || !strstr(costate_last_error(), words)) {                                       \
            fprintf(stderr, "%s:%d: %s returned %d: %s\n", __FILE__, __LINE__, #call, got,                   \
                    costate_last_error());                                                                   \
            ++failures;                                                                                      \
        }                                                                                                    \
    } while (0)

/* Between -1 and 1, the same in every run (the minimal standard generator of Park & Miller 1988). */
static inline double noise(void) {
    static unsigned long long state = 1;
    state = state * 48271 % 2147483647;
    return 2.0 * (double)state / 2147483647.0 - 1;
}

static inline double* numbers(int n) {
    double* x = calloc((size_t)n + 1, sizeof *x);
    if (!x) abort();
    return x;
}
static inline double* noises(int n, double size) {
    double* x = numbers(n);
    for (int i = 0; i < n; ++i)
        x[i] = size * noise();
    return x;
}

static inline double largest(const double* a, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i)
        if (!(fabs(a[i]) <= most)) most = fabs(a[i]);
    return most;
}

typedef struct {
    costate_model* model;
    int nq, nv, nu, np;
    double *q, *v, *u; /* a state near the model's first */
} Case;

static inline Case open_case(const char* path, double position_noise, double velocity_noise) {
    Case c = {0};
    if (costate_model_load(path, &c.model) != COSTATE_OK) {
        fprintf(stderr, "%s\n", costate_last_error());
        exit(1);
    }
    c.nq = costate_model_nq(c.model), c.nv = costate_model_nv(c.model);
    c.nu = costate_model_nu(c.model), c.np = costate_model_nparam(c.model);
    c.q = numbers(c.nq), c.v = noises(c.nv, velocity_noise), c.u = noises(c.nu, 0.3);
    double *start = numbers(c.nq), *rest = numbers(c.nv), *d = noises(c.nv, position_noise);
    CHECK(costate_model_initial_state(c.model, start, rest) == COSTATE_OK);
    for (int i = 0; i < c.nv; ++i)
        c.v[i] += rest[i];
    CHECK(costate_retract(c.model, start, d, c.q) == COSTATE_OK);
    free(start), free(rest), free(d);
    return c;
}
static inline void close_case(Case* c) {
    CHECK(costate_model_free(c->model) == COSTATE_OK);
    free(c->q), free(c->v), free(c->u);
}

#endif
