/* Loading, sizes, names, parameters; and what is refused. */
#include "check.h"

static void versions(void) {
    CHECK(costate_version(COSTATE_VERSION) == COSTATE_VERSION);
    CHECK_FAILS(costate_version(COSTATE_VERSION + 1), COSTATE_BAD_VERSION, "compile against");
    CHECK_FAILS(costate_version(COSTATE_VERSION + 100), COSTATE_BAD_VERSION, "header has version");
    CHECK_FAILS(costate_version(COSTATE_VERSION - 100), COSTATE_BAD_VERSION, "header has version");
    CHECK_FAILS(costate_version(-1), COSTATE_BAD_VERSION, "header has version -1");
    CHECK_FAILS(costate_version(20304), COSTATE_BAD_VERSION, "the header has version 2.3.4, the library 0.");
}

static void status_names(void) {
    CHECK(strcmp(costate_status_name(COSTATE_OK), "COSTATE_OK") == 0);
    CHECK(strcmp(costate_status_name(7), "COSTATE_OK") == 0);
    CHECK(strcmp(costate_status_name(COSTATE_BAD_ARGUMENT), "COSTATE_BAD_ARGUMENT") == 0);
    CHECK(strcmp(costate_status_name(COSTATE_INTERRUPTED), "COSTATE_INTERRUPTED") == 0);
    CHECK(strcmp(costate_status_name(-99), "unknown status") == 0);
    for (int a = COSTATE_INTERRUPTED; a <= COSTATE_BAD_ARGUMENT; ++a)
        for (int b = a + 1; b <= COSTATE_OK; ++b)
            CHECK(strcmp(costate_status_name(a), costate_status_name(b)) != 0);
}

static void sizes_and_names(void) {
    costate_model* m = NULL;
    CHECK(costate_model_load("pendulum_2", &m) == COSTATE_OK);
    CHECK(costate_model_nq(m) == 2 && costate_model_nv(m) == 2 && costate_model_nu(m) == 2);
    CHECK(costate_model_count(m, COSTATE_BODY) == 2 && costate_model_count(m, COSTATE_JOINT) == 2);
    CHECK(costate_model_count(m, COSTATE_ACTUATOR) == 2 && costate_model_count(m, COSTATE_WARNING) == 0);
    CHECK(costate_model_count(m, COSTATE_PARAMETER) == costate_model_nparam(m) &&
          costate_model_nparam(m) > 20);
    CHECK_FAILS(costate_model_count(m, 17), COSTATE_BAD_ARGUMENT, "no kind 17");

    char name[64] = "untouched";
    CHECK(costate_model_name(m, COSTATE_BODY, 1, NULL, 0) == 14);
    CHECK_FAILS(costate_model_name(m, COSTATE_BODY, 1, name, 14), COSTATE_BAD_ARGUMENT, "14 bytes");
    CHECK(strcmp(name, "untouched") == 0);
    CHECK(costate_model_name(m, COSTATE_BODY, 1, name, 15) == 14 && strcmp(name, "pendulum/link2") == 0);
    CHECK(costate_model_name(m, COSTATE_JOINT, 0, name, sizeof name) == 15 &&
          strcmp(name, "pendulum/joint1") == 0);
    CHECK(costate_model_name(m, COSTATE_ACTUATOR, 1, name, sizeof name) == 15 &&
          strcmp(name, "pendulum/motor2") == 0);
    CHECK(costate_model_name(m, COSTATE_PARAMETER, 0, name, sizeof name) > 0 &&
          strcmp(name, "bodies/pendulum/link1/mass") == 0);
    CHECK_FAILS(costate_model_name(m, COSTATE_BODY, 2, name, sizeof name), COSTATE_BAD_ARGUMENT,
                "there are 2");
    CHECK_FAILS(costate_model_name(m, COSTATE_BODY, -1, name, sizeof name), COSTATE_BAD_ARGUMENT,
                "there are 2");
    CHECK_FAILS(costate_model_name(m, COSTATE_BODY, 0, NULL, 4), COSTATE_BAD_ARGUMENT, "buffer is null");

    int layout[4];
    CHECK(costate_model_joint(m, 1, layout) == COSTATE_OK);
    CHECK(layout[0] == 1 && layout[1] == 1 && layout[2] == 1 && layout[3] == 1);
    CHECK_FAILS(costate_model_joint(m, 2, layout), COSTATE_BAD_ARGUMENT, "no joint 2");
    CHECK(costate_model_free(m) == COSTATE_OK);

    CHECK(costate_model_load("bounce", &m) == COSTATE_OK);
    CHECK(costate_model_nq(m) == 7 && costate_model_nv(m) == 6 && costate_model_nu(m) == 0);
    CHECK(costate_model_joint(m, 0, layout) == COSTATE_OK);
    CHECK(layout[0] == 0 && layout[1] == 7 && layout[2] == 0 && layout[3] == 6);
    double q[7], v[6];
    CHECK(costate_model_initial_state(m, q, v) == COSTATE_OK);
    CHECK_NEAR(q[2], 1.1, 0);
    CHECK_NEAR(q[3], 1, 0);
    CHECK(largest(v, 6) == 0);
    CHECK(costate_model_free(m) == COSTATE_OK);
}

