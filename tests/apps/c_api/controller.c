/* Controllers: plans from measured states, the law between them; and what is refused. */
#include "check.h"

#define STEPS 40

static costate_model* m;
static costate_controller* c;
static int nx, ndx;

static void sizes(void) {
    CHECK(costate_controller_create(m, STEPS, &c) == STEPS);
    costate_controller* other = NULL;
    CHECK(costate_controller_create(m, 0, &other) == 100); /* "horizon" of the file */
    CHECK(costate_controller_free(other) == COSTATE_OK);
    CHECK_FAILS(costate_controller_plan(other, 0, NULL, NULL), COSTATE_BAD_HANDLE, "freed");
    CHECK(costate_controller_free(NULL) == COSTATE_OK);
}

/* The pole stays upright with gains between plans, which start 0.04 s apart. */
static void loop(double* x) {
    double *states = numbers((STEPS + 1) * nx), *controls = numbers(STEPS), *gains = numbers(STEPS * ndx),
           u = 0;
    costate_plan plan = {sizeof plan, 3, 0, 0, states, controls, gains};
    CHECK_FAILS(costate_controller_control(c, 0, x, &u), COSTATE_BAD_ARGUMENT, "no plan yet");
    for (int t = 0; t < 200; ++t) {
        if (t % 4 == 0) {
            plan.iterations = 3;
            CHECK(costate_controller_plan(c, 0.01 * t, x, &plan) == 1);
            CHECK(plan.iterations <= 3 && plan.seconds > 0 && plan.cost > 0);
            for (int i = 0; i < nx; ++i)
                CHECK(states[i] == x[i]);
        }
        CHECK(costate_controller_control(c, 0.01 * t, x, &u) == COSTATE_OK);
        double expected = controls[t % 4];
        for (int i = 0; i < nx; ++i) /* without quaternions, differences are those of the numbers */
            expected += gains[(t % 4) * ndx + i] * (x[i] - states[(t % 4) * nx + i]);
        CHECK_NEAR(u, fmax(-10, fmin(10, expected)), 1e-9); /* limits of the control, N */
        CHECK(costate_state_step(m, x, &u, x) == COSTATE_OK);
        if (t == 100) x[1] += 0.05; /* rad: someone touches the pole */
    }
    CHECK_NEAR(x[1], 0, 0.05);
    free(states), free(controls), free(gains);
}

static void budgets(const double* x) {
    costate_plan plan = {sizeof plan, 1000, 1e-9, 0, NULL, NULL, NULL};
    CHECK(costate_controller_plan(c, 3, x, &plan) == 1 && plan.iterations == 0);
    CHECK(costate_controller_plan(c, 100, x, NULL) == 1); /* after the end of the rollout */
}

static void refusals(double* x) {
    costate_plan plan = {0};
    double u = 0;
    CHECK_FAILS(costate_controller_plan(c, 0, x, &plan), COSTATE_BAD_ARGUMENT, "sizeof(costate_plan)");
    plan.size = sizeof plan, plan.iterations = -1;
    CHECK_FAILS(costate_controller_plan(c, 0, x, &plan), COSTATE_BAD_ARGUMENT, "must be 0 or more");
    CHECK_FAILS(costate_controller_plan(c, -1, x, NULL), COSTATE_BAD_ARGUMENT, "time must be 0 or more");
    CHECK_FAILS(costate_controller_plan(c, NAN, x, NULL), COSTATE_BAD_ARGUMENT, "time must be 0 or more");
    CHECK_FAILS(costate_controller_plan(c, 0, NULL, NULL), COSTATE_BAD_ARGUMENT, "x is null");
    CHECK_FAILS(costate_controller_control(c, 0, x, NULL), COSTATE_BAD_ARGUMENT, "u is null");
    const double v = x[2];
    x[2] = 1e200;
    CHECK_FAILS(costate_controller_plan(c, 0, x, NULL), COSTATE_DIVERGED, "diverged");
    x[2] = v;
    CHECK(costate_controller_control(c, 100, x, &u) == COSTATE_OK); /* the last plan stayed */
    CHECK_FAILS(costate_controller_create(m, -1, &c), COSTATE_BAD_ARGUMENT, "horizon must be");
    CHECK_FAILS(costate_controller_create(m, 10, NULL), COSTATE_BAD_ARGUMENT, "controller is null");
    costate_model* other;
    CHECK(costate_model_load("throw", &other) == COSTATE_OK);
    CHECK_FAILS(costate_controller_create(other, 10, &c), COSTATE_BAD_ARGUMENT, "per_step");
    CHECK(costate_model_free(other) == COSTATE_OK);
}

int main(void) {
    CHECK(costate_model_load("cartpole_swingup", &m) == COSTATE_OK);
    nx = costate_model_nx(m), ndx = 2 * costate_model_nv(m);
    sizes();
    double* x = numbers(nx);
    x[1] = 0.1;
    loop(x);
    budgets(x);
    refusals(x);
    CHECK(costate_model_free(m) == COSTATE_OK);
    CHECK(costate_controller_plan(c, 0, x, NULL) == 1); /* it needs no model */
    CHECK(costate_controller_free(c) == COSTATE_OK);
    CHECK_FAILS(costate_controller_free(c), COSTATE_BAD_HANDLE, "freed");
    free(x);
    return failures ? 1 : 0;
}
