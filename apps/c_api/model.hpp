// What a handle of a model stands for, and what a call makes of it.
#pragma once

#include <memory>
#include <mutex>

#include "adjoint/batch/workspace.hpp"
#include "apps/c_api/handles.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"

namespace costate::c_api {

// A scene, its parameters, and workspaces that no call has now. Parameters are replaced whole.
struct SharedModel {
    const std::shared_ptr<const Scene> file;  // which copies share
    const Scene& scene;
    WorkspacePool workspaces;
    std::mutex mutex;
    std::shared_ptr<const VecX<double>> theta;
    SharedModel(std::shared_ptr<const Scene> s, std::shared_ptr<const VecX<double>> parameters)
        : file(std::move(s)),
          scene(*file),
          workspaces(scene.world),
          theta(std::move(parameters)) {}

    std::shared_ptr<const VecX<double>> parameters();
};

Handles<costate_model, SharedModel>& models();

// A call on a model: keeps it alive, sees one set of parameters, has a workspace to itself.
class Use {
public:
    explicit Use(const costate_model* handle);

    const World& world() const { return model_->scene.world; }
    const Model& model() const { return world().model; }
    const double* theta() const { return theta_->data(); }
    Workspace& workspace() { return *workspace_; }

    // Copies a state into workspace().x, its quaternions normalised, and leaves poses and velocities in the
    // scratch. v may be null: 0. No impulses are kept in it.
    void place(const double* q, const double* v);
    void place(const double* x);  // a whole state (nx)
    const double* q() const { return workspace_->x.data(); }
    const double* v() const { return workspace_->x.data() + model().nq; }

private:
    std::shared_ptr<SharedModel> model_;
    std::shared_ptr<const VecX<double>> theta_;
    BorrowedWorkspace workspace_;
};

// Fails unless a step may have these parameters (np).
void check_parameters(const SharedModel& model, const double* theta);

// The state x (nx) of a keyframe: the start of the file, without kept impulses, but for what the keyframe names.
void enter_named(const Scene& scene, const Keyframe& keyframe, VecX<double>& x);

// Arguments and results. `name` is the argument's.
void check_given(const char* name, const void* pointer, size_t n = 1);
const double* check_finite(const char* name, const double* values, int n);
void check_size(const char* name, size_t given, int expected);
void check_index(const char* what, int index, size_t count);
// q (nq) with unit quaternions, to `out`
void read_configuration(const Model& m, const char* name, const double* q, double* out);
// A whole state x (nx), to `out`
void read_state(const World& w, const char* name, const double* x, double* out);
bool has_direction(const double* quaternion);
// Fails as diverged unless all are finite.
template <class Values> void check_result(const char* name, const Values& values) {
    if (!values.allFinite()) throw Failure(COSTATE_DIVERGED, std::string(name) + " would not be finite");
}
// Where the caller does not want it, `out` is null.
template <class Values> void write(const Values& values, double* out) {
    if (out) std::copy(values.data(), values.data() + values.size(), out);
}

}  // namespace costate::c_api
