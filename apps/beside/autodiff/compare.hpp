// What a tool is asked for: the gradient of a scene's rollout, and what it took. Each tool is one file, and a
// program of its own with main.cpp.
#pragma once

#include <ctime>

#include "adjoint/rollout/rollout.hpp"
#include "scenes/scene.hpp"

namespace costate {

// Processor time of this program, so that what else runs on the machine counts little.
class Stopwatch {
public:
    double seconds() const { return now() - began_; }

private:
    static double now() {
        timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }
    double began_ = now();
};

struct Differentiated {
    double loss = 0;
    Gradient gradient;                     // empty where the tool has none
    double forward_seconds = 0;            // the rollout, and all that is recorded for the way back
    double backward_seconds = 0;           // from there to the gradient
    std::int64_t operations = 0;           // on the tape, where the tool counts them
    std::int64_t forward_evaluations = 0;  // of the step
    size_t checkpoint_bytes = 0;
};

// Which states a rollout by adjoints stores. `number`: k or slots.
struct Checkpointing {
    enum class Kind {
        every_step,
        every_kth,  // from the last segment to the first the states within it are stored too
        // every k-th, and nothing else: each step is run again from where its segment begins (Qiao et al.
        // 2021, appendix B)
        restart,
        binomial,
    } kind = Kind::every_step;
    int number = 0;
};

struct Tool {
    const char *name, *version, *mode;
};

extern const Tool tool;

// By the tool. Only ours has checkpoints.
Differentiated differentiate(const Scene& scene, const Checkpointing& checkpointing);

// By adjoints, what every tool is compared to.
Differentiated differentiate_by_costate(const Scene& scene, const Checkpointing& checkpointing);

}  // namespace costate
