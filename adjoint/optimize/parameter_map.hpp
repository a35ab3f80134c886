// The variables y of optimized parameters. theta is a function of y and has an adjoint.
//
//   linear        y = theta_i
//   log           y = log theta_i, which keeps the parameter positive
//   log_cholesky  ten unbounded numbers for mass, centre of mass and inertia of a body
//                 (core/model/log_cholesky.hpp)
#pragma once

#include "core/math/elementary.hpp"
#include "core/model/log_cholesky.hpp"
#include "core/model/mass_properties.hpp"

namespace costate {

enum class ParameterScale { linear, log, log_cholesky };

struct ParameterVariable {
    int index = 0;                                 // index in theta; log_cholesky: index of the body
    double lower = -unlimited, upper = unlimited;  // bounds of the parameter; unused by log_cholesky
    ParameterScale scale = ParameterScale::linear;
    int size() const { return scale == ParameterScale::log_cholesky ? LogCholesky<double>::size : 1; }
};

using ParameterMap = std::vector<ParameterVariable>;  // their variables are consecutive in y

inline int size_of(const ParameterMap& map) {
    int size = 0;
    for (const ParameterVariable& v : map)
        size += v.size();
    return size;
}

// Writes the parameters given by y to theta.
template <class T>
void place_parameters(const Model& m, const ParameterMap& map,
                      const T* y,  // (size_of)
                      T* theta)    // out: the parameters of the map
{
    for (const ParameterVariable& v : map) {
        switch (v.scale) {
            case ParameterScale::linear: theta[v.index] = *y; break;
            case ParameterScale::log: theta[v.index] = exp(*y); break;
            case ParameterScale::log_cholesky:
                store_mass_properties(m, v.index, log_cholesky_body(LogCholesky<T>::load(y)), theta);
                break;
        }
        y += v.size();
    }
}
template <class T>
void place_parameters_adj(const Model& m, const ParameterMap& map, const T* y, const T* theta_bar, T* y_bar) {
    for (const ParameterVariable& v : map) {
        switch (v.scale) {
            case ParameterScale::linear: *y_bar += theta_bar[v.index]; break;
            case ParameterScale::log: *y_bar += exp(*y) * theta_bar[v.index]; break;
            case ParameterScale::log_cholesky: {
                MassProperties<T> B_bar = MassProperties<T>::zero();
                LogCholesky<T> point_bar{T(0), Vec3<T>::Zero(), Vec3<T>::Zero(), Vec3<T>::Zero()};
                store_mass_properties_adj(m, v.index, theta_bar, B_bar);
                log_cholesky_body_adj(LogCholesky<T>::load(y), B_bar, point_bar);
                point_bar.add_to(y_bar);
                break;
            }
        }
        y += v.size();
        y_bar += v.size();
    }
}

// The variables y of theta, which must exist: logarithms need positive numbers, log_cholesky bodies with
// extent.
VecX<double> variables_of(const Model& m, const ParameterMap& map, const VecX<double>& theta);
VecX<double> lower_bounds(const ParameterMap& map);
VecX<double> upper_bounds(const ParameterMap& map);
// The name of an entry of y, for example "bodies/torso/pseudo_inertia[3]"
std::string variable_name(const Model& m, const ParameterMap& map, int entry);

}  // namespace costate
