/* Models from texts in memory, and the options with which robots are read. */
#include <stdint.h>

#include "check.h"

static const char scene[] =
    "{\"models\": [{\"name\": \"ball\", \"model\": {\"bodies\": [{\"name\": \"ball\", \"joint\": {\"type\": "
    "\"free\"},"
    " \"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}]}}]}";

static void texts(void) {
    costate_model* m = NULL;
    CHECK(costate_model_parse(scene, sizeof scene - 1, NULL, NULL, NULL, &m) == COSTATE_OK);
    CHECK(costate_model_nv(m) == 6);
    CHECK(costate_model_free(m) == COSTATE_OK);
    CHECK(costate_model_parse(scene, sizeof scene - 1, "json", "folder/ball.json", NULL, &m) == COSTATE_OK);
    CHECK(costate_model_free(m) == COSTATE_OK);

    m = NULL;
    CHECK_FAILS(costate_model_parse(scene, sizeof scene - 2, NULL, "ball.json", NULL, &m), COSTATE_BAD_FILE,
                "ball.json:1");
    CHECK_FAILS(costate_model_parse(scene, sizeof scene - 1, "yaml", NULL, NULL, &m), COSTATE_BAD_ARGUMENT,
                "json, urdf, mjcf or sdf");
    CHECK_FAILS(costate_model_parse(NULL, 3, NULL, NULL, NULL, &m), COSTATE_BAD_ARGUMENT, "text is null");
    CHECK_FAILS(costate_model_parse("", 0, NULL, NULL, NULL, &m), COSTATE_BAD_FILE, "text:1");
    CHECK_FAILS(costate_model_parse(scene, sizeof scene - 1, NULL, NULL, NULL, NULL), COSTATE_BAD_ARGUMENT,
                "model is null");
    CHECK(m == NULL);
}

#ifdef COSTATE_HAVE_TINYXML2
static const char urdf[] =
    "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/>"
    "</inertial><collision><geometry><mesh filename=\"no.stl\"/></geometry></collision></link>"
    "<link name=\"b\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link>"
    "<joint name=\"j\" type=\"continuous\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>";

/* The number of velocities of the text with these options, or the status. */
static int velocities(const costate_load_options* options) {
    costate_model* m = NULL;
    const int status = costate_model_parse(urdf, sizeof urdf - 1, "urdf", "r.urdf", options, &m);
    const int nv = status < 0 ? status : costate_model_nv(m);
    CHECK(costate_model_free(m) == COSTATE_OK);
    return nv;
}

static void options(void) {
    costate_load_options o = {0};
    o.size = sizeof o;
    CHECK(velocities(NULL) == 7 && velocities(&o) == 7);
    o.base = "fixed";
    CHECK(velocities(&o) == 1);
    o.base = "floating";
    CHECK(velocities(&o) == 7);
    o.base = "welded";
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "fixed or floating");
    o.base = NULL, o.strict = 1;
    CHECK_FAILS(velocities(&o), COSTATE_BAD_FILE, "r.urdf:1");
    o.strict = 2;
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "strict is 2");
    o.strict = 0, o.hull_vertices = 3;
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "the least is 4");
    o.hull_vertices = 0, o.law = "soft";
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "law is \"soft\"");
    o.law = "mujoco";
    CHECK(velocities(&o) == 7);
    o.law = NULL, o.decompose = -1;
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "decompose is -1");
    o.decompose = 0, o.n_search = 1;
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "search is null");
    const char* folders[] = {"tests", "nowhere"};
    o.search = folders, o.n_search = 2;
    CHECK_FAILS(velocities(&o), COSTATE_BAD_ARGUMENT, "no folder nowhere");
    o.n_search = 1;
    CHECK(velocities(&o) == 7);

    costate_model* m = NULL;
    CHECK_FAILS(costate_model_parse(urdf, sizeof urdf - 1, "mjcf", NULL, NULL, &m), COSTATE_BAD_FILE,
                "root element <mujoco>");
    CHECK(costate_model_load_with("tests/readme/robot.urdf", NULL, &m) == COSTATE_OK);
    CHECK(costate_model_free(m) == COSTATE_OK);
    o.base = "floating";
    CHECK_FAILS(costate_model_load_with("tests/readme/robot.urdf", &o, &m), COSTATE_BAD_FILE, "cannot float");
}

/* Programs compiled against a header with fewer fields, or with more. */
static void other_sizes(void) {
    struct {
        costate_load_options known;
        int64_t later;
    } o = {{0}, 0};
    CHECK_FAILS(velocities(&o.known), COSTATE_BAD_ARGUMENT, "sizeof(costate_load_options)");
    o.known.size = offsetof(costate_load_options, search);
    o.known.base = "fixed", o.known.strict = 17; /* strict is beyond the size */
    CHECK(velocities(&o.known) == 1);
    o.known.size = sizeof o, o.known.strict = 0;
    CHECK(velocities(&o.known) == 1);
    o.later = 1;
    CHECK_FAILS(velocities(&o.known), COSTATE_BAD_VERSION, "does not know");
}
#else
static void options(void) { puts("built without the importers of URDF and MJCF: not tried"); }
static void other_sizes(void) {}
#endif

int main(void) {
    texts();
    options();
    other_sizes();
    return failures ? 1 : 0;
}
