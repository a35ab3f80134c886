// Recordings: interpolation of rows at steps, the value of the term for a motion, and messages about wrong
// files.
#include <sstream>

#include "adjoint/check/gradcheck.hpp"
#include "adjoint/objective/signal_values.hpp"
#include "adjoint/rollout/rollout.hpp"
#include "adjoint/rollout/simulation.hpp"
#include "scenes/format/csv.hpp"
#include "tests/support/probe.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/scratch_folder.hpp"

using namespace costate;
using namespace costate::test;

namespace {

// tests/support/scene_text.hpp's scene with one term, read beside `motion.csv`.
Scene scene_with(const ScratchFolder& folder, const std::string& term, int steps = 5) {
    Json json = base();
    json["objective"] = parse_json("[" + term + "]", "term");
    return scene_from_json(json, folder.path("test.json"), steps);
}

std::string term_of(const std::string& columns, const std::string& more = "") {
    return R"({"term": "recording", "file": "motion.csv", "columns": [)" + columns + "]" + more + "}";
}

// The scene's motion in all signals and at all steps, as the text of a file.
std::string recorded(const Scene& s, double shift = 0) {
    std::ostringstream out;
    out.precision(17);
    const std::vector<Signal> all = all_signals(s.world);
    out << "time";
    for (const std::string& name : column_names(all))
        out << "," << name;
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    rollout.forward(s.theta, s.x0, s.z0, [&](int t, const double* x, const double* u) {
        out << "\n" << t * 0.01;
        for (const Signal& signal : all) {
            if (signal.is_rotation()) {
                const Quaternion<double> q = retract_quaternion(
                    signal_rotation(signal, x, simulation.scratch()), Vec3<double>(shift, 0, 0));
                out << "," << q.w << "," << q.v.x() << "," << q.v.y() << "," << q.v.z();
            } else if (u == nullptr && signal.is_of_a_step()) {
                out << ",0";
            } else {
                out << ","
                    << signal_number(s.world, signal, s.theta.data(), x, u, simulation.scratch()) + shift;
            }
        }
    });
    return out.str();
}

double loss_of(const Scene& s) {
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    return rollout.forward(s.theta, s.x0, s.z0);
}

}  // namespace

TEST_CASE("recording: rows are interpolated linearly, rotations by the shortest rotation at constant speed") {
    const std::vector<Signal> signals{{SignalKind::position, 0, 0, {"a"}},
                                      {SignalKind::rotation, 1, 1, {"w", "x", "y", "z"}}};
    const double angle = 1.2, half = angle / 2;
    // the second quaternion is minus that of a rotation about z
    const std::vector<std::vector<double>> rows{{1, 1, 0, 0, 0},
                                                {3, -std::cos(half), 0, 0, -std::sin(half)},
                                                {3, -std::cos(half), 0, 0, -std::sin(half)}};
    const Recording r = resample(signals, {0, 0.5, 1}, rows, 0, 8, 0.125);
    REQUIRE(r.width == 5);
    for (int t = 0; t <= 8; ++t) {
        const double share = std::min(1.0, t / 4.0);
        CAPTURE(t);
        CHECK(r.at(t)[0] == doctest::Approx(1 + 2 * share).epsilon(1e-15));
        CHECK(std::abs(r.at(t)[1]) == doctest::Approx(std::cos(share * half)).epsilon(1e-14));
        CHECK(r.at(t)[1] * r.at(t)[4] ==
              doctest::Approx(std::cos(share * half) * std::sin(share * half)).epsilon(1e-14));
    }
    // rows beyond the steps do not count, and a step at the time of a row uses the row
    const Recording part =
        resample(signals, {-1, 0, 0.125, 9}, {rows[2], rows[0], rows[1], rows[0]}, 0, 1, 0.125);
    CHECK((part.at(0)[0] == 1 && part.at(1)[0] == 3));
}

