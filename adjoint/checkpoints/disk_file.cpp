#include "adjoint/checkpoints/disk_file.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "core/platform/posix.hpp"

#ifdef COSTATE_HAVE_ZLIB
#include <zlib.h>
#endif

namespace fs = std::filesystem;

namespace costate {

namespace {

[[noreturn]] void fail(const char* what, const fs::path& path, const std::string& why) {
    throw std::runtime_error(std::string("cannot ") + what + " '" + path.string() + "': " + why);
}

std::string reason(int error) {
    const std::string why = std::strerror(error);
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? why + "; make room, or give another place"
                                                                : why;
}

}  // namespace

DiskFile::DiskFile(fs::path path, Mode mode) : path_(std::move(path)), descriptor_(-1) {
    const int flags = O_RDWR | O_CLOEXEC | (mode == Mode::create ? O_CREAT | O_TRUNC : 0);
    descriptor_ = ::open(path_.string().c_str(), flags, 0666);
    if (descriptor_ < 0) fail(mode == Mode::create ? "write" : "read", path_, reason(errno));
}

DiskFile DiskFile::temporary(const fs::path& directory) {
    std::string name = (directory / "costate-XXXXXX").string();
#ifdef O_TMPFILE  // without a name from the start: nothing is left if the process is killed
    if (const int unnamed = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); unnamed >= 0)
        return {name, unnamed};
#endif
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) fail("write", directory, reason(errno));
    ::unlink(name.c_str());
    return {name, descriptor};
}

DiskFile::~DiskFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

DiskFile::DiskFile(DiskFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void DiskFile::write(std::int64_t offset, const void* bytes, size_t n) {
    for (const char* from = static_cast<const char*>(bytes); n > 0;) {
        const ssize_t written = ::pwrite(descriptor_, from, n, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("write", path_, reason(errno));
        if (written == 0) fail("write", path_, reason(ENOSPC));
        from += written;
        offset += written;
        n -= written;
    }
}

void DiskFile::read(std::int64_t offset, void* bytes, size_t n) const {
    for (char* to = static_cast<char*>(bytes); n > 0;) {
        const ssize_t got = ::pread(descriptor_, to, n, offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) fail("read", path_, reason(errno));
        if (got == 0)
            fail("read", path_, "it ends at byte " + std::to_string(offset) + ", which is too early");
        to += got;
        offset += got;
        n -= got;
    }
}

std::int64_t DiskFile::size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) fail("read", path_, reason(errno));
    return status.st_size;
}

void DiskFile::resize(std::int64_t bytes) {
    if (::ftruncate(descriptor_, bytes) != 0) fail("write", path_, reason(errno));
}

void DiskFile::sync() {
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("write", path_, reason(errno));
}

void replace_file(const fs::path& path, const void* bytes, size_t n) {
    const fs::path temporary = path.string() + ".tmp";
    try {
        DiskFile file(temporary, DiskFile::Mode::create);
        file.write(0, bytes, n);
        file.sync();
    } catch (...) {
        ::unlink(temporary.string().c_str());
        throw;
    }
    std::error_code error;
    fs::rename(temporary, path, error);
    if (error) {
        ::unlink(temporary.string().c_str());
        fail("write", path, reason(error.value()));
    }
}

#ifdef COSTATE_HAVE_ZLIB
bool have_checksums() { return true; }
std::uint32_t checksum(const void* bytes, size_t n) {
    return static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), static_cast<const Bytef*>(bytes), n));
}
#else
bool have_checksums() { return false; }
std::uint32_t checksum(const void*, size_t) {
    throw std::runtime_error(
        "this build has no checksums for files: install zlib1g-dev, configure and build again");
}
#endif

}  // namespace costate
