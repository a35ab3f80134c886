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

std::vector<std::string> sensor_columns(const World& w) {
    std::vector<std::string> names;
    for (const Sensor& s : w.sensors)
        for (int k = 0; k < s.size; ++k) {
            std::string& name = names.emplace_back("sensor(");
            name.append(s.name).append(")");
            if (s.size > 1) name.append("[").append(std::to_string(k)).append("]");
        }
    return names;
}

TrajectoryWriter::TrajectoryWriter(std::FILE* out, Format format, const Simulation& simulation,
                                   std::vector<Signal> signals, const double* theta, double time_step,
                                   int steps, int every, std::vector<size_t> sensors)
    : out_(out),
      format_(format),
      simulation_(simulation),
      signals_(std::move(signals)),
      theta_(theta),
      time_step_(time_step),
      steps_(steps),
      every_(every),
      sensors_(std::move(sensors)),
      sensor_scratch_(simulation.world()),
      y_(static_cast<size_t>(simulation.world().ny())) {
    std::vector<std::string> columns = column_names(signals_);
    const std::vector<std::string> outputs = sensor_columns(simulation.world());
    for (const size_t i : sensors_)
        columns.push_back(outputs[i]);
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
    if (t < steps_ && !sensors_.empty())
        sensor_values(simulation_.world(), theta_, x, u, simulation_.scratch(), sensor_scratch_, y_.data());
    for (const size_t i : sensors_)
        *value++ = y_[i];
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
