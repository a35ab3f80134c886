// costate_robots: what the files of robots are worth here.
//
//   costate_robots [--states 50] [--seed 1] [--law rigid|mujoco] [--seconds 60] [--out FILE.tsv] FILE...
//   costate_robots --finite SECONDS [--seed 1] [--law rigid|mujoco] FILE...
//
// --search FOLDER: also look there for meshes and included files.
//
// The first form compares, for each file, the derivatives of a step in random states of contact with central
// differences (tests/support/differences.hpp says how they are judged), and the smooth dynamics of MJCF with MuJoCo's
// where the program is built with it. It prints a table and what is wrong, and fails if a derivative is wrong. A file has at most --seconds of processor time for its gradients.
//
// The second form looks at nothing but whether the step and a product of its adjoint are finite in as many random states
// of contact as fit into the processor time, in turn over the files.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>

#include "tests/robots/robots.hpp"

namespace {

using namespace costate::test;
namespace fs = std::filesystem;

struct Options {
    int states = 50;
    unsigned long long seed = 1;
    const char* law = nullptr;
    double seconds = 60, finite = 0;
    fs::path out;
    std::string search;
    std::vector<fs::path> files;
};

Options read(int argc, char** argv) {
    Options o;
    for (int i = 1; i < argc; ++i) {
        const auto is = [&](const char* name) { return std::strcmp(argv[i], name) == 0; };
        if (argv[i][0] != '-') {
            o.files.emplace_back(argv[i]);
            continue;
        }
        if (i + 1 == argc) throw std::runtime_error(std::string(argv[i]) + " takes a value");
        if (is("--states"))
            o.states = std::atoi(argv[++i]);
        else if (is("--seed"))
            o.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (is("--law"))
            o.law = argv[++i];
        else if (is("--seconds"))
            o.seconds = std::atof(argv[++i]);
        else if (is("--finite"))
            o.finite = std::atof(argv[++i]);
        else if (is("--search"))
            o.search = argv[++i];
        else if (is("--out"))
            o.out = argv[++i];
        else
            throw std::runtime_error(std::string(argv[i]) + " is not an option; see tests/robots/main.cpp");
    }
    if (o.files.empty()) throw std::runtime_error("name robot files");
    return o;
}

struct Totals {
    int files = 0, refused = 0, still = 0, states = 0, touching = 0, verdicts[classes] = {}, compared = 0,
        equal = 0;
};

constexpr double smooth_tolerance = 1e-9;

// One file: a row of the table, and lines about what is wrong.
void look_at(const Options& o, const fs::path& file, Totals& totals, std::vector<std::string>& wrong,
             std::ofstream& table) {
    ++totals.files;
    std::string gradients = "\t\t\t\t\t\t\t\t\t", smooth;
    try {
        CModel model = load_on_ground(file, o.law, o.search);
        if (model.nv == 0) {
            ++totals.still;
            return;
        }
        const GradientTable t = check_gradients(model, o.states, o.seed, o.seconds);
        totals.states += t.states;
        totals.touching += t.touching;
        gradients =
            std::to_string(model.nv) + "\t" + std::to_string(t.states) + "\t" + std::to_string(t.touching);
        for (int k = 0; k < classes; ++k) {
            totals.verdicts[k] += t.verdicts[k];
            gradients += "\t" + std::to_string(t.verdicts[k]);
        }
        char text[64];
        std::snprintf(text, sizeof text, "\t%.1e\t%.1e", t.worst_clean, t.modes_apart);
        gradients += text;
        for (const std::string& what : t.wrong)
            wrong.push_back(file.string() + ": " + what);
    } catch (const std::exception& e) {
        ++totals.refused;
        wrong.push_back(file.string() + ": " + e.what());
    }
    if (file.extension() == ".xml") {
        try {
            const double error = smooth_error_beside_mujoco(file, o.search, o.states, o.seed);
            ++totals.compared;
            totals.equal += error <= smooth_tolerance;
            char text[32];
            std::snprintf(text, sizeof text, "%.1e", error);
            smooth = text;
        } catch (const std::exception& e) {
            smooth = e.what();
        }
    }
    table << file.string() << '\t' << gradients << '\t' << smooth << std::endl;
}

int compare(const Options& o) {
    std::ofstream table(o.out.empty() ? fs::path("/dev/null") : o.out);
    table << "file\tdofs\tstates\twith contact";
    for (const char* name : class_names)
        table << '\t' << name;
    table << "\tworst clean\tmodes apart\tsmooth dynamics beside MuJoCo\n";
    Totals t;
    std::vector<std::string> wrong;
    for (const fs::path& file : o.files)
        look_at(o, file, t, wrong, table);
    std::printf("%d files, seed %llu: %d refused, %d in which nothing moves; %d states, %d with contact\n\n",
                t.files, o.seed, t.refused, t.still, t.states, t.touching);
    std::printf("| clean | noisy | kink | ties | WRONG |\n|---|---|---|---|---|\n|");
    for (const int n : t.verdicts)
        std::printf(" %d |", n);
    std::printf("\n\nsmooth dynamics equal to MuJoCo's within %.0e: %d of %d files\n", smooth_tolerance,
                t.equal, t.compared);
    for (const std::string& line : wrong)
        std::printf("- %s\n", line.c_str());
    return wrong.empty() ? 0 : 1;
}

bool finite(const Vector& x) {
    return std::ranges::all_of(x, [](double e) { return std::isfinite(e); });
}

constexpr int states_in_turn = 1000;

int look_for_nan(const Options& o) {
    std::vector<CModel> models;
    std::vector<fs::path> files;
    for (const fs::path& file : o.files) {
        try {
            CModel model = load_on_ground(file, o.law, o.search);
            if (model.nv == 0) continue;
            models.push_back(std::move(model));
            files.push_back(file);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s\n", e.what());
        }
    }
    long long states = 0, touching = 0, bad = 0, round = 0, diverged = 0;
    const std::clock_t begin = std::clock();
    const auto seconds = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
    for (; seconds() < o.finite && !models.empty(); ++round)
        for (size_t i = 0; i < models.size() && seconds() < o.finite; ++i) {
            const CModel& m = models[i];
            const unsigned long long seed = o.seed + 1000003 * static_cast<unsigned long long>(round);
            Falls falls(m, seed, 300);
            std::mt19937_64 bits(seed);
            std::normal_distribution<double> normal;
            // every file has the same share of the time, whatever its steps cost
            const double share = o.finite / static_cast<double>(models.size()) / 4, since = seconds();
            for (int k = 0; k < states_in_turn && seconds() - since < share; ++k) {
                const State s = falls.next();
                Vector next_bar(m.own_ndx());
                for (double& e : next_bar)
                    e = normal(bits);
                ++states;
                touching += falls.touches();
                State next = s;
                const int step = step_to(m, s, next);
                const Bars bar = pulled_back(m, s, next_bar);
                if (step == COSTATE_DIVERGED) {
                    ++diverged;
                    continue;
                }
                check(step);
                if (bar.status != COSTATE_OK || !finite(next.q) || !finite(next.v) || !finite(next.act) ||
                    !finite(bar.x) || !finite(bar.u) || !finite(bar.theta)) {
                    ++bad;
                    std::printf("- not finite: %s, seed %llu, state %d: %s\n", files[i].c_str(), seed, k,
                                bar.status == COSTATE_OK ? "" : costate_last_error());
                }
            }
        }
    std::printf(
        "seed %llu: %lld states of %zu robots, %lld with contact, %.0f s; %lld steps diverge, %lld not "
        "finite\n",
        o.seed, states, models.size(), touching, seconds(), diverged, bad);
    return bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const Options o = read(argc, argv);
        return o.finite > 0 ? look_for_nan(o) : compare(o);
    } catch (const std::exception& e) {
        std::fprintf(stderr, "costate_robots: %s\n", e.what());
        return 2;
    }
}
