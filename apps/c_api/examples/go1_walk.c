/* Walks a Unitree Go1 by a policy that apps/python/examples/learn_go1.py has learned and exported.
 *
 *     go1_walk POLICY.json FORWARD LEFT TURN SECONDS [RUN.csv]
 *
 * The command is m/s forward, m/s to the left and rad/s to the left. The robot is that of the scene go1_stand, with
 * its time step and its rigid contacts, whatever contacts it has learned with. Prints the mean velocities after the
 * first second; RUN.csv has the states and controls of every control step, for `costate view go1_stand --run RUN.csv`.
 *
 * cc -o go1_walk go1_walk.c -lcostate -lm */
#include <costate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NQ = 19, NV = 18, NU = 12, OBSERVED = 50, MOST_LAYERS = 8, PERIOD = 25 };

typedef struct {
    int inputs, outputs;
    double *weight, *bias, *scale, *shift; /* scale and shift are null in the last layer */
} layer;

typedef struct {
    int n_layers;
    layer layers[MOST_LAYERS];
    double mean[OBSERVED], deviation[OBSERVED], offset[NU], scale[NU], control_step;
} policy;

static void fail(const char* what, const char* which) {
    fprintf(stderr, "go1_walk: %s%s\n", what, which);
    exit(1);
}

/* ---- The file of a policy ---- */

static char* contents(const char* path) {
    FILE* file = fopen(path, "rb");
    long size;
    char* text;
    if (!file) fail("cannot open ", path);
    if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
        fail("cannot read ", path);
    text = malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size) fail("cannot read ", path);
    text[size] = 0;
    fclose(file);
    return text;
}

/* The value of a key, from `text` to before `end` (null: to the end of the text); null if there is none. */
static const char* value(const char* text, const char* end, const char* key) {
    char quoted[40];
    const char* found;
    sprintf(quoted, "\"%.32s\":", key);
    found = strstr(text, quoted);
    if (!found || (end && found > end)) return NULL;
    found += strlen(quoted);
    return found + strspn(found, " \t\r\n");
}

/* Reads numbers of an array, nested or not, or a number alone; returns their count. */
static int numbers(const char* at, double** out) {
    int n = 0, size = 64, depth = 0;
    *out = malloc((size_t)size * sizeof(double));
    do {
        char* end;
        const double number = strtod(at, &end);
        if (end != at) {
            if (n == size) *out = realloc(*out, (size_t)(size *= 2) * sizeof(double));
            if (!*out) fail("out of memory", "");
            (*out)[n++] = number;
            at = end;
        } else {
            depth += (*at == '[') - (*at == ']');
            ++at;
        }
    } while (depth > 0 && *at);
    return n;
}

/* Reads exactly n numbers of the key. */
static void fixed(const char* text, const char* key, double* out, int n) {
    const char* at = value(text, NULL, key);
    double* read = NULL;
    if (!at || numbers(at, &read) != n) fail("not a policy of the Go1: it has other ", key);
    memcpy(out, read, (size_t)n * sizeof(double));
    free(read);
}

static policy load(const char* path) {
    char* text = contents(path);
    policy p = {0};
    const char* at = value(text, NULL, "weight");
    fixed(text, "mean", p.mean, OBSERVED);
    fixed(text, "deviation", p.deviation, OBSERVED);
    fixed(text, "control_offset", p.offset, NU);
    fixed(text, "control_scale", p.scale, NU);
    fixed(text, "control_step", &p.control_step, 1);
    for (int inputs = OBSERVED; at; ++p.n_layers) {
        layer* l = &p.layers[p.n_layers];
        const char *next = value(at, NULL, "weight"), *bias = value(at, next, "bias");
        const char *scale = value(at, next, "scale"), *shift = value(at, next, "shift");
        if (p.n_layers == MOST_LAYERS || !bias) fail("wrong layers in ", path);
        l->inputs = inputs;
        inputs = l->outputs = numbers(bias, &l->bias);
        if (numbers(at, &l->weight) != l->inputs * l->outputs ||
            (scale && numbers(scale, &l->scale) != l->outputs) ||
            (shift && numbers(shift, &l->shift) != l->outputs) || !scale != !next || !shift != !next)
            fail("wrong layers in ", path);
        at = next;
    }
    if (p.n_layers == 0 || p.layers[p.n_layers - 1].outputs != NU) fail("wrong layers in ", path);
    free(text);
    return p;
}

