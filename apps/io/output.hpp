// Output of commands: JSON text, and files that are committed together or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/platform/posix.hpp"

namespace costate {

using Report = nlohmann::ordered_json;

// JSON with arrays of scalars on one line. Numbers keep all bits; numbers that are not finite become null.
std::string to_text(const Report& report);

// Thrown if a signal to stop arrived while OutputFiles were open.
struct Interrupted {};

// Each file is written under a temporary name in its folder and renamed by commit(). Without commit(), no
// file and no new directory is left behind. Signals to stop are blocked during the life of this object; long
// work must call check_interrupted().
class OutputFiles {
public:
    OutputFiles();
    ~OutputFiles();
    OutputFiles(const OutputFiles&) = delete;
    OutputFiles& operator=(const OutputFiles&) = delete;

    void make_directory(const std::filesystem::path& directory);  // and its parents
    std::FILE* open(const std::filesystem::path& path);  // throws UsageError, as do the other members
    void write(const std::filesystem::path& path, const std::string& content);
    void commit();
    static void check_interrupted();  // throws Interrupted

private:
    struct File {
        std::filesystem::path path, temporary;
        std::FILE* stream;
    };
    std::vector<File> files_;
    std::vector<std::filesystem::path> made_;
    sigset_t signals_before_;
};

// Checks before the work that files can be written to a directory, which need not exist yet, or to a path;
// throws UsageError otherwise. Writes and removes a trial file of 64 kB.
void check_directory(const std::filesystem::path& directory);
void check_file(const std::filesystem::path& path);

}  // namespace costate
