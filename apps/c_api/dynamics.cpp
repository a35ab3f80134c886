// Forward and inverse dynamics without contact.
#include "apps/c_api/model.hpp"
#include "core/dynamics/forward_dynamics_derivatives.hpp"
#include "solvers/step/step.hpp"

namespace costate::c_api {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// a from tau; after use.place
VecX<double> acceleration(Use& use, const double* tau) {
    const Model& m = use.model();
    StepScratch<double>& s = use.workspace().step;
    const VecX<double> armature = Eigen::Map<const VecX<double>>(use.theta() + m.armature.offset, m.nv);
    VecX<double> a(m.nv);
    aba(m, use.theta(), s.kinematics, use.v(), check_finite("tau", tau, m.nv), armature.data(),
        s.free_motion.aba, a.data());
    check_result("a", a);
    return a;
}

}  // namespace
}  // namespace costate::c_api

using namespace costate;
using namespace costate::c_api;

extern "C" {

int costate_forward_dynamics(const costate_model* model, const double* q, const double* v, const double* tau,
                             double* a) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const size_t nv = use.model().nv;
        check_given("v", v, nv);
        check_given("a", a, nv);
        use.place(q, v);
        write(acceleration(use, tau), a);
        return COSTATE_OK;
    });
}

int costate_inverse_dynamics(const costate_model* model, const double* q, const double* v, const double* a,
                             double* tau) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const Model& m = use.model();
        const size_t nv = m.nv;
        check_given("v", v, nv);
        check_finite("a", a, m.nv);
        check_given("tau", tau, nv);
        use.place(q, v);
        StepScratch<double>& s = use.workspace().step;
        VecX<double> out(m.nv);
        rnea(m, use.theta(), s.kinematics, use.v(), a, s.free_motion.rnea, out.data());
        check_result("tau", out);
        write(out, tau);
        return COSTATE_OK;
    });
}

int costate_mass_matrix(const costate_model* model, const double* q, double* M) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const Model& m = use.model();
        check_given("M", M, static_cast<size_t>(m.nv));
        use.place(q, nullptr);
        StepScratch<double>& s = use.workspace().step;
        crba(m, use.theta(), s.kinematics, s.free_motion.crba, s.free_motion.M.data());
        Matrix dense = Matrix::Zero(m.nv, m.nv);
        for (int j = 0; j < m.nv; ++j) {
            const Dof& dof = m.dofs[j];
            const double* row = s.free_motion.M.data() + dof.row;
            dense(j, j) = row[dof.depth];
            for (int i = dof.parent, d = dof.depth - 1; d >= 0; i = m.dofs[i].parent, --d)
                dense(i, j) = dense(j, i) = row[d];
        }
        check_result("M", dense);
        write(dense, M);
        return COSTATE_OK;
    });
}

int costate_forward_dynamics_derivatives(const costate_model* model, const double* q, const double* v,
                                         const double* tau, double* da_dq, double* da_dv, double* da_dtau) {
    return guarded(__func__, [&]() -> int {
        Use use(model);
        const Model& m = use.model();
        check_given("v", v, static_cast<size_t>(m.nv));
        use.place(q, v);
        StepScratch<double>& s = use.workspace().step;
        FreeMotionScratch<double>& f = s.free_motion;
        const double* theta = use.theta();
        const VecX<double> a = acceleration(use, tau);
        VecX<double> force(m.nv);
        rnea(m, theta, s.kinematics, use.v(), a.data(), f.rnea, force.data());
        crba(m, theta, s.kinematics, f.crba, f.M.data());
        if (!ltl_factor_inplace(m, f.M.data()))
            throw Failure(COSTATE_DIVERGED, "the mass matrix is not positive definite");
        ForwardDynamicsDerivatives<double> d(m);
        forward_dynamics_derivatives(m, theta, s.kinematics, f.crba.Ic, f.M.data(), f.rnea, use.v(), a.data(),
                                     d);
        const auto give = [](const char* name, const std::vector<double>& matrix, double* out) {
            const Eigen::Map<const VecX<double>> values(matrix.data(),
                                                        static_cast<Eigen::Index>(matrix.size()));
            check_result(name, values);
            write(values, out);
        };
        give("da_dq", d.by_q, da_dq);
        give("da_dv", d.by_v, da_dv);
        give("da_dtau", d.by_tau, da_dtau);
        return COSTATE_OK;
    });
}
}
