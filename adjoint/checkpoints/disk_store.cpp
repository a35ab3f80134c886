#include "adjoint/checkpoints/disk_store.hpp"

#include <algorithm>
#include <utility>

#include "adjoint/checkpoints/compression.hpp"

namespace costate {

namespace {

constexpr size_t chunk_bytes = 16 * 1024;  // or one state, if that is larger

int states_per_chunk(size_t nx) {
    return static_cast<int>(std::max<size_t>(1, chunk_bytes / std::max<size_t>(1, nx * sizeof(double))));
}

// On another thread, or where none can be had, when it is waited for.
template <class Work> std::future<void> beside_the_steps(const Work& work) {
    return std::async(std::launch::async | std::launch::deferred, work);
}

DiskFile open(const DiskSettings& s) {
    if (s.file.empty()) return DiskFile::temporary(s.directory);
    return {s.file, s.resume ? DiskFile::Mode::open : DiskFile::Mode::create};
}

}  // namespace

DiskStore::DiskStore(const DiskSettings& settings, int numbers_per_state, int states)
    : file_(open(settings)),
      compressed_(settings.compressed),
      nx_(numbers_per_state),
      per_chunk_(states_per_chunk(nx_)),
      max_states_(states),
      offsets_{0} {
    offsets_.reserve(static_cast<size_t>((states - 1) / per_chunk_) + 2);
    checksum(nullptr, 0);  // throws in builds without checksums
    if (compressed_ && !have_compression()) compress(nullptr, 0, 0);
    for (Chunk* c : {&here_, &beside_})
        c->numbers.resize(nx_ * per_chunk_);
}

DiskStore::~DiskStore() {
    if (at_work_.valid()) at_work_.wait();
}

size_t DiskStore::bytes(int numbers_per_state, int states) {
    const size_t nx = numbers_per_state;
    const int per_chunk = states_per_chunk(nx);
    return 2 * nx * per_chunk * sizeof(double) +
           (static_cast<size_t>((states - 1) / per_chunk) + 2) * sizeof(std::int64_t);
}

std::int64_t DiskStore::file_bytes(int numbers_per_state, int states) {
    const std::int64_t per_chunk = states_per_chunk(numbers_per_state),
                       each = std::int64_t{numbers_per_state} * 8;
    return states * each + (states + per_chunk - 1) / per_chunk * static_cast<std::int64_t>(sizeof(Header));
}

void DiskStore::settle() {
    if (at_work_.valid()) at_work_.get();
}

const DiskTraffic& DiskStore::traffic() {
    settle();
    return traffic_;
}

void DiskStore::write(int slot, const double* x) {
    const int chunk = slot / per_chunk_, place = slot % per_chunk_;
    if (slot < states_) {
        settle();
        if (beside_.chunk >= chunk) beside_.chunk = -1;
    }
    if (here_.chunk != chunk) {
        if (place > 0) {
            turn_to(chunk);
        } else {
            settle();
            if (here_.dirty && here_.chunk < chunk) {
                std::swap(here_, beside_);
                at_work_ = beside_the_steps([this] { save(beside_, per_chunk_); });
            }
            here_.chunk = chunk;
        }
    }
    states_ = slot + 1;
    here_.dirty = true;
    std::copy_n(x, nx_, here_.numbers.data() + place * nx_);
    ++traffic_.states_written;
}

void DiskStore::read(int slot, double* x) {
    turn_to(slot / per_chunk_);
    std::copy_n(here_.numbers.data() + slot % per_chunk_ * nx_, nx_, x);
    ++traffic_.states_read;
}

void DiskStore::turn_to(int chunk) {
    if (here_.chunk == chunk) return;
    settle();
    if (here_.dirty) save(here_, states_in(here_.chunk));
    if (beside_.chunk == chunk)
        std::swap(here_, beside_);
    else
        load(here_, chunk, states_in(chunk));
    if (chunk > 0 && beside_.chunk != chunk - 1)
        at_work_ = beside_the_steps([this, chunk] { load(beside_, chunk - 1, per_chunk_); });
}

// Chunks are consecutive in the file: header, then states. The checksum covers everything except itself.
void DiskStore::save(Chunk& c, int states) {
    const size_t numbers = states * nx_, raw = numbers * sizeof(double);
    std::vector<char> packed;
    if (compressed_) packed = compress(c.numbers.data(), nx_, states);
    const size_t length = compressed_ ? packed.size() : raw;
    std::vector<char> bytes(sizeof(Header) + length);
    if (length > 0)
        std::memcpy(bytes.data() + sizeof(Header),
                    compressed_ ? packed.data() : static_cast<const void*>(c.numbers.data()), length);
    Header h{c.chunk, states, static_cast<std::uint32_t>(length), 0};
    std::memcpy(bytes.data(), &h, sizeof h);
    h.crc = checksum(bytes.data(), bytes.size());
    std::memcpy(bytes.data(), &h, sizeof h);
    offsets_.resize(static_cast<size_t>(c.chunk) + 1);
    file_.write(offsets_.back(), bytes.data(), bytes.size());
    offsets_.push_back(offsets_.back() + static_cast<std::int64_t>(bytes.size()));
    traffic_.bytes_written += static_cast<std::int64_t>(bytes.size());
    traffic_.uncompressed += static_cast<std::int64_t>(raw);
    c.dirty = false;
}

void DiskStore::load(Chunk& c, int chunk, int states) {
    c.chunk = -1;
    c.dirty = false;
    const auto n = static_cast<size_t>(chunk);
    const std::int64_t at = offsets_.at(n), size = offsets_.at(n + 1) - at;
    const auto fail = [&](const char* why) {
        throw std::runtime_error("checkpoints in '" + file_.path().string() + "' are corrupted at byte " +
                                 std::to_string(at) + ": " + why + "; start the run again");
    };
    std::vector<char> bytes(size);
    file_.read(at, bytes.data(), bytes.size());
    Header h;
    std::memcpy(&h, bytes.data(), sizeof h);
    const std::uint32_t crc = std::exchange(h.crc, 0u);
    std::memcpy(bytes.data(), &h, sizeof h);
    if (crc != checksum(bytes.data(), bytes.size())) fail("the checksum does not match");
    const char* const packed = bytes.data() + sizeof h;
    const size_t length = bytes.size() - sizeof h;
    const size_t raw = static_cast<size_t>(std::max(h.states, 0)) * nx_ * sizeof(double);
    if (h.chunk != chunk || h.states < states || h.states > per_chunk_ || h.bytes != length ||
        (!compressed_ && length != raw))
        fail("the header does not match these states");
    if (!compressed_)
        std::memcpy(c.numbers.data(), packed, length);
    else if (!decompress(packed, length, c.numbers.data(), nx_, h.states))
        fail("the compressed data do not contain this number of states");
    c.chunk = chunk;
    traffic_.bytes_read += size;
}

void DiskStore::check_places() const {
    const auto chunks = static_cast<int>(offsets_.size()) - 1;
    const auto too_short = [](std::int64_t from, std::int64_t to) {
        return to < from || to - from < static_cast<std::int64_t>(sizeof(Header));
    };
    const bool rises =
        chunks >= 0 && offsets_[0] == 0 && std::ranges::adjacent_find(offsets_, too_short) == offsets_.end();
    // Chunks are filled in order; only the last may be in memory without being in the file.
    const bool fits = states_ >= 0 && states_ <= max_states_;
    const int due = fits ? (states_ + per_chunk_ - 1) / per_chunk_ : 0;  // chunks
    const bool all_there = here_.dirty ? here_.chunk == due - 1 && due - 1 <= chunks : due <= chunks;
    if (!rises || offsets_.back() > file_.size() || !fits || !all_there)
        throw std::runtime_error("its checkpoints do not belong to '" + file_.path().string() + "'");
}

}  // namespace costate
