// Sensors: the outputs y of a model, as data. Values and adjoints are in solvers/sensors/.
//
// Sensors read the state at the beginning of a step, its control, and the accelerations and forces of the
// step: a = (v+ - v)/h, and impulses divided by h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collision/shapes/shape_kind.hpp"
#include "core/dynamics/queries.hpp"

namespace costate {

// frame: a site or the frame of a body. frames: one, and a reference. axis: a joint with one dof. drive: an
// actuator on a joint. subtree: a body and all that it carries, or the world. pair: two bodies or shapes. scan: a
// frame and a grid.
enum class SensorSubject { frame, frames, subtree, joint, axis, tendon, drive, actuator, pair, scan };
enum class SensorReads { state, control, step };

enum class SensorKind {
#define SENSOR(name, subject, size, reads, unit) name,
#include "solvers/sensor_kinds.inc"
#undef SENSOR
};

struct SensorTraits {
    const char* name;  // in files
    SensorSubject subject;
    int size;  // numbers; 0: depends on the sensor
    SensorReads reads;
    const char* unit;
};

inline constexpr SensorTraits sensor_traits[] = {
#define SENSOR(name, subject, size, reads, unit)                                                             \
    {#name, SensorSubject::subject, size, SensorReads::reads, unit},
#include "solvers/sensor_kinds.inc"
#undef SENSOR
};
inline constexpr const SensorTraits& traits_of(SensorKind kind) {
    return sensor_traits[static_cast<size_t>(kind)];
}

// True if numbers of the kind may have a cutoff: neither directions nor counts.
inline constexpr bool can_be_cut_off(SensorKind kind) { return *traits_of(kind).unit != 0; }
// True if its own functions look no farther than the cutoff.
inline constexpr bool ends_at_cutoff(SensorKind kind) {
    return kind == SensorKind::distance || kind == SensorKind::height_scan;
}

// A sphere, capsule, cylinder, ellipsoid or box about the origin of a frame, with `size` as of a shape.
struct Zone {
    ShapeType type = ShapeType::sphere;
    Vec3<double> size = Vec3<double>::Zero();
};

// A site, or the frame of a body.
struct SensorFrame {
    int body = -1;
    int site = -1;  // on the body; -1: the body's own frame
};

struct Sensor {
    std::string name;
    SensorKind kind = SensorKind::frame_position;
    int body = -1;          // of the frame, or whose joint it is
    int site = -1;          // the frame; -1: the body's
    SensorFrame reference;  // of relative_...
    int tendon = -1;
    int actuator = -1;
    BodyRange bodies;           // the subtree
    double radius = 0;          // touch, contact_force: counts contacts within it, m; 0: all of the body
    std::optional<Zone> zone;   // touch, contact_force: counts contacts in it or in front of it
    double cutoff = unlimited;  // greatest value; of others than distance and height_scan also of -y
    std::vector<int> shapes_a, shapes_b;  // the pair
    int rows = 0, columns = 0;            // height_scan: points along x and y of the heading frame
    double spacing_x = 0, spacing_y = 0;  // m
    int offset = 0, size = 0;             // its numbers in y
};

}  // namespace costate
