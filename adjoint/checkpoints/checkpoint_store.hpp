// Storage for the bytes of checkpoints. The schedule (adjoint/checkpoints/schedule.hpp) knows which state is
// in which slot.
#pragma once

#include <cstring>
#include <memory>

#include "adjoint/checkpoints/disk_store.hpp"
#include "adjoint/checkpoints/schedule.hpp"

namespace costate {

// Preallocated slots in memory, and slots on disk if the schedule has some.
class CheckpointStore {
public:
    CheckpointStore(int numbers_per_state, const Schedule& schedule, const DiskSettings& disk = {})
        : nx_(numbers_per_state),
          bytes_(bytes(schedule, numbers_per_state)),
          data_(nx_ * schedule.slots()) {
        if (schedule.disk_slots() > 0)
            disk_ = std::make_unique<DiskStore>(disk, numbers_per_state, schedule.disk_slots());
    }
    void store(Tier tier, int slot, const double* x) {
        if (tier == Tier::disk) return disk_->write(slot, x);
        if (nx_ > 0) std::memcpy(place(slot), x, bytes_per_checkpoint());
    }
    void restore(Tier tier, int slot, double* x) {
        if (tier == Tier::disk) return disk_->read(slot, x);
        if (nx_ > 0) std::memcpy(x, place(slot), bytes_per_checkpoint());
    }
    size_t bytes_per_checkpoint() const { return nx_ * sizeof(double); }
    size_t bytes() const { return bytes_; }  // of memory
    static size_t bytes(const Schedule& schedule, int numbers_per_state) {
        return static_cast<size_t>(schedule.slots()) * static_cast<size_t>(numbers_per_state) *
                   sizeof(double) +
               (schedule.disk_slots() > 0 ? DiskStore::bytes(numbers_per_state, schedule.disk_slots()) : 0);
    }
    DiskTraffic traffic() const { return disk_ ? disk_->traffic() : DiskTraffic(); }

    template <class Archive> void transfer(Archive& a) {
        a.of_known_size(data_);
        if (disk_) disk_->transfer(a);
    }

private:
    double* place(int slot) { return data_.data() + slot * nx_; }
    size_t nx_, bytes_;
    std::vector<double> data_;
    std::unique_ptr<DiskStore> disk_;
};

}  // namespace costate
