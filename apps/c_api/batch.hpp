// What a handle of a batch stands for, and the checks of what a call on it is given. What the call computes
// is adjoint/batch.
#pragma once

#include <mutex>

#include "adjoint/batch/batch.hpp"
#include "adjoint/batch/thread_pool.hpp"
#include "apps/c_api/ambient.hpp"
#include "apps/c_api/model.hpp"

namespace costate::c_api {

struct SharedBatch {
    std::mutex mutex;  // held by the one call that runs
    const std::shared_ptr<SharedModel> model;
    const AmbientCoordinates ambient;
    Batch batch;
    bool of_model = true;  // whether the parameters are the model's, as it has them at each call
    std::shared_ptr<const VecX<double>> model_theta;  // those that the batch has now, if they are

    SharedBatch(std::shared_ptr<SharedModel> m, const costate_batch_options* given);
    Batch& with_parameters();  // the batch, for a call that needs its parameters
};

Handles<costate_batch, SharedBatch>& batches();

// Runs a call on a batch while no other does. After fork(), a batch without its threads is refused before its
// mutex is touched, which a thread of the other process may have held.
template <class Call> int with_batch(const char* function, costate_batch* handle, const Call& call) noexcept {
    return guarded(function, [&]() -> int {
        const std::shared_ptr<SharedBatch> batch = batches().get(handle);
        if (!batch->batch.is_here())
            throw Failure(COSTATE_BAD_HANDLE,
                          std::string("the batch cannot be used: ") + ForkedProcess().what());
        const std::lock_guard lock(batch->mutex);
        try {
            return call(*batch);
        } catch (const CallInterrupted& e) {
            throw Failure(COSTATE_INTERRUPTED, e.what());
        }
    });
}

// An argument of rows: all finite, else a failure that names row and column, of (t, environment, entry) where
// there are `times`.
void check_rows(const char* name, const double* values, size_t times, size_t rows, size_t width);
// The same of states, whose quaternions have a direction.
void check_states(const Batch& batch, const char* name, const double* x, size_t times);

int check_step_count(int n_steps);
// Which gradients by parameters so many numbers hold.
Batch::ThetaBar check_theta_bar(const Batch& b, const double* theta_bar, size_t size);

// Of each environment (n_env), where the caller wants it: COSTATE_OK or COSTATE_DIVERGED
void write_status(const std::vector<EnvironmentStatus>& status, int* out);

}  // namespace costate::c_api