TEST_CASE("recording: no distance to a scene's own motion; a known one to a motion that was moved") {
    const ScratchFolder folder("recording");
    const Scene plain = scene_with(folder, R"({"term": "effort"})");
    folder.write("motion.csv", recorded(plain));
    const Scene same = scene_with(folder, term_of("\"*\""));
    CHECK(same.objective[0].recording.signals.size() == all_signals(same.world).size());
    CHECK((same.objective[0].running && same.objective[0].recording.width ==
                                            static_cast<int>(column_names(all_signals(same.world)).size())));
    CHECK(loss_of(same) < 1e-28);

    folder.write("motion.csv", recorded(plain, 0.5));  // every number, and every rotation by 0.5 rad
    for (const char* columns :
         {"\"arm/elbow\"", "\"d(ball).wy\"", "\"pose(arm/lower).z\"", "\"impulse(ball)\"",
          "\"u(arm/torque)\"", "\"ball.q*\"", "\"pose(ball).q*\""}) {
        CAPTURE(columns);
        CHECK(loss_of(scene_with(folder, term_of(columns, R"(, "weight": 3)"))) ==
              doctest::Approx(5 * 0.01 * 3 * 0.25).epsilon(1e-12));
        CHECK(loss_of(scene_with(folder, term_of(columns, R"(, "norm": "distance")"))) ==
              doctest::Approx(5 * 0.01 * 0.5).epsilon(1e-12));
    }
    CHECK(loss_of(scene_with(folder, term_of("\"ball.*\", \"arm/elbow\"", R"(, "at": "end")"))) ==
          doctest::Approx(5 * 0.25).epsilon(1e-12));
}

TEST_CASE("recording: gradient against central differences, while running and at the end") {
    const ScratchFolder folder("recording");
    const Scene plain = scene_with(folder, R"({"term": "effort"})", 40);
    folder.write("motion.csv", recorded(plain, 0.1));
    const Scene s = scene_with(folder,
                               term_of("\"*(*\", \"arm/*\", \"ball*\"") + "," +
                                   term_of("\"pose(*\", \"ball.q*\"", R"(, "at": "end", "norm": "distance")"),
                               40);
    Simulation simulation(s.world, s.objective);
    Rollout<Simulation> rollout(simulation, s.plan, s.steps);
    const GradcheckReport r = gradcheck(rollout, s.theta, s.x0, s.z0);
    for (const GradcheckKind* k : {&r.controls, &r.initial_state, &r.parameters}) {
        CAPTURE(k->worst);
        CHECK(k->max_relative_error <= 1e-6);
        CHECK(k->rejected < 0.1);
    }
}

TEST_CASE("recording: tables in the formats of other programs") {
    const Table t = parse_csv("time, \"a, \"\"b\"\"\" ,c\r\n0,1,2\r\n\r\n  1 , \"2\" ,-3e2\r\n", "t.csv");
    CHECK(t.columns == std::vector<std::string>{"time", "a, \"b\"", "c"});
    CHECK(t.rows == std::vector<std::vector<double>>{{0, 1, 2}, {1, 2, -300}});
    CHECK(t.lines == std::vector<int>{2, 4});
}

