// States on disk, written in order and read in reverse. They are grouped in chunks with checksums, optionally
// compressed. Another thread writes the previous chunk while a chunk is filled, and prefetches the previous
// chunk while a chunk is read.
#pragma once

#include <future>
#include <optional>

#include "adjoint/checkpoints/archive.hpp"
#include "adjoint/checkpoints/disk_file.hpp"

namespace costate {

struct DiskSettings {
    // folder of a temporary file, which disappears however the program ends; empty: none
    std::filesystem::path directory;
    std::filesystem::path file;  // alternatively a permanent file, from which a saved run can resume
    bool resume = false;         // the file exists already
    bool compressed = false;
};

struct DiskTraffic {
    std::int64_t states_written = 0, states_read = 0;  // requested by the caller
    std::int64_t bytes_written = 0, bytes_read = 0;    // in the file
    std::int64_t uncompressed = 0;                     // size of bytes_written before compression
    double ratio() const {
        return bytes_written > 0 ? static_cast<double>(uncompressed) / static_cast<double>(bytes_written) : 1;
    }
};

class DiskStore {
public:
    DiskStore(const DiskSettings& settings, int numbers_per_state, int states);  // at most `states` states
    ~DiskStore();
    DiskStore(const DiskStore&) = delete;
    DiskStore& operator=(const DiskStore&) = delete;

    // `slot` is 0, the next slot, or an earlier one, which discards the slots after it
    void write(int slot, const double* x);
    void read(int slot, double* x);
    const DiskTraffic& traffic();                                       // waits for pending transfers
    static size_t bytes(int numbers_per_state, int states);             // of memory
    static std::int64_t file_bytes(int numbers_per_state, int states);  // uncompressed
    // upper bound for a state, uncompressed
    static std::int64_t max_file_bytes(int numbers_per_state) {
        return std::int64_t{numbers_per_state} * 8 + 16;
    }

    // Transfers the part in memory. The rest is in the file, which is synchronized to the disk.
    template <class Archive> void transfer(Archive& a) {
        settle();
        if constexpr (std::is_same_v<Archive, ArchiveWriter>) file_.sync();
        a(states_);
        a(offsets_);
        a(here_.chunk);
        a(here_.dirty);
        a.of_known_size(here_.numbers);
        a(traffic_);
        if constexpr (std::is_same_v<Archive, ArchiveReader>) check_places();
        if (std::is_same_v<Archive, ArchiveReader> && !here_.dirty)
            here_.chunk = -1;  // reread from the file, with its checksum
    }

private:
    struct Chunk {
        int chunk = -1;
        bool dirty = false;  // not in the file yet
        std::vector<double> numbers;
    };
    struct Header {
        std::int32_t chunk, states;
        std::uint32_t bytes, crc;
    };
    void settle();  // waits for the other thread and rethrows its exception
    void turn_to(int chunk);
    void save(Chunk& c, int states);
    void load(Chunk& c, int chunk, int states);  // the chunk must contain at least `states` states
    // throws if offsets read from an archive do not belong to this file
    void check_places() const;
    int states_in(int chunk) const { return std::min(states_ - chunk * per_chunk_, per_chunk_); }

    DiskFile file_;
    const bool compressed_;
    const size_t nx_;
    const int per_chunk_, max_states_;
    int states_ = 0;
    std::vector<std::int64_t> offsets_;  // start of each chunk in the file, and end of the last one
    Chunk here_, beside_;                // beside_ belongs to the other thread while it works
    std::future<void> at_work_;
    DiskTraffic traffic_;
};

}  // namespace costate
