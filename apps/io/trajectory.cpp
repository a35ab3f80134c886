#include "apps/io/trajectory.hpp"

#include <algorithm>
#include <charconv>

#include "adjoint/objective/signal_values.hpp"
#include "apps/io/output.hpp"
#include "core/dynamics/queries.hpp"

namespace costate {

namespace {

void append(std::string& line, double number) {
    char digits[32];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

std::string csv_field(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string q(1, '"');
    for (const char c : field)
        q.append(c == '"' ? 2 : 1, c);
    return q += '"';
}

std::vector<std::string> trajectory_columns(const World& w) {
    std::vector<std::string> names = column_names(all_signals(w));
    const std::vector<std::string> more = Quantities(w).names();
    names.insert(names.end(), more.begin(), more.end());
    return names;
}

TrajectoryWriter::TrajectoryWriter(std::FILE* out, Format format, const Simulation& simulation,
                                   std::vector<Signal> signals, const double* theta, double time_step,
                                   int steps, int every, const std::vector<size_t>& quantities)
    : out_(out),
      format_(format),
      simulation_(simulation),
      signals_(std::move(signals)),
      theta_(theta),
      time_step_(time_step),
      steps_(steps),
      every_(every),
      quantities_(simulation.world()),
      of_quantities_(quantities.size()) {
    std::vector<std::string> columns = column_names(signals_);
    quantities_.choose(quantities);
    columns.insert(columns.end(), quantities_.names().begin(), quantities_.names().end());
    row_.resize(columns.size());
    columns.insert(columns.begin(), "time");
    if (format_ == Format::json) {
        line_ = "{\n  \"columns\": " + Report(columns).dump() + ",\n  \"rows\": [";
    } else {
        for (const std::string& name : columns)
            (line_ += csv_field(name)) += ',';
        line_.back() = '\n';
    }
    std::fputs(line_.c_str(), out_);
}

void TrajectoryWriter::operator()(int t, const double* x, const double* u) {
    if (t % every_ != 0 && t < steps_ - 1) return;  // the last row needs the last step's controls
    double* value = row_.data();
    for (const Signal& c : signals_) {
        if (c.is_rotation()) {
            const Quaternion<double> q = signal_rotation(c, x, simulation_.scratch());
            value[0] = q.w;
            value[1] = q.v.x();
            value[2] = q.v.y();
            value[3] = q.v.z();
        } else if (t < steps_ || !c.is_of_a_step()) {
            *value = signal_number(simulation_.world(), c, theta_, x, u, simulation_.scratch());
        }
        value += c.width();
    }
    if (t < steps_) quantities_.evaluate(theta_, x, u, simulation_.scratch(), of_quantities_.data());
    std::ranges::copy(of_quantities_, value);
    if (t % every_ != 0 && t != steps_) return;
    line_.clear();
    if (format_ == Format::json) line_ += rows_ > 0 ? ",\n    [" : "\n    [";
    append(line_, t * time_step_);
    for (const double number : row_)
        append(line_ += ',', number);
    line_ += format_ == Format::json ? "]" : "\n";
    std::fwrite(line_.data(), 1, line_.size(), out_);
    ++rows_;
}

void TrajectoryWriter::finish() {
    if (format_ == Format::json) std::fputs("\n  ]\n}\n", out_);
}

}  // namespace costate
