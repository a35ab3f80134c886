#include "apps/cli/checkpointing.hpp"

#include "adjoint/checkpoints/compression.hpp"
#include "adjoint/checkpoints/schedule.hpp"

namespace costate {

Checkpointing chosen_checkpointing(const Arguments& a, const Scene& scene) {
    const int slots = a.integer("slots", 0, 1);
    const std::optional<std::string> folder = a.text("disk"), space = a.text("disk-space");
    if (slots > 0 && (a.text("memory") || folder))
        throw UsageError(
            "--slots fixes the number of stored states: leave out --memory and "
            "--disk");
    if (!folder && (space || a.text("compress")))
        throw UsageError("--disk-space and --compress require --disk DIR");
    const int kept = a.integer("keep", 1, 1, 10000);
    if (kept > 1 && folder) throw UsageError("--keep and --disk cannot be combined: leave one out");
    if (slots > 0) return {Schedule::binomial(scene.steps, slots, kept), {}};
    if (kept > 1) return {Schedule::binomial(scene.steps, checkpoint_schedule(scene).slots(), kept), {}};
    if (!folder) return {checkpoint_schedule(scene), {}};

    if (!have_checksums())
        throw UsageError(
            "this build does not support checkpoints on disk: install zlib1g-dev, configure and build again");
    if (a.text("compress") && !have_compression())
        throw UsageError(
            "this build does not support compressed checkpoints: install libzstd-dev, configure and build "
            "again");
    if (!std::filesystem::is_directory(*folder))
        throw UsageError("--disk: there is no folder '" + *folder + "'");
    const std::optional<std::int64_t> given = space ? parse_memory(*space) : 0;
    if (!given)
        throw UsageError("--disk-space takes auto, a number of bytes, or for example 10G, not '" + *space +
                         "'");
    const std::int64_t bytes = *given > 0 ? *given : half_of_free_space(*folder);
    DiskSettings disk;
    disk.directory = *folder;
    disk.compressed = a.text("compress").has_value();
    return {checkpoint_schedule(scene, bytes), disk};
}

Report to_report(const DiskTraffic& t) {
    return {{"states_written", t.states_written},
            {"states_read", t.states_read},
            {"file_bytes", t.bytes_written},
            {"compression", t.ratio()}};
}

}  // namespace costate
