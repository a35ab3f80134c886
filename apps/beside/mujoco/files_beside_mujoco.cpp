// costate_files_beside_mujoco [--steps N] [--law] FILE.xml...: the same MJCF file in costate and in MuJoCo; a table in
// Markdown with the processor time of a step, and of a step and its reverse, in us.
//
// Both start at keyframe 0, or where the file starts, and make N steps of the file's size with the controls of
// the keyframe, or 0: MuJoCo with semi-implicit Euler and the solver and tolerance of the file, costate with
// its default solver and rigid contacts; with --law both by MuJoCo's law and the integrator of the file. Each
// figure is the median of five runs, which alternate between the two. Contacts are the largest numbers in a
// run; for costate, of those with an impulse.
#include <costate.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int runs = 5;

using Vector = std::vector<double>;

void check(int status) {
    if (status < 0) throw std::runtime_error(costate_last_error());
}

double median(Vector x) {
    std::nth_element(x.begin(), x.begin() + x.size() / 2, x.end());
    return x[x.size() / 2];
}

// Processor time of a call per step, us.
template <class Call> double time_per_step(int steps, const Call& call) {
    const std::clock_t begin = std::clock();
    call();
    return 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / steps;
}

class MuJoCo {
public:
    MuJoCo(const std::string& file, bool by_law) {
        char error[1000] = "";
        model_.reset(mj_loadXML(file.c_str(), nullptr, error, sizeof error));
        if (!model_) throw std::runtime_error(std::string("MuJoCo: ") + error);
        // costate's integrator: by MuJoCo's law the file's
        if (!by_law || (model_->opt.integrator == mjINT_RK4 && model_->na > 0))
            model_->opt.integrator = mjINT_EULER;
        data_.reset(mj_makeData(model_.get()));
    }
    Vector controls() const {
        Vector u(model_->nu);
        if (model_->nkey > 0) std::copy_n(model_->key_ctrl, model_->nu, u.begin());
        return u;
    }
    void run(int steps) {
        if (model_->nkey > 0)
            mj_resetDataKeyframe(model_.get(), data_.get(), 0);
        else
            mj_resetData(model_.get(), data_.get());
        std::ranges::copy(controls(), data_->ctrl);
        contacts = 0;
        for (int k = 0; k < steps; ++k) {
            mj_step(model_.get(), data_.get());
            contacts = std::max(contacts, static_cast<int>(data_->ncon));
        }
    }
    int contacts = 0;

private:
    struct Delete {
        void operator()(mjModel* m) const { mj_deleteModel(m); }
        void operator()(mjData* d) const { mj_deleteData(d); }
    };
    std::unique_ptr<mjModel, Delete> model_;
    std::unique_ptr<mjData, Delete> data_;
};