static void release(policy* p) {
    for (int k = 0; k < p->n_layers; ++k) {
        layer* l = &p->layers[k];
        free(l->weight), free(l->bias), free(l->scale), free(l->shift);
    }
}

/* action (NU), in [-1, 1], for an observation (OBSERVED) */
static void act(const policy* p, const double* observation, double* action) {
    double* y = malloc(OBSERVED * sizeof(double));
    for (int i = 0; i < OBSERVED; ++i)
        y[i] = fmax(-10, fmin(10, (observation[i] - p->mean[i]) / p->deviation[i]));
    for (int k = 0; k < p->n_layers; ++k) {
        const layer* l = &p->layers[k];
        double *z = malloc((size_t)l->outputs * sizeof(double)), mean = 0, variance = 0;
        for (int i = 0; i < l->outputs; ++i) {
            z[i] = l->bias[i];
            for (int j = 0; j < l->inputs; ++j)
                z[i] += l->weight[i * l->inputs + j] * y[j];
        }
        if (l->scale) {
            for (int i = 0; i < l->outputs; ++i)
                mean += (z[i] = z[i] > 0 ? z[i] : expm1(z[i])) / l->outputs;
            for (int i = 0; i < l->outputs; ++i)
                variance += (z[i] - mean) * (z[i] - mean) / l->outputs;
            for (int i = 0; i < l->outputs; ++i)
                z[i] = l->scale[i] * (z[i] - mean) / sqrt(variance + 1e-5) + l->shift[i];
        }
        free(y);
        y = z;
    }
    for (int i = 0; i < NU; ++i)
        action[i] = tanh(y[i]);
    free(y);
}

/* ---- The robot ---- */

/* Rotates a vector of the world into axes of the trunk, whose orientation is the quaternion w x y z. */
static void to_trunk(const double* quaternion, const double* vector, double* out) {
    const double w = quaternion[0], *u = quaternion + 1, n = w * w + u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    const double dot = u[0] * vector[0] + u[1] * vector[1] + u[2] * vector[2];
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] =
            ((2 * w * w - n) * vector[i] + 2 * dot * u[i] - 2 * w * (u[j] * vector[k] - u[k] * vector[j])) /
            n;
    }
}

/* The controls of the trot in place that the policy adds to: while one diagonal pair of feet stands, the other is
 * lifted. Also gives the sine and cosine of the trot's phase. */
static void trot(int step, int moves, double* controls, double* clock) {
    const double phase = 2 * acos(-1) / PERIOD * step, lift[3] = {0, 0.17, -0.34};
    clock[0] = moves ? sin(phase) : 0;
    clock[1] = moves ? cos(phase) : 0;
    for (int leg = 0; leg < 4; ++leg) {
        const double swing = fmax(0, leg == 0 || leg == 3 ? clock[0] : -clock[0]);
        for (int k = 0; k < 3; ++k)
            controls[3 * leg + k] = swing * lift[k];
    }
}

/* The columns of a run, as `costate simulate` names them. */
static void head(FILE* run) {
    static const char* const pose[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
    static const char* const twist[] = {"x", "y", "z", "wx", "wy", "wz"};
    static const char *const legs[] = {"FR", "FL", "RR", "RL"}, *const parts[] = {"hip", "thigh", "calf"};
    static const char* const forms[] = {",robot/%s_%s", ",d(robot/%s_%s)", ",u(robot/%s_%s)"};
    fprintf(run, "time");
    for (int i = 0; i < 7; ++i)
        fprintf(run, ",robot/base.%s", pose[i]);
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; k == 1 && i < 6; ++i)
            fprintf(run, ",d(robot/base).%s", twist[i]);
        for (int i = 0; i < NU; ++i)
            fprintf(run, forms[k], legs[i / 3], parts[i % 3]);
    }
}

