// costate_beside_mujoco SECONDS SCENE=FILE.xml...: environment steps per second of scenes and of MuJoCo on
// the files of the same machines, one thread each, at the same control rate; a table in Markdown. Seconds are
// of processor time.
//
// Both step 64 environments one after the other for a second of simulated time from where their files start
// (keyframe 0 if there is one), all over again until SECONDS have gone by, and the best of five such runs
// counts. Controls are those of the keyframe, or 0, with uniform noise of 0.1 drawn anew for each environment
// and control step. A control step is 5 steps of MuJoCo's file, and as many steps of the scene's as come
// closest to that time; both are listed. Settings are those of the files.
#include <costate.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int environments = 64, runs = 5, frame_skip = 5;

[[noreturn]] void quit(const std::string& sentence) {
    std::fprintf(stderr, "costate_beside_mujoco: %s\n", sentence.c_str());
    std::exit(2);
}

// Rounds of `steps` environment steps each until the time is up: how many steps a second, the best of some.
double rate(double seconds, double steps, const std::function<void()>& round) {
    double best = 0;
    for (int k = 0; k < runs; ++k) {
        const std::clock_t begin = std::clock();
        double done = 0, gone = 0;
        while (gone < seconds) {
            round();
            done += steps;
            gone = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        }
        best = std::max(best, done / gone);
    }
    return best;
}

std::vector<double> noise(size_t n, unsigned seed) {
    std::mt19937_64 bits(seed);
    std::vector<double> out(n);
    for (double& x : out)
        x = 0.1 * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1);
    return out;
}

class MuJoCo {
public:
    explicit MuJoCo(mjModel* m) : model(m) {
        for (int e = 0; e < environments; ++e)
            data_.push_back(mj_makeData(model));
    }
    ~MuJoCo() {
        for (mjData* d : data_)
            mj_deleteData(d);
        mj_deleteModel(model);
    }
    MuJoCo(const MuJoCo&) = delete;
    MuJoCo& operator=(const MuJoCo&) = delete;

    std::vector<double> controls() const {
        std::vector<double> u(model->nu, 0);
        if (model->nkey > 0) std::copy_n(model->key_ctrl, model->nu, u.begin());
        return u;
    }
    void run(int steps, const std::vector<double>& u) {
        for (mjData* d : data_)
            model->nkey > 0 ? mj_resetDataKeyframe(model, d, 0) : mj_resetData(model, d);
        const double* at = u.data();
        for (int t = 0; t < steps; ++t)
            for (mjData* d : data_) {
                std::copy_n(at, model->nu, d->ctrl);
                at += model->nu;
                for (int k = 0; k < frame_skip; ++k)
                    mj_step(model, d);
            }
    }
    mjModel* model;

private:
    std::vector<mjData*> data_;
};

void check(int status) {
    if (status < 0) quit(costate_last_error());
}

double parameter(const costate_model* m, const std::string& wanted) {
    std::vector<double> theta(costate_model_nparam(m));
    check(costate_model_get_parameters(m, theta.data(), theta.size()));
    char name[256];
    for (int i = 0; i < costate_model_nparam(m); ++i)
        if (costate_model_name(m, COSTATE_PARAMETER, i, name, sizeof name) > 0 && wanted == name)
            return theta[i];
    quit("no parameter " + wanted);
}

void compare(double seconds, const std::string& scene, const std::string& file) {
    char error[1000] = "";
    mjModel* loaded = mj_loadXML(file.c_str(), nullptr, error, sizeof error);
    if (!loaded)
        return void(
            std::fprintf(stderr, "%s is left out: MuJoCo does not load it: %s\n", file.c_str(), error));
    MuJoCo other(loaded);
    costate_model* m = nullptr;
    check(costate_model_load(scene.c_str(), &m));
    const double control_time = frame_skip * other.model->opt.timestep,
                 time_step = parameter(m, "world/time_step");
    const int substeps = std::max(1, static_cast<int>(std::lround(control_time / time_step)));
    const int steps = static_cast<int>(std::ceil(1 / control_time)), nu = costate_model_nu(m);
    if (nu != other.model->nu)
        quit(scene + " has " + std::to_string(nu) + " controls, " + file + " " +
             std::to_string(other.model->nu));
    std::vector<double> u = noise(static_cast<size_t>(steps * environments * nu), 1);
    const std::vector<double> base = other.controls();
    for (size_t i = 0; i < u.size(); ++i)
        u[i] += base[i % static_cast<size_t>(nu)];

    costate_batch_options options{};
    options.n_env = environments;
    options.n_threads = 1;
    options.substeps = substeps;
    costate_batch* batch = nullptr;
    check(costate_batch_create(m, &options, &batch));
    int diverged = 0;
    const double ours = rate(seconds, double(steps) * environments, [&] {
        check(costate_batch_reset(batch, nullptr, environments, nullptr, nullptr, 0, nullptr, nullptr));
        for (int t = 0; t < steps; ++t)
            check(diverged =
                      costate_batch_step(batch, nullptr, u.data() + t * environments * nu, nullptr, nullptr));
    });
    if (diverged > 0) quit(scene + " diverges");
    const double theirs = rate(seconds, double(steps) * environments, [&] { other.run(steps, u); });
    std::printf("| `%s` | %d | %.4g | %d x %.4g | %d x %.4g | %.0f | %.0f | %.2f |\n", scene.c_str(),
                costate_model_nv(m), 1 / control_time, substeps, 1e3 * time_step, frame_skip,
                1e3 * other.model->opt.timestep, ours, theirs, ours / theirs);
    std::fflush(stdout);
    check(costate_batch_free(batch));
    check(costate_model_free(m));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) quit("usage: costate_beside_mujoco SECONDS SCENE=FILE.xml...");
    const double seconds = std::atof(argv[1]);
    if (!(seconds > 0)) quit("SECONDS must be a positive number");
    std::printf("MuJoCo %s, costate %d, environment steps per second on one thread\n\n", mj_versionString(),
                costate_version(COSTATE_VERSION));
    std::printf(
        "| scene | dofs | control, Hz | steps, ms | MuJoCo's, ms | costate | MuJoCo | ratio "
        "|\n|---|---|---|---|---|---|---|---|\n");
    for (int i = 2; i < argc; ++i) {
        const std::string pair = argv[i];
        const size_t equals = pair.find('=');
        if (equals == std::string::npos)
            quit("no = in " + pair + "; name a scene and a file, as hopper=hopper.xml");
        compare(seconds, pair.substr(0, equals), pair.substr(equals + 1));
    }
}
