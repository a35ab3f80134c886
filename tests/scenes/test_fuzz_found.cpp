// Inputs on which a loader, or a step of the loaded scene, failed under fuzzing, and the seeds of fuzzing
// (scripts/check/fuzz.sh).
#include <doctest/doctest.h>

#include "tests/fuzz/load_and_step.hpp"

namespace costate::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> inputs(const fs::path& folder) {
    std::vector<fs::path> out;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".json" || is_robot_file(entry.path())) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

TEST_CASE("inputs found by fuzzing are loaded and stepped, or refused in one line with place and remedy") {
    const std::vector<fs::path> all = inputs("tests/fuzz/found");
    CHECK(all.size() > 0);
    for (const fs::path& file : all) {
        CAPTURE(file);
        CHECK_NOTHROW(load_and_step(file));
    }
}

TEST_CASE("the seeds of fuzzing, which use every part of a format, are loaded") {
    const std::vector<fs::path> all = inputs("tests/fuzz/seeds");
    CHECK(all.size() >= 3);
    for (const fs::path& file : all) {
        CAPTURE(file);
        CHECK(load_and_step(file) == "");
    }
}

}  // namespace
}  // namespace costate::test
