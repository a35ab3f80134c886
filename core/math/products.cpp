#include "core/math/products.hpp"

#include "core/math/instruction_sets.hpp"

namespace costate {

COSTATE_EVERY_INSTRUCTION_SET
void add_product(Eigen::Index rows, Eigen::Index inner, Eigen::Index columns, const double* __restrict L,
                 const double* __restrict R, Eigen::Index down, Eigen::Index on, double* __restrict C,
                 Eigen::Index length) {
    for (Eigen::Index j = 0; j < columns; ++j, R += on, C += length) {
        Eigen::Index k = 0;
        for (; k + 4 <= inner; k += 4) {
            const double r0 = R[k * down], r1 = R[(k + 1) * down], r2 = R[(k + 2) * down],
                         r3 = R[(k + 3) * down];
            if (r0 == 0 && r1 == 0 && r2 == 0 && r3 == 0) continue;
            const double *l0 = L + k * rows, *l1 = l0 + rows, *l2 = l1 + rows, *l3 = l2 + rows;
            for (Eigen::Index i = 0; i < rows; ++i)
                C[i] += l0[i] * r0 + l1[i] * r1 + l2[i] * r2 + l3[i] * r3;
        }
        for (; k < inner; ++k)
            for (Eigen::Index i = 0; i < rows; ++i)
                C[i] += L[k * rows + i] * R[k * down];
    }
}

}  // namespace costate