TEST_CASE("recording: every wrong file or column is named with its place, the reason and a remedy") {
    const ScratchFolder folder("recording");
    const std::string json = folder.path("test.json").string() + "#/objective/0",
                      csv = (folder.path("motion.csv")).string();
    const auto of_term = [&](const std::string& term) {
        return complaint([&] { scene_with(folder, term); });
    };
    check_complaint(of_term(term_of("\"arm/elbow\"")), json + "/file: ", "there is no file",
                    "correct the path");
    const std::string rows = "\n0,0,1,0,0,0\n0.02,1,1,0,0,0\n0.1,2,1,0,0,0\n",
                      head = "time,arm/elbow,ball.qw,ball.qx,ball.qy,ball.qz";
    folder.write("motion.csv", head + rows);
    CHECK(of_term(term_of("\"arm/elbow\", \"ball*\"")) == "no complaint");
    check_complaint(of_term(term_of("\"arm/elbw\"")), json + "/columns/0: ", "the nearest is \"arm/elbow\"",
                    "correct the name");
    check_complaint(of_term(term_of("\"ball.qw\"")),
                    json + "/columns: ", "only a part of the rotation \"ball.qw\"",
                    "name all four, as in \"ball.q*\"");
    CHECK(of_term(term_of("\"*\"")) == "no complaint");
    check_complaint(of_term(term_of("\"time\"")),
                    json + "/columns/0: ", "no column of the file is named \"time\"", "correct the name");
    check_complaint(of_term(term_of("")), json + "/columns: ", "is empty", "name columns");
    check_complaint(of_term(R"({"term": "recording", "columns": ["arm/elbow"]})"), json + ": ", "no \"file\"",
                    "add it");
    check_complaint(of_term(R"({"term": "effort", "columns": ["arm/elbow"]})"),
                    json + "/columns: ", "the term is effort", "remove it");
    check_complaint(of_term(term_of("\"arm/elbow\"", R"(, "target": 1)")),
                    json + "/target: ", "the term is recording", "remove it");
    check_complaint(complaint([&] { scene_with(folder, term_of("\"arm/elbow\""), 12); }),
                    json + "/file: ", "ends at 0.1 s, before the 0.11 s", "use fewer");

    const auto of_file = [&](const std::string& text) {
        folder.write("motion.csv", text);
        return of_term(term_of("\"*elb*\", \"ball*\""));
    };
    check_complaint(of_file(head + rows + "0.2,1,1,x,0,0\n"),
                    csv + ":5: ", "\"x\" in column \"ball.qx\" is not a finite number", "correct the cell");
    check_complaint(of_file(head + rows + "0.2,1,1,nan,0,0\n"), csv + ":5: ", "\"nan\" in column",
                    "correct the cell");
    check_complaint(of_file(head + rows + "0.2,1,1,,0,0\n"), csv + ":5: ", "\"\" in column",
                    "correct the cell");
    check_complaint(of_file(head + rows + "0.2,1\n"), csv + ":5: ", "has 2 cells, but the first line has 6",
                    "write one cell per column");
    check_complaint(of_file(head + rows + "\n0.1,1,1,0,0,0\n"), csv + ":6: ", "0.1 s is not later than 0.1 s",
                    "sort the rows");
    check_complaint(of_file(head + rows + "0.2,1,0,0,0,0\n"), csv + ":5: ", "has no direction",
                    "use 1, 0, 0, 0");
    check_complaint(of_file("time,arm/elbow,arm/elbow\n0,0,0\n"),
                    csv + ":1: ", "two columns are named \"arm/elbow\"", "rename");
    check_complaint(of_file("t,arm/elbow,ball.q\n0,0,0\n"), csv + ":1: ", "no column \"time\"",
                    "add the time");
    check_complaint(of_file("time,arm/elbow,\"ball\n0,0,0\n"), csv + ":1: ", "unclosed quote", "close it");
    check_complaint(of_file("time,\"arm/elbow\"b,ball\n0,0,0\n"), csv + ":1: ", "text after a closing quote",
                    "put a comma");
    check_complaint(of_file("\n"), csv + ":1: ", "no row of numbers", "write a line of names");
    check_complaint(of_file("time,arm/elbw,ball.x\n0,0,0\n1,1,1\n"),
                    json + "/columns/0: ", "no signal named \"arm/elbw\", the nearest is \"arm/elbow\"",
                    "name other");
    check_complaint(of_file("time,arm/elbow,ball.x\n0.01,0,0\n1,1,1\n"),
                    json + "/file: ", "begins at 0.01 s, after the 0 s", "shift its times");
    check_complaint(of_file("time,arm/elbow,ball.x\n0,0,0\n50,1,1\n100,1,1\n"),
                    json + "/file: ", "lasts from 0 s to 100 s, but the term ends at 0.04 s",
                    "divide its times by 1000 if they are milliseconds");
    CHECK(of_file("time,arm/elbow,ball.x\n0,0,0\n100,1,1\n") == "no complaint");  // a straight line
    check_complaint(of_term(R"({"term": "position", "body": "ball", "at": "running",
                                "reference": [[0, 0, 0, 0], [50, 0, 0, 0], [100, 1, 0, 0]]})"),
                    json + "/reference: ", "lasts from 0 s to 100 s", "divide its times by 1000");
    folder.write("motion.csv", "time,impulse(ball)\n0,0\n1,1\n");
    check_complaint(of_term(term_of("\"impulse(ball)\"", R"(, "at": "end")")),
                    json + "/at: ", "has no \"impulse(ball)\"", "use \"running\"");
}
