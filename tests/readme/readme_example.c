/* The servos of a quadruped straighten its legs. How fast does it jump, and how does this speed depend on the
 * servo targets? */
#include <costate.h>
#include <stdio.h>

enum { steps = 100, most = 64 };

int main(void) {
    costate_model* m;
    if (costate_version(COSTATE_VERSION) < 0 || costate_model_load("go1_stand", &m) < 0)
        return puts(costate_last_error()), 1;
    const int nu = costate_model_nu(m);
    static double q[steps + 1][most], v[steps + 1][most],
        u[most]; /* states of all steps; all targets are 0 */
    costate_model_initial_state(m, q[0], v[0]);
    for (int t = 0; t < steps; ++t)
        if (costate_step(m, q[t], v[t], u, q[t + 1], v[t + 1]) < 0) return puts(costate_last_error()), 1;

    double q_bar[most] = {0}, v_bar[most] = {0}, u_bar[most], by_u[most] = {0};
    v_bar[2] = 1; /* gradient of the trunk's upward speed, pulled back in time */
    for (int t = steps - 1; t >= 0; --t) {
        costate_step_vjp(m, q[t], v[t], u, q_bar, v_bar, q_bar, v_bar, u_bar, NULL);
        for (int i = 0; i < nu; ++i)
            by_u[i] += u_bar[i];
    }
    printf("upward speed %.4f m/s\n", v[steps][2]);
    for (int i = 0; i < nu; ++i) {
        char name[80];
        if (costate_model_name(m, COSTATE_ACTUATOR, i, name, sizeof name) > 0)
            printf("%+9.5f m/s per rad of %s\n", by_u[i], name);
    }
    return costate_model_free(m) < 0;
}
