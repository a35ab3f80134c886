// Initial values of controls from lists and files: resampling, and messages about faults.
#include "scenes/read/task/control_file.hpp"

#include "tests/support/scene_text.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// The base for 10 steps of 0.01 s, with one entry of "controls".
Scene scene_driven(const ScratchFolder& folder, const std::string& control) {
    Json json = base();
    json["steps"] = 10;
    json["controls"] = parse_json(R"([{"actuators": ["arm/torque"], )" + control + "}]", "controls");
    return scene_from_json(json, folder.path("test.json"));
}

// The control of the arm's torque at every step.
std::vector<double> controls_of(const Scene& s) {
    std::vector<double> out;
    VecX<double> u(s.world.nu());
    for (int t = 0; t < s.steps; ++t) {
        s.plan.evaluate(s.z0.data(), t, u.data());
        out.push_back(u[0]);
    }
    return out;
}

const char* const csv_rows = "time,u(arm/torque),push\n0,0,1\n0.04,2,1\n0.08,6,-1\n0.1,6,-1\n";
const char* const result_text =
    R"({"steps": 5, "time_step": 0.02, "controls": {"arm/torque": {"values": [1, 2, 3, 4, 5]},
        "lift": {"times": [0, 0.1], "values": [0, 1]}}})";

}  // namespace

TEST_CASE("control files: values of steps and knots from lists and files") {
    const ScratchFolder folder("controls");
    folder.write("run.csv", csv_rows);
    folder.write("result.json", result_text);
    const auto controls = [&](const std::string& control) {
        return controls_of(scene_driven(folder, control));
    };
    using Values = std::vector<double>;
    CHECK(controls(R"("initial": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])") == Values{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Values tent = controls(R"("optimize": {"knots": 3}, "initial": [0, 5, 0])");
    for (int t = 0; t < 10; ++t)
        CHECK(tent[t] == doctest::Approx(t <= 5 ? t : 10 - t).epsilon(1e-14));
    CHECK(controls(R"("optimize": "held", "initial": [0.5])") == Values(10, 0.5));
    CHECK(controls(R"("initial": {"file": "run.csv"})") == Values{0, 0, 0, 0, 2, 2, 2, 2, 6, 6});
    const Values line = controls(R"("initial": {"file": "run.csv", "interpolation": "linear"})");
    for (int t = 0; t < 10; ++t)
        CHECK(line[t] == doctest::Approx(t <= 4 ? 0.5 * t : t <= 8 ? t - 2 : 6).epsilon(1e-14));
    CHECK(controls(R"("optimize": "per_step", "initial": {"file": "run.csv", "column": "push"})") ==
          Values{1, 1, 1, 1, 1, 1, 1, 1, -1, -1});
    CHECK(controls(R"("initial": {"file": "result.json"})") == Values{1, 1, 2, 2, 3, 3, 4, 4, 5, 5});
    const Values knots = controls(R"json("initial": {"file": "result.json", "column": "u(lift)"})json");
    for (int t = 0; t < 10; ++t)
        CHECK(knots[t] == doctest::Approx(0.1 * t).epsilon(1e-14));

    const Scene sampled = scene_driven(folder, R"("optimize": {"knots": 2}, "initial": {"file": "run.csv"})");
    CHECK((sampled.z0[0] == 0 && sampled.z0[1] == 6));
    CHECK(sampled.plan.channels()[0].optimize);
    const Scene prescribed = scene_driven(folder, R"("initial": {"file": "run.csv"})");
    CHECK((prescribed.plan.channels()[0].per_step && !prescribed.plan.channels()[0].optimize));
    const Scene start = scene_driven(folder, R"("optimize": "held", "initial": {"file": "run.csv"})");
    CHECK(start.z0[0] == 0);
}

TEST_CASE("control files: a time that rounding moved still begins its row") {
    const ScratchFolder folder("controls");
    std::string text = "time,u(arm/torque)\n";
    for (int t = 0; t <= 10; ++t)
        text += std::to_string(t * 0.01) + "," + std::to_string(t) + "\n";
    folder.write("run.csv", text);
    const std::vector<double> u = controls_of(scene_driven(folder, R"("initial": {"file": "run.csv"})"));
    for (int t = 0; t < 10; ++t)
        CHECK(u[t] == t);
}

TEST_CASE("control files: messages about faults") {
    const ScratchFolder folder("controls");
    struct Wrong {
        const char *control, *file, *begin, *what, *remedy;
    };
    const Wrong cases[] = {
        {R"("initial": [1, 2])", csv_rows, "test.json#/controls/0/initial", "2 numbers for 10 steps",
         "write one for each"},
        {R"("optimize": {"knots": 3}, "initial": [1, 2])", csv_rows, "test.json#/controls/0/initial",
         "2 numbers for 3 knots", "write one for each"},
        {R"("initial": {"file": "gone.csv"})", csv_rows, "test.json#/controls/0/initial/file", "no file",
         "correct"},
        {R"("initial": {"file": "run.csv", "column": "pus"})", csv_rows,
         "test.json#/controls/0/initial/column", "the nearest is \"push\"", "name it"},
        {R"("initial": {"file": "run.csv", "interpolation": "cubic"})", csv_rows,
         "test.json#/controls/0/initial/interpolation", "cubic", "correct"},
        {R"("initial": {"file": "run.csv"})", "time,u(arm/torqu)\n0,1\n",
         "test.json#/controls/0/initial/file", "the nearest is \"u(arm/torqu)\"", "name it in \"column\""},
        {R"("initial": {"file": "run.csv"})", "t,u(arm/torque)\n0,1\n", "run.csv", "no column \"time\"",
         "add"},
        {R"("initial": {"file": "run.csv"})", "time,u(arm/torque)\n0,1\n0,2\n", "run.csv:3", "not later",
         "sort"},
        {R"("initial": {"file": "run.csv"})", "time,u(arm/torque)\n0,1\n0.05,2\n", "run.csv",
         "lasts from 0 s to 0.05 s, but the rollout from 0 s to 0.1 s", "use fewer steps"},
        {R"("initial": {"file": "run.csv"})", "time,u(arm/torque)\n0.02,1\n0.2,2\n", "run.csv",
         "lasts from 0.02 s", "let its times begin at 0"},
        {R"("initial": {"file": "run.csv"})", "time,u(arm/torque)\n0,1\n10,2\n20,2\n100,3\n", "run.csv",
         "to 100 s, but the rollout from 0 s to 0.1 s", "divide its times by 1000"},
        {R"("initial": {"file": "result.json"})", "[]", "result.json", "not a result.json", "give one"},
        {R"("initial": {"file": "result.json"})",
         R"({"steps": 5, "time_step": 0.02, "controls": {"arm/torque": {"times": [1, 1], "values": [1, 2]}}})",
         "result.json:1:61#/controls/\"arm/torque\"/times", "do not increase", "sort"},
    };
    for (const Wrong& c : cases) {
        folder.write(
            std::string(c.control).find("result.json") == std::string::npos ? "run.csv" : "result.json",
            c.file);
        std::string message = complaint([&] { scene_driven(folder, c.control); });
        if (const std::string path = folder.path("").string(); message.compare(0, path.size(), path) == 0)
            message.erase(0, path.size());
        check_complaint(message, c.begin, c.what, c.remedy);
    }
}
