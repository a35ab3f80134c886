// Replaces watch.cpp and event_server.cpp in builds without the viewer or without cpp-httplib.
#include "apps/cli/command.hpp"

namespace costate {

namespace {

int watch(const Arguments&) {
    throw UsageError(
        "this build has no live view, because cpp-httplib or the viewer was missing; install "
        "libcpp-httplib-dev, configure and build "
        "again");
}

}  // namespace

const Command watch_command{
    "watch", "not in this build: cpp-httplib or the viewer was missing", "costate watch throw", {}, {},
    watch};

}  // namespace costate
