#include "adjoint/checkpoints/saved_run.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "adjoint/checkpoints/disk_file.hpp"
#include "core/platform/posix.hpp"

namespace costate {

namespace {

struct Header {
    char magic[16] = "costate run 1";
    std::uint64_t bytes = 0;
    std::uint32_t of = 0, crc = 0;
};

}  // namespace

// A run that ends removes its lock file. Therefore the file opened here may be unlinked before it is locked.
RunLock::RunLock(const std::filesystem::path& file) : path_(file.string() + ".lock"), descriptor_(-1) {
    for (;;) {
        descriptor_ = ::open(path_.string().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (descriptor_ < 0)
            throw std::runtime_error("cannot write '" + path_.string() + "': " + std::strerror(errno));
        if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
            ::close(descriptor_);
            throw std::runtime_error("cannot write '" + file.string() +
                                     "': another run writes it; wait for that run, or give another name");
        }
        struct stat opened = {};
        struct stat named = {};
        const bool known = ::fstat(descriptor_, &opened) == 0 && ::stat(path_.string().c_str(), &named) == 0;
        if (known && opened.st_ino == named.st_ino) return;
        ::close(descriptor_);
    }
}

RunLock::~RunLock() {
    ::unlink(path_.string().c_str());
    ::close(descriptor_);
}

void save_run(const std::filesystem::path& file, std::uint32_t of, const std::vector<char>& run) {
    Header h;
    h.bytes = run.size();
    h.of = of;
    h.crc = checksum(run.data(), run.size());
    std::vector<char> content(sizeof h + run.size());
    std::memcpy(content.data(), &h, sizeof h);
    std::memcpy(content.data() + sizeof h, run.data(), run.size());
    replace_file(file, content.data(), content.size());
}

std::vector<char> load_run(const std::filesystem::path& file, std::uint32_t of) {
    const DiskFile in(file, DiskFile::Mode::open);
    const auto fail = [&](const char* why) {
        throw std::runtime_error("cannot resume '" + file.string() + "': " + why);
    };
    const auto size = static_cast<size_t>(in.size());
    Header h;
    const Header expected;
    if (size < sizeof h) fail("it is not a saved run");
    in.read(0, &h, sizeof h);
    if (std::memcmp(h.magic, expected.magic, sizeof h.magic) != 0) fail("it is not a saved run");
    std::vector<char> run(size - sizeof h);
    in.read(sizeof h, run.data(), run.size());
    if (h.bytes != run.size() || h.crc != checksum(run.data(), run.size()))
        fail("it is corrupted; start the run again");
    if (h.of != of) fail("it was saved by another run; give the scene and options of that run");
    return run;
}

}  // namespace costate
