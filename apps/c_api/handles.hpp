// Handles that C may hold beyond the life of what they stand for: numbers in the guise of pointers, each
// given out once, so one that was freed is known for what it is.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "apps/c_api/status.hpp"

namespace costate::c_api {

template <class Tag, class Object> class Handles {
public:
    Tag* add(std::shared_ptr<Object> object) {
        const std::unique_lock lock(mutex_);
        objects_.emplace(next_, std::move(object));
        return reinterpret_cast<Tag*>(next_++);
    }
    // The object, kept alive by whoever holds the result.
    std::shared_ptr<Object> get(const Tag* handle) const {
        if (!handle) throw Failure(COSTATE_BAD_ARGUMENT, "the handle is null");
        const std::shared_lock lock(mutex_);
        const auto it = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
        if (it == objects_.end()) throw_unknown();
        return it->second;
    }
    void remove(const Tag* handle) {
        std::shared_ptr<Object> last;  // dies after the lock
        const std::unique_lock lock(mutex_);
        const auto it = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
        if (it == objects_.end()) throw_unknown();
        last = std::move(it->second);
        objects_.erase(it);
    }

private:
    [[noreturn]] static void throw_unknown() {
        throw Failure(COSTATE_BAD_HANDLE, "the handle was freed, or never given out");
    }

    mutable std::shared_mutex mutex_;
    std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
    std::uintptr_t next_ = 1;
};

}  // namespace costate::c_api
