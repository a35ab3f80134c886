/* Loads a shipped scene by its name, or another fall of one body, through the C API and takes a step. */
#include <costate.h>
#include <stdio.h>

int main(int count, char** arguments) {
    costate_model* m;
    double q[7], v[6];
    const int right = costate_version(COSTATE_VERSION) == COSTATE_VERSION &&
                      costate_model_load(count > 1 ? arguments[1] : "bounce", &m) == COSTATE_OK &&
                      costate_model_initial_state(m, q, v) == COSTATE_OK &&
                      costate_step(m, q, v, NULL, q, v) == COSTATE_OK && v[2] < -9.8e-3 && v[2] > -9.82e-3;
    if (!right) fprintf(stderr, "wrong: %s\n", costate_last_error());
    return right ? 0 : 1;
}
