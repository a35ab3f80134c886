#include "adjoint/saved_run.hpp"

#include <cstring>
#include <stdexcept>

#include "adjoint/disk_file.hpp"

namespace costate {

namespace {

struct Header {
    char magic[16] = "costate run 1";
    std::uint64_t bytes = 0;
    std::uint32_t of = 0, crc = 0;
};

}  // namespace

void save_run(const std::filesystem::path& file, std::uint32_t of, const std::vector<char>& run) {
    Header h;
    h.bytes = run.size(), h.of = of, h.crc = checksum(run.data(), run.size());
    std::vector<char> content(sizeof h + run.size());
    std::memcpy(content.data(), &h, sizeof h);
    std::memcpy(content.data() + sizeof h, run.data(), run.size());
    replace_file(file, content.data(), content.size());
}

std::vector<char> load_run(const std::filesystem::path& file, std::uint32_t of) {
    const DiskFile in(file, DiskFile::Mode::open);
    const auto fail = [&](const char* why) { throw std::runtime_error("cannot go on from '" + file.string() + "': " + why); };
    const auto size = static_cast<size_t>(in.size());
    Header h;
    const Header expected;
    if (size < sizeof h) fail("it is no saved run");
    in.read(0, &h, sizeof h);
    if (std::memcmp(h.magic, expected.magic, sizeof h.magic) != 0) fail("it is no saved run");
    std::vector<char> run(size - sizeof h);
    in.read(sizeof h, run.data(), run.size());
    if (h.bytes != run.size() || h.crc != checksum(run.data(), run.size())) fail("it is corrupted; run again from the start");
    if (h.of != of) fail("it was saved by another run; give the scene and the options that it had");
    return run;
}

}  // namespace costate
