// Runs the targets of fuzzing on files, without a fuzzer: costate_fuzz_replay FOLDER..., where FOLDER/<target>/ has the
// inputs of a target.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tests/fuzz/targets.hpp"

namespace fs = std::filesystem;

namespace {

constexpr double longest = 10;  // s, of an input

std::vector<fs::path> sorted(const fs::path& folder) {
    std::vector<fs::path> out;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}

// What is wrong with the answer to an input; nothing if it is well.
std::string complaint(const costate::fuzz::Target& target, const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    const auto begin = std::chrono::steady_clock::now();
    try {
        target.run({std::istreambuf_iterator<char>(in), {}});
    } catch (const std::exception& e) {
        return e.what();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    return taken.count() < longest ? "" : "took " + std::to_string(taken.count()) + " s";
}

}  // namespace

int main(int argc, char** argv) {
    std::freopen("/dev/null", "w", stdout);  // what the program prints
    int inputs = 0, failures = 0;
    for (int i = 1; i < argc; ++i)
        for (const fs::path& folder : sorted(argv[i]))
            for (const fs::path& file : sorted(folder)) {
                const std::string why = complaint(costate::fuzz::target(folder.filename().string()), file);
                ++inputs;
                if (why.empty()) continue;
                ++failures;
                std::fprintf(stderr, "%s: %s\n", file.c_str(), why.c_str());
            }
    std::fprintf(stderr, "%d inputs, %d failures\n", inputs, failures);
    return inputs > 0 && failures == 0 ? 0 : 1;
}
