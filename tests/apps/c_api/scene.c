/* The objective of a scene: variables, gradient, rollout, optimization, own costs; and what is refused. */
#include "check.h"

static costate_model* m;
static int n;
static double *y, *gradient;

static int at_once(void* data) {
    ++*(int*)data;
    return 1;
}

static void values(void) {
    double *lower = numbers(n), *upper = numbers(n), *other = numbers(n), loss = 0, more = 0, less = 0;
    CHECK(costate_scene_variables(m, y, lower, upper) == n);
    char name[64];
    CHECK(costate_model_count(m, COSTATE_VARIABLE) == n);
    CHECK(costate_model_name(m, COSTATE_VARIABLE, 0, name, sizeof name) > 0);
    CHECK(strcmp(name, "controls/arm/torque1[0]") == 0);
    for (int i = 0; i < n; ++i)
        CHECK(lower[i] <= y[i] && y[i] <= upper[i]);

    CHECK(costate_scene_gradient(m, y, &loss, gradient, NULL) == COSTATE_OK && loss > 1);
    const int i = n / 2;
    memcpy(other, y, (size_t)n * sizeof *y);
    other[i] = y[i] + 1e-5;
    CHECK(costate_scene_gradient(m, other, &more, NULL, NULL) == COSTATE_OK);
    other[i] = y[i] - 1e-5;
    CHECK(costate_scene_gradient(m, other, &less, NULL, NULL) == COSTATE_OK);
    CHECK_NEAR((more - less) / 2e-5, gradient[i], 1e-4 * largest(gradient, n));

    other[i] = NAN;
    CHECK_FAILS(costate_scene_gradient(m, other, &loss, NULL, NULL), COSTATE_BAD_ARGUMENT, "is not finite");
    CHECK_FAILS(costate_scene_gradient(m, NULL, &loss, NULL, NULL), COSTATE_BAD_ARGUMENT, "y is null");
    free(lower), free(upper), free(other);
}

static void rollouts(void) {
    const int steps = costate_scene_steps(m), nx = costate_model_nx(m), nu = costate_model_nu(m);
    CHECK(steps == 1000);
    double *states = numbers((steps + 1) * nx), *controls = numbers(steps * nu), *next = numbers(nx);
    CHECK(costate_scene_rollout(m, y, states, controls, NULL) == COSTATE_OK);
    CHECK(costate_state_step(m, states + (steps - 1) * nx, controls + (steps - 1) * nu, next) == COSTATE_OK);
    for (int i = 0; i < nx; ++i)
        CHECK_NEAR(states[steps * nx + i], next[i], 1e-14);
    CHECK_FAILS(costate_scene_rollout(m, y, NULL, controls, NULL), COSTATE_BAD_ARGUMENT, "states is null");
    free(states), free(controls), free(next);
}

/* How often, and the last numbers; ends the call if `ends`. */
typedef struct {
    int calls, ends;
    uint64_t done, total;
} Heard;
static int hear(void* data, uint64_t done, uint64_t total) {
    Heard* h = data;
    CHECK(h->done <= done && done <= total);
    h->done = done, h->total = total;
    ++h->calls;
    return h->ends;
}

