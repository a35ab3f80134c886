// The entry points of libFuzzer. COSTATE_FUZZ_TARGET in the environment names what is fuzzed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.hpp"

namespace {

const costate::fuzz::Target& chosen() {
    static const costate::fuzz::Target& target = [&]() -> const costate::fuzz::Target& {
        try {
            const char* name = std::getenv("COSTATE_FUZZ_TARGET");
            return costate::fuzz::target(name == nullptr ? "" : name);
        } catch (const std::invalid_argument& e) {
            std::fprintf(stderr, "COSTATE_FUZZ_TARGET: %s\n", e.what());
            std::exit(2);
        }
    }();
    return target;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    chosen();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    chosen().run(std::string(reinterpret_cast<const char*>(data), size));
    return 0;
}
