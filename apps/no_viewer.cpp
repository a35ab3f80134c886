// In place of view.cpp where the program is built without the viewer.
#include "apps/command.hpp"

namespace costate {

namespace {

int view(const Arguments&) {
    throw UsageError("this build has no viewer, because npm, the packages it fetches or zlib were missing: install them, configure and build again");
}

}  // namespace

const Command view_command{"view", "not in this build: npm, the packages it fetches or zlib were missing", {}, view};

}  // namespace costate
