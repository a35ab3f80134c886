/* Configurations, gradients by them, poses, forward and inverse dynamics: against known values, each other
 * and differences. */
#include "check.h"

static const char* const models[] = {"bounce",   "pendulum_4", "throw",   "go1_stand",
                                     "humanoid", "quadcopter", "four_bar"};
enum { model_count = sizeof models / sizeof *models };

static void free_fall(void) {
    Case c = open_case("bounce", 0, 0);
    double a[6], tau[6] = {0}, M[36];
    CHECK(costate_forward_dynamics(c.model, c.q, c.v, tau, a) == COSTATE_OK);
    for (int i = 0; i < 6; ++i)
        CHECK_NEAR(a[i], i == 2 ? -9.81 : 0, 1e-14);
    CHECK(costate_inverse_dynamics(c.model, c.q, c.v, tau, a) == COSTATE_OK); /* what holds it: its weight */
    for (int i = 0; i < 6; ++i)
        CHECK_NEAR(a[i], i == 2 ? 0.4 * 9.81 : 0, 1e-14);
    CHECK(costate_mass_matrix(c.model, c.q, M) == COSTATE_OK);
    for (int i = 0; i < 36; ++i)
        CHECK_NEAR(M[i], i % 7 ? 0 : (i < 18 ? 0.4 : 0.00266666667), 1e-15);
    close_case(&c);
}

/* 1 kg at 0.5 m with a moment of 0.005 kg m^2, lying level, g 9.8: a = -m g l cos q/(I + m l^2) */
static void pendulum(void) {
    Case c = open_case("pendulum_1", 0, 0);
    const double inertia = 0.005 + 0.25, tau = 2;
    double a, M, da_dq, da_dv, da_dtau;
    for (int k = 0; k < 10; ++k) {
        const double q = 3 * noise(), v = noise();
        CHECK(costate_forward_dynamics(c.model, &q, &v, &tau, &a) == COSTATE_OK);
        CHECK_NEAR(a, (tau - 4.9 * cos(q)) / inertia, 1e-12);
        CHECK(costate_mass_matrix(c.model, &q, &M) == COSTATE_OK);
        CHECK_NEAR(M, inertia, 1e-14);
        CHECK(costate_forward_dynamics_derivatives(c.model, &q, &v, &tau, &da_dq, &da_dv, &da_dtau) ==
              COSTATE_OK);
        CHECK_NEAR(da_dq, 4.9 * sin(q) / inertia, 1e-12);
        CHECK_NEAR(da_dv, 0, 1e-12);
        CHECK_NEAR(da_dtau, 1 / inertia, 1e-12);
    }
    close_case(&c);
}

static void poses(void) {
    Case c = open_case("pendulum_2", 0, 0);
    double p[3], r[4];
    const double q[] = {0.7, -1.9};
    CHECK(costate_body_pose(c.model, q, 1, p, r) == COSTATE_OK);
    CHECK_NEAR(p[0], 0.5 * cos(0.7), 1e-15);
    CHECK_NEAR(p[1], 0, 1e-15);
    CHECK_NEAR(p[2], 0.5 * sin(0.7), 1e-15);
    CHECK_NEAR(r[0], cos(0.6), 1e-15); /* turned by q1 + q2 = -1.2 about -y */
    CHECK_NEAR(r[2], sin(0.6), 1e-15);
    close_case(&c);

    Case ball = open_case("bounce", 0.5, 0);
    CHECK(costate_body_pose(ball.model, ball.q, 0, p, r) == COSTATE_OK);
    for (int i = 0; i < 3; ++i)
        CHECK_NEAR(p[i], ball.q[i], 1e-15);
    for (int i = 0; i < 4; ++i)
        CHECK_NEAR(r[i], ball.q[3 + i], 1e-15);
    close_case(&ball);
}

