// The expected loss of a scene with a "batch", as commands run it: on threads, and on ranks if there are several.
#pragma once

#include "adjoint/expectation/expected_loss.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"

namespace costate {

inline constexpr Option threads_option{"threads", "N",
                                       "threads for the environments of a \"batch\", or for the losses of a "
                                       "generation of cmaes (default: one for each "
                                       "core; with several ranks, 1)"};

int thread_count(const Arguments& a);

inline constexpr Option environments_option{"environments", "N",
                                            "number of environments, instead of that of the scene's "
                                            "\"batch\"; 0: the one rollout without randomness"};
// Sets that number in a scene that was loaded.
void choose_environments(const Arguments& a, Scene& s);

// What identifies a sum over environments: two processes with equal ones compute parts of one sum.
struct BatchIdentity {
    std::string version;
    std::vector<char> settings;  // of the scene and the command line
    std::vector<char>
        trial;  // loss and last state of environment 0: they differ where a model file does, or libm
};
BatchIdentity batch_identity(const Scene& s);
// Throws AgreedError unless all ranks have the same version, scene, `options` and numbers.
void agree_on_scene(const Scene& s, const std::vector<char>& options = {});

// Refuses what does not apply to a scene with, or without, a "batch". `options` apply to one rollout only.
// `shared`: without a "batch", threads and ranks have something else to share.
void check_batch_options(const Arguments& a, const Scene& s, std::initializer_list<const char*> options,
                         bool shared = false);

class BatchLoss {
public:
    // If `shown` on rank 0, draw(part, note) is called there between
    // groups of environments with the progress of all ranks.
    BatchLoss(const Arguments& a, const Scene& s, bool gradients, bool shown,
              const std::function<void(double part, const std::string& note)>& draw);
    ExpectedLoss& loss() { return *loss_; }
    // Keys to be added to a report: environments, threads, ranks, memory and times.
    void add_to(Report& report) const;
    std::string text() const;  // the same in a line

private:
    double share_in_lanes() const;  // of the time steps of this process

    const Scene& scene_;
    std::unique_ptr<ExpectedLoss> loss_;
};

}  // namespace costate
