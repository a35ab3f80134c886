// What stands in on Windows, by mingw-w64, for the functions of POSIX that costate uses. Their names are those of
// POSIX, so that no other file knows of Windows. Included by core/platform/posix.hpp alone.
//
// What Windows does not have does nothing: signals cannot be held back, a terminal has no width, and a lock file that is
// open stays in its folder.
#pragma once

#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
// after it
#include <fcntl.h>
#include <io.h>
#include <psapi.h>
#include <pthread_signal.h>
#include <sys/stat.h>
#include <unistd.h>
// names that <windows.h> takes from everybody
#undef near
#undef far
#undef small
#undef interface
#undef ERROR

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <system_error>

// files: binary, and not inherited
#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
#ifndef EDQUOT
#define EDQUOT ENOSPC
#endif

inline OVERLAPPED at_offset(std::int64_t offset) {
    OVERLAPPED place{};
    place.Offset = static_cast<DWORD>(offset);
    place.OffsetHigh = static_cast<DWORD>(offset >> 32);
    return place;
}
inline HANDLE handle_of(int descriptor) { return reinterpret_cast<HANDLE>(_get_osfhandle(descriptor)); }
// Windows counts bytes with 32 bits.
inline DWORD bounded(size_t n) { return static_cast<DWORD>(n < (1u << 30) ? n : (1u << 30)); }

inline ssize_t pread(int descriptor, void* to, size_t n, std::int64_t offset) {
    OVERLAPPED place = at_offset(offset);
    DWORD got = 0;
    if (ReadFile(handle_of(descriptor), to, bounded(n), &got, &place)) return got;
    if (GetLastError() == ERROR_HANDLE_EOF) return 0;
    errno = EIO;
    return -1;
}
inline ssize_t pwrite(int descriptor, const void* from, size_t n, std::int64_t offset) {
    OVERLAPPED place = at_offset(offset);
    DWORD written = 0;
    if (WriteFile(handle_of(descriptor), from, bounded(n), &written, &place)) return written;
    errno = GetLastError() == ERROR_DISK_FULL ? ENOSPC : EIO;
    return -1;
}
inline int fsync(int descriptor) { return _commit(descriptor); }
// The file is removed when it is closed.
inline int mkostemp(char* name, int flags) {
    if (_mktemp_s(name, std::strlen(name) + 1) != 0) return -1;
    return _open(name, _O_RDWR | _O_CREAT | _O_EXCL | _O_TEMPORARY | flags, _S_IREAD | _S_IWRITE);
}

inline constexpr int LOCK_EX = 1, LOCK_NB = 2;
inline int flock(int descriptor, int) {
    OVERLAPPED whole{};
    return LockFileEx(handle_of(descriptor), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, MAXDWORD,
                      MAXDWORD, &whole)
               ? 0
               : -1;
}

// the machine
inline constexpr int _SC_PHYS_PAGES = 1, _SC_PAGESIZE = 2;
inline long sysconf(int name) {
    constexpr long page = 4096;
    if (name == _SC_PAGESIZE) return page;
    MEMORYSTATUSEX memory{};
    memory.dwLength = sizeof memory;
    GlobalMemoryStatusEx(&memory);
    return static_cast<long>(memory.ullTotalPhys / page);
}
struct rusage {
    std::int64_t ru_maxrss;  // KiB
};
inline constexpr int RUSAGE_SELF = 0;
inline int getrusage(int, rusage* usage) {
    PROCESS_MEMORY_COUNTERS memory{};
    if (!K32GetProcessMemoryInfo(GetCurrentProcess(), &memory, sizeof memory)) return -1;
    usage->ru_maxrss = static_cast<std::int64_t>(memory.PeakWorkingSetSize / 1024);
    return 0;
}
struct winsize {
    unsigned short ws_col;
};
inline constexpr int TIOCGWINSZ = 0;
inline int ioctl(int, int, winsize*) { return -1; }

// signals: those that Windows has end the program, or are noted
inline constexpr int SIGHUP = 1, SIGXFSZ = 25, SA_RESETHAND = 0, SA_RESTART = 0;
struct sigaction {
    void (*sa_handler)(int);
    int sa_flags;
};
inline int sigaction(int number, const struct sigaction* next, struct sigaction* before) {
    void (*const old)(int) = std::signal(number, next ? next->sa_handler : SIG_DFL);
    if (!next) std::signal(number, old);
    if (before) before->sa_handler = old;
    return 0;
}
struct sigset_t {};
inline int sigemptyset(sigset_t*) { return 0; }
inline int sigaddset(sigset_t*, int) { return 0; }
inline int sigismember(const sigset_t*, int) { return 0; }
inline int sigpending(sigset_t*) { return 0; }
inline int sigprocmask(int, const sigset_t*, sigset_t*) { return 0; }

// libraries
inline constexpr int RTLD_NOW = 0, RTLD_GLOBAL = 0;
inline void* dlopen(const char* name, int) { return reinterpret_cast<void*>(LoadLibraryA(name)); }
inline void* dlsym(void* library, const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}
inline const char* dlerror() { return "Windows does not load it"; }

namespace costate {

// As in core/platform/posix.hpp.
inline std::filesystem::path object_of(const void* address) {
    HMODULE module = nullptr;
    wchar_t name[MAX_PATH];
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       static_cast<LPCWSTR>(address), &module);
    const DWORD length = GetModuleFileNameW(module, name, MAX_PATH);
    return length > 0 && length < MAX_PATH ? std::filesystem::path(name) : std::filesystem::path();
}

}  // namespace costate
