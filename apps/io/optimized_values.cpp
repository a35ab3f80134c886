#include "apps/io/optimized_values.hpp"

#include "adjoint/objective/signal.hpp"

namespace costate {

std::vector<int> optimized_numbers(const Scene& s) {
    std::vector<int> numbers;
    const Model& m = s.world.model;
    for (const ParameterVariable& p : s.parameters) {
        if (p.scale != ParameterScale::log_cholesky)
            numbers.push_back(p.index);
        else
            for (const ParameterSlice& slice : {m.mass, m.com, m.inertia})
                for (int k = 0; k < slice.width; ++k)
                    numbers.push_back(slice.at(p.index) + k);
    }
    return numbers;
}

std::vector<std::string> start_columns(const Scene& s) {
    std::vector<std::string> columns = column_names(state_signals(s.world.model));
    columns.resize(static_cast<size_t>(s.world.nq() + s.world.nv()));
    return columns;
}

Report parameter_values(const Scene& s, const RolloutInputs& best) {
    Report values = Report::object();
    for (const int i : optimized_numbers(s))
        values[s.world.model.layout.element_name(i)] = best.theta[i];
    return values;
}

Report control_values(const Scene& s, const RolloutInputs& best) {
    Report controls = Report::object();
    for (size_t n = 0; n < s.plan.channels().size(); ++n) {
        const ControlChannel& c = s.plan.channels()[n];
        if (!c.optimize) continue;
        const VecX<double> z = best.z.segment(c.offset, c.size);
        Report& entry = controls[s.world.model.actuators[n].name];
        if (!c.per_step) entry["times"] = c.times;
        entry["values"] = std::vector<double>(z.begin(), z.end());
    }
    return controls;
}

Report initial_values(const Scene& s, const RolloutInputs& best) {
    const std::vector<std::string> columns = start_columns(s);
    Report values = Report::object();
    for (size_t i = 0; i < columns.size(); ++i)
        values[columns[i]] = best.x0[static_cast<Eigen::Index>(i)];
    return values;
}

}  // namespace costate