/* One call has the numbers of three, and is told of its steps. */
static void evaluation(void) {
    const int steps = costate_scene_steps(m), nx = costate_model_nx(m), nu = costate_model_nu(m);
    const size_t states_size = (size_t)((steps + 1) * nx) * sizeof(double),
                 controls_size = (size_t)(steps * nu) * sizeof(double), y_size = (size_t)n * sizeof(double);
    double *states = numbers((steps + 1) * nx), *controls = numbers(steps * nu), *pulled = numbers(n),
           *other_states = numbers((steps + 1) * nx), *other_controls = numbers(steps * nu), loss = 0,
           other = 0;
    CHECK(costate_scene_gradient(m, y, &loss, gradient, NULL) == COSTATE_OK);
    CHECK(costate_scene_rollout(m, y, states, controls, NULL) == COSTATE_OK);
    Heard heard = {0};
    const costate_progress progress = {hear, &heard};
    costate_scene_run run = {0};
    run.size = sizeof run;
    run.y = y, run.loss = &other, run.gradient = pulled, run.states = other_states,
    run.controls = other_controls;
    run.progress = &progress;
    CHECK(costate_scene_evaluate(m, &run) == COSTATE_OK);
    CHECK(loss == other && memcmp(pulled, gradient, y_size) == 0);
    CHECK(memcmp(states, other_states, states_size) == 0 &&
          memcmp(controls, other_controls, controls_size) == 0);
    const uint64_t passes = 2 * ((uint64_t)steps + 1);
    CHECK(heard.calls > 0 && heard.done == passes && heard.total == passes);

    run.gradient = NULL, run.states = NULL, run.controls = NULL;
    heard = (Heard){0};
    CHECK(costate_scene_evaluate(m, &run) == COSTATE_OK && loss == other);
    CHECK(heard.done == passes / 2 && heard.total == passes / 2);
    CHECK_FAILS(costate_scene_evaluate(m, NULL), COSTATE_BAD_ARGUMENT, "run is null");
    run.size = 1;
    CHECK_FAILS(costate_scene_evaluate(m, &run), COSTATE_BAD_ARGUMENT, "options.size must be");
    run.size = sizeof run - 1;
    CHECK_FAILS(costate_scene_evaluate(m, &run), COSTATE_BAD_ARGUMENT, "options.size must be");
    run.size = sizeof run, run.y = NULL;
    CHECK_FAILS(costate_scene_evaluate(m, &run), COSTATE_BAD_ARGUMENT, "y is null");
    free(states), free(controls), free(pulled), free(other_states), free(other_controls);
}

/* A rollout of minutes ends at the first word of the function that is told. */
static void long_evaluation(void) {
    const char* const text =
        "{\"name\": \"long\", \"time_step\": 0.001, \"steps\": 1000000, \"memory\": \"1M\", \"models\":"
        " [{\"name\": \"m\", \"model\": {\"bodies\": [{\"name\": \"b\", \"joint\": {\"type\": \"free\"}, "
        "\"mass\": 1,"
        " \"inertia\": [1, 1, 1, 0, 0, 0]}]}}]}";
    costate_model* falling = NULL;
    CHECK(costate_model_parse(text, strlen(text), "json", "long", NULL, &falling) == COSTATE_OK);
    Heard heard = {.ends = 1};
    const costate_progress progress = {hear, &heard};
    double loss = 0, none = 0;
    costate_scene_run run = {0};
    run.size = sizeof run, run.y = &none, run.loss = &loss, run.gradient = &none, run.progress = &progress;
    CHECK_FAILS(costate_scene_evaluate(falling, &run), COSTATE_INTERRUPTED,
                "ended by the function that is told");
    CHECK(heard.calls == 1 && heard.done > 0 && heard.total == 2 * (uint64_t)1000001);
    CHECK(costate_model_free(falling) == COSTATE_OK);
}

/* The best losses so far stand in the buffer when iteration `done` is told; the end is asked for after the second. */
typedef struct {
    const double* losses;
    int calls;
    uint64_t done, total;
} Told;
static int tell(void* data, uint64_t done, uint64_t total) {
    Told* t = data;
    CHECK(done == (uint64_t)t->calls && t->losses[done] > 0);
    t->done = done, t->total = total;
    return ++t->calls == 3;
}
static void progress(void) {
    double losses[11] = {0}, *best = numbers(n), loss = 0;
    costate_optimize_options o = {0};
    costate_optimize_result r;
    Told t = {losses, 0, 0, 0};
    const costate_progress told = {tell, &t};
    o.size = sizeof o, o.method = "gradient_descent", o.iterations = 10, o.losses = losses, o.n_losses = 11;
    o.progress = &told;
    CHECK(costate_scene_optimize(m, &o, best, &r) == COSTATE_OK);
    CHECK(t.calls == 3 && t.done == 2 && t.total == 10 && r.iterations == 2);
    CHECK(strcmp(r.stopped, "interrupted") == 0 && r.final_loss < r.initial_loss);
    CHECK(costate_scene_gradient(m, best, &loss, NULL, NULL) == COSTATE_OK && loss == r.final_loss);
    free(best);
}

