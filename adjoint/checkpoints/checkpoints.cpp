#include "adjoint/checkpoints/checkpoints.hpp"

#include <algorithm>
#include <cstdint>

namespace costate {

void Checkpoints::push(int step) {
    ++size_;
    if (!runs_.empty()) {
        Run& last = runs_.back();
        if (last.count == 1) last.distance = step - last.first;
        if (last.at(last.count) == step) return void(++last.count);
    }
    runs_.push_back({step, 0, 1});
}

void Checkpoints::pop() {
    --size_;
    if (--runs_.back().count == 0) runs_.pop_back();
}

Checkpoints::Place Checkpoints::nearest(int step) const {
    int slot = size_;
    for (auto run = runs_.rbegin();; ++run) {
        slot -= run->count;
        if (run->first > step) continue;
        const int k = run->distance == 0 ? 0 : std::min(run->count - 1, (step - run->first) / run->distance);
        return {run->at(k), slot + k};
    }
}

bool Checkpoints::rises_within(int steps) const {
    std::int64_t count = 0, last = -1;
    for (const Run& r : runs_) {
        if (r.first <= last || r.count < 1 || (r.count > 1 && r.distance < 1)) return false;
        last = r.first + std::int64_t{r.distance} * (r.count - 1);
        count += r.count;
        if (last > steps) return false;
    }
    return count == size_;
}

std::optional<int> OnlineCheckpoints::offer(int step) {
    int slot = static_cast<int>(kept_.size() + dispensable_.size());
    if (slot == slots_) {
        if (dispensable_.empty()) {
            ++level_;
            for (; kept_.back().level < level_; kept_.pop_back())
                dispensable_.push_back(kept_.back());
            return std::nullopt;
        }
        slot = dispensable_.back().slot;
        dispensable_.pop_back();
    }
    kept_.push_back({step, slot, level_});
    level_ = 0;
    return slot;
}

std::vector<Checkpoints::Place> OnlineCheckpoints::kept() const {
    std::vector<Checkpoints::Place> all;
    for (const std::vector<Kept>* some : {&kept_, &dispensable_})
        for (const Kept& k : *some)
            all.push_back({k.step, k.slot});
    std::ranges::sort(all, {}, &Checkpoints::Place::step);
    return all;
}

}  // namespace costate
