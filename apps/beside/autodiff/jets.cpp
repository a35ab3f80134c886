// Ceres Solver's Jets: forward mode, one derivative by each of the directions in which a robot's initial
// state may move.
#include <ceres/jet.h>
#include <ceres/version.h>

#include "apps/beside/autodiff/taped_rollout.hpp"

namespace costate {

constexpr int directions = 36;  // 2 nv of the one robot

struct Jets {
    using Type = ceres::Jet<double, directions>;
    static double value(const Type& a) { return a.a; }
};
using Scalar = Active<Jets>;

}  // namespace costate

COSTATE_WITHOUT_EXACT_SOLVERS(costate::Scalar)

namespace costate {

const Tool tool{"Ceres Jets", CERES_VERSION_STRING, "forward, initial state only"};

Differentiated differentiate(const Scene& s, const Checkpointing&) {
    if (s.world.ndx() != directions)
        throw SceneError(s.file.string() + ": its state moves in " + std::to_string(s.world.ndx()) +
                         " directions, and the Jets have " + std::to_string(directions) +
                         "; take quadruped_stand");
    Differentiated result;
    result.forward_evaluations = s.steps;
    const Inputs inputs(s);
    VecX<Scalar> in = inputs.at(s).cast<Scalar>();
    for (int i = 0; i < directions; ++i)
        in[i].a.v[i] = 1;
    const Stopwatch forward;
    const Scalar out = rollout_loss<Scalar>(s, s.steps, in.data());
    result.forward_seconds = forward.seconds();
    result.loss = value_of(out);
    result.gradient.initial_state = out.a.v;
    return result;
}

}  // namespace costate
