// The target of libFuzzer for one loader: writes the input to FUZZ_FILE, whose name chooses the loader, in a
// folder of its own with copies of the shipped models and recordings; loads, steps and prints it.
#include <cstdint>
#include <cstdlib>

#include "apps/cli/command.hpp"
#include "tests/fuzz/load_and_step.hpp"
#include "tests/support/mesh_texts.hpp"

namespace fs = std::filesystem;
using namespace costate;

namespace {

struct Folder : test::ScratchFolder {
    Folder() : ScratchFolder("fuzz") {
        for (const char* shipped : {"models", "recordings"})
            fs::copy(fs::path(SHIPPED_SCENES) / shipped, path(shipped), fs::copy_options::recursive);
        unsetenv("ROS_PACKAGE_PATH");
    }
};

void print(const fs::path& file, const char* how) {
    const char* words[] = {"info", file.c_str(), how};
    info_command.run(Arguments(info_command, 3, words));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Folder folder;
    const fs::path file = folder.write(FUZZ_FILE, std::string(reinterpret_cast<const char*>(data), size));
    if (!test::load_and_step(file).empty()) return 0;
    // it loads again, which takes time
    if (size % 8 < 2) print(file, size % 8 == 0 ? "--steps=1" : "--json");
    return 0;
}
