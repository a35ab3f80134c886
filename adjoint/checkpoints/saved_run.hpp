// Saving runs to files and resuming them. Files are written atomically, whenever the program is killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace costate {

// A lock that keeps other runs from writing the file and its companions. Throws if another run holds it.
class RunLock {
public:
    explicit RunLock(const std::filesystem::path& file);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    std::filesystem::path path_;  // "<file>.lock"; left behind only by killed runs
    int descriptor_;
};

// `of` identifies everything that a run depends on; a run can be resumed only with the same value.
void save_run(const std::filesystem::path& file, std::uint32_t of, const std::vector<char>& run);
std::vector<char> load_run(const std::filesystem::path& file, std::uint32_t of);

}  // namespace costate
