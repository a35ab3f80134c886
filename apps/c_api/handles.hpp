// Handles that C may keep after the object is gone. A handle is a number cast to a pointer. Handles are never
// reused, so a freed handle is detected.
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
