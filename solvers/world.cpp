#include "solvers/world.hpp"

#include <cassert>

namespace costate {

void World::add_sensor(Sensor sensor) {
    const SensorTraits& traits = traits_of(sensor.kind);
    sensor.offset = ny();
    sensor.size = traits.size;
    if (sensor.kind == SensorKind::joint_position) sensor.size = model.bodies[sensor.body].nq;
    if (sensor.kind == SensorKind::joint_velocity) sensor.size = model.bodies[sensor.body].nv;
    if (sensor.kind == SensorKind::height_scan) sensor.size = sensor.rows * sensor.columns;
    sensors.push_back(std::move(sensor));
}

void World::add_push(const PushSpec& push) {
    const int width = 3 * static_cast<int>(push.times.size());
    assert(push.times.size() >= 2 && push.force.size() == push.times.size() &&
           push.torque.size() == push.times.size());
    const auto numbers = [](const std::vector<Vec3<double>>& knots) {
        std::vector<double> all;
        for (const Vec3<double>& x : knots)
            all.insert(all.end(), x.begin(), x.end());
        return all;
    };
    const auto add = [&](const char* quantity, const std::vector<Vec3<double>>& knots) {
        return model.layout.add("pushes", {push.name}, quantity, width, ParameterRange::any, numbers(knots));
    };
    const ParameterSlice force = add("force", push.force), torque = add("torque", push.torque);
    pushes.push_back({push.name, push.body, push.times, force, torque});
}

}  // namespace costate
