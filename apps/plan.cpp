#include "apps/command.hpp"
#include "apps/output.hpp"
#include "scenes/memory.hpp"

namespace costate {

namespace {

int plan(const Arguments& a) {
    const int slots = a.integer("slots", 0, 1);
    if (slots > 0 && a.text("memory")) throw UsageError("--slots and --memory both say how many states are stored: give one");
    const Scene s = a.load();
    const Schedule schedule = slots > 0 ? Schedule::binomial(s.steps, slots) : checkpoint_schedule(s);
    const std::int64_t each = bytes_per_checkpoint(s.world), bytes = each * schedule.slots(),
                       evaluations = schedule.forward_evaluations();
    const double per_step = static_cast<double>(evaluations) / s.steps;
    if (a.json()) {
        const Report report{{"name", s.name},
                            {"steps", s.steps},
                            {"schedule", schedule.name()},
                            {"slots", schedule.slots()},
                            {"bytes_per_checkpoint", each},
                            {"peak_bytes", bytes},
                            {"forward_evaluations", evaluations},
                            {"evaluations_per_step", per_step}};
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: the gradient of %d steps\n\n", s.name.c_str(), s.steps);
    std::printf("schedule     %s, %d of %d states stored\n", schedule.name(), schedule.slots(), s.steps);
    std::printf("checkpoints  %lld bytes, %lld each\n", static_cast<long long>(bytes), static_cast<long long>(each));
    std::printf("evaluations  %lld of a forward step, %.2f a step\n", static_cast<long long>(evaluations), per_step);
    return done;
}

}  // namespace

const Command plan_command{"plan",
                           "what a gradient will take, before it is taken: forward steps and bytes of checkpoints",
                           {memory_option, {"slots", "S", "states that are stored at most, in place of --memory"}},
                           plan};

}  // namespace costate
