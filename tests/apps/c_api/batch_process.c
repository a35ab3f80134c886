/* Calls that are interrupted, and batches after fork(). */
#define _POSIX_C_SOURCE 200112L
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { n_env = 4, most = 128, long_run = 20000 };

static Case c;
static int nx;
static double x[n_env * most];

static costate_batch* make(int threads) {
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = threads, o.substeps = 5;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c.model, &o, &b) == COSTATE_OK);
    return b;
}

static int count_down(void* data) {
    int* left = data;
    return --*left == 0;
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void interrupts(int threads) {
    costate_batch* b = make(threads);
    const size_t rows = (size_t)long_run * n_env;
    double *u = calloc(rows * (size_t)c.nu, sizeof *u), *states = malloc(rows * (size_t)nx * sizeof *states);
    double before[n_env * most], after[n_env * most];
    CHECK(costate_batch_state(b, before, NULL) == 0);
    int left = 3;
    const costate_interrupt interrupt = {count_down, &left};
    CHECK(costate_batch_set_interrupt(b, &interrupt) == COSTATE_OK);
    const double begin = seconds();
    CHECK_FAILS(costate_batch_rollout(b, long_run, NULL, u, states, NULL), COSTATE_INTERRUPTED,
                "control steps");
    CHECK(left == 0 && seconds() - begin < 1);
    CHECK(costate_batch_state(b, after, NULL) == 0);
    CHECK(memcmp(before, after, (size_t)(n_env * nx) * sizeof *after) == 0);

    /* the batch goes on, and short calls do not ask */
    CHECK(costate_batch_step(b, x, u, states, NULL) == 0 && left == 0);
    CHECK(costate_batch_set_interrupt(b, NULL) == COSTATE_OK);
    CHECK(costate_batch_rollout(b, 100, NULL, u, states, NULL) >= 0 && left == 0);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(u), free(states);
}

typedef struct {
    int calls, end_at;
    uint64_t done, total;
} Report;
static int report(void* data, uint64_t done, uint64_t total) {
    Report* r = data;
    CHECK(done <= total && (r->calls == 0 || done >= r->done));
    r->done = done, r->total = total;
    return ++r->calls == r->end_at;
}

/* What a rollout and its reverse say of their progress; they end if asked to. */
static void progress(int threads) {
    enum { steps = 2000 };
    costate_batch* b = make(threads);
    const size_t rows = (size_t)steps * n_env;
    double *u = calloc(rows * (size_t)c.nu, sizeof *u),
           *states = malloc((rows + n_env) * (size_t)nx * sizeof *states),
           *bar = calloc(rows * (size_t)(2 * c.nv), sizeof *bar);
    CHECK(costate_batch_state(b, states, NULL) == 0);
    Report r = {0, 0, 0, 0};
    const costate_progress told = {report, &r};
    CHECK(costate_batch_set_progress(b, &told) == COSTATE_OK);
    CHECK(costate_batch_rollout(b, steps, states, u, states + n_env * nx, NULL) >= 0);
    CHECK(r.calls > 1 && r.done == steps * n_env && r.total == steps * n_env);
    const Report again = {0, 0, 0, 0};
    r = again;
    CHECK(costate_batch_backward(b, steps, states, u, NULL, bar, NULL, NULL, NULL, 0) >= 0);
    CHECK(r.calls > 1 && r.done == steps * n_env && r.total == steps * n_env);
    r = again, r.end_at = 2;
    CHECK_FAILS(costate_batch_rollout(b, steps, states, u, states + n_env * nx, NULL), COSTATE_INTERRUPTED,
                "control steps");
    CHECK(r.calls == 2 && r.done < r.total);
    /* steps say nothing, and an end is not remembered */
    r = again;
    CHECK(costate_batch_step(b, states, u, states, NULL) == 0 && r.calls == 0);
    CHECK(costate_batch_set_progress(b, NULL) == COSTATE_OK);
    CHECK(costate_batch_rollout(b, 10, states, u, states + n_env * nx, NULL) >= 0 && r.calls == 0);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(u), free(states), free(bar);
}

/* In the child: 0 if all is as the header says. */
static int child(costate_batch* alone, costate_batch* many, const double* expected) {
    static double u[n_env * most], out[n_env * most];
    costate_batch* fresh = NULL;
    CHECK_FAILS(costate_batch_step(many, x, u, out, NULL), COSTATE_BAD_HANDLE, "fork()");
    CHECK(costate_batch_free(many) == COSTATE_OK);
    CHECK(costate_batch_step(alone, x, u, out, NULL) == 0);
    CHECK(memcmp(out, expected, (size_t)(n_env * nx) * sizeof *out) == 0);
    fresh = make(2);
    CHECK(costate_batch_step(fresh, x, u, out, NULL) == 0);
    CHECK(memcmp(out, expected, (size_t)(n_env * nx) * sizeof *out) == 0);
    CHECK(costate_batch_free(fresh) == COSTATE_OK && costate_batch_free(alone) == COSTATE_OK);
    return failures;
}

static void forks(void) {
#ifdef __SANITIZE_THREAD__
    puts("the thread sanitizer does not support threads after fork(): not tried");
    return;
#endif
    static double u[n_env * most], expected[n_env * most];
    costate_batch *alone = make(1), *many = make(2);
    CHECK(costate_batch_step(alone, x, u, expected, NULL) == 0);
    CHECK(costate_batch_step(many, x, u, expected, NULL) == 0);
    const pid_t other = fork();
    if (other == 0) {
        alarm(20); /* a hang is a failure */
        _exit(child(alone, many, expected) != 0);
    }
    int status = -1;
    CHECK(other > 0 && waitpid(other, &status, 0) == other);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    double out[n_env * most];
    CHECK(costate_batch_step(many, x, u, out, NULL) == 0);
    CHECK(memcmp(out, expected, (size_t)(n_env * nx) * sizeof *out) == 0);
    CHECK(costate_batch_free(alone) == COSTATE_OK && costate_batch_free(many) == COSTATE_OK);
}

int main(void) {
    c = open_case("go1_stand", 0, 0);
    nx = costate_model_nx(c.model);
    costate_batch* b = make(1);
    CHECK(costate_batch_state(b, x, NULL) == 0);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    interrupts(1);
    interrupts(2);
    progress(1);
    progress(2);
    forks();
    close_case(&c);
    return failures ? 1 : 0;
}