static void configurations(Case* c) {
    double *d = noises(c->nv, 0.7), *q = numbers(c->nq), *back = numbers(c->nv), *grown = numbers(c->nq);
    CHECK(costate_retract(c->model, c->q, d, q) == COSTATE_OK);
    CHECK(costate_difference(c->model, c->q, q, back) == COSTATE_OK);
    for (int i = 0; i < c->nv; ++i)
        CHECK_NEAR(back[i], d[i], 1e-12);

    /* The length of a quaternion means nothing. */
    memcpy(grown, c->q, (size_t)c->nq * sizeof *grown);
    int layout[4];
    for (int j = 0; j < costate_model_count(c->model, COSTATE_JOINT); ++j) {
        CHECK(costate_model_joint(c->model, j, layout) == COSTATE_OK);
        if (layout[1] == layout[3] + 1)
            for (int i = 1; i <= 4; ++i)
                grown[layout[0] + layout[1] - i] *= 2.5;
    }
    CHECK(costate_difference(c->model, c->q, grown, back) == COSTATE_OK);
    CHECK(largest(back, c->nv) < 1e-15);
    free(d), free(q), free(back), free(grown);
}

/* f(q) = w . pose of the last body; its ambient gradient by differences in each number of q, its tangent one
 * along each d. */
static double seen(const Case* c, const double* q, const double* weights) {
    double p[7];
    const int last = costate_model_count(c->model, COSTATE_BODY) - 1;
    CHECK(costate_body_pose(c->model, q, last, p, p + 3) == COSTATE_OK);
    double sum = 0;
    for (int i = 0; i < 7; ++i)
        sum += weights[i] * p[i];
    return sum;
}
static void gradients(Case* c) {
    const double h = 1e-6;
    double *weights = noises(7, 1), *at = numbers(c->nq), *step = numbers(c->nv), *moved = numbers(c->nq);
    double *ambient = numbers(c->nq), *tangent = numbers(c->nv), *converted = numbers(c->nq + c->nv),
           *q = numbers(c->nq);
    for (int i = 0; i < c->nq; ++i)
        q[i] = 1.3 * c->q[i]; /* quaternions of another length than 1 */
    for (int i = 0; i < c->nq; ++i) {
        memcpy(at, q, (size_t)c->nq * sizeof *at);
        at[i] = q[i] + h;
        ambient[i] = seen(c, at, weights);
        at[i] = q[i] - h;
        ambient[i] = (ambient[i] - seen(c, at, weights)) / (2 * h);
    }
    for (int i = 0; i < c->nv; ++i) {
        step[i] = h;
        CHECK(costate_retract(c->model, q, step, moved) == COSTATE_OK);
        tangent[i] = seen(c, moved, weights);
        step[i] = -h;
        CHECK(costate_retract(c->model, q, step, moved) == COSTATE_OK);
        tangent[i] = (tangent[i] - seen(c, moved, weights)) / (2 * h);
        step[i] = 0;
    }
    CHECK(costate_gradient_to_tangent(c->model, q, ambient, converted) == COSTATE_OK);
    for (int i = 0; i < c->nv; ++i)
        CHECK_NEAR(converted[i], tangent[i], 2e-9);
    CHECK(costate_gradient_to_ambient(c->model, q, tangent, converted) == COSTATE_OK);
    for (int i = 0; i < c->nq; ++i)
        CHECK_NEAR(converted[i], ambient[i], 2e-9);
    CHECK(costate_gradient_to_tangent(c->model, q, converted, converted + c->nq) == COSTATE_OK);
    for (int i = 0; i < c->nv; ++i)
        CHECK_NEAR(converted[c->nq + i], tangent[i], 1e-14);
    free(weights), free(at), free(step), free(moved), free(ambient), free(tangent), free(converted), free(q);
}

