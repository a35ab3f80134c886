#include "apps/c_api/status.hpp"

#include <cstdio>

namespace costate::c_api {
namespace {

thread_local char last_error[1024] = "";

// "0.2.0"; what no header has as it is
std::string version_text(int version) {
    if (version < 0) return std::to_string(version);
    const std::string major = std::to_string(version / 10000), minor = std::to_string(version / 100 % 100);
    return major + "." + minor + "." + std::to_string(version % 100);
}

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

const char* costate_status_name(int status) {
    switch (status) {
        case COSTATE_BAD_ARGUMENT: return "COSTATE_BAD_ARGUMENT";
        case COSTATE_BAD_HANDLE: return "COSTATE_BAD_HANDLE";
        case COSTATE_BAD_FILE: return "COSTATE_BAD_FILE";
        case COSTATE_DIVERGED: return "COSTATE_DIVERGED";
        case COSTATE_NO_MEMORY: return "COSTATE_NO_MEMORY";
        case COSTATE_BAD_VERSION: return "COSTATE_BAD_VERSION";
        case COSTATE_INTERNAL: return "COSTATE_INTERNAL";
        case COSTATE_INTERRUPTED: return "COSTATE_INTERRUPTED";
        default: return status >= 0 ? "COSTATE_OK" : "unknown status";
    }
}

int costate_version(int header) {
    if (header / 100 == COSTATE_VERSION / 100 && header <= COSTATE_VERSION) return COSTATE_VERSION;
    return guarded(__func__, [&]() -> int {
        throw Failure(COSTATE_BAD_VERSION, "the header has version " + version_text(header) +
                                               ", the library " + version_text(COSTATE_VERSION) +
                                               "; compile against the library's own header");
    });
}
}
