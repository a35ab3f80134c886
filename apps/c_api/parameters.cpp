// Which parameters a step may have.
#include <cmath>

#include "apps/c_api/model.hpp"
#include "scenes/read/world/initial_reader.hpp"

namespace costate::c_api {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* rule) {
    throw Failure(COSTATE_BAD_ARGUMENT, path + " must be " + rule);
}

// Numbers that do nothing, such as a sphere's second half extent, may be out of range in the file itself.
void check_ranges(const ParameterLayout& layout, const VecX<double>& loaded, const double* theta) {
    for (const ParameterLayout::Entry& e : layout.entries()) {
        for (int i = e.offset; i < e.offset + e.width; ++i) {
            if (!std::isfinite(theta[i])) refuse(layout.element_name(i), "finite");
            if (theta[i] == loaded[i]) continue;
            if (e.range == ParameterRange::nonnegative && theta[i] < 0)
                refuse(layout.element_name(i), "0 or more");
            if ((e.range == ParameterRange::positive || e.range == ParameterRange::angle) && theta[i] <= 0)
                refuse(layout.element_name(i), "more than 0");
            if (e.range == ParameterRange::angle && theta[i] >= M_PI)
                refuse(layout.element_name(i), "below pi");
        }
        if (e.range == ParameterRange::interval && !(theta[e.offset] < theta[e.offset + 1]))
            refuse(e.path, "two numbers, the lower first");
    }
}

}  // namespace

void check_parameters(const SharedModel& model, const double* theta) {
    const World& w = model.scene.world;
    check_ranges(w.model.layout, model.scene.theta, theta);
    const VecX<double> all = Eigen::Map<const VecX<double>>(theta, w.np());
    if (const int dof = dof_without_inertia(w, all, model.scene.x0); dof >= 0) {
        const Body& b = w.model.bodies[w.model.dofs[dof].body];
        refuse("the inertia beyond joint " + b.joint_name, "positive");
    }
}

}  // namespace costate::c_api
