// Runs that are saved to a file and go on from it: the file is there whole or not at all, whenever the
// program is killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace costate {

// While it lives no other run writes the file or what lies beside it. Throws where another does.
class RunLock {
public:
    explicit RunLock(const std::filesystem::path& file);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    std::filesystem::path path_;  // "<file>.lock", which only a run that is killed leaves behind
    int descriptor_;
};

// `of` stands for all that a run depends on; a run is only taken up again by one of the same.
void save_run(const std::filesystem::path& file, std::uint32_t of, const std::vector<char>& run);
std::vector<char> load_run(const std::filesystem::path& file, std::uint32_t of);

}  // namespace costate
