#include "core/dynamics/ltl.hpp"

#include "core/math/instruction_sets.hpp"

namespace costate {

COSTATE_EVERY_INSTRUCTION_SET
void ltl_solve_columns_inplace(const Model& m, const double* L, int columns, double* X) {
    const size_t width = columns;
    for (size_t k = m.dofs.size(); k-- > 0;) {
        const Dof& dof = m.dofs[k];
        const double* from = X + k * width;
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d) {
            const double l = L[dof.row + d];
            double* __restrict to = X + i * width;
            for (size_t c = 0; c < width; ++c)
                to[c] -= l * from[c];
        }
    }
    for (size_t k = 0; k < m.dofs.size(); ++k) {
        const Dof& dof = m.dofs[k];
        double* __restrict to = X + k * width;
        const double pivot = L[dof.row + dof.depth];
        for (size_t c = 0; c < width; ++c)
            to[c] /= pivot;
        for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d) {
            const double l = L[dof.row + d], *from = X + i * width;
            for (size_t c = 0; c < width; ++c)
                to[c] -= l * from[c];
        }
    }
}

template void ltl_solve_inplace(const Model&, const double*, int, int, double*);

}  // namespace costate
