// What the commands write: JSON text, and files that appear whole and together or not at all.
#pragma once

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace costate {

using Report = nlohmann::ordered_json;

// JSON with arrays of scalars on one line. Numbers read back as the same bits; those that are not finite
// become null.
std::string to_text(const Report& report);

// A signal to stop arrived while OutputFiles were open.
struct Interrupted {};

// Each file is written under another name beside its place, and takes its place in commit(). Without commit
// nothing is left behind, not even the directories made. Signals to stop wait for the end of this object's
// life; who works for long meanwhile calls check_interrupted().
class OutputFiles {
public:
    OutputFiles();
    ~OutputFiles();
    OutputFiles(const OutputFiles&) = delete;
    OutputFiles& operator=(const OutputFiles&) = delete;

    void make_directory(const std::filesystem::path& directory);  // and its parents
    std::FILE* open(const std::filesystem::path& path);           // throws UsageError, like all here
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

// That files can be written to a directory, which make_directory may still have to make, or one to a path:
// for a complaint before the work and not after it. A trial file of 64 kB comes and goes.
void check_directory(const std::filesystem::path& directory);
void check_file(const std::filesystem::path& path);

}  // namespace costate
