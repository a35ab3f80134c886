#include "adjoint/checkpoints/schedule.hpp"
#include "apps/cli/checkpointing.hpp"

namespace costate {

namespace {

int plan(const Arguments& a) {
    const Scene s = a.load();
    const Schedule schedule = chosen_checkpointing(a, s).schedule;
    const auto bytes = static_cast<std::int64_t>(CheckpointStore::bytes(schedule, s.world.nx()));
    const std::int64_t each = bytes_per_checkpoint(s.world), evaluations = schedule.forward_evaluations();
    const double per_step = static_cast<double>(evaluations) / s.steps;
    const std::int64_t file_bytes = DiskStore::file_bytes(s.world.nx(), schedule.disk_slots());
    if (a.json()) {
        const Report report{{"name", s.name},
                            {"steps", s.steps},
                            {"schedule", schedule.name()},
                            {"slots", schedule.slots()},
                            {"kept", schedule.kept()},
                            {"bytes_per_checkpoint", each},
                            {"peak_bytes", bytes},
                            {"forward_evaluations", evaluations},
                            {"evaluations_per_step", per_step},
                            {"disk",
                             {{"states_written", schedule.disk_writes()},
                              {"states_read", schedule.disk_reads()},
                              {"file_bytes", file_bytes}}}};
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    std::printf("%s: the gradient of %d steps\n\n", s.name.c_str(), s.steps);
    std::printf("schedule     %s, %d of %d states stored\n", schedule.name(), schedule.slots(), s.steps);
    if (schedule.kept() > 1)
        std::printf("scratches    %d; steps are replayed in blocks of this size\n", schedule.kept());
    std::printf("checkpoints  %lld bytes, %lld each\n", static_cast<long long>(bytes),
                static_cast<long long>(each));
    if (schedule.disk_slots() > 0)
        std::printf("disk         %lld states written and %lld read, %lld bytes uncompressed\n",
                    static_cast<long long>(schedule.disk_writes()),
                    static_cast<long long>(schedule.disk_reads()), static_cast<long long>(file_bytes));
    std::printf("evaluations  %lld forward evaluations, %.2f per step\n", static_cast<long long>(evaluations),
                per_step);
    return done;
}

}  // namespace

const Command plan_command{
    "plan",
    "predict the cost of a gradient: forward evaluations, bytes of checkpoints, disk traffic",
    "costate plan go1_stand --steps 100000 --memory 64M",
    {},
    {memory_option, slots_option, keep_option, disk_option, disk_space_option},
    plan};

}  // namespace costate
