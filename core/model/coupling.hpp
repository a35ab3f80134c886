// The curve of a coupling: a polynomial p(x) = sum_k c_k x^k of the position of the second joint, or of the length of the
// second tendon, as MuJoCo's polycoef.
#pragma once

namespace costate {

inline constexpr int coupling_terms = 5;  // c_0 ... c_4

template <class T> struct CouplingCurve {
    T value{0}, slope{0}, bend{0};           // p, p', p''
    CouplingCurve(const T* c, const T& x) {  // Horner's scheme
        for (int k = coupling_terms; k-- > 0;) {
            bend = T(2) * slope + x * bend;
            slope = value + x * slope;
            value = c[k] + x * value;
        }
    }
};

}  // namespace costate
