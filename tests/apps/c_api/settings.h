/* The settings that change what a step does or how it is pulled back, and a model for each that makes sense.
 */
#ifndef COSTATE_TESTS_SETTINGS_H
#define COSTATE_TESTS_SETTINGS_H

#define _POSIX_C_SOURCE 200809L /* mkstemp */

#include <unistd.h>

#include "check.h"

typedef struct {
    char name[64];
    int warm_start, impact; /* 0 start, 1 elastic, 2 located */
    int exact;              /* the solver ends at a solution or says that it did not */
} Settings;

/* Whether the gradient is that of the step: of an elastic impact it is not, by its definition. */
static inline int is_step_gradient(const Settings* s) { return s->impact != 1; }

/* the impacts, ground with stiffness, MuJoCo's law of contact */
enum {
    solver_count = 5,
    impact_count = 3,
    ground_count = 5,
    settings_count = solver_count * 2 * ground_count
};

static const char* settings_scene = "tests/apps/settings_scene.json";

/* The scene with these settings, at a state near its first. */
static inline Case open_settings(int index, Settings* s) {
    static const char* const solvers[solver_count] = {
        "\"type\": \"pgs\", \"sweeps\": 20", "\"type\": \"pgs\", \"sweeps\": 500, \"gradient\": \"implicit\"",
        "\"type\": \"lcp\"", "\"type\": \"ncp\"", "\"type\": \"ncp\", \"method\": \"admm\""};
    static const char* const solver_names[solver_count] = {"pgs", "pgs implicit", "lcp", "ncp", "ncp admm"};
    static const char* const impacts[impact_count] = {"start", "elastic", "located"};
    const int solver = index % solver_count, ground = index / solver_count % ground_count;
    const int stiff = ground == impact_count, soft = ground == impact_count + 1;
    s->warm_start = index / solver_count / ground_count;
    s->impact = stiff || soft ? 0 : ground;
    s->exact = solver >= 2;
    snprintf(s->name, sizeof s->name, "%s%s, %s", solver_names[solver], s->warm_start ? ", warm" : "",
             stiff  ? "stiffness"
             : soft ? "MuJoCo's law"
                    : impacts[s->impact]);

    static char rest[1 << 14];
    FILE* scene = fopen(settings_scene, "r");
    if (!scene) abort();
    rest[fread(rest, 1, sizeof rest - 1, scene)] = 0;
    fclose(scene);
    char path[] = "/tmp/costate_settings_XXXXXX";
    const int file = mkstemp(path);
    FILE* out = file < 0 ? NULL : fdopen(file, "w");
    if (!out) abort();
    fprintf(out,
            "{\"solver\": {%s, \"warm_start\": %s, \"warm_contacts\": 4, \"impact\": \"%s\"},\n \"contact\": "
            "{\"law\": \"%s\"}, \"ground\": {%s},%s",
            solvers[solver], s->warm_start ? "true" : "false", impacts[s->impact], soft ? "mujoco" : "rigid",
            stiff ? "\"friction\": 0.7, \"stiffness\": 5000, \"damping\": 20"
                  : "\"friction\": 0.7, \"restitution\": 0.4",
            strchr(rest, '{') + 1);
    fclose(out);
    const Case c = open_case(path, 1e-5, 0.005);
    remove(path);
    return c;
}

/* test(case, settings) for each. */
static inline void for_each_settings(void (*test)(Case*, const Settings*)) {
    for (int i = 0; i < settings_count; ++i) {
        const int before = failures;
        Settings s;
        Case c = open_settings(i, &s);
        test(&c, &s);
        close_case(&c);
        if (failures > before) fprintf(stderr, "with %s\n", s.name);
    }
}

#endif