static void robot_files(void) {
#ifdef COSTATE_HAVE_TINYXML2
    costate_model* m = NULL;
    CHECK(costate_model_load("tests/readme/robot.urdf", &m) == COSTATE_OK);
    CHECK(costate_model_nv(m) == 2 && costate_model_nu(m) == 2);
    char line[256];
    const int warnings = costate_model_count(m, COSTATE_WARNING);
    for (int i = 0; i < warnings; ++i)
        CHECK(costate_model_name(m, COSTATE_WARNING, i, line, sizeof line) > 0);
    CHECK(costate_model_free(m) == COSTATE_OK);
    CHECK(costate_model_load("tests/fuzz/seeds/mjcf/every_element.xml", &m) == COSTATE_OK);
    CHECK(costate_model_nv(m) > 6);
    CHECK(costate_model_free(m) == COSTATE_OK);
#else
    puts("built without the importers of URDF and MJCF: not tried");
#endif
}

static void parameters(void) {
    Case c = open_case("bounce", 0, 0);
    double *theta = numbers(c.np), *before = numbers(c.np), a[6], tau[6] = {0};
    const size_t n = (size_t)c.np;
    CHECK(costate_model_get_parameters(c.model, before, n) == COSTATE_OK);
    memcpy(theta, before, n * sizeof *theta);
    char name[64];
    int gravity = -1, mass = -1, inertia = -1;
    for (int i = 0; i < c.np; ++i) {
        CHECK(costate_model_name(c.model, COSTATE_PARAMETER, i, name, sizeof name) > 0);
        if (strcmp(name, "world/gravity[2]") == 0) gravity = i;
        if (strcmp(name, "bodies/ball/mass") == 0) mass = i;
        if (strcmp(name, "bodies/ball/inertia[1]") == 0) inertia = i;
    }
    if (gravity < 0 || mass < 0 || inertia < 0) {
        CHECK(!"gravity, mass and inertia have names");
        exit(1);
    }
    CHECK_NEAR(theta[gravity], -9.81, 0);
    CHECK_NEAR(theta[mass], 0.4, 0);

    theta[gravity] = -1.62;
    CHECK(costate_model_set_parameters(c.model, theta, n) == COSTATE_OK);
    CHECK(costate_forward_dynamics(c.model, c.q, c.v, tau, a) == COSTATE_OK);
    CHECK_NEAR(a[2], -1.62, 1e-14);

    CHECK_FAILS(costate_model_set_parameters(c.model, theta, n - 1), COSTATE_BAD_ARGUMENT, "must have");
    CHECK_FAILS(costate_model_get_parameters(c.model, theta, n + 1), COSTATE_BAD_ARGUMENT, "must have");
    CHECK_FAILS(costate_model_set_parameters(c.model, NULL, n), COSTATE_BAD_ARGUMENT, "theta is null");
    theta[mass] = -1;
    CHECK_FAILS(costate_model_set_parameters(c.model, theta, n), COSTATE_BAD_ARGUMENT,
                "bodies/ball/mass must be");
    theta[mass] = 0.4, theta[inertia] = -1e-3;
    CHECK_FAILS(costate_model_set_parameters(c.model, theta, n), COSTATE_BAD_ARGUMENT,
                "the inertia beyond joint ball must be");
    theta[mass] = NAN;
    CHECK_FAILS(costate_model_set_parameters(c.model, theta, n), COSTATE_BAD_ARGUMENT,
                "bodies/ball/mass must be finite");
    CHECK(costate_model_get_parameters(c.model, theta, n) == COSTATE_OK);
    CHECK(theta[mass] == 0.4 && theta[gravity] == -1.62);
    free(theta), free(before);
    close_case(&c);
}

