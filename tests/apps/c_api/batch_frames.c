/* Where frames of environments are and how they move, with the reverse of that; and gradients by the numbers
 * of quaternions. */
#include "check.h"

static int same(const double* a, const double* b, int n) { return memcmp(a, b, (size_t)n * sizeof *a) == 0; }

static costate_batch* open_batch(const Case* c, int n_env, int ambient) {
    costate_batch_options o = {0};
    o.n_env = n_env, o.n_threads = 1, o.ambient = ambient;
    costate_batch* b = NULL;
    CHECK(costate_batch_create(c->model, &o, &b) == COSTATE_OK);
    return b;
}

/* Frames against costate_body_pose; velocities and both reverses against differences. */
static void frames(const char* model, int ambient) {
    Case c = open_case(model, 0.1, 0.3);
    const int nx = c.nq + c.nv, nv = c.nv, bodies = costate_model_count(c.model, COSTATE_BODY);
    const int n = bodies + costate_model_count(c.model, COSTATE_SITE), width = ambient ? 7 : 6,
              nb = ambient ? nx : 2 * nv;
    costate_batch* b = open_batch(&c, 1, ambient);
    double *x = numbers(nx), *poses = numbers(7 * n), *velocities = numbers(6 * n), *moved = numbers(nx),
           *d = numbers(nv);
    double *above = numbers(13 * n), *below = numbers(13 * n), *pose_bar = noises(width * n, 1),
           *velocity_bar = noises(6 * n, 1);
    double *bar = numbers(nb), *by_theta = numbers(c.np), *tangent = numbers(2 * nv), *theta = numbers(c.np);
    int* list = calloc((size_t)n, sizeof *list);
    for (int i = 0; i < n; ++i)
        list[i] = i;
    memcpy(x, c.q, (size_t)c.nq * sizeof *x), memcpy(x + c.nq, c.v, (size_t)nv * sizeof *x);
    CHECK(costate_batch_poses(b, x, list, (size_t)n, poses, velocities) == COSTATE_OK);
    for (int i = 0; i < bodies; ++i) {
        double position[3], quaternion[4];
        CHECK(costate_body_pose(c.model, c.q, i, position, quaternion) == COSTATE_OK);
        CHECK(same(position, poses + 7 * i, 3) && same(quaternion, poses + 7 * i + 3, 4));
    }
    /* Along the motion poses change by the velocities. */
    const double h = 1e-6;
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < nv; ++i)
            d[i] = side * h * x[c.nq + i];
        CHECK(costate_retract(c.model, c.q, d, moved) == COSTATE_OK);
        memcpy(moved + c.nq, x + c.nq, (size_t)nv * sizeof *x);
        CHECK(costate_batch_poses(b, moved, list, (size_t)n, side > 0 ? above : below, NULL) == COSTATE_OK);
    }
    for (int i = 0; i < n; ++i) {
        double *p = above + 7 * i, *m = below + 7 * i, *r = poses + 7 * i + 3, q_dot[4];
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR((p[k] - m[k]) / (2 * h), velocities[6 * i + k], 1e-7);
        for (int k = 0; k < 4; ++k)
            q_dot[k] = (p[3 + k] - m[3 + k]) / (2 * h);
        /* world angular velocity = 2 q_dot q^-1, its vector */
        const double w[3] = {2 * (r[0] * q_dot[1] - q_dot[0] * r[1] - q_dot[2] * r[3] + q_dot[3] * r[2]),
                             2 * (r[0] * q_dot[2] - q_dot[0] * r[2] - q_dot[3] * r[1] + q_dot[1] * r[3]),
                             2 * (r[0] * q_dot[3] - q_dot[0] * r[3] - q_dot[1] * r[2] + q_dot[2] * r[1])};
        for (int k = 0; k < 3; ++k)
            CHECK_NEAR(w[k], velocities[6 * i + 3 + k], 1e-6);
    }
    /* The reverse along each coordinate of the state, and of the parameters */
    CHECK(costate_batch_poses_vjp(b, x, list, (size_t)n, pose_bar, velocity_bar, bar, by_theta,
                                  (size_t)c.np) == COSTATE_OK);
    memcpy(tangent, bar, (size_t)(2 * nv) * sizeof *bar);
    if (ambient) {
        CHECK(costate_gradient_to_tangent(c.model, c.q, bar, tangent) == COSTATE_OK);
        memcpy(tangent + nv, bar + c.nq, (size_t)nv * sizeof *bar);
    }
    CHECK(costate_model_get_parameters(c.model, theta, (size_t)c.np) == COSTATE_OK);
    const double size = 1 + largest(tangent, 2 * nv) + largest(by_theta, c.np);
    char name[128];
    int geometric = 0;
    for (int j = 0; j < 2 * nv + c.np; ++j) {
        const int parameter = j - 2 * nv;
        if (parameter >=
            0) { /* only where frames are can change them, and a length that is 0 may not go below */
            CHECK(costate_model_name(c.model, COSTATE_PARAMETER, parameter, name, sizeof name) > 0);
            if (!strstr(name, "placement[") && !(strncmp(name, "sites/", 6) == 0)) continue;
            ++geometric;
        }
        for (int side = -1; side <= 1; side += 2) {
            memcpy(moved, x, (size_t)nx * sizeof *x), memset(d, 0, (size_t)nv * sizeof *d);
            if (j < nv)
                d[j] = side * h;
            else if (j < 2 * nv)
                moved[c.nq + j - nv] += side * h;
            else
                theta[parameter] += side * h;
            CHECK(costate_retract(c.model, c.q, d, moved) == COSTATE_OK);
            double* out = side > 0 ? above : below;
            CHECK(costate_batch_set_parameters(b, theta, (size_t)c.np) == COSTATE_OK);
            CHECK(costate_batch_poses(b, moved, list, (size_t)n, out, out + 7 * n) == COSTATE_OK);
            if (j >= 2 * nv) theta[parameter] -= side * h;
        }
        double slope = 0;
        for (int i = 0; i < n; ++i) {
            const double *p = above + 7 * i, *m = below + 7 * i, *r = poses + 7 * i + 3,
                         *s = pose_bar + width * i;
            double q_dot[4];
            for (int k = 0; k < 4; ++k)
                q_dot[k] = (p[3 + k] - m[3 + k]) / (2 * h);
            for (int k = 0; k < 3; ++k)
                slope += s[k] * (p[k] - m[k]) / (2 * h);
            /* turn in axes of the frame = 2 q^-1 q_dot, its vector */
            const double turn[3] = {
                2 * (r[0] * q_dot[1] - r[1] * q_dot[0] - r[2] * q_dot[3] + r[3] * q_dot[2]),
                2 * (r[0] * q_dot[2] - r[2] * q_dot[0] - r[3] * q_dot[1] + r[1] * q_dot[3]),
                2 * (r[0] * q_dot[3] - r[3] * q_dot[0] - r[1] * q_dot[2] + r[2] * q_dot[1])};
            for (int k = 0; k < width - 3; ++k)
                slope += s[3 + k] * (ambient ? q_dot[k] : turn[k]);
            for (int k = 0; k < 6; ++k)
                slope +=
                    velocity_bar[6 * i + k] * (above[7 * n + 6 * i + k] - below[7 * n + 6 * i + k]) / (2 * h);
        }
        CHECK_NEAR(slope, parameter < 0 ? tangent[j] : by_theta[parameter], 2e-7 * size);
    }
    CHECK(geometric > 0);
    CHECK(costate_batch_free(b) == COSTATE_OK);
    free(x), free(poses), free(velocities), free(moved), free(d), free(above), free(below), free(pose_bar),
        free(velocity_bar), free(bar);
    free(by_theta), free(tangent), free(theta), free(list);
    close_case(&c);
}

