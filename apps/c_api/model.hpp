// What a handle of a model stands for, and what a call makes of it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "apps/c_api/handles.hpp"
#include "core/math/dual.hpp"
#include "scenes/scene.hpp"
#include "solvers/step/step.hpp"

namespace costate::c_api {

// What a call computes in; one call at a time has it.
struct Workspace {
    StepScratch<double> step;
    std::optional<StepScratch<Dual<double>>> dual;  // made by the first call that needs it
    VecX<double> x, x_next;                         // (nx)
    explicit Workspace(const World& w) : step(w), x(w.nx()), x_next(w.nx()) {}
};

// A scene, its parameters, and workspaces that no call has now: as many as calls ever ran at once. Parameters
// are replaced whole.
struct SharedModel {
    Scene scene;
    std::mutex mutex;
    std::shared_ptr<const VecX<double>> theta;
    std::vector<std::unique_ptr<Workspace>> idle;
    size_t workspaces = 0;
    explicit SharedModel(Scene s) : scene(std::move(s)), theta(std::make_shared<VecX<double>>(scene.theta)) {}

    std::shared_ptr<const VecX<double>> parameters();
    std::unique_ptr<Workspace> take_workspace();
    void give_back(std::unique_ptr<Workspace> workspace) noexcept;
};

Handles<costate_model, SharedModel>& models();

// A call on a model: keeps it alive, sees one set of parameters, has a workspace to itself.
class Use {
public:
    explicit Use(const costate_model* handle);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

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
    std::unique_ptr<Workspace> workspace_;
};

// Fails unless a step may have these parameters (np).
void check_parameters(const SharedModel& model, const double* theta);

// Arguments and results. `name` is the argument's.
void check_given(const char* name, const void* pointer, size_t n = 1);
const double* check_finite(const char* name, const double* values, int n);
void check_size(const char* name, size_t given, int expected);
void check_index(const char* what, int index, size_t count);
// q (nq) with unit quaternions, to `out`
void read_configuration(const Model& m, const char* name, const double* q, double* out);
// A whole state x (nx), to `out`
void read_state(const World& w, const char* name, const double* x, double* out);
// The same of what is known to be good.
bool has_direction(const double* quaternion);
void copy_configuration(const Model& m, const double* q, double* out);
void copy_state(const World& w, const double* x, double* out);
// Fails as diverged unless all are finite.
template <class Values> void check_result(const char* name, const Values& values) {
    if (!values.allFinite()) throw Failure(COSTATE_DIVERGED, std::string(name) + " would not be finite");
}
// Where the caller does not want it, `out` is null.
template <class Values> void write(const Values& values, double* out) {
    if (out) std::copy(values.data(), values.data() + values.size(), out);
}

}  // namespace costate::c_api
