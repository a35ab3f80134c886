// In place of watch.cpp and feed.cpp where the program is built without the viewer or without cpp-httplib.
#include "apps/cli/command.hpp"

namespace costate {

namespace {

int watch(const Arguments&) {
    throw UsageError(
        "this build shows nothing live: cpp-httplib or what the viewer needs was missing; install "
        "libcpp-httplib-dev, configure and build "
        "again");
}

}  // namespace

const Command watch_command{
    "watch", "not in this build: cpp-httplib or what the viewer needs was missing", {}, watch};

}  // namespace costate
