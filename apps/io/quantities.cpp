#include "apps/io/quantities.hpp"

#include <algorithm>

namespace costate {

namespace {

constexpr int contact_numbers = 6;

// Force and place of the contacts of a body.
void write_contacts(const World& w, const StepScratch<double>& s, int body, double h, double* y) {
    Vec3<double> force = Vec3<double>::Zero(), moment = force;
    double weight = 0;
    for (int i = 0; i < std::ssize(s.contacts.points); ++i) {
        const ContactObservation<double> c = observe_contact(w, s, i);
        if (c.body_a != body && c.body_b != body) continue;
        const double share = c.impulse.norm();
        force += (c.body_a == body ? 1 : -1) / h * c.impulse;
        moment += share * c.point;
        weight += share;
    }
    Eigen::Map<Vec3<double>> out_force(y), out_point(y + 3);
    out_force = force;
    out_point = weight > 0 ? Vec3<double>(moment / weight) : Vec3<double>::Zero();
}

}  // namespace

Quantities::Quantities(const World& w) : w_(w), scratch_(w) {
    const Model& m = w.model;
    for (const Sensor& s : w.sensors) {
        Sensor sensor = s;
        sensor.offset = static_cast<int>(y_.size());
        y_.resize(y_.size() + static_cast<size_t>(s.size));
        for (int k = 0; k < s.size; ++k) {
            std::string& name = names_.emplace_back("sensor(" + s.name + ")");
            if (s.size > 1) name.append("[").append(std::to_string(k)).append("]");
        }
        sensors_.push_back(std::move(sensor));
    }
    const auto of = [](SensorKind kind) {
        Sensor s;
        s.kind = kind;
        return s;
    };
    for (int n = 0; n < std::ssize(m.actuators); ++n) {
        Sensor force = of(SensorKind::actuator_force);
        force.actuator = n;
        add(force, "force(" + m.actuators[n].name + ")", {""});
    }
    for (int i = 0; i < std::ssize(m.bodies); ++i) {
        if (m.bodies[i].nv != 1) continue;
        Sensor effort = of(SensorKind::joint_effort);
        effort.body = i;
        add(effort, "effort(" + m.bodies[i].joint_name + ")", {""});
    }
    const auto add_velocity = [&](int body, int site, const std::string& column) {
        Sensor linear = of(SensorKind::frame_linear_velocity),
               angular = of(SensorKind::frame_angular_velocity);
        linear.body = angular.body = body;
        linear.site = angular.site = site;
        add(linear, column, {".x", ".y", ".z"});
        add(angular, column, {".wx", ".wy", ".wz"});
    };
    for (int n = 0; n < std::ssize(m.sites); ++n) {
        Sensor turn = of(SensorKind::frame_quaternion);
        turn.body = m.sites[n].body;
        turn.site = n;
        add(turn, "site(" + m.sites[n].name + ")", {".qw", ".qx", ".qy", ".qz"});
        add_velocity(m.sites[n].body, n, "site_velocity(" + m.sites[n].name + ")");
    }
    for (int i = 0; i < std::ssize(m.bodies); ++i)
        add_velocity(i, -1, "velocity(" + m.bodies[i].name + ")");
    Sensor kinetic = of(SensorKind::kinetic_energy), potential = of(SensorKind::potential_energy);
    kinetic.bodies = potential.bodies = {0, static_cast<int>(m.bodies.size())};
    add(kinetic, "energy", {".kinetic"});
    add(potential, "energy", {".potential"});
    for (int i = 0; i < std::ssize(m.bodies); ++i) {
        const auto on_body = [&](const Shape& s) { return s.body == i; };
        if (std::ranges::none_of(w.shapes.shapes, on_body)) continue;
        contacts_.push_back(i);
        y_.resize(y_.size() + contact_numbers);
        for (const char* part : {".fx", ".fy", ".fz", ".x", ".y", ".z"})
            names_.push_back("contact(" + m.bodies[i].name + ")" + part);
    }
    for (size_t n = 0; n < y_.size(); ++n)
        chosen_.push_back(n);
}

void Quantities::add(Sensor sensor, const std::string& column, const std::vector<const char*>& parts) {
    sensor.offset = static_cast<int>(y_.size());
    sensor.size = static_cast<int>(parts.size());
    y_.resize(y_.size() + parts.size());
    for (const char* part : parts)
        names_.push_back(column + part);
    sensors_.push_back(std::move(sensor));
}

void Quantities::choose(const std::vector<size_t>& indices) {
    std::vector<std::string> names;
    std::vector<size_t> chosen;
    for (const size_t i : indices) {
        names.push_back(names_[i]);
        chosen.push_back(chosen_[i]);
    }
    names_ = std::move(names);
    chosen_ = std::move(chosen);
    // what nobody asks for is not evaluated
    const auto unused = [&](size_t begin, size_t size) {
        return std::ranges::none_of(chosen_, [&](size_t n) { return n >= begin && n < begin + size; });
    };
    std::erase_if(sensors_, [&](const Sensor& s) {
        return unused(static_cast<size_t>(s.offset), static_cast<size_t>(s.size));
    });
    for (size_t k = 0, first = y_.size() - contact_numbers * contacts_.size(); k < contacts_.size(); ++k)
        if (unused(first + contact_numbers * k, contact_numbers)) contacts_[k] = -1;
}

void Quantities::evaluate(const double* theta, const double* x, const double* u, const StepScratch<double>& s,
                          double* out) {
    sensor_values(w_, sensors_, {theta, x, u}, s, scratch_, y_.data());
    double* y = y_.data() + (y_.size() - contact_numbers * contacts_.size());
    for (const int body : contacts_) {
        if (body >= 0) write_contacts(w_, s, body, w_.h(theta), y);
        y += contact_numbers;
    }
    for (const size_t n : chosen_)
        *out++ = y_[n];
}

}  // namespace costate
