#include "apps/c_api/model.hpp"

#include <cmath>

#include "adjoint/rollout/state.hpp"

namespace costate::c_api {

Handles<costate_model, SharedModel>& models() {
    // never destroyed: threads may outlive main
    static auto& table = *new Handles<costate_model, SharedModel>;
    return table;
}

std::shared_ptr<const VecX<double>> SharedModel::parameters() {
    const std::lock_guard lock(mutex);
    return theta;
}

Use::Use(const costate_model* handle)
    : model_(models().get(handle)),
      theta_(model_->parameters()),
      workspace_(model_->workspaces) {}

void Use::place(const double* q, const double* v) {
    const Model& m = model();
    Workspace& s = *workspace_;
    read_configuration(m, "q", q, s.x.data());
    s.x.tail(s.x.size() - m.nq).setZero();
    if (v) s.x.segment(m.nq, m.nv) = Eigen::Map<const VecX<double>>(check_finite("v", v, m.nv), m.nv);
    observe(world(), theta(), s.x.data(), s.step);
}

void Use::place(const double* x) {
    read_state(world(), "x", x, workspace_->x.data());
    observe(world(), theta(), workspace_->x.data(), workspace_->step);
}

void check_given(const char* name, const void* pointer, size_t n) {
    if (!pointer && n > 0) throw Failure(COSTATE_BAD_ARGUMENT, std::string(name) + " is null");
}

const double* check_finite(const char* name, const double* values, int n) {
    check_given(name, values, static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(values[i]))
            throw Failure(COSTATE_BAD_ARGUMENT,
                          std::string(name) + "[" + std::to_string(i) + "] is not finite");
    return values;
}

void check_size(const char* name, size_t given, int expected) {
    if (given != static_cast<size_t>(expected))
        throw Failure(COSTATE_BAD_ARGUMENT, std::string(name) + " has " + std::to_string(given) +
                                                " numbers and must have " + std::to_string(expected));
}

void check_index(const char* what, int index, size_t count) {
    if (index < 0 || static_cast<size_t>(index) >= count)
        throw Failure(COSTATE_BAD_ARGUMENT, "there is no " + std::string(what) + " " + std::to_string(index) +
                                                "; there are " + std::to_string(count) + ", the first is 0");
}

void read_configuration(const Model& m, const char* name, const double* q, double* out) {
    check_finite(name, q, m.nq);
    for_each_coordinate(
        m, [](int, int) {},
        [&](int iq, int) {
            if (!has_direction(q + iq))
                throw Failure(COSTATE_BAD_ARGUMENT, std::string(name) + "[" + std::to_string(iq) +
                                                        "] begins a quaternion without direction");
        });
    normalize_configuration(m, q, out);
}

bool has_direction(const double* quaternion) {
    const double length = Eigen::Map<const Eigen::Vector4d>(quaternion).stableNorm();
    return length > 0 && std::isfinite(length);
}

void read_state(const World& w, const char* name, const double* x, double* out) {
    check_finite(name, x, w.nx());
    read_configuration(w.model, name, x, out);
    std::copy(x + w.nq(), x + w.nx(), out + w.nq());
}

}  // namespace costate::c_api
