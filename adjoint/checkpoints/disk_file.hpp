// A file with reads and writes at offsets, whose errors are one line with its name. Checksums of contents.
#pragma once

#include <cstdint>
#include <filesystem>

namespace costate {

class DiskFile {
public:
    enum class Mode { create, open };
    // Opens the file for reading and writing; `create` empties an existing file.
    DiskFile(std::filesystem::path path, Mode mode);
    // A file without a name, which disappears when it is closed.
    static DiskFile temporary(const std::filesystem::path& directory);
    ~DiskFile();
    DiskFile(DiskFile&& other) noexcept;
    DiskFile(const DiskFile&) = delete;
    DiskFile& operator=(const DiskFile&) = delete;

    void write(std::int64_t offset, const void* bytes, size_t n);
    void read(std::int64_t offset, void* bytes, size_t n) const;
    std::int64_t size() const;
    void resize(std::int64_t bytes);
    void sync();  // waits until all writes are on the disk
    const std::filesystem::path& path() const { return path_; }

private:
    DiskFile(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
    std::filesystem::path path_;
    int descriptor_;
};

// Writes a file atomically, replacing an existing one.
void replace_file(const std::filesystem::path& path, const void* bytes, size_t n);

// CRC-32 by zlib. A build without zlib has neither checkpoints on disk nor saved runs.
bool have_checksums();
std::uint32_t checksum(const void* bytes, size_t n);

}  // namespace costate
