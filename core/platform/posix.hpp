// The functions of POSIX that costate uses: those of the system, or on Windows what stands in for them.
#pragma once

#ifdef _WIN32
#include "core/platform/windows.hpp"
#else
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace costate {

// The file of the shared library or of the program that holds this address; empty if it is unknown.
inline std::filesystem::path object_of(const void* address) {
    Dl_info info{};
    link_map* object = nullptr;
    std::error_code error;
    if (dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) != 0 &&
        object->l_name[0] != 0)
        return std::filesystem::canonical(object->l_name, error);
    return std::filesystem::read_symlink("/proc/self/exe", error);  // the program's name in the list is empty
}

}  // namespace costate
#endif