/* What a model says of itself it takes back. */
static void own_parameters(void) {
    const char* names[] = {"throw", "go1_stand", "four_bar", "humanoid", "slider_dry_friction", "quadcopter"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        Case c = open_case(names[i], 0, 0);
        double* theta = numbers(c.np);
        CHECK(costate_model_get_parameters(c.model, theta, (size_t)c.np) == COSTATE_OK);
        CHECK(costate_model_set_parameters(c.model, theta, (size_t)c.np) == COSTATE_OK);
        free(theta);
        close_case(&c);
    }
}

static int parameter(const costate_model* m, const char* wanted) {
    char name[128];
    for (int i = 0; i < costate_model_nparam(m); ++i)
        if (costate_model_name(m, COSTATE_PARAMETER, i, name, sizeof name) > 0 && strcmp(name, wanted) == 0)
            return i;
    CHECK(!"there is such a parameter");
    exit(1);
}

/* A copy begins with the parameters that the model has, and keeps its own; each goes on without the other. */
static void copies(void) {
    Case c = open_case("bounce", 0, 0);
    double *theta = numbers(c.np), a[6], b[6], tau[6] = {0};
    const size_t n = (size_t)c.np;
    const int gravity = parameter(c.model, "world/gravity[2]");
    CHECK(costate_model_get_parameters(c.model, theta, n) == COSTATE_OK);
    theta[gravity] = -3;
    CHECK(costate_model_set_parameters(c.model, theta, n) == COSTATE_OK);
    costate_model* copy = NULL;
    CHECK(costate_model_copy(c.model, &copy) == COSTATE_OK && copy != c.model);
    theta[gravity] = -4;
    CHECK(costate_model_set_parameters(c.model, theta, n) == COSTATE_OK);
    CHECK(costate_forward_dynamics(c.model, c.q, c.v, tau, a) == COSTATE_OK);
    CHECK(costate_forward_dynamics(copy, c.q, c.v, tau, b) == COSTATE_OK);
    CHECK_NEAR(a[2], -4, 1e-14);
    CHECK_NEAR(b[2], -3, 1e-14);
    CHECK_FAILS(costate_model_copy(c.model, NULL), COSTATE_BAD_ARGUMENT, "copy is null");
    close_case(&c);
    CHECK(costate_forward_dynamics(copy, (double[7]){0, 0, 1, 1, 0, 0, 0}, tau, tau, b) == COSTATE_OK);
    CHECK_NEAR(b[2], -3, 1e-14);
    CHECK(costate_model_free(copy) == COSTATE_OK);
    CHECK_FAILS(costate_model_copy(copy, &copy), COSTATE_BAD_HANDLE, "freed");
    free(theta);
}

