// Where environments start: given states, keyframes, and noise around them.
#include <random>

#include "adjoint/rollout/state.hpp"
#include "apps/c_api/batch.hpp"
#include "scenes/format/names.hpp"

namespace costate::c_api {
namespace {

// What the file says, or one of its keyframes.
VecX<double> named_start(const Scene& scene, const char* keyframe) {
    VecX<double> x = scene.x0;
    if (!keyframe) return x;
    const auto it = std::find_if(scene.keyframes.begin(), scene.keyframes.end(),
                                 [&](const Keyframe& k) { return k.name == keyframe; });
    if (it == scene.keyframes.end())
        throw Failure(COSTATE_BAD_ARGUMENT,
                      "there is no keyframe \"" + std::string(keyframe) + "\"" +
                          suggestion(keyframe, names_of(scene.keyframes, &Keyframe::name)));
    enter_keyframe(*it, scene.world.model, x.data(), x.data() + scene.world.nq());
    return x;
}

// Moves x (nx) by entry i of a tangent vector noise[i] times a number in [-1, 1) that the seed decides: 53
// bits of the generator of Matsumoto & Nishimura 1998 in its form of 64 bits, one draw an entry.
void perturb(const World& w, const double* noise, std::uint64_t seed, VecX<double>& x) {
    std::mt19937_64 bits(seed);
    VecX<double> d(w.ndx());
    for (int i = 0; i < w.ndx(); ++i)
        d[i] = noise[i] * (static_cast<double>(bits() >> 11) * 0x1p-52 - 1);
    const VecX<double> start = x;
    retract_state(w, start.data(), d.data(), x.data());
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_batch_reset(costate_batch* batch, const int* envs, size_t n, const char* keyframe,
                        const double* x, size_t x_size, const double* noise, const uint64_t* seeds) {
    return with_batch(__func__, batch, [&](Batch& b) -> int {
        const World& w = b.world();
        const size_t n_env = b.options.n_env, nx = b.nx();
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
        const VecX<double> start = named_start(b.model->scene, keyframe);
        VecX<double> state(w.nx());
        for (size_t k = 0; k < n; ++k) {
            if (envs) check_index("environment", envs[k], n_env);
            state = start;
            if (x) read_state(w, "x", x + (x_size == nx ? 0 : k * nx), state.data());
            if (noise) perturb(w, noise, seeds[k], state);
            check_result("a state with noise", state);
            write(state, b.x_next.data() + k * nx);
        }
        for (size_t k = 0; k < n; ++k) {
            const size_t e = envs ? static_cast<size_t>(envs[k]) : k;
            std::copy_n(b.x_next.data() + k * nx, nx, b.x.data() + e * nx);
            b.status[e] = COSTATE_OK;
        }
        return COSTATE_OK;
    });
}
}
