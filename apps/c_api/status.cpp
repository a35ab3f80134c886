#include "apps/c_api/status.hpp"

#include <cstdio>

namespace costate::c_api {
namespace {

thread_local char last_error[1024] = "";

}  // namespace

int fail(costate_status status, const char* function, const char* sentence) noexcept {
    std::snprintf(last_error, sizeof last_error, "%s: %s", function, sentence);
    for (char* c = last_error; *c; ++c)
        if (static_cast<unsigned char>(*c) < ' ') *c = ' ';
    return status;
}

}  // namespace costate::c_api

using namespace costate::c_api;

static_assert(COSTATE_VERSION == COSTATE_LIBRARY_VERSION,
              "costate.h and CMakeLists.txt name different versions");

extern "C" {

const char* costate_last_error() { return last_error; }

int costate_version(int header) {
    if (header / 100 == COSTATE_VERSION / 100 && header <= COSTATE_VERSION) return COSTATE_VERSION;
    return guarded(__func__, [&]() -> int {
        throw Failure(COSTATE_BAD_VERSION, "the header has version " + std::to_string(header) +
                                               ", the library " + std::to_string(COSTATE_VERSION) +
                                               "; compile against the library's own header");
    });
}
}
