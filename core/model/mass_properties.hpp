// Reads and writes mass, centre of mass and inertia of a body in theta.
#pragma once

#include "core/model/model.hpp"

namespace costate {

// The ten inertial parameters of a body from theta.
template <class T> MassProperties<T> mass_properties(const Model& m, const T* theta, int body) {
    const T* I = theta + m.inertia.at(body);
    MassProperties<T> B{theta[m.mass.at(body)], load3(theta + m.com.at(body)), {}};
    B.I << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
    return B;
}
// An off-diagonal parameter has two entries in the matrix.
template <class T>
void mass_properties_adj(const Model& m, int body, const MassProperties<T>& B_bar, T* theta_bar) {
    theta_bar[m.mass.at(body)] += B_bar.m;
    add3(theta_bar + m.com.at(body), B_bar.c);
    T* I = theta_bar + m.inertia.at(body);
    const Mat3<T>& b = B_bar.I;
    I[0] += b(0, 0);
    I[1] += b(1, 1);
    I[2] += b(2, 2);
    I[3] += b(0, 1) + b(1, 0);
    I[4] += b(0, 2) + b(2, 0);
    I[5] += b(1, 2) + b(2, 1);
}

// The inverse of mass_properties: writes ten parameters to theta.
template <class T>
void store_mass_properties(const Model& m, int body, const MassProperties<T>& B, T* theta) {
    theta[m.mass.at(body)] = B.m;
    T* I = theta + m.inertia.at(body);
    for (int k = 0; k < 3; ++k) {
        theta[m.com.at(body) + k] = B.c[k];
        I[k] = B.I(k, k);
    }
    I[3] = B.I(0, 1);
    I[4] = B.I(0, 2);
    I[5] = B.I(1, 2);
}
// The bar of an off-diagonal parameter is divided between its two entries.
template <class T>
void store_mass_properties_adj(const Model& m, int body, const T* theta_bar, MassProperties<T>& B_bar) {
    const T *I = theta_bar + m.inertia.at(body), half(0.5);
    B_bar.m += theta_bar[m.mass.at(body)];
    B_bar.c += load3(theta_bar + m.com.at(body));
    const T xy = half * I[3], xz = half * I[4], yz = half * I[5];
    Mat3<T> I_bar;
    I_bar << I[0], xy, xz, xy, I[1], yz, xz, yz, I[2];
    B_bar.I += I_bar;
}

}  // namespace costate
