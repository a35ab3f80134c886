// A file that is written and read at offsets, and complains in one line that names it. Checksums of what is
// in files.
#pragma once

#include <cstdint>
#include <filesystem>

namespace costate {

class DiskFile {
public:
    enum class Mode { create, open };
    // for reading and writing; `create` empties one that is there
    DiskFile(std::filesystem::path path, Mode mode);
    // has no name and is gone when it is closed
    static DiskFile temporary(const std::filesystem::path& directory);
    ~DiskFile();
    DiskFile(DiskFile&& other) noexcept;
    DiskFile(const DiskFile&) = delete;
    DiskFile& operator=(const DiskFile&) = delete;

    void write(std::int64_t offset, const void* bytes, size_t n);
    void read(std::int64_t offset, void* bytes, size_t n) const;
    std::int64_t size() const;
    void resize(std::int64_t bytes);
    void sync();  // what was written is on the disk after this
    const std::filesystem::path& path() const { return path_; }

private:
    DiskFile(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
    std::filesystem::path path_;
    int descriptor_;
};

// The file appears whole or not at all, in place of one that is there.
void replace_file(const std::filesystem::path& path, const void* bytes, size_t n);

// CRC-32 by zlib; a build without it has neither checkpoints on disk nor saved runs.
bool have_checksums();
std::uint32_t checksum(const void* bytes, size_t n);

}  // namespace costate
