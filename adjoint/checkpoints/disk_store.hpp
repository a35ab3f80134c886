// States on disk: written in order, read backwards. They go by chunks, each with a checksum and perhaps
// compressed. While a chunk is filled, another thread writes the one before; while one is read, it fetches
// the one before.
#pragma once

#include <future>
#include <optional>

#include "adjoint/checkpoints/archive.hpp"
#include "adjoint/checkpoints/disk_file.hpp"

namespace costate {

struct DiskSettings {
    // for a file that is gone when the program ends, however it ends; empty: none
    std::filesystem::path directory;
    std::filesystem::path file;  // or this one, which stays, so that a saved run can go on from it
    bool resume = false;         // the file is there already
    bool compressed = false;
};

struct DiskTraffic {
    std::int64_t states_written = 0, states_read = 0;  // as asked for
    std::int64_t bytes_written = 0, bytes_read = 0;    // of the file
    std::int64_t uncompressed = 0;                     // of bytes_written
    double ratio() const {
        return bytes_written > 0 ? static_cast<double>(uncompressed) / static_cast<double>(bytes_written) : 1;
    }
};

class DiskStore {
public:
    DiskStore(const DiskSettings& settings, int numbers_per_state, int states);  // of so many at most
    ~DiskStore();
    DiskStore(const DiskStore&) = delete;
    DiskStore& operator=(const DiskStore&) = delete;

    // slot 0, the next one, or one before, and then those after it are gone
    void write(int slot, const double* x);
    void read(int slot, double* x);
    const DiskTraffic& traffic();                                       // so far, when all of it is done
    static size_t bytes(int numbers_per_state, int states);             // of memory
    static std::int64_t file_bytes(int numbers_per_state, int states);  // uncompressed
    // a state, uncompressed
    static std::int64_t most_file_bytes(int numbers_per_state) {
        return std::int64_t{numbers_per_state} * 8 + 16;
    }

    // What is in memory; the rest is in the file, which is safe on the disk after this.
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
            here_.chunk = -1;  // it is in the file, whose checksum counts
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
    void settle();  // waits for the other thread, whose complaint becomes this one's
    void turn_to(int chunk);
    void save(Chunk& c, int states);
    void load(Chunk& c, int chunk, int states);  // which it must hold at least
    // throws where those read from an archive are not of this file
    void check_places() const;
    int states_in(int chunk) const { return std::min(states_ - chunk * per_chunk_, per_chunk_); }

    DiskFile file_;
    const bool compressed_;
    const size_t nx_;
    const int per_chunk_, most_states_;
    int states_ = 0;
    std::vector<std::int64_t> offsets_;  // where chunks begin in the file, and where the last one ends
    Chunk here_, beside_;                // beside_ is the other thread's while it works
    std::future<void> at_work_;
    DiskTraffic traffic_;
};

}  // namespace costate
