// Where environments start: given states, keyframes, and noise around them.
#include "apps/c_api/batch.hpp"
#include "scenes/format/names.hpp"

namespace costate::c_api {
namespace {

// What the file says, or one of its keyframes.
VecX<double> named_start(const Scene& scene, const char* keyframe) {
    if (!keyframe) return scene.x0;
    const auto it = std::find_if(scene.keyframes.begin(), scene.keyframes.end(),
                                 [&](const Keyframe& k) { return k.name == keyframe; });
    if (it == scene.keyframes.end())
        throw Failure(COSTATE_BAD_ARGUMENT,
                      "there is no keyframe \"" + std::string(keyframe) + "\"" +
                          suggestion(keyframe, names_of(scene.keyframes, &Keyframe::name)));
    VecX<double> x(scene.world.nx());
    enter_named(scene, *it, x);
    return x;
}

// The environments exist, and none is there twice.
void check_once(const int* envs, size_t n, size_t n_env) {
    std::vector<bool> seen(n_env);
    for (size_t k = 0; k < n; ++k) {
        check_index("environment", envs[k], n_env);
        if (seen[envs[k]])
            throw Failure(COSTATE_BAD_ARGUMENT,
                          "envs has environment " + std::to_string(envs[k]) + " more than once");
        seen[envs[k]] = true;
    }
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_reset(costate_batch* batch, const int* envs, size_t n, const char* keyframe,
                        const double* x, size_t x_size, const double* noise, const uint64_t* seeds) {
    return with_batch(__func__, batch, [&](SharedBatch& s) -> int {
        Batch& b = s.batch;
        const World& w = b.world();
        const size_t n_env = b.n_env(), nx = b.nx();
        if (!envs && n != n_env)
            throw Failure(COSTATE_BAD_ARGUMENT, "envs is null, so n must be " + std::to_string(n_env) +
                                                    " and not " + std::to_string(n));
        if (n > n_env)
            throw Failure(COSTATE_BAD_ARGUMENT,
                          "n is more than the " + std::to_string(n_env) + " environments");
        if (x && x_size != nx && x_size != n * nx)
            throw Failure(COSTATE_BAD_ARGUMENT, "x has " + std::to_string(x_size) +
                                                    " numbers and must have " + std::to_string(nx) + " or " +
                                                    std::to_string(n * nx));
        if (x && keyframe) throw Failure(COSTATE_BAD_ARGUMENT, "x and a keyframe are both given");
        if (!noise != !seeds)
            throw Failure(COSTATE_BAD_ARGUMENT,
                          noise ? "seeds is null, noise is not" : "noise is null, seeds is not");
        if (noise) check_finite("noise", noise, w.ndx());
        if (envs) check_once(envs, n, n_env);
        const VecX<double> start = named_start(s.model->scene, keyframe);
        VecX<double> state(w.nx());
        b.reset(envs, n, [&](size_t k, double* out) {
            state = start;
            if (x) read_state(w, "x", x + (x_size == nx ? 0 : k * nx), state.data());
            if (noise) perturb_state(w, noise, seeds[k], state.data());
            check_result("a state with noise", state);
            write(state, out);
        });
        return COSTATE_OK;
    });
}
}