/* Ambient gradients are the tangent ones, converted at the states as they are given, quaternions of any
 * length included. */
static void ambient(const char* model) {
    Case c = open_case(model, 0.1, 0.3);
    enum { n_env = 2, n_steps = 2 };
    const int nx = c.nq + c.nv, nv = c.nv, nu = c.nu;
    costate_batch *outer = open_batch(&c, n_env, 1), *inner = open_batch(&c, n_env, 0);
    double *x = numbers((n_steps + 1) * n_env * nx), *u = noises(n_steps * n_env * nu, 0.3),
           *bar = noises(n_steps * n_env * nx, 1);
    double *tangent = numbers(n_steps * n_env * 2 * nv), *by_x = numbers(n_env * nx);
    double *expected = numbers(n_env * 2 * nv), *back = numbers(nx);
    double *by_u = numbers(n_steps * n_env * nu), *expected_u = numbers(n_steps * n_env * nu);
    for (int e = 0; e < n_env; ++e) {
        memcpy(x + e * nx, c.q, (size_t)c.nq * sizeof *x),
            memcpy(x + e * nx + c.nq, c.v, (size_t)nv * sizeof *x);
        for (int i = 0, joint[4]; i < costate_model_count(c.model, COSTATE_JOINT); ++i) {
            CHECK(costate_model_joint(c.model, i, joint) == COSTATE_OK);
            for (int k = joint[1] - 4; joint[1] >= 4 && k < joint[1]; ++k)
                x[e * nx + joint[0] + k] *= 1 + e; /* length 1 and 2 */
        }
    }
    CHECK(costate_batch_rollout(outer, n_steps, x, u, x + n_env * nx, NULL) == 0);
    for (int i = 0; i < n_steps * n_env; ++i) {
        CHECK(costate_gradient_to_tangent(c.model, x + (i + n_env) * nx, bar + i * nx,
                                          tangent + i * 2 * nv) == COSTATE_OK);
        memcpy(tangent + i * 2 * nv + nv, bar + i * nx + c.nq, (size_t)nv * sizeof *bar);
    }
    CHECK(costate_batch_backward(outer, n_steps, x, u, NULL, bar, by_x, by_u, NULL, 0) == 0);
    CHECK(costate_batch_backward(inner, n_steps, x, u, NULL, tangent, expected, expected_u, NULL, 0) == 0);
    CHECK(same(by_u, expected_u, n_steps * n_env * nu));
    for (int e = 0; e < n_env; ++e) {
        CHECK(costate_gradient_to_ambient(c.model, x + e * nx, expected + e * 2 * nv, back) == COSTATE_OK);
        CHECK(same(by_x + e * nx, back, c.nq) && same(by_x + e * nx + c.nq, expected + e * 2 * nv + nv, nv));
    }
    CHECK(costate_batch_free(outer) == COSTATE_OK && costate_batch_free(inner) == COSTATE_OK);
    free(x), free(u), free(bar), free(tangent), free(by_x), free(expected), free(back), free(by_u),
        free(expected_u);
    close_case(&c);
}

int main(void) {
    frames("arm_7", 0), frames("arm_7", 1);
    frames("throw", 0), frames("throw", 1), frames("humanoid", 0);
    ambient("throw"), ambient("quadcopter"), ambient("humanoid");
    return failures ? 1 : 0;
}
