// The seeds of fuzzing the loaders (scripts/check/fuzz.sh).
#include <doctest/doctest.h>

#include "tests/fuzz/load_and_step.hpp"

namespace costate::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> seeds() {
    std::vector<fs::path> out;
    std::vector<const char*> loaders{"urdf", "mjcf", "scene"};
#ifdef COSTATE_HAVE_SDFORMAT
    loaders.push_back("sdf");
#endif
    for (const char* loader : loaders)
        for (const fs::directory_entry& entry : fs::directory_iterator(fs::path("tests/fuzz/seeds") / loader))
            out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

TEST_CASE("the seeds of fuzzing, which use every part of a format, are loaded") {
    const std::vector<fs::path> all = seeds();
    CHECK(all.size() >= 3);
    for (const fs::path& file : all) {
        CAPTURE(file);
        CHECK(load_and_step(file) == "");
    }
}

}  // namespace
}  // namespace costate::test