/* M a + c = tau, a there and back. */
static void equation_of_motion(Case* c) {
    const int nv = c->nv;
    double *tau = noises(nv, 5), *a = numbers(nv), *back = numbers(nv), *bias = numbers(nv),
           *rest = numbers(nv), *M = numbers(nv * nv);
    CHECK(costate_forward_dynamics(c->model, c->q, c->v, tau, a) == COSTATE_OK);
    CHECK(costate_inverse_dynamics(c->model, c->q, c->v, a, back) == COSTATE_OK);
    CHECK(costate_inverse_dynamics(c->model, c->q, c->v, rest, bias) == COSTATE_OK);
    CHECK(costate_mass_matrix(c->model, c->q, M) == COSTATE_OK);
    const double size = 1 + largest(bias, nv) + largest(M, nv * nv) * largest(a, nv);
    for (int i = 0; i < nv; ++i) {
        double sum = bias[i];
        for (int j = 0; j < nv; ++j)
            sum += M[i * nv + j] * a[j];
        CHECK_NEAR(sum, tau[i], 1e-12 * size);
        CHECK_NEAR(back[i], tau[i], 1e-12 * size);
        for (int j = 0; j < i; ++j)
            CHECK(M[i * nv + j] == M[j * nv + i]);
    }
    free(tau), free(a), free(back), free(bias), free(rest), free(M);
}

/* One column of the derivatives by central differences: along d of q, or of v or tau in place. */
static void column(Case* c, const double* tau, int which, int j, double* out) {
    const double h = 1e-6;
    const int nv = c->nv;
    double *d = numbers(nv), *q = numbers(c->nq), *v = numbers(nv), *t = numbers(nv), *other = numbers(nv);
    for (int side = 0; side < 2; ++side) {
        const double e = side ? -h : h;
        memcpy(v, c->v, (size_t)nv * sizeof *v), memcpy(t, tau, (size_t)nv * sizeof *t);
        d[j] = which == 0 ? e : 0;
        CHECK(costate_retract(c->model, c->q, d, q) == COSTATE_OK);
        if (which == 1) v[j] += e;
        if (which == 2) t[j] += e;
        CHECK(costate_forward_dynamics(c->model, q, v, t, side ? other : out) == COSTATE_OK);
    }
    for (int i = 0; i < nv; ++i)
        out[i] = (out[i] - other[i]) / (2 * h);
    free(d), free(q), free(v), free(t), free(other);
}
static void derivatives(Case* c) {
    const int nv = c->nv;
    double *tau = noises(nv, 5), *J[3], *fd = numbers(nv), *a = numbers(nv);
    for (int k = 0; k < 3; ++k)
        J[k] = numbers(nv * nv);
    CHECK(costate_forward_dynamics_derivatives(c->model, c->q, c->v, tau, J[0], J[1], J[2]) == COSTATE_OK);
    CHECK(costate_forward_dynamics_derivatives(c->model, c->q, c->v, tau, NULL, NULL, NULL) == COSTATE_OK);
    CHECK(costate_forward_dynamics(c->model, c->q, c->v, tau, a) == COSTATE_OK);
    for (int k = 0; k < 3; ++k) {
        const double tolerance =
            1e-7 * (1 + largest(J[k], nv * nv)) + 1e-9 * largest(a, nv); /* 1e-9: round-off by the width */
        for (int j = 0; j < nv; ++j) {
            column(c, tau, k, j, fd);
            for (int i = 0; i < nv; ++i)
                CHECK_NEAR(J[k][i * nv + j], fd[i], tolerance);
        }
        free(J[k]);
    }
    free(tau), free(fd), free(a);
}

int main(void) {
    free_fall();
    pendulum();
    poses();
    for (int n = 0; n < model_count; ++n) {
        const int before = failures;
        Case c = open_case(models[n], 0.3, 0.8);
        configurations(&c);
        gradients(&c);
        equation_of_motion(&c);
        derivatives(&c);
        close_case(&c);
        if (failures > before) fprintf(stderr, "with %s\n", models[n]);
    }
    return failures ? 1 : 0;
}
