// costate_law_beside_mujoco [--seconds S] [--csv FILE.csv] FILE.xml...: the motion of the same MJCF file in
// costate with "law": "mujoco" and in MuJoCo; a table in Markdown with the largest difference of joint
// coordinates, rad or m, up to several times.
//
// Both start at rest in keyframe 0, or where the file starts, with the keyframe's activations and controls, or 0, and run
// at the file's time step. MuJoCo runs with Newton's method to 1e-12 and with Euler steps, or with the file's implicit ones;
// the cone of friction is the file's.
// Coordinates of free and ball joints are those of their position and quaternion. --csv writes all
// coordinates over time: q of costate, then those of MuJoCo.
#include <costate.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Vector = std::vector<double>;

void check(int status) {
    if (status < 0) throw std::runtime_error(costate_last_error());
}

// What a run begins with besides its coordinates.
struct Start {
    Vector controls, activations;
    double time_step = 0;
};

// MuJoCo's coordinates of every step; those of hinges and slides from the reference configuration.
std::vector<Vector> run_mujoco(const std::string& file, double seconds, Start& start) {
    char error[1000] = "";
    const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> m(
        mj_loadXML(file.c_str(), nullptr, error, sizeof error), mj_deleteModel);
    if (!m) throw std::runtime_error(std::string("MuJoCo: ") + error);
    if (m->opt.integrator == mjINT_RK4 && m->na > 0) m->opt.integrator = mjINT_EULER;
    m->opt.solver = mjSOL_NEWTON;
    m->opt.tolerance = 1e-12;
    m->opt.iterations = 500;
    const std::unique_ptr<mjData, decltype(&mj_deleteData)> d(mj_makeData(m.get()), mj_deleteData);
    if (m->nkey > 0) {
        mj_resetDataKeyframe(m.get(), d.get(), 0);
        std::fill_n(d->qvel, m->nv, 0);
        start.controls.assign(m->key_ctrl, m->key_ctrl + m->nu);
    } else {
        start.controls.assign(m->nu, 0);
    }
    std::ranges::copy(start.controls, d->ctrl);
    start.activations.assign(d->act, d->act + m->na);
    start.time_step = m->opt.timestep;
    std::vector<Vector> all;
    for (int k = 0; k <= static_cast<int>(std::lround(seconds / start.time_step)); ++k) {
        Vector& q = all.emplace_back(d->qpos, d->qpos + m->nq);
        for (int j = 0; j < m->njnt; ++j)
            if (m->jnt_type[j] == mjJNT_HINGE || m->jnt_type[j] == mjJNT_SLIDE)
                q[m->jnt_qposadr[j]] -= m->qpos0[m->jnt_qposadr[j]];
        mj_step(m.get(), d.get());
    }
    return all;
}

// From the coordinates q, at rest.
std::vector<Vector> run_costate(const std::string& file, int steps, const Vector& q, const Start& start) {
    costate_load_options options{};
    options.size = sizeof options;
    options.law = "mujoco";
    costate_model* loaded = nullptr;
    check(costate_model_load_with(file.c_str(), &options, &loaded));
    const std::unique_ptr<costate_model, decltype(&costate_model_free)> model(loaded, costate_model_free);
    if (costate_model_nu(loaded) != static_cast<int>(start.controls.size()) ||
        costate_model_count(loaded, COSTATE_ACTIVATION) != static_cast<int>(start.activations.size()))
        throw std::runtime_error("costate leaves out some of the file's actuators");
    const int nq = costate_model_nq(loaded);
    if (static_cast<int>(q.size()) != nq)
        throw std::runtime_error("the two have different numbers of coordinates");
    Vector x(costate_model_nx(loaded)), next = x;
    std::ranges::copy(q, x.begin());
    std::ranges::copy(start.activations, x.begin() + nq + costate_model_nv(loaded));
    std::vector<Vector> all;
    for (int k = 0; k <= steps; ++k) {
        all.emplace_back(x.begin(), x.begin() + nq);
        check(costate_state_step(loaded, x.data(), start.controls.data(), next.data()));
        x = next;
    }
    return all;
}

double apart(const Vector& a, const Vector& b) {
    double most = 0;
    for (size_t i = 0; i < a.size(); ++i)
        most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

void compare(const std::string& file, double seconds, const char* csv) {
    Start start;
    const std::vector<Vector> theirs = run_mujoco(file, seconds, start);
    const double h = start.time_step;
    const std::vector<Vector> ours = run_costate(file, static_cast<int>(theirs.size()) - 1, theirs[0], start);
    std::printf("| %s | %zu |", file.c_str(), theirs[0].size());
    double most = 0, moved = 0;
    size_t k = 0;
    for (const double until : {h, 0.05, 0.2, 0.5, 1.0, 2.0}) {
        if (until > seconds + h / 2) break;
        for (; k < ours.size() && static_cast<double>(k) * h <= until + h / 2; ++k) {
            most = std::max(most, apart(ours[k], theirs[k]));
            moved = std::max(moved, apart(theirs[k], theirs[0]));
        }
        std::printf(" %.1e |", most);
    }
    std::printf(" %.2f |\n", moved);
    std::fflush(stdout);
    if (csv == nullptr) return;
    std::ofstream out(csv);
    for (size_t i = 0; i < ours.size(); ++i) {
        out << static_cast<double>(i) * h;
        for (const Vector* q : {&ours[i], &theirs[i]})
            for (const double x : *q)
                out << ',' << x;
        out << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    double seconds = 2;
    const char* csv = nullptr;
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2) {
        if (std::strcmp(argv[first], "--seconds") == 0) seconds = std::atof(argv[first + 1]);
        if (std::strcmp(argv[first], "--csv") == 0) csv = argv[first + 1];
    }
    if (first >= argc || !(seconds > 0)) {
        std::fprintf(stderr, "usage: costate_law_beside_mujoco [--seconds S] [--csv FILE.csv] FILE.xml...\n");
        return 2;
    }
    std::printf("MuJoCo %s\n\n", mj_versionString());
    std::printf(
        "| file | coordinates | one step | 0.05 s | 0.2 s | 0.5 s | 1 s | 2 s | largest motion |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
    int failures = 0;
    for (int i = first; i < argc; ++i) {
        try {
            compare(argv[i], seconds, csv);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
            ++failures;
        }
    }
    return failures == 0 ? 0 : 1;
}
