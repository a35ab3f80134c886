// costate_activations_beside_mujoco FILE.xml...: the motion of the same MJCF file in costate and in MuJoCo, from its first
// keyframe under sines as controls: the largest difference of coordinates, velocities and activations over 1000 steps.
// Both take semi-implicit Euler steps; the file must have no contacts, and no velocity gains, which costate takes implicitly.
#include <costate.h>
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Vector = std::vector<double>;

constexpr double tolerance = 1e-9;
constexpr int steps = 1000;

int check(int status) {
    if (status < 0) throw std::runtime_error(costate_last_error());
    return status;
}

double apart(const double* a, const double* b, size_t n) {
    double most = 0;
    for (size_t i = 0; i < n; ++i)
        most = std::max(most, std::abs(a[i] - b[i]));
    return most;
}

bool compare(const std::string& file) {
    char error[1000] = "";
    const std::unique_ptr<mjModel, decltype(&mj_deleteModel)> m(
        mj_loadXML(file.c_str(), nullptr, error, sizeof error), mj_deleteModel);
    if (!m) throw std::runtime_error(std::string("MuJoCo: ") + error);
    const std::unique_ptr<mjData, decltype(&mj_deleteData)> d(mj_makeData(m.get()), mj_deleteData);
    m->opt.integrator = mjINT_EULER;
    mj_resetDataKeyframe(m.get(), d.get(), 0);
    costate_model* loaded = nullptr;
    check(costate_model_load(file.c_str(), &loaded));
    const std::unique_ptr<costate_model, decltype(&costate_model_free)> model(loaded, costate_model_free);
    const auto nq = static_cast<size_t>(check(costate_model_nq(loaded))),
               nv = static_cast<size_t>(check(costate_model_nv(loaded))),
               nu = static_cast<size_t>(check(costate_model_nu(loaded))),
               na = static_cast<size_t>(check(costate_model_count(loaded, COSTATE_ACTIVATION)));
    if (static_cast<int>(nq) != m->nq || static_cast<int>(nv) != m->nv || static_cast<int>(nu) != m->nu ||
        static_cast<int>(na) != m->na)
        throw std::runtime_error("the two models differ in size");
    const Vector reference(m->qpos0, m->qpos0 + m->nq);
    // coordinates of hinges and slides from the reference, then velocities and activations
    const auto theirs = [&] {
        Vector x(d->qpos, d->qpos + m->nq);
        for (size_t i = 0; i < nq; ++i)
            x[i] -= reference[i];
        x.insert(x.end(), d->qvel, d->qvel + m->nv);
        x.insert(x.end(), d->act, d->act + m->na);
        return x;
    };
    Vector x = theirs(), u(nu), next(x.size());
    if (static_cast<int>(x.size()) != check(costate_model_nx(loaded)))
        throw std::runtime_error("the two have different states");
    double worst[3]{}, moved[3]{};
    const Vector start = x;
    for (int t = 0; t < steps; ++t) {
        for (size_t n = 0; n < nu; ++n)
            u[n] = 1.5 * std::sin(0.02 * t * (1 + static_cast<double>(n)) + static_cast<double>(n));
        std::ranges::copy(u, d->ctrl);
        mj_step(m.get(), d.get());
        check(costate_state_step(loaded, x.data(), u.data(), next.data()));
        x = next;
        const Vector expected = theirs();
        const size_t begin[] = {0, nq, nq + nv}, count[] = {nq, nv, na};
        for (int part = 0; part < 3; ++part) {
            const double *a = x.data() + begin[part], *b = expected.data() + begin[part];
            worst[part] = std::max(worst[part], apart(a, b, count[part]));
            moved[part] = std::max(moved[part], apart(b, start.data() + begin[part], count[part]));
        }
    }
    std::printf("%s\n\n| part of the state | moves by | largest difference |\n|---|---|---|\n", file.c_str());
    const char* names[] = {"coordinates", "velocities", "activations"};
    for (int part = 0; part < 3; ++part)
        std::printf("| %s | %.2f | %.1e |\n", names[part], moved[part], worst[part]);
    return *std::ranges::max_element(worst) <= tolerance;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: costate_activations_beside_mujoco FILE.xml...\n");
        return 2;
    }
    int failures = 0;
    for (int i = 1; i < argc; ++i) {
        try {
            failures += !compare(argv[i]);
        } catch (const std::exception& e) {
            std::fprintf(stderr, "%s: %s\n", argv[i], e.what());
            ++failures;
        }
    }
    return failures == 0 ? 0 : 1;
}
