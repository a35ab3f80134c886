/* A step and its derivatives: against known values, each other and differences. */
#include "check.h"

/* Model, and how far its state is from the start of the file; some touch, some are in the air. */
static const struct {
    const char* name;
    double position, velocity;
} cases[] = {{"bounce", 0.2, 0.5},    {"pendulum_3", 1, 1},   {"throw", 0.1, 0.3},
             {"go1_stand", 0, 0.01},  {"box_slide", 0, 0.01}, {"quadcopter", 0.3, 0.5},
             {"humanoid", 0.05, 0.3}, {"four_bar", 0, 0.02}};
enum { case_count = sizeof cases / sizeof *cases };

static double dot(const double* a, const double* b, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += a[i] * b[i];
    return sum;
}

static void free_fall(void) {
    Case c = open_case("bounce", 0, 0);
    double q[7], v[6];
    CHECK(costate_step(c.model, c.q, c.v, c.u, q, v) == COSTATE_OK);
    CHECK_NEAR(v[2], -9.81e-3, 1e-17);
    CHECK_NEAR(q[2], 1.1 - 9.81e-6, 1e-15);
    /* in place, a second step */
    CHECK(costate_step(c.model, q, v, NULL, q, v) == COSTATE_OK);
    CHECK_NEAR(v[2], -2 * 9.81e-3, 1e-16);
    CHECK_NEAR(q[2], 1.1 - 3 * 9.81e-6, 1e-15);
    close_case(&c);
}

/* A ball that lies on the ground: one contact, whose impulse carries its weight for a step. */
static void contacts_of_a_ball(void) {
    Case c = open_case("bounce", 0, 0);
    costate_contact contact;
    CHECK(costate_contacts(c.model, c.q, c.v, c.u, &contact, 1) == 0);
    c.q[0] = 0.3, c.q[2] = 0.0999;
    CHECK(costate_contacts(c.model, c.q, c.v, c.u, NULL, 0) == 1);
    CHECK(costate_contacts(c.model, c.q, c.v, c.u, &contact, 1) == 1);
    const double up = contact.body_a == 0 ? 1 : -1; /* the normal points to a */
    CHECK(contact.body_a + contact.body_b == -1);
    CHECK_NEAR(contact.gap, -1e-4, 1e-12);
    CHECK_NEAR(contact.point[0], 0.3, 1e-12);
    CHECK_NEAR(contact.point[2], -5e-5, 5.1e-5);
    CHECK_NEAR(contact.normal[2], up, 1e-12);
    CHECK_NEAR(contact.impulse[2], up * 0.4 * 9.81e-3, 1e-8);
    CHECK_NEAR(contact.impulse[0], 0, 1e-12);
    close_case(&c);
}

/* A box of 1 kg that slides: weight and impulses change its momentum, friction among them. */
static void impulses_of_a_box(void) {
    Case c = open_case("box_slide", 0, 0);
    c.v[0] = 1, c.v[1] = -0.5;
    costate_contact contacts[16];
    const int n = costate_contacts(c.model, c.q, c.v, c.u, contacts, 16);
    CHECK(n == 4);
    double sum[3] = {0, 0, -9.81e-3}, q[7], v[6];
    for (int i = 0; i < n; ++i)
        for (int k = 0; k < 3; ++k)
            sum[k] += (contacts[i].body_a == 0 ? 1 : -1) * contacts[i].impulse[k];
    CHECK(costate_step(c.model, c.q, c.v, c.u, q, v) == COSTATE_OK);
    for (int k = 0; k < 3; ++k)
        CHECK_NEAR(v[k] - c.v[k], sum[k], 1e-12);
    CHECK(sum[0] < -1e-4 && sum[1] > 1e-4);
    close_case(&c);
}

