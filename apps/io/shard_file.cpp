#include "apps/io/shard_file.hpp"

#include <cstring>

#include "adjoint/checkpoints/disk_file.hpp"
#include "apps/io/output.hpp"
#include "apps/io/usage_error.hpp"
#include "scenes/format/files.hpp"
#include "scenes/format/names.hpp"

namespace costate {
namespace {

struct Header {
    char magic[16] = "costate shard 1";
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0, unused = 0;
};

// Throws std::runtime_error unless the names are those of the numbers, as gradient_names wrote them.
void check_contents(const Shard& shard) {
    const PartialSum& sum = shard.part.sum;
    if (sum.plan().environments < 1 || shard.of < 1 || shard.of > sum.plan().blocks() || shard.index < 1 ||
        shard.index > shard.of)
        throw std::runtime_error("it contains a shard that no run has");
    try {
        const Report names = Report::parse(shard.names);
        std::uint64_t width = 1 + 2 * names.at("nv").get<std::uint64_t>() + names.at("parameters").size();
        for (const auto& [actuator, of] : names.at("controls").items())
            width += of.at("size").get<std::uint32_t>();
        names.at("name").get<std::string>();
        names.at("steps").get<int>();
        names.at("parameters").get<std::vector<std::string>>();
        if (names.at("nv").get<std::uint64_t>() <= sum.width() && width <= sum.width()) return;
    } catch (const Report::exception&) {
    }
    throw std::runtime_error("it contains names of other numbers");
}

}  // namespace

void write_shard(const std::filesystem::path& file, Shard& shard) {
    const std::vector<char> bytes = bytes_of(shard);
    Header h;
    h.bytes = bytes.size();
    h.crc = checksum(bytes.data(), bytes.size());
    std::vector<char> content(sizeof h + bytes.size());
    std::memcpy(content.data(), &h, sizeof h);
    std::memcpy(content.data() + sizeof h, bytes.data(), bytes.size());
    replace_file(file, content.data(), content.size());
}

Shard read_shard(const std::filesystem::path& file) {
    const auto fail = [&](const std::string& why) {
        throw UsageError(one_line((file.empty() ? "''" : file.string()) + " " + why));
    };
    if (!std::filesystem::is_regular_file(file)) fail("is no file: give files of costate gradient --shard");
    const std::string content = read_file(file);
    Header h;
    const Header expected;
    if (content.size() < sizeof h || std::memcmp(content.data(), expected.magic, sizeof h.magic) != 0)
        fail("is no shard: give files of costate gradient --shard");
    std::memcpy(&h, content.data(), sizeof h);
    const std::vector<char> bytes(content.begin() + sizeof h, content.end());
    if (h.bytes != bytes.size()) fail("is truncated: compute this shard again");
    if (h.crc != checksum(bytes.data(), bytes.size())) fail("is corrupted: compute this shard again");
    Shard shard;
    ArchiveReader reader(bytes);
    reader(shard.version);
    if (shard.version != COSTATE_VERSION_TEXT)
        fail("was written by costate " + shard.version + ", and this is costate " COSTATE_VERSION_TEXT +
             ": use one version for all shards");
    try {
        read_bytes(bytes, shard);
        check_contents(shard);
    } catch (const std::runtime_error& e) {
        fail(std::string("is no shard of this build: ") + e.what() + "; compute this shard again");
    }
    return shard;
}

}  // namespace costate
