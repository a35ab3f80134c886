// What crosses the boundary to C: an int, and a sentence kept for the thread. No exception does.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "apps/c_api/costate.h"
#include "scenes/scene.hpp"

namespace costate::c_api {

// A call that fails, with its status.
struct Failure : std::runtime_error {
    costate_status status;
    Failure(costate_status s, const std::string& sentence) : std::runtime_error(sentence), status(s) {}
};

// Keeps "<function>: <sentence>" for costate_last_error, in one line; returns the status.
int fail(costate_status status, const char* function, const char* sentence) noexcept;

// Runs a call; what it throws becomes a status.
template <class Call> int guarded(const char* function, const Call& call) noexcept {
    try {
        return call();
    } catch (const Failure& e) {
        return fail(e.status, function, e.what());
    } catch (const SceneError& e) {
        return fail(COSTATE_BAD_FILE, function, e.what());
    } catch (const std::bad_alloc&) {
        return fail(COSTATE_NO_MEMORY, function, "out of memory");
    } catch (const std::exception& e) {
        return fail(COSTATE_INTERNAL, function, e.what());
    } catch (...) {
        return fail(COSTATE_INTERNAL, function, "unknown exception");
    }
}

}  // namespace costate::c_api
