#include <map>

#include "apps/cli/batch_gradient.hpp"
#include "apps/io/shard_file.hpp"

namespace costate {
namespace {

// The environments of the missing blocks, and the shards that compute them if all files agree on their number.
std::string missing_text(const PartialSum& sum, std::int64_t of) {
    std::string environments, shards;
    for (const Range& blocks : sum.missing()) {
        const Range es = sum.plan().environments_of(blocks);
        environments += (environments.empty() ? "" : ", ") + std::to_string(es.first) + " to " +
                        std::to_string(es.last - 1);
    }
    for (std::int64_t i = 0; i < of; ++i) {
        const Range share = sum.plan().share(i, of);
        for (const Range& blocks : sum.missing())
            if (std::max(share.first, blocks.first) < std::min(share.last, blocks.last)) {
                shards += (shards.empty() ? "" : ", ") + std::to_string(i + 1) + "/" + std::to_string(of);
                break;
            }
    }
    return "environments " + environments +
           " are missing: " + (of > 0 ? "add the files of --shard " + shards : "add the shards with them");
}

int merge(const Arguments& a) {
    const std::vector<std::string>& files = a.files();
    const std::optional<std::string> out = a.text("out");
    if (out) check_file(*out);
    std::optional<Shard> all;
    std::map<std::int64_t, std::string> by_index;  // where all have the same number of shards
    std::int64_t of = 0;
    for (const std::string& file : files) {
        Shard shard = read_shard(file);
        if (!all) {
            of = shard.of;
            by_index[shard.index] = file;
            all = std::move(shard);
            continue;
        }
        const auto fail = [&](const std::string& why) { throw UsageError(file + " " + why); };
        if (shard.settings != all->settings)
            fail("is a shard of another scene or of other options than " + files.front() +
                 ": give the shards of one run");
        if (shard.trial != all->trial)
            fail("comes from numbers that differ from those of " + files.front() +
                 ": a model file or the mathematical library differs; compute both on the same machine");
        const auto [twin, is_new] = by_index.emplace(shard.index, file);
        if (shard.of == of && !is_new)
            fail("is the same shard as " + twin->second + ": give each shard once");
        if (shard.of != of) of = 0;
        try {
            all->part.add(shard.part);
        } catch (const std::invalid_argument& e) {
            fail(std::string("overlaps with the files before it: ") + e.what());
        }
    }
    const EnvironmentSum& part = all->part;
    if (!part.sum.complete()) throw UsageError(missing_text(part.sum, of));
    const auto add = [&](Report& report) {
        report["environments"] = part.sum.plan().environments;
        report["shards"] = files.size();
        report["compute_seconds"] = part.times.sum;
    };
    report_batch_gradient(Report::parse(all->names), part, out, a.json(), add,
                          std::to_string(files.size()) + " shards");
    return done;
}

}  // namespace

const Command merge_command{
    "merge",
    "add up the shards that costate gradient --shard has written",
    "costate merge shard1 shard2 --out gradient.json",
    {},
    {{"out", "FILE", "write the gradients of controls, initial state and parameters to FILE as JSON", "o"}},
    merge,
    Operand::files};

}  // namespace costate