static void keyframes(void) {
    Case c = open_case("go1_stand", 0, 0);
    double *q = numbers(c.nq), *v = noises(c.nv, 1), *u = noises(c.nu, 1);
    CHECK(costate_model_keyframe(c.model, 0, q, v, u) == COSTATE_OK);
    CHECK_NEAR(q[2], 0.287755846, 0);
    CHECK_NEAR(q[9], -1.8, 0);
    CHECK_NEAR(u[1], 0.90384, 0);
    CHECK_NEAR(u[11], -1.74936, 0);
    CHECK(q[3] == 1 && largest(v, c.nv) == 0);
    CHECK(costate_model_keyframe(c.model, 0, NULL, NULL, NULL) == COSTATE_OK);
    CHECK_FAILS(costate_model_keyframe(c.model, 1, q, v, u), COSTATE_BAD_ARGUMENT, "no keyframe 1");
    free(q), free(v), free(u);
    close_case(&c);
}

/* Parents, limits and the time step, with what has none of each. */
static void structure(void) {
    static const char scene[] =
        "{\"time_step\": 0.004, \"models\": [{\"name\": \"r\", \"model\": {\"bodies\": ["
        "{\"name\": \"a\", \"joint\": {\"type\": \"spherical\", \"name\": \"ball\", \"greatest_angle\": "
        "0.7}, "
        "\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]},"
        "{\"name\": \"b\", \"parent\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1], "
        "\"limits\": [-0.5, 2]}, \"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0], "
        "\"sites\": [{\"name\": \"tip\"}]},"
        "{\"name\": \"c\", \"parent\": \"b\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}, "
        "\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}],"
        "\"actuators\": [{\"joint\": \"b\", \"type\": \"motor\", \"control_limits\": [-1, 3]},"
        "{\"joint\": \"c\", \"type\": \"motor\", \"force_limits\": [-4, 5]}]}}]}";
    costate_model* m = NULL;
    CHECK(costate_model_parse(scene, sizeof scene - 1, "json", NULL, NULL, &m) == COSTATE_OK);
    if (!m) exit(1);
    int parent = 17;
    CHECK(costate_model_parent(m, COSTATE_BODY, 0, &parent) == COSTATE_OK && parent == -1);
    CHECK(costate_model_parent(m, COSTATE_BODY, 2, &parent) == COSTATE_OK && parent == 1);
    CHECK(costate_model_parent(m, COSTATE_JOINT, 1, &parent) == COSTATE_OK && parent == 0);
    CHECK(costate_model_parent(m, COSTATE_SITE, 0, &parent) == COSTATE_OK && parent == 1);
    CHECK_FAILS(costate_model_parent(m, COSTATE_SITE, 1, &parent), COSTATE_BAD_ARGUMENT, "no site 1");
    CHECK_FAILS(costate_model_parent(m, COSTATE_BODY, -1, &parent), COSTATE_BAD_ARGUMENT, "no body -1");
    CHECK_FAILS(costate_model_parent(m, COSTATE_SENSOR, 0, &parent), COSTATE_BAD_ARGUMENT,
                "may be COSTATE_BODY");
    CHECK_FAILS(costate_model_parent(m, COSTATE_BODY, 0, NULL), COSTATE_BAD_ARGUMENT, "parent is null");

    double limits[4];
    CHECK(costate_model_limits(m, COSTATE_ACTUATOR, 0, limits) == COSTATE_OK);
    CHECK(limits[0] == -1 && limits[1] == 3 && limits[2] == -INFINITY && limits[3] == INFINITY);
    CHECK(costate_model_limits(m, COSTATE_ACTUATOR, 1, limits) == COSTATE_OK);
    CHECK(limits[0] == -INFINITY && limits[1] == INFINITY && limits[2] == -4 && limits[3] == 5);
    CHECK(costate_model_limits(m, COSTATE_JOINT, 0, limits) == COSTATE_OK);
    CHECK(limits[0] == 0 && limits[1] == 0.7 && limits[2] == -4);
    CHECK(costate_model_limits(m, COSTATE_JOINT, 1, limits) == COSTATE_OK);
    CHECK(limits[0] == -0.5 && limits[1] == 2);
    CHECK(costate_model_limits(m, COSTATE_JOINT, 2, limits) == COSTATE_OK);
    CHECK(limits[0] == -INFINITY && limits[1] == INFINITY);
    CHECK_FAILS(costate_model_limits(m, COSTATE_ACTUATOR, 2, limits), COSTATE_BAD_ARGUMENT, "no actuator 2");
    CHECK_FAILS(costate_model_limits(m, COSTATE_BODY, 0, limits), COSTATE_BAD_ARGUMENT,
                "may be COSTATE_ACTUATOR");
    CHECK_FAILS(costate_model_limits(m, COSTATE_JOINT, 0, NULL), COSTATE_BAD_ARGUMENT, "limits is null");

    /* as the parameters are now */
    double h = 0, theta[256];
    const size_t n = (size_t)costate_model_nparam(m);
    CHECK(costate_model_time_step(m, &h) == COSTATE_OK && h == 0.004);
    CHECK_FAILS(costate_model_time_step(m, NULL), COSTATE_BAD_ARGUMENT, "h is null");
    CHECK(n <= 256 && costate_model_get_parameters(m, theta, n) == COSTATE_OK);
    theta[parameter(m, "world/time_step")] = 0.001;
    CHECK(costate_model_set_parameters(m, theta, n) == COSTATE_OK);
    CHECK(costate_model_time_step(m, &h) == COSTATE_OK && h == 0.001);
    CHECK(costate_model_free(m) == COSTATE_OK);
}

