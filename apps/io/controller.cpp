#include "apps/io/controller.hpp"

#include "adjoint/objective/signal.hpp"
#include "adjoint/rollout/divergence.hpp"

namespace costate {

namespace {

constexpr double max_numbers = 1e6;

template <class Vector> Report to_report(const Vector& v) { return std::vector<double>(v.begin(), v.end()); }

Report rows_of(const Eigen::MatrixXd& m) {
    Report rows = Report::array();
    for (Eigen::Index i = 0; i < m.rows(); ++i)
        rows.push_back(to_report(m.row(i)));
    return rows;
}

}  // namespace

Report controller_report(const Scene& s, const Feedback& law) {
    const World& w = s.world;
    Report actuators = Report::array(), state = Report::array(), tangent = Report::array();
    for (const int i : law.free)
        actuators.push_back(w.model.actuators[i].name);
    const std::vector<std::string> columns = column_names(state_signals(w.model));
    for (int i = 0; i < w.nx(); ++i)
        state.push_back(columns[i]);
    for (int i = 0; i < w.ndx(); ++i)
        tangent.push_back(tangent_entry_name(w.model, i));
    Report gains = Report::array(), gradients = Report::array(), hessians = Report::array();
    for (const Eigen::MatrixXd& K : law.K)
        gains.push_back(rows_of(K));
    for (const VecX<double>& V_x : law.V_x)
        gradients.push_back(to_report(V_x));
    if (static_cast<double>(law.V_xx.size()) * w.ndx() * w.ndx() <= max_numbers)
        for (const Eigen::MatrixXd& V_xx : law.V_xx)
            hessians.push_back(rows_of(V_xx));
    return {{"name", s.name},
            {"time_step", w.settings.time_step},
            {"actuators", actuators},
            {"state", state},
            {"tangent", tangent},
            {"states", rows_of(law.states.transpose())},
            {"controls", rows_of(law.controls.transpose())},
            {"gains", gains},
            {"cost_gradients", gradients},
            {"cost_hessians", hessians}};
}

}  // namespace costate