/* The impulses on the feet of a robot that stands are its weight times the step. */
static void contacts_of_a_robot(void) {
    Case c = open_case("go1_stand", 0, 0);
    memset(c.u, 0, (size_t)c.nu * sizeof *c.u);
    for (int t = 0; t < 2000; ++t)
        CHECK(costate_step(c.model, c.q, c.v, c.u, c.q, c.v) == COSTATE_OK);
    costate_contact contacts[64];
    const int n = costate_contacts(c.model, c.q, c.v, c.u, contacts, 64);
    CHECK(n >= 3 && n <= 64);
    double up = 0, mass = 0, time_step = 0;
    for (int i = 0; i < n && i < 64; ++i) {
        if (contacts[i].body_b < 0) up += contacts[i].impulse[2];
        if (contacts[i].body_a < 0) up -= contacts[i].impulse[2];
    }
    double* theta = numbers(c.np);
    CHECK(costate_model_get_parameters(c.model, theta, (size_t)c.np) == COSTATE_OK);
    char name[128];
    for (int i = 0; i < c.np; ++i) {
        const int length = costate_model_name(c.model, COSTATE_PARAMETER, i, name, sizeof name);
        CHECK(length > 0);
        if (strncmp(name, "bodies/", 7) == 0 && length > 5 && strcmp(name + length - 5, "/mass") == 0)
            mass += theta[i];
        if (strcmp(name, "world/time_step") == 0) time_step = theta[i];
    }
    CHECK_NEAR(up / (mass * 9.81 * time_step), 1, 1e-3);
    free(theta);
    close_case(&c);
}

/* Along a direction, a row and a column of everything: <bar, jvp(dot)> = <vjp(bar), dot>, and both are the
 * Jacobian's. */
static void products(Case* c) {
    const int nv = c->nv, nx = 2 * nv;
    double *x_dot = noises(nx, 1), *u_dot = noises(c->nu, 1), *theta_dot = noises(c->np, 0.1),
           *y_dot = numbers(nx);
    double *y_bar = noises(nx, 1), *x_bar = numbers(nx), *u_bar = numbers(c->nu), *theta_bar = numbers(c->np);
    double *by_x = numbers(nx * nx), *by_u = numbers(nx * c->nu), *by_theta = numbers(nx * c->np);
    CHECK(costate_step_jvp(c->model, c->q, c->v, c->u, x_dot, x_dot + nv, u_dot, theta_dot, y_dot,
                           y_dot + nv) == COSTATE_OK);
    CHECK(costate_step_vjp(c->model, c->q, c->v, c->u, y_bar, y_bar + nv, x_bar, x_bar + nv, u_bar,
                           theta_bar) == COSTATE_OK);
    CHECK(costate_step_jacobian(c->model, c->q, c->v, c->u, by_x, by_u, by_theta) == COSTATE_OK);

    const double forward = dot(y_bar, y_dot, nx);
    const double backward =
        dot(x_bar, x_dot, nx) + dot(u_bar, u_dot, c->nu) + dot(theta_bar, theta_dot, c->np);
    double size = 1;
    for (int i = 0; i < nx; ++i)
        size += fabs(y_bar[i] * y_dot[i]);
    for (int i = 0; i < nx; ++i)
        size += fabs(x_bar[i] * x_dot[i]);
    for (int i = 0; i < c->np; ++i)
        size += fabs(theta_bar[i] * theta_dot[i]);
    CHECK_NEAR(forward, backward, 1e-9 * size);
    for (int i = 0; i < nx; ++i) {
        const double* theta_row = by_theta + i * c->np;
        const double row = dot(by_x + i * nx, x_dot, nx) + dot(by_u + i * c->nu, u_dot, c->nu) +
                           dot(theta_row, theta_dot, c->np);
        CHECK_NEAR(row, y_dot[i], 1e-9 * size);
    }
    double* column = numbers(nx);
    for (int j = 0; j < nx; ++j) {
        for (int i = 0; i < nx; ++i)
            column[i] = by_x[i * nx + j];
        CHECK_NEAR(dot(y_bar, column, nx), x_bar[j], 1e-9 * size);
    }
    /* Null for what is not wanted, and for directions of zero. */
    double* again = numbers(c->np);
    CHECK(costate_step_vjp(c->model, c->q, c->v, c->u, y_bar, y_bar + nv, NULL, NULL, NULL, again) ==
          COSTATE_OK);
    CHECK(memcmp(again, theta_bar, (size_t)c->np * sizeof *again) == 0);
    CHECK(costate_step_jvp(c->model, c->q, c->v, c->u, NULL, NULL, NULL, NULL, y_dot, y_dot + nv) ==
          COSTATE_OK);
    CHECK(largest(y_dot, nx) == 0);
    CHECK(costate_step_jacobian(c->model, c->q, c->v, c->u, NULL, NULL, NULL) == COSTATE_OK);
    free(x_dot), free(u_dot), free(theta_dot), free(y_dot), free(y_bar), free(x_bar), free(u_bar),
        free(theta_bar);
    free(by_x), free(by_u), free(by_theta), free(column), free(again);
}

