// Ours: the rollout in plain numbers, and hand-written adjoints from checkpoints.
#include "apps/beside/autodiff/compare.hpp"

namespace costate {

const Tool tool{"costate", COSTATE_VERSION, "adjoints, checkpoints"};

Differentiated differentiate(const Scene& s, const Checkpointing& checkpointing) {
    return differentiate_by_costate(s, checkpointing);
}

}  // namespace costate