class Costate {
public:
    Costate(const std::string& file, int steps, const char* law, const Vector& controls) : steps_(steps) {
        costate_load_options loading{};
        loading.size = sizeof loading;
        loading.law = law;
        costate_model* model = nullptr;
        check(costate_model_load_with(file.c_str(), &loading, &model));
        model_.reset(model);
        costate_batch_options options{};
        options.n_env = options.n_threads = options.substeps = 1;
        costate_batch* batch = nullptr;
        check(costate_batch_create(model, &options, &batch));
        batch_.reset(batch);
        const auto nu = static_cast<size_t>(costate_model_nu(model));
        nx_ = static_cast<size_t>(costate_model_nx(model));
        for (int k = 0; k < steps; ++k)
            for (size_t i = 0; i < nu; ++i)
                u_.push_back(nu == controls.size() ? controls[i] : 0);
        states_.resize((steps + 1) * nx_);
        char key[256];
        const bool keyframe = costate_model_count(model, COSTATE_KEYFRAME) > 0;
        if (keyframe) check(costate_model_name(model, COSTATE_KEYFRAME, 0, key, sizeof key));
        check(costate_batch_reset(batch, nullptr, 1, keyframe ? key : nullptr, nullptr, 0, nullptr, nullptr));
        check(costate_batch_state(batch, states_.data(), nullptr));
    }
    int dofs() const { return costate_model_nv(model_.get()); }
    void forward() {
        const int diverged = costate_batch_rollout(batch_.get(), steps_, states_.data(), u_.data(),
                                                   states_.data() + nx_, nullptr);
        check(diverged);
        if (diverged > 0) throw std::runtime_error("costate: the motion diverges");
    }
    void backward() {
        const int nq = costate_model_nq(model_.get()), nv = dofs();
        const size_t ndx = nx_ - nq + nv;
        Vector bar(steps_ * ndx), x_bar(ndx), u_bar(u_.size());
        std::fill(bar.end() - static_cast<std::ptrdiff_t>(ndx), bar.end(), 1);
        check(costate_batch_backward(batch_.get(), steps_, states_.data(), u_.data(), nullptr, bar.data(),
                                     x_bar.data(), u_bar.data(), nullptr, 0));
    }
    int contacts() const {
        const size_t nq = costate_model_nq(model_.get()), nu = u_.size() / steps_;
        std::vector<costate_contact> all(4096);
        int most = 0;
        for (int k = 0; k < steps_; k += 10) {
            const double* q = states_.data() + k * nx_;
            const int found =
                costate_contacts(model_.get(), q, q + nq, u_.data() + k * nu, all.data(), all.size());
            check(found);
            most =
                std::max(most, static_cast<int>(std::count_if(
                                   all.begin(), all.begin() + std::min<int>(found, 4096), [](const auto& c) {
                                       return std::hypot(c.impulse[0], c.impulse[1], c.impulse[2]) > 0;
                                   })));
        }
        return most;
    }

private:
    struct Free {
        void operator()(costate_model* m) const { costate_model_free(m); }
        void operator()(costate_batch* b) const { costate_batch_free(b); }
    };
    int steps_;
    size_t nx_ = 0;
    Vector u_, states_;  // states_: (steps + 1 x nx)
    std::unique_ptr<costate_model, Free> model_;
    std::unique_ptr<costate_batch, Free> batch_;
};

void compare(const std::string& file, int steps, const char* law) {
    MuJoCo other(file, std::strcmp(law, "mujoco") == 0);
    Costate ours(file, steps, law, other.controls());
    Vector theirs, forward, both;
    for (int k = 0; k < runs; ++k) {
        theirs.push_back(time_per_step(steps, [&] { other.run(steps); }));
        forward.push_back(time_per_step(steps, [&] { ours.forward(); }));
        both.push_back(forward.back() + time_per_step(steps, [&] { ours.backward(); }));
    }
    std::printf("| %s | %d | %.1f | %.1f | %.1f | %.2f | %d | %d |\n", file.c_str(), ours.dofs(),
                median(theirs), median(forward), median(both), median(forward) / median(theirs),
                other.contacts, ours.contacts());
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    int steps = 300, first = 1;
    const char* law = "rigid";
    for (; first < argc && std::strncmp(argv[first], "--", 2) == 0; ++first) {
        const std::string option = argv[first];
        if (option == "--law") {
            law = "mujoco";
        } else if (option == "--steps" && first + 1 < argc) {
            steps = std::atoi(argv[++first]);
        } else {
            break;
        }
    }
    if (first >= argc || steps < 1 || argv[first][0] == '-') {
        std::fprintf(stderr, "usage: costate_files_beside_mujoco [--steps N] [--law] FILE.xml...\n");
        return 2;
    }
    std::printf("MuJoCo %s, costate %d, %d steps, one thread, law: %s\n\n", mj_versionString(),
                costate_version(COSTATE_VERSION), steps, law);
    std::printf(
        "| file | dofs | MuJoCo, us | costate, us | with reverse, us | costate/MuJoCo | contacts, MuJoCo | "
        "contacts, costate |\n|---|---|---|---|---|---|---|---|\n");
    int failures = 0;
    for (int i = first; i < argc; ++i) {
        try {
            compare(argv[i], steps, law);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
            ++failures;
        }
    }
    return failures == 0 ? 0 : 1;
}
