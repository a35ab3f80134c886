#include "adjoint/optimize/parameter_map.hpp"

#include "core/math/elementary.hpp"

#include <cassert>

namespace costate {

namespace {

// The value of the parameter x on the variable's scale.
double scaled(const ParameterVariable& v, double x) {
    if (v.scale == ParameterScale::linear) return x;
    return x > 0 ? log(x) : -unlimited;
}

VecX<double> bounds(const ParameterMap& map, double ParameterVariable::*bound) {
    VecX<double> y(size_of(map));
    Eigen::Index k = 0;
    for (const ParameterVariable& v : map) {
        const double all = v.scale == ParameterScale::log_cholesky ? v.*bound : scaled(v, v.*bound);
        y.segment(k, v.size()).setConstant(all);
        k += v.size();
    }
    return y;
}

}  // namespace

VecX<double> variables_of(const Model& m, const ParameterMap& map, const VecX<double>& theta) {
    VecX<double> y = VecX<double>::Zero(size_of(map));
    Eigen::Index k = 0;
    for (const ParameterVariable& v : map) {
        if (v.scale == ParameterScale::log_cholesky) {
            const auto point = log_cholesky_of(mass_properties(m, theta.data(), v.index));
            assert(point);
            point->add_to(y.data() + k);
        } else {
            y[k] = scaled(v, theta[v.index]);
        }
        k += v.size();
    }
    return y;
}

VecX<double> lower_bounds(const ParameterMap& map) { return bounds(map, &ParameterVariable::lower); }
VecX<double> upper_bounds(const ParameterMap& map) { return bounds(map, &ParameterVariable::upper); }

std::string variable_name(const Model& m, const ParameterMap& map, int entry) {
    for (const ParameterVariable& v : map) {
        if (entry >= v.size()) {
            entry -= v.size();
            continue;
        }
        if (v.scale != ParameterScale::log_cholesky) return m.layout.element_name(v.index);
        std::string name = "bodies/";
        name.append(m.bodies[v.index].name)
            .append("/pseudo_inertia[")
            .append(std::to_string(entry))
            .append("]");
        return name;
    }
    return "?";
}

}  // namespace costate