/* A row: the state at this time, and the controls from there on. */
static void record(FILE* run, double time, const double* q, const double* v, const double* u) {
    fprintf(run, "\n%.9g", time);
    for (int i = 0; i < NQ; ++i)
        fprintf(run, ",%.9g", q[i]);
    for (int i = 0; i < NV; ++i)
        fprintf(run, ",%.9g", v[i]);
    for (int i = 0; i < NU; ++i)
        fprintf(run, ",%.9g", u[i]);
}

int main(int count, char** arguments) {
    static const double up[3] = {0, 0, 1};
    double q[NQ], v[NV], stand[NQ], observation[OBSERVED], u[NU] = {0}, *theta, *last = observation + 33;
    double command[3], sums[3] = {0}, time_step = 0;
    costate_model* m;
    FILE* run = NULL;
    policy p;
    int steps, substeps, moves, counted = 0, nparam;
    if (count < 6) fail("usage: go1_walk POLICY.json FORWARD LEFT TURN SECONDS [RUN.csv]", "");
    p = load(arguments[1]);
    for (int i = 0; i < 3; ++i)
        command[i] = atof(arguments[2 + i]);
    moves = command[0] != 0 || command[1] != 0 || command[2] != 0;
    if (costate_version(COSTATE_VERSION) < 0 || costate_model_load("go1_stand", &m) < 0 ||
        costate_model_initial_state(m, q, v) < 0 || (nparam = costate_model_nparam(m)) < 0)
        fail(costate_last_error(), "");
    theta = malloc((size_t)nparam * sizeof(double));
    if (!theta || costate_model_get_parameters(m, theta, (size_t)nparam) < 0) fail(costate_last_error(), "");
    for (int i = 0; i < nparam; ++i) {
        char name[64];
        if (costate_model_name(m, COSTATE_PARAMETER, i, name, sizeof name) < 0)
            fail(costate_last_error(), "");
        if (!strcmp(name, "world/time_step")) time_step = theta[i];
    }
    free(theta);
    memcpy(stand, q, sizeof q);
    memset(last, 0, NU * sizeof(double));
    substeps = (int)(p.control_step / time_step + 0.5);
    steps = (int)(atof(arguments[5]) / p.control_step + 0.5);
    if (count > 6) {
        run = fopen(arguments[6], "w");
        if (!run) fail("cannot write ", arguments[6]);
        head(run);
    }
    for (int t = 0; t < steps; ++t) {
        to_trunk(q + 3, up, observation);
        for (int i = 0; i < 3; ++i)
            observation[i] = -observation[i];
        to_trunk(q + 3, v, observation + 3);
        memcpy(observation + 6, v + 3, 3 * sizeof(double));
        for (int i = 0; i < NU; ++i)
            observation[9 + i] = q[7 + i] - stand[7 + i];
        memcpy(observation + 21, v + 6, NU * sizeof(double));
        memcpy(observation + 45, command, sizeof command);
        trot(t, moves, u, observation + 48);
        act(&p, observation, last);
        for (int i = 0; i < NU; ++i)
            u[i] += p.offset[i] + p.scale[i] * last[i];
        if (run) record(run, t * p.control_step, q, v, u);
        for (int k = 0; k < substeps; ++k)
            if (costate_step(m, q, v, u, q, v) < 0) fail(costate_last_error(), "");
        if ((t + 1) * p.control_step > 1) {
            double speed[3];
            to_trunk(q + 3, v, speed);
            sums[0] += speed[0], sums[1] += speed[1], sums[2] += v[5];
            ++counted;
        }
    }
    printf("at (%.4f, %.4f, %.4f) after %g s\n", q[0], q[1], q[2], steps * p.control_step);
    if (counted)
        printf("mean velocities %.3f %.3f m/s, %.3f rad/s; commanded %g %g %g\n", sums[0] / counted,
               sums[1] / counted, sums[2] / counted, command[0], command[1], command[2]);
    if (run) record(run, steps * p.control_step, q, v, u);
    if (run && (fprintf(run, "\n") < 0 || fclose(run))) fail("cannot write ", arguments[6]);
    release(&p);
    costate_model_free(m);
    return 0;
}
