// Preloaded into a program, lets one call fail that asks the system for something: COSTATE_FAULT="write 3" fails the third
// write after the start of main, "write 3+" all from the third on, and COSTATE_FAULT_COUNTS=FILE writes how often each kind
// was called. A write of several bytes that is to fail first writes half of them, as a full disk does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { ALLOC, OPEN, READ, WRITE, SYNC, RENAME, FOLDER, THREAD, KINDS };
static const char* const names[KINDS] = {"alloc", "open",   "read",   "write",
                                         "sync",  "rename", "folder", "thread"};
static const int errors[KINDS] = {ENOMEM, EMFILE, EIO, ENOSPC, EIO, EACCES, ENOSPC, EAGAIN};

static atomic_long calls[KINDS];
static atomic_bool counting;
static int faulty = -1;  // kind
static long first;       // call that fails, counted from 1
static bool onwards;     // and all after it

static bool fails(enum Kind kind) {
    if (!atomic_load(&counting)) return false;
    const long n = atomic_fetch_add(&calls[kind], 1) + 1;
    if ((int)kind != faulty || (onwards ? n < first : n != first)) return false;
    errno = errors[kind];
    return true;
}

// glibc's allocator
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

void* malloc(size_t n) { return fails(ALLOC) ? NULL : __libc_malloc(n); }
void* calloc(size_t n, size_t size) { return fails(ALLOC) ? NULL : __libc_calloc(n, size); }
void* realloc(void* p, size_t n) { return fails(ALLOC) ? NULL : __libc_realloc(p, n); }
void* aligned_alloc(size_t alignment, size_t n) {
    return fails(ALLOC) ? NULL : __libc_memalign(alignment, n);
}
int posix_memalign(void** p, size_t alignment, size_t n) {
    *p = fails(ALLOC) ? NULL : __libc_memalign(alignment, n);
    return *p == NULL ? ENOMEM : 0;
}

// The function of this name in the next library.
#define NEXT(name)                                                                                           \
    static __typeof__(name)* next;                                                                           \
    if (next == NULL) {                                                                                      \
        const bool before = atomic_exchange(&counting, false);                                               \
        *(void**)&next = dlsym(RTLD_NEXT, #name);                                                            \
        atomic_store(&counting, before);                                                                     \
    }

static int mode_of(int flags, va_list more) {
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(more, int) : 0;
}
#define OPENS(name)                                                                                          \
    int name(const char* path, int flags, ...) {                                                             \
        va_list more;                                                                                        \
        va_start(more, flags);                                                                               \
        const int mode = mode_of(flags, more);                                                               \
        va_end(more);                                                                                        \
        NEXT(name)                                                                                           \
        return fails(OPEN) ? -1 : next(path, flags, mode);                                                   \
    }
OPENS(open)
OPENS(open64)
#define MAKES_TEMPORARY(name)                                                                                \
    int name(char* path, int flags) {                                                                        \
        NEXT(name)                                                                                           \
        return fails(OPEN) ? -1 : next(path, flags);                                                         \
    }
MAKES_TEMPORARY(mkostemp)
MAKES_TEMPORARY(mkostemp64)

ssize_t read(int file, void* to, size_t n) {
    NEXT(read)
    return fails(READ) ? -1 : next(file, to, n);
}
#define READS_AT(name, Offset)                                                                               \
    ssize_t name(int file, void* to, size_t n, Offset at) {                                                  \
        NEXT(name)                                                                                           \
        return fails(READ) ? -1 : next(file, to, n, at);                                                     \
    }
READS_AT(pread, off_t)
READS_AT(pread64, off64_t)

static bool of_terminal(int file) { return file == STDOUT_FILENO || file == STDERR_FILENO; }
ssize_t write(int file, const void* from, size_t n) {
    NEXT(write)
    if (of_terminal(file) || !fails(WRITE)) return next(file, from, n);
    return n > 1 ? next(file, from, n / 2) : -1;
}
ssize_t writev(int file, const struct iovec* from, int n) {
    NEXT(writev)
    return !of_terminal(file) && fails(WRITE) ? -1 : next(file, from, n);
}
#define WRITES_AT(name, Offset)                                                                              \
    ssize_t name(int file, const void* from, size_t n, Offset at) {                                          \
        NEXT(name)                                                                                           \
        if (!fails(WRITE)) return next(file, from, n, at);                                                   \
        return n > 1 ? next(file, from, n / 2, at) : -1;                                                     \
    }
WRITES_AT(pwrite, off_t)
WRITES_AT(pwrite64, off64_t)

// A stream calls the system inside glibc: streams that write get these functions instead. Streams of C++ open by fopen64
// where that is another name, and call write() themselves.
static ssize_t stream_write(void* cookie, const char* from, size_t n) {
    size_t done = 0;
    while (done < n) {
        const ssize_t written = write((int)(long)cookie, from + done, n - done);
        if (written < 0) return (ssize_t)done;  // short: an error to glibc
        done += (size_t)written;
    }
    return (ssize_t)done;
}
static int stream_close(void* cookie) { return close((int)(long)cookie); }
FILE* fopen(const char* path, const char* mode) {
    NEXT(fopen)
    if (mode[0] != 'w') return fails(OPEN) ? NULL : next(path, mode);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | (strchr(mode, 'x') ? O_EXCL : 0), 0666);
    if (file < 0) return NULL;
    const cookie_io_functions_t functions = {NULL, stream_write, NULL, stream_close};
    FILE* const stream = fopencookie((void*)(long)file, mode, functions);
    if (stream == NULL) close(file);
    return stream;
}
FILE* fopen64(const char* path, const char* mode) {
    NEXT(fopen64)
    return fails(OPEN) ? NULL : next(path, mode);
}

int fsync(int file) {
    NEXT(fsync)
    return fails(SYNC) ? -1 : next(file);
}
int rename(const char* from, const char* to) {
    NEXT(rename)
    return fails(RENAME) ? -1 : next(from, to);
}
int mkdir(const char* path, mode_t mode) {
    NEXT(mkdir)
    return fails(FOLDER) ? -1 : next(path, mode);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*), void* of) {
    NEXT(pthread_create)
    return fails(THREAD) ? EAGAIN : next(thread, attributes, function, of);
}

static int (*program)(int, char**, char**);
static int counted_main(int argc, char** argv, char** environment) {
    atomic_store(&counting, true);
    const int code = program(argc, argv, environment);
    atomic_store(&counting, false);
    const char* const file = getenv("COSTATE_FAULT_COUNTS");
    FILE* const out = file == NULL ? NULL : fopen(file, "w");
    for (int k = 0; out != NULL && k < KINDS; ++k)
        fprintf(out, "%s %ld\n", names[k], atomic_load(&calls[k]));
    if (out != NULL) fclose(out);
    return code;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*end)(void), void* stack) {
    int (*next)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void),
                void*);
    *(void**)&next = dlsym(RTLD_NEXT, "__libc_start_main");
    const char* const fault = getenv("COSTATE_FAULT");
    char name[16] = "", plus = 0;
    if (fault != NULL && sscanf(fault, "%15s %ld%c", name, &first, &plus) >= 2)
        for (int k = 0; k < KINDS; ++k)
            if (strcmp(name, names[k]) == 0) faulty = k;
    onwards = plus == '+';
    program = main;
    unsetenv("LD_PRELOAD");  // programs that this one starts are not concerned
    return next(counted_main, argc, argv, init, fini, end, stack);
}