static void several_starts(void) {
    double of_runs[3] = {0}, *alone = numbers(n), *best = numbers(n);
    costate_optimize_options o = {0};
    costate_optimize_result one, r;
    o.size = sizeof o, o.method = "gradient_descent", o.iterations = 3;
    CHECK(costate_scene_optimize(m, &o, alone, &one) == COSTATE_OK);
    o.restarts = 3, o.threads = 2, o.sigma = 1, o.restart_losses = of_runs;
    CHECK(costate_scene_optimize(m, &o, best, &r) == COSTATE_OK);
    CHECK(of_runs[0] == one.final_loss && of_runs[1] != of_runs[0] && of_runs[2] != of_runs[1]);
    CHECK(r.final_loss <= of_runs[0] && r.final_loss <= of_runs[1] && r.final_loss <= of_runs[2]);
    CHECK(r.initial_loss == one.initial_loss && r.iterations == 3);
    o.sigma = -1;
    CHECK_FAILS(costate_scene_optimize(m, &o, best, &r), COSTATE_BAD_ARGUMENT, "sigma must be 0 or more");
    o.sigma = 0, o.restarts = 100001;
    CHECK_FAILS(costate_scene_optimize(m, &o, best, &r), COSTATE_BAD_ARGUMENT, "at most 100000");
    int asked = 0;
    const costate_interrupt interrupt = {at_once, &asked};
    o.interrupt = &interrupt, o.restarts = 4, o.iterations = 1000000, o.max_loss_evaluations = 1000000;
    o.restart_losses = NULL;
    CHECK_FAILS(costate_scene_optimize(m, &o, best, &r), COSTATE_INTERRUPTED, "interrupted");
    CHECK(asked == 1);
    free(alone);
    free(best);
}

