// Prints a table of the errors of costate_step_vjp, _jvp and _jacobian against central differences through
// contact, at random states, for every solver.
//
//   costate_gradient_statistics [--states N] [--seed S] [--rollout STEPS] [--setting NAME] [--finite N] FILE...
//
// With --finite it only looks, in N states of every file, whether the step and a product of its adjoint are
// finite; differences are not taken. --setting names one of the solvers below.
//
// A FILE is a robot or a scene. A robot starts above level ground with random joint angles and falls with
// random controls; its states are those of steps with contact. A column of the Jacobian is a derivative by
// one entry of q, v or u, or by one of some random parameters. Its central differences at eight steps from
// 1e-4 to 3e-8 are extrapolated (Richardson). The difference of the two values that agree best is the
// accuracy of the reference.
//
// tests/support/differences.hpp defines the classes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include <costate.h>
#include <nlohmann/json.hpp>

#include "tests/support/c_model.hpp"

namespace {

using namespace costate::test;

using Json = nlohmann::ordered_json;

// The parts of a scene in addition to the robot.
struct Setting {
    const char* name;
    const char* changes;  // merged into the scene
};
constexpr Setting settings[] = {
    {"pgs", R"({"solver": {"type": "pgs"}})"},
    {"lcp", R"({"solver": {"type": "lcp"}})"},
    {"ncp", R"({"solver": {"type": "ncp"}})"},
    {"ncp by admm", R"({"solver": {"type": "ncp", "method": "admm"}})"},
    {"ncp relaxed", R"({"solver": {"type": "ncp", "relaxed": true}})"},
    {"lcp located", R"({"solver": {"type": "lcp", "impact": "located"}, "ground": {"restitution": 0.5}})"},
    {"lcp, ground with stiffness",
     R"({"solver": {"type": "lcp"}, "ground": {"stiffness": 20000, "damping": 50}})"},
    {"lcp, restitution 0.5", R"({"solver": {"type": "lcp"}, "ground": {"restitution": 0.5}})"},
    {"pgs implicit, 400 sweeps", R"({"solver": {"type": "pgs", "gradient": "implicit", "sweeps": 400}})"},
};

// A temporary scene in the folder of the file, because a scene must not refer to files outside its folder.
// Removed after reading.
costate_model* load(const std::filesystem::path& file, const Setting& setting) {
    const bool scene = file.extension() == ".json";
    Json json = scene ? Json::parse(std::ifstream(file)) : Json();
    if (!scene) {
        json["name"] = file.stem().string();
        json["steps"] = 1;
        json["ground"] = Json::object();
        json["models"] = {{{"name", "robot"}, {"file", file.filename().string()}}};
    }
    if (json.value("ground", Json()).is_boolean()) json["ground"] = Json::object();
    json.merge_patch(Json::parse(setting.changes));
    const std::filesystem::path beside = file.parent_path() / (".statistics-" + file.stem().string() + "-" +
                                                               std::to_string(getpid()) + ".json");
    std::ofstream(beside) << json.dump();
    costate_model* model = nullptr;
    const int status = costate_model_load(beside.c_str(), &model);
    std::filesystem::remove(beside);
    check(status);
    return model;
}

// The robot starts with random joint angles and falls. Up to 30 steps after the first step with contact.
// Fixed robots may have no contact for a long time; their states are from at most one second.
State random_state(const CModel& m, std::mt19937_64& g) {
    std::normal_distribution<double> normal;
    State s = start_of(m);
    Vector turn(static_cast<size_t>(m.nv)), q = s.q;
    for (double& d : turn)
        d = 0.3 * normal(g);
    if (m.nv >= 6) turn[2] = 0.1;
    check(costate_retract(m.get(), q.data(), turn.data(), s.q.data()));
    for (double& v : s.v)
        v = 0.5 * normal(g);
    for (double& u : s.u)
        u = normal(g);
    int after = static_cast<int>(g() % 30);
    for (int t = 0; t < 1000; ++t) {
        if (pressing(m, s) > 0 && after-- <= 0) break;
        const State next = stepped(m, s);
        if (largest(next.v) > 50) break;  // an instability, which tests nothing more
        s = next;
    }
    return s;
}

// Statistics of one method over states.
struct Tally {
    int states[classes] = {};
    Vector errors;                   // for clean states: error of the worst column
    std::vector<std::string> wrong;  // names of the columns
};

// Result of one state: its worst column.
struct Worst {
    Verdict v;
    std::string column;
    void add(const Verdict& other, const std::string& name) {
        if (other.is > v.is) column = name;
        v = {std::max(v.is, other.is), std::max(v.error, other.is == clean ? other.error : 0)};
    }
    void into(Tally& t, const std::string& where) const {
        ++t.states[v.is];
        if (v.is == clean) t.errors.push_back(v.error);
        if (v.is == wrong) t.wrong.push_back(where + ": " + column);
    }
};

constexpr int ways = 3;
constexpr const char* way_names[ways] = {"vjp", "jvp", "Jacobian"};

// All columns by q, v and u, and some by parameters.
void examine(CModel& m, const State& s, std::mt19937_64& g, const std::string& where, Tally* tallies) {
    const auto nv = static_cast<size_t>(m.nv), nu = static_cast<size_t>(m.nu),
               np = static_cast<size_t>(m.nparam);
    const size_t rows = m.own_ndx();
    const State next = stepped(m, s);
    const StepJacobian J = jacobian(m, s, true);
    StepJacobian vjp;
    for (size_t i = 0; i < rows; ++i) {
        Vector next_bar(rows);
        next_bar[i] = 1;
        const Bars bar = pulled_back(m, s, next_bar);
        check(bar.status);
        vjp.by_x.insert(vjp.by_x.end(), bar.x.begin(), bar.x.end());
        vjp.by_u.insert(vjp.by_u.end(), bar.u.begin(), bar.u.end());
        vjp.by_theta.insert(vjp.by_theta.end(), bar.theta.begin(), bar.theta.end());
    }
    const auto column_of = [rows](const Vector& matrix, size_t columns, size_t c, double scale) {
        Vector column(rows);
        for (size_t i = 0; i < rows; ++i)
            column[i] = scale * matrix[i * columns + c];
        return column;
    };
    Worst worst[ways];
    const auto compare = [&](const Vector* columns, const Differences& fd, const std::string& name) {
        for (int way = 0; way < ways; ++way)
            worst[way].add(judge(columns[way], fd), name);
    };
    for (size_t c = 0; c < rows + nu; ++c) {
        const bool state = c < rows;
        Vector x_dot(rows), u_dot(nu);
        (state ? x_dot[c] : u_dot[c - rows]) = 1;
        const Differences fd([&](double e) {
            State moved = displaced(m, s, x_dot, e);
            for (size_t i = 0; i < nu; ++i)
                moved.u[i] += e * u_dot[i];
            return change(m, next, stepped(m, moved));
        });
        const auto of = [&](const StepJacobian& by) {
            return state ? column_of(by.by_x, rows, c, 1) : column_of(by.by_u, nu, c - rows, 1);
        };
        const Vector columns[ways] = {of(vjp), pushed(m, s, x_dot, u_dot, nullptr), of(J)};
        const std::pair<const char*, size_t> name = c < nv       ? std::pair("q ", c)
                                                    : c < 2 * nv ? std::pair("v ", c - nv)
                                                    : state      ? std::pair("activation ", c - 2 * nv)
                                                                 : std::pair("u ", c - rows);
        compare(columns, fd, name.first + std::to_string(name.second));
    }
    for (int k = 0; k < 18; ++k) {  // by y, theta = (1 + y) theta
        const size_t p = g() % np;
        const double scale = m.theta[p];
        if (scale == 0) continue;
        const auto place = [&](double value) {
            Vector theta = m.theta;
            theta[p] = value;
            return costate_model_set_parameters(m.get(), theta.data(), theta.size());
        };
        if (place(scale * (1 + 1e-4)) < 0 || place(scale * (1 - 1e-4)) < 0) {  // out of its range
            check(place(scale));
            continue;
        }
        const Differences fd([&](double e) {
            check(place(scale * (1 + e)));
            return change(m, next, stepped(m, s));
        });
        check(place(scale));
        Vector theta_dot(np);
        theta_dot[p] = scale;
        const Vector columns[ways] = {column_of(vjp.by_theta, np, p, scale),
                                      pushed(m, s, Vector(rows), Vector(nu), theta_dot.data()),
                                      column_of(J.by_theta, np, p, scale)};
        compare(columns, fd, m.name(COSTATE_PARAMETER, static_cast<int>(p)));
    }
    for (int way = 0; way < ways; ++way)
        worst[way].into(tallies[way], where);
}

// A random linear function of the last state of a rollout, along a random direction of its start and
// controls.
Verdict examine_rollout(const CModel& m, const State& s, int steps, std::mt19937_64& g) {
    costate_batch* const batch = m.batch();
    std::normal_distribution<double> normal;
    const auto nq = static_cast<size_t>(m.nq), nv = static_cast<size_t>(m.nv), nx = static_cast<size_t>(m.nx),
               linear = static_cast<size_t>(m.nv + m.na), own = m.own_ndx(), ndx = m.ndx();
    const auto n = static_cast<size_t>(steps);
    const auto random = [&](size_t count, double size) {
        Vector x(count);
        for (double& e : x)
            e = size * normal(g);
        return x;
    };
    const Vector x = whole(m, s), u = random(n * s.u.size(), 1), weights = random(own, 1),
                 dx = random(own, 1), du = random(u.size(), 1);
    Vector states(n * nx);
    if (costate_batch_rollout(batch, steps, x.data(), u.data(), states.data(), nullptr) != 0)
        return {noisy, 0};
    const Vector end(states.end() - static_cast<std::ptrdiff_t>(nx), states.end());
    Vector bar(n * ndx), begins = x, x_bar(ndx), u_bar(u.size());
    std::copy(weights.begin(), weights.end(), bar.end() - static_cast<std::ptrdiff_t>(ndx));
    begins.insert(begins.end(), states.begin(), states.end() - static_cast<std::ptrdiff_t>(nx));
    check(costate_batch_backward(batch, steps, begins.data(), u.data(), nullptr, bar.data(), x_bar.data(),
                                 u_bar.data(), nullptr, 0));
    double slope = 0;
    for (size_t i = 0; i < dx.size(); ++i)
        slope += x_bar[i] * dx[i];
    for (size_t i = 0; i < du.size(); ++i)
        slope += u_bar[i] * du[i];
    const Differences fd([&](double e) {
        Vector moved = x, d(nv), controls = u, difference(nv);
        for (size_t i = 0; i < nv; ++i)
            d[i] = e * dx[i];
        for (size_t i = 0; i < linear; ++i)
            moved[nq + i] += e * dx[nv + i];
        for (size_t i = 0; i < u.size(); ++i)
            controls[i] += e * du[i];
        check(costate_retract(m.get(), x.data(), d.data(), moved.data()));
        check(costate_batch_rollout(batch, steps, moved.data(), controls.data(), states.data(), nullptr));
        const double* last = states.data() + states.size() - nx;
        check(costate_difference(m.get(), end.data(), last, difference.data()));
        double sum = 0;
        for (size_t i = 0; i < nv; ++i)
            sum += weights[i] * difference[i];
        for (size_t i = 0; i < linear; ++i)
            sum += weights[nv + i] * (last[nq + i] - end[nq + i]);
        return Vector{sum};
    });
    return judge({slope}, fd);
}

bool finite(const Vector& x) {
    return std::all_of(x.begin(), x.end(), [](double e) { return std::isfinite(e); });
}

struct FiniteCount {
    long long states = 0, contacts = 0, diverged = 0;
    std::vector<std::string> wrong;
};

// Falls of the robot from random starts, with controls that are random in every step, until `states` steps with
// contact are counted, or nothing touches anything in ten falls of 300 steps each. A fall ends where a speed
// exceeds 1000: that is an instability.
void count_finite(const CModel& m, long long states, std::mt19937_64& g, const std::string& where,
                  FiniteCount& out) {
    std::normal_distribution<double> normal;
    const auto nv = static_cast<size_t>(m.nv);
    const auto random = [&](size_t n, double size) {
        Vector x(n);
        for (double& e : x)
            e = size * normal(g);
        return x;
    };
    long long counted = 0;
    for (int fall = 0, idle = 0; counted < states && idle < 10; ++fall, ++idle) {
        State s = start_of(m);
        const Vector turn = random(nv, 0.3), q = s.q;
        check(costate_retract(m.get(), q.data(), turn.data(), s.q.data()));
        s.v = random(nv, 1);
        for (int t = 0; t < 300 && counted < states; ++t) {
            s.u = random(s.u.size(), 1);
            const State next = stepped(m, s);
            if (const int contacts = pressing(m, s); contacts > 0) {
                const Bars bar = pulled_back(m, s, random(m.own_ndx(), 1));
                check(bar.status);
                if (!finite(next.q) || !finite(next.v) || !finite(next.act) || !finite(bar.x) ||
                    !finite(bar.u) || !finite(bar.theta))
                    out.wrong.push_back(where + ", fall " + std::to_string(fall) + ", step " +
                                        std::to_string(t));
                ++counted;
                ++out.states;
                idle = 0;
                out.contacts += contacts;
            }
            if (!(largest(next.v) < 1000)) {
                ++out.diverged;
                break;
            }
            s = next;
        }
    }
}

void print_finite(const std::vector<std::filesystem::path>& files, const std::vector<Setting>& chosen,
                  long long states, unsigned long long seed) {
    std::printf("| file | setting | states with contact | contacts | falls that diverged | not finite |\n");
    std::printf("|---|---|---|---|---|---|\n");
    for (const std::filesystem::path& file : files)
        for (const Setting& setting : chosen) {
            const CModel m(load(file, setting));
            std::mt19937_64 g(seed);
            FiniteCount count;
            count_finite(m, states, g, file.stem().string() + ", " + setting.name, count);
            std::printf("| %s | %s | %lld | %lld | %lld | %zu |\n", file.stem().c_str(), setting.name,
                        count.states, count.contacts, count.diverged, count.wrong.size());
            for (const std::string& what : count.wrong)
                std::printf("- %s\n", what.c_str());
            std::fflush(stdout);
        }
}

double percentile(Vector x, double share) {
    if (x.empty()) return NAN;
    std::sort(x.begin(), x.end());
    return x[std::min(x.size() - 1, static_cast<size_t>(share * static_cast<double>(x.size())))];
}

void print_row(const char* setting, const char* way, const Tally& t) {
    std::printf("| %s | %s |", setting, way);
    for (const int count : t.states)
        std::printf(" %d |", count);
    std::printf(" %.1g | %.1g | %.1g |\n", percentile(t.errors, 0.5), percentile(t.errors, 0.9),
                percentile(t.errors, 0.99));
}

int run(int argc, char** argv) {
    int states = 20, steps = 60;
    long long finite_states = 0;
    unsigned long long seed = 1;
    std::vector<Setting> chosen(std::begin(settings), std::end(settings));
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
        const auto number = [&] {
            if (i + 1 == argc) throw std::runtime_error(std::string(argv[i]) + " takes a number");
            return std::strtoull(argv[++i], nullptr, 10);
        };
        if (std::strcmp(argv[i], "--states") == 0)
            states = static_cast<int>(number());
        else if (std::strcmp(argv[i], "--seed") == 0)
            seed = number();
        else if (std::strcmp(argv[i], "--rollout") == 0)
            steps = static_cast<int>(number());
        else if (std::strcmp(argv[i], "--finite") == 0)
            finite_states = static_cast<long long>(number());
        else if (std::strcmp(argv[i], "--setting") == 0) {
            if (i + 1 == argc) throw std::runtime_error("--setting takes a name");
            const std::string name = argv[++i];
            const auto other = [&](const Setting& s) { return s.name != name; };
            chosen.erase(std::remove_if(chosen.begin(), chosen.end(), other), chosen.end());
            if (chosen.empty()) throw std::runtime_error("no setting is named " + name);
        } else
            files.emplace_back(argv[i]);
    }
    if (files.empty())
        throw std::runtime_error("name a robot or a scene; see tests/figures/gradient_statistics.cpp");
    if (finite_states > 0) {
        std::printf("seed %llu\n\n", seed);
        print_finite(files, chosen, finite_states, seed);
        return 0;
    }
    std::printf("%zu files, %d states each, seed %llu; rollouts of %d steps\n\n", files.size(), states, seed,
                steps);
    std::printf("| setting | derivatives | clean | noisy | kink | ties | WRONG | median | 90 %% | 99 %% |\n");
    std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
    std::vector<std::string> wrongs;
    for (const Setting& setting : chosen) {
        Tally tallies[ways], rollouts;
        for (const std::filesystem::path& file : files) {
            CModel m(load(file, setting));
            std::mt19937_64 g(seed);
            for (int k = 0; k < states; ++k) {
                const std::string where =
                    file.stem().string() + ", " + setting.name + ", state " + std::to_string(k);
                const State s = random_state(m, g);
                examine(m, s, g, where, tallies);
                if (steps == 0) continue;
                Worst worst;
                worst.add(examine_rollout(m, s, steps, g), "rollout");
                worst.into(rollouts, where);
            }
        }
        for (int way = 0; way < ways; ++way) {
            print_row(setting.name, way_names[way], tallies[way]);
            for (const std::string& what : tallies[way].wrong)
                wrongs.push_back(std::string(way_names[way]) + ", " + what);
        }
        print_row(setting.name, "rollout", rollouts);
        for (const std::string& what : rollouts.wrong)
            wrongs.push_back(what);
        std::fflush(stdout);
    }
    std::printf("\n%zu WRONG\n", wrongs.size());
    for (const std::string& what : wrongs)
        std::printf("- %s\n", what.c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gradient_statistics: %s\n", e.what());
        return 2;
    }
}