/* The step from (q, v, u) with entry j of q's tangent, of v or of u moved by e. */
static void moved_step(Case* c, int j, double e, double* q, double* v) {
    double *d = numbers(c->nv), *from = numbers(c->nq), *v0 = numbers(c->nv), *u0 = numbers(c->nu);
    memcpy(v0, c->v, (size_t)c->nv * sizeof *v0), memcpy(u0, c->u, (size_t)c->nu * sizeof *u0);
    if (j < c->nv)
        d[j] = e;
    else if (j < 2 * c->nv)
        v0[j - c->nv] += e;
    else
        u0[j - 2 * c->nv] += e;
    CHECK(costate_retract(c->model, c->q, d, from) == COSTATE_OK);
    CHECK(costate_step(c->model, from, v0, u0, q, v) == COSTATE_OK);
    free(d), free(from), free(v0), free(u0);
}
static void differences(Case* c) {
    const int nv = c->nv, nx = 2 * nv;
    const double h = 1e-6;
    double *by_x = numbers(nx * nx), *by_u = numbers(nx * c->nu), *y = numbers(nx), *q = numbers(c->nq),
           *v = numbers(nv);
    double *q_above = numbers(c->nq), *q_below = numbers(c->nq), *v_above = numbers(nv),
           *v_below = numbers(nv), *other = numbers(nv);
    CHECK(costate_step_jacobian(c->model, c->q, c->v, c->u, by_x, by_u, NULL) == COSTATE_OK);
    CHECK(costate_step(c->model, c->q, c->v, c->u, q, v) == COSTATE_OK);
    const double size = 1 + largest(by_x, nx * nx) + largest(by_u, nx * c->nu);
    for (int j = 0; j < nx + c->nu; ++j) {
        moved_step(c, j, h, q_above, v_above);
        moved_step(c, j, -h, q_below, v_below);
        CHECK(costate_difference(c->model, q, q_above, y) == COSTATE_OK);
        CHECK(costate_difference(c->model, q, q_below, other) == COSTATE_OK);
        for (int i = 0; i < nv; ++i)
            y[i] = (y[i] - other[i]) / (2 * h), y[nv + i] = (v_above[i] - v_below[i]) / (2 * h);
        for (int i = 0; i < nx; ++i)
            CHECK_NEAR(j < nx ? by_x[i * nx + j] : by_u[i * c->nu + j - nx], y[i], 1e-7 * size);
    }
    free(by_x), free(by_u), free(y), free(q), free(v), free(q_above), free(q_below), free(v_above),
        free(v_below), free(other);
}

int main(void) {
    free_fall();
    contacts_of_a_ball();
    contacts_of_a_robot();
    impulses_of_a_box();
    for (int n = 0; n < case_count; ++n) {
        const int before = failures;
        Case c = open_case(cases[n].name, cases[n].position, cases[n].velocity);
        printf("%s: %d contacts\n", cases[n].name, costate_contacts(c.model, c.q, c.v, c.u, NULL, 0));
        products(&c);
        differences(&c);
        close_case(&c);
        if (failures > before) fprintf(stderr, "with %s\n", cases[n].name);
    }
    return failures ? 1 : 0;
}
