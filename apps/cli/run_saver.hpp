// Saving of a command's run to a file.
#pragma once

#include <algorithm>
#include <filesystem>

#include "adjoint/checkpoints/archive.hpp"
#include "adjoint/checkpoints/disk_file.hpp"
#include "adjoint/checkpoints/saved_run.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/progress.hpp"
#include "scenes/format/files.hpp"

namespace costate {

inline constexpr Option save_every_option{"save-every", "SECONDS", "interval between saves (default 30)"};
inline constexpr Option resume_option{
    "resume", "FILE", "resume a saved run with the same scene and options, and go on saving to FILE"};

// Adds what every run of a scene depends on: version, file, start, length.
inline void add_identity(ArchiveWriter& all, const Scene& s) {
    all(std::string(COSTATE_VERSION_TEXT));
    all(read_file(s.file));
    all(s.theta);
    all(s.x0);
    all(s.z0);
    all(s.steps);
    all(s.world.settings.law);
}

// Saves a run at intervals and spends at most a tenth of the time on saving.
class RunSaver {
public:
    RunSaver(std::filesystem::path file, std::uint32_t of, double every)
        : file_(std::move(file)),
          of_(of),
          every_(every) {}
    bool due() const { return watch_.seconds() >= next_; }
    template <class Bytes> void save(const Bytes& bytes) {  // bytes() is the run
        const double begin = watch_.seconds();
        save_run(file_, of_, bytes());
        const double end = watch_.seconds();
        next_ = end + std::max(every_, 9 * (end - begin));
    }

private:
    std::filesystem::path file_;
    std::uint32_t of_;
    double every_, next_ = 0;
    Stopwatch watch_;
};

}  // namespace costate
