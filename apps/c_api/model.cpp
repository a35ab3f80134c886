#include "apps/c_api/model.hpp"

#include <cmath>
#include <limits>

namespace costate::c_api {

Handles<costate_model, SharedModel>& models() {
    static auto& table = *new Handles<costate_model, SharedModel>;  // never destroyed: threads may outlive main
    return table;
}

Use::Use(const costate_model* handle) : model_(models().get(handle)) {
    {
        const std::lock_guard lock(model_->mutex);
        theta_ = model_->theta;
        if (!model_->idle.empty()) {
            workspace_ = std::move(model_->idle.back());
            model_->idle.pop_back();
        } else {
            model_->idle.reserve(++model_->workspaces);  // so that giving it back cannot fail
        }
    }
    if (!workspace_) workspace_ = std::make_unique<Workspace>(world());
}

Use::~Use() {
    const std::lock_guard lock(model_->mutex);
    model_->idle.push_back(std::move(workspace_));
}

void Use::place(const double* q, const double* v) {
    const Model& m = model();
    Workspace& s = *workspace_;
    read_configuration(m, "q", q, s.x.data());
    s.x.tail(s.x.size() - m.nq).setZero();  // and no impulses to start from
    if (v) s.x.segment(m.nq, m.nv) = Eigen::Map<const VecX<double>>(check_finite("v", v, m.nv), m.nv);
    observe(world(), theta(), s.x.data(), s.step);
}

void check_given(const char* name, const void* pointer, size_t n) {
    if (!pointer && n > 0) throw Failure(COSTATE_BAD_ARGUMENT, std::string(name) + " is null");
}

const double* check_finite(const char* name, const double* values, int n) {
    check_given(name, values, static_cast<size_t>(n));
    for (int i = 0; i < n; ++i)
        if (!std::isfinite(values[i]))
            throw Failure(COSTATE_BAD_ARGUMENT, std::string(name) + "[" + std::to_string(i) + "] is not finite");
    return values;
}

void check_size(const char* name, size_t given, int expected) {
    if (given != static_cast<size_t>(expected))
        throw Failure(COSTATE_BAD_ARGUMENT,
                      std::string(name) + " has " + std::to_string(given) + " numbers and must have " + std::to_string(expected));
}

void check_index(const char* what, int index, size_t count) {
    if (index < 0 || static_cast<size_t>(index) >= count)
        throw Failure(COSTATE_BAD_ARGUMENT, "there is no " + std::string(what) + " " + std::to_string(index) + "; there are " +
                                                std::to_string(count) + ", the first is 0");
}

void read_configuration(const Model& m, const char* name, const double* q, double* out) {
    check_finite(name, q, m.nq);
    constexpr double round_off = 8 * std::numeric_limits<double>::epsilon();  // what `retract` leaves is left as it is
    for_each_coordinate(m, [&](int iq, int) { out[iq] = q[iq]; },
        [&](int iq, int) {
            Eigen::Vector4d r(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]);
            const double length = r.stableNorm();
            if (!(length > 0) || !std::isfinite(length))
                throw Failure(COSTATE_BAD_ARGUMENT,
                              std::string(name) + "[" + std::to_string(iq) + "] begins a quaternion without direction");
            if (std::abs(length - 1) > round_off) r /= length;
            std::copy(r.data(), r.data() + 4, out + iq);
        });
}

}  // namespace costate::c_api