static void optimizations(void) {
    double losses[4] = {0}, final = 0;
    costate_optimize_options o = {0};
    costate_optimize_result r;
    CHECK_FAILS(costate_scene_optimize(m, &o, y, &r), COSTATE_BAD_ARGUMENT,
                "sizeof(costate_optimize_options)");
    o.size = sizeof o, o.method = "gradient_descent", o.iterations = 3, o.losses = losses, o.n_losses = 4;
    CHECK(costate_scene_optimize(m, &o, y, &r) == COSTATE_OK);
    CHECK(r.iterations == 3 && losses[0] == r.initial_loss && losses[3] == r.final_loss);
    CHECK(r.final_loss < r.initial_loss && r.stopped[0] != '\0');
    CHECK(costate_scene_gradient(m, y, &final, NULL, NULL) == COSTATE_OK && final == r.final_loss);

    o.method = "newton";
    CHECK_FAILS(costate_scene_optimize(m, &o, y, &r), COSTATE_BAD_ARGUMENT, "no method \"newton\"");
    o.method = "ilqr";
    CHECK_FAILS(costate_scene_optimize(m, &o, y, &r), COSTATE_BAD_ARGUMENT, "ilqr cannot minimize");
    CHECK_FAILS(costate_scene_feedback(m, y, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT, "not \"per_step\"");
    o.method = "adam", o.iterations = -1;
    CHECK_FAILS(costate_scene_optimize(m, &o, y, &r), COSTATE_BAD_ARGUMENT, "must be 0 or more");
    o.iterations = 1000000;
    int asked = 0;
    const costate_interrupt interrupt = {at_once, &asked};
    o.interrupt = &interrupt, o.max_loss_evaluations = 1000000;
    const double before = y[0];
    CHECK_FAILS(costate_scene_optimize(m, &o, y, &r), COSTATE_INTERRUPTED, "interrupted");
    CHECK(asked == 1 && y[0] == before);
}

/* A tenth of the squares of all controls and of the last state */
typedef struct {
    int nx, nu, steps, nq, nv, asked, end_at;
} Squares;
static int squares(void* data, const double* states, const double* controls, double* value,
                   double* states_bar, double* controls_bar) {
    Squares* s = data;
    const double* last = states + s->steps * s->nx;
    *value = 0;
    for (int i = 0; i < s->steps * s->nu; ++i) {
        *value += 0.1 * controls[i] * controls[i];
        if (!controls_bar) continue;
        CHECK(controls_bar[i] == 0);
        controls_bar[i] = 0.2 * controls[i];
    }
    for (int i = 0; i < s->nv; ++i) {
        *value += 0.1 * last[s->nq + i] * last[s->nq + i];
        if (states_bar) states_bar[s->steps * (s->nx - s->nq + s->nv) + s->nv + i] = 0.2 * last[s->nq + i];
    }
    return ++s->asked == s->end_at;
}
static int nothing(void* data, const double* states, const double* controls, double* value,
                   double* states_bar, double* controls_bar) {
    (void)states, (void)controls, (void)states_bar, (void)controls_bar;
    *value = *(double*)data;
    return 0;
}

static void own_costs(void) {
    Squares s = {costate_model_nx(m),
                 costate_model_nu(m),
                 costate_scene_steps(m),
                 costate_model_nq(m),
                 costate_model_nv(m),
                 0,
                 0};
    const costate_cost cost = {squares, &s};
    double *direction = noises(n, 1), *other = numbers(n), plain = 0, loss = 0, more = 0, less = 0;
    CHECK(costate_scene_variables(m, y, NULL, NULL) == n);
    CHECK(costate_scene_gradient(m, y, &plain, NULL, NULL) == COSTATE_OK);
    CHECK(costate_scene_gradient_with(m, &cost, y, &loss, gradient, NULL) == COSTATE_OK && s.asked == 2);
    CHECK(loss > plain);
    double by_direction = 0;
    for (int i = 0; i < n; ++i)
        by_direction += gradient[i] * direction[i], other[i] = y[i] + 1e-6 * direction[i];
    CHECK(costate_scene_gradient_with(m, &cost, other, &more, NULL, NULL) == COSTATE_OK);
    for (int i = 0; i < n; ++i)
        other[i] = y[i] - 1e-6 * direction[i];
    CHECK(costate_scene_gradient_with(m, &cost, other, &less, NULL, NULL) == COSTATE_OK);
    CHECK_NEAR((more - less) / 2e-6, by_direction, 1e-6 * largest(gradient, n));

    double value = 0; /* of a constant */
    const costate_cost constant = {nothing, &value}, none = {NULL, NULL};
    CHECK(costate_scene_gradient_with(m, &constant, y, &loss, other, NULL) == COSTATE_OK && loss == plain);
    CHECK(costate_scene_gradient_with(m, NULL, y, &loss, gradient, NULL) == COSTATE_OK && loss == plain);
    CHECK(memcmp(gradient, other, (size_t)n * sizeof *y) == 0);
    CHECK_FAILS(costate_scene_gradient_with(m, &none, y, &loss, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "evaluate is null");
    value = NAN;
    CHECK_FAILS(costate_scene_gradient_with(m, &constant, y, &loss, NULL, NULL), COSTATE_DIVERGED,
                "is not finite");

    costate_optimize_options o = {0};
    costate_optimize_result r;
    o.size = sizeof o, o.method = "lbfgs", o.iterations = 5, o.cost = &cost;
    CHECK(costate_scene_optimize(m, &o, other, &r) == COSTATE_OK && r.final_loss < r.initial_loss);
    CHECK(costate_scene_gradient_with(m, &cost, other, &loss, NULL, NULL) == COSTATE_OK &&
          loss == r.final_loss);
    o.method = "gauss_newton";
    CHECK_FAILS(costate_scene_optimize(m, &o, other, &r), COSTATE_BAD_ARGUMENT, "a gradient alone");
    o.method = "lbfgs", s.end_at = s.asked + 4;
    CHECK_FAILS(costate_scene_optimize(m, &o, other, &r), COSTATE_INTERRUPTED, "ended by the cost");
    free(direction), free(other);
}

int main(void) {
    CHECK(costate_model_load("throw", &m) == COSTATE_OK);
    n = costate_scene_variables(m, NULL, NULL, NULL);
    CHECK(n > 0);
    y = numbers(n), gradient = numbers(n);
    values();
    rollouts();
    evaluation();
    long_evaluation();
    optimizations();
    several_starts();
    progress();
    own_costs();
    CHECK(costate_model_free(m) == COSTATE_OK);
    CHECK_FAILS(costate_scene_steps(m), COSTATE_BAD_HANDLE, "freed");
    free(y), free(gradient);
    return failures ? 1 : 0;
}
