#include "apps/trajectory.hpp"

#include <algorithm>
#include <charconv>

#include "apps/output.hpp"
#include "core/queries.hpp"

namespace costate {

namespace {

// What follows the joint's name in the names of its coordinates and of their velocities.
std::vector<std::string> suffixes(JointType type, bool velocity) {
    std::vector<std::string> rotation{".qw", ".qx", ".qy", ".qz"};
    if (velocity) rotation = {".wx", ".wy", ".wz"};
    switch (type) {
        case JointType::fixed: return {};
        case JointType::revolute:
        case JointType::helical:
        case JointType::prismatic: return {""};
        case JointType::spherical: return rotation;
        case JointType::free: rotation.insert(rotation.begin(), {".x", ".y", ".z"}); return rotation;
    }
    return {};
}

// A field of a CSV file, quoted if it has to be.
std::string quoted(const std::string& field) {
    if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
    std::string q(1, '"');
    for (const char c : field) q.append(c == '"' ? 2 : 1, c);
    return q += '"';
}

void append(std::string& line, double number) {
    char digits[32];
    line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

std::vector<std::string> trajectory_columns(const Model& m, const std::vector<int>& sites) {
    std::vector<std::string> names{"time"};
    for (const bool velocity : {false, true})
        for (const Body& b : m.bodies)
            for (const std::string& suffix : suffixes(b.joint, velocity))
                names.push_back((velocity ? "d(" + b.joint_name + ")" : b.joint_name) + suffix);
    for (const Actuator& a : m.actuators) names.push_back("u(" + a.name + ")");
    for (const int site : sites)
        for (const char* suffix : {").x", ").y", ").z"}) names.push_back("site(" + m.sites[static_cast<size_t>(site)].name + suffix);
    return names;
}

TrajectoryWriter::TrajectoryWriter(std::FILE* out, Format format, const Model& m, double time_step, int steps, int every,
                                   std::vector<int> sites, const double* theta)
    : out_(out), format_(format), model_(m), sites_(std::move(sites)), theta_(theta), kinematics_(m), time_step_(time_step),
      steps_(steps), every_(every), controls_(static_cast<size_t>(m.nu)) {
    const std::vector<std::string> columns = trajectory_columns(m, sites_);
    if (format_ == Format::json) {
        line_ = "{\n  \"columns\": " + Report(columns).dump() + ",\n  \"rows\": [";
    } else {
        for (const std::string& name : columns) (line_ += quoted(name)) += ',';
        line_.back() = '\n';
    }
    std::fputs(line_.c_str(), out_);
}

void TrajectoryWriter::operator()(int t, const double* x, const double* u) {
    if (u != nullptr) std::copy(u, u + controls_.size(), controls_.begin());
    if (t % every_ != 0 && t != steps_) return;
    line_.clear();
    if (format_ == Format::json) line_ += rows_ > 0 ? ",\n    [" : "\n    [";
    append(line_, t * time_step_);
    for (int i = 0; i < model_.nq + model_.nv; ++i) append(line_ += ',', x[i]);
    for (const double control : controls_) append(line_ += ',', control);
    if (!sites_.empty()) kinematics(model_, theta_, x, x + model_.nq, kinematics_);
    for (const int site : sites_)
        for (const double c : site_pose(model_, theta_, kinematics_, site).p) append(line_ += ',', c);
    line_ += format_ == Format::json ? "]" : "\n";
    std::fwrite(line_.data(), 1, line_.size(), out_);
    ++rows_;
}

void TrajectoryWriter::finish() {
    if (format_ == Format::json) std::fputs("\n  ]\n}\n", out_);
}

}  // namespace costate