static void bad_files(void) {
    costate_model* m = NULL;
    CHECK_FAILS(costate_model_load("no/such/file.json", &m), COSTATE_BAD_FILE, "no/such/file.json");
    CHECK_FAILS(costate_model_load("pendulum_22", &m), COSTATE_BAD_FILE, "nearest is \"pendulum_2\"");
    CHECK_FAILS(costate_model_load("README.md", &m), COSTATE_BAD_FILE, "README.md");
    CHECK_FAILS(costate_model_load(".", &m), COSTATE_BAD_FILE, ".");
    CHECK_FAILS(costate_model_load("", &m), COSTATE_BAD_FILE, "costate_model_load");
    CHECK_FAILS(costate_model_load(NULL, &m), COSTATE_BAD_ARGUMENT, "path is null");
    CHECK_FAILS(costate_model_load("bounce", NULL), COSTATE_BAD_ARGUMENT, "model is null");
    CHECK(m == NULL);
}

/* Calls with everything right but one thing. */
static void misuse(void) {
    Case c = open_case("bounce", 0, 0);
    double q[7], v[6], x[49], good_q[7], big[6] = {0};
    memcpy(good_q, c.q, sizeof q);
    const double nan = NAN;
    CHECK_FAILS(costate_step(NULL, c.q, c.v, c.u, q, v), COSTATE_BAD_ARGUMENT,
                "costate_step: the handle is null");
    CHECK_FAILS(costate_step(c.model, NULL, c.v, c.u, q, v), COSTATE_BAD_ARGUMENT, "q is null");
    CHECK_FAILS(costate_step(c.model, c.q, NULL, c.u, q, v), COSTATE_BAD_ARGUMENT, "v is null");
    CHECK_FAILS(costate_step(c.model, c.q, c.v, c.u, NULL, v), COSTATE_BAD_ARGUMENT, "q_next is null");
    CHECK_FAILS(costate_step(c.model, c.q, c.v, c.u, q, NULL), COSTATE_BAD_ARGUMENT, "v_next is null");
    CHECK(costate_step(c.model, c.q, c.v, NULL, q, v) == COSTATE_OK); /* no controls */
    CHECK_FAILS(costate_forward_dynamics(c.model, c.q, c.v, NULL, x), COSTATE_BAD_ARGUMENT, "tau is null");
    CHECK_FAILS(costate_inverse_dynamics(c.model, c.q, c.v, NULL, x), COSTATE_BAD_ARGUMENT, "a is null");
    CHECK_FAILS(costate_mass_matrix(c.model, c.q, NULL), COSTATE_BAD_ARGUMENT, "M is null");
    CHECK_FAILS(costate_body_pose(c.model, c.q, 1, x, x), COSTATE_BAD_ARGUMENT, "no body 1");
    CHECK_FAILS(costate_retract(c.model, c.q, NULL, q), COSTATE_BAD_ARGUMENT, "d is null");
    CHECK_FAILS(costate_difference(c.model, c.q, NULL, v), COSTATE_BAD_ARGUMENT, "b is null");
    CHECK_FAILS(costate_step_vjp(c.model, c.q, c.v, c.u, NULL, v, x, x, x, x), COSTATE_BAD_ARGUMENT,
                "q_next_bar is null");
    CHECK_FAILS(costate_step_jvp(c.model, c.q, c.v, c.u, v, v, v, NULL, NULL, v), COSTATE_BAD_ARGUMENT,
                "q_next_dot is null");
    CHECK_FAILS(costate_contacts(c.model, c.q, c.v, c.u, NULL, 3), COSTATE_BAD_ARGUMENT, "contacts is null");

    c.v[2] = nan;
    CHECK_FAILS(costate_step(c.model, c.q, c.v, c.u, q, v), COSTATE_BAD_ARGUMENT, "v[2] is not finite");
    c.v[2] = 0, c.q[1] = INFINITY;
    CHECK_FAILS(costate_step(c.model, c.q, c.v, c.u, q, v), COSTATE_BAD_ARGUMENT, "q[1] is not finite");
    memcpy(c.q, good_q, sizeof q), c.q[3] = 0;
    CHECK_FAILS(costate_step(c.model, c.q, c.v, c.u, q, v), COSTATE_BAD_ARGUMENT, "q[3] begins a quaternion");
    memcpy(c.q, good_q, sizeof q);

    /* A call that fails leaves its outputs alone. */
    memcpy(q, good_q, sizeof q), q[0] = 42;
    big[3] = 1e200, big[4] = 1e200;
    CHECK_FAILS(costate_step(c.model, c.q, big, c.u, q, v), COSTATE_DIVERGED, "not be finite");
    CHECK(q[0] == 42);
    close_case(&c);

    Case p = open_case("pendulum_1", 0, 0);
    p.u[0] = nan;
    CHECK_FAILS(costate_step(p.model, p.q, p.v, p.u, q, v), COSTATE_BAD_ARGUMENT, "u[0] is not finite");
    CHECK_FAILS(costate_step(p.model, p.q, p.v, NULL, q, v), COSTATE_BAD_ARGUMENT, "u is null");
    CHECK_FAILS(costate_step_jvp(p.model, p.q, p.v, p.u, NULL, NULL, NULL, NULL, q, v), COSTATE_BAD_ARGUMENT,
                "u[0]");
    close_case(&p);
}

static void freed_models(void) {
    costate_model *first = NULL, *second = NULL;
    CHECK(costate_model_load("pendulum_1", &first) == COSTATE_OK);
    CHECK(costate_model_free(first) == COSTATE_OK);
    CHECK_FAILS(costate_model_nq(first), COSTATE_BAD_HANDLE, "freed");
    CHECK_FAILS(costate_model_free(first), COSTATE_BAD_HANDLE, "freed");
    CHECK(costate_model_load("pendulum_1", &second) == COSTATE_OK);
    CHECK(second != first);
    CHECK_FAILS(costate_model_nq(first), COSTATE_BAD_HANDLE, "freed");
    CHECK(costate_model_nq(second) == 1);
    CHECK(costate_model_free(second) == COSTATE_OK);
    CHECK(costate_model_free(NULL) == COSTATE_OK);
    int on_the_stack = 0;
    CHECK_FAILS(costate_model_nq((costate_model*)(void*)&on_the_stack), COSTATE_BAD_HANDLE,
                "never given out");
}

int main(void) {
    CHECK(costate_last_error()[0] == '\0');
    versions();
    sizes_and_names();
    robot_files();
    parameters();
    own_parameters();
    status_names();
    copies();
    keyframes();
    structure();
    bad_files();
    misuse();
    freed_models();
    return failures ? 1 : 0;
}
