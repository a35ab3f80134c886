#include "scenes/read/model/sensor_reader.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/read/model/model_reader.hpp"

namespace costate {
namespace {

constexpr int most_points = 10000;     // of a height scan
constexpr double default_cutoff = 10;  // m
constexpr size_t most_knots = 100000;  // of a push

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const SensorTraits& kind : sensor_traits)
        names.emplace_back(kind.name);
    return names;
}

std::string known(const Node& name, const char* kind, const std::vector<std::string>& names) {
    return names[resolve_one(name, kind, names)];
}

void read_frame(const Node& node, const SensorSubjects& subjects, SensorSpec& spec) {
    if (const auto site = node.find("site")) {
        node.forbid({"body"}, "the site is on a body");
        spec.site = known(*site, "site", subjects.sites);
        return;
    }
    if (!node.has("body")) node.fail("is attached to nothing", "give it \"site\" or \"body\"");
    spec.body = known(node["body"], "body", subjects.bodies);
}

void read_reference(const Node& node, const SensorSubjects& subjects, SensorSpec& spec) {
    if (const auto site = node.find("reference_site")) {
        node.forbid({"reference_body"}, "the site is on a body");
        spec.reference_site = known(*site, "site", subjects.sites);
        return;
    }
    if (!node.has("reference_body"))
        node.fail("has no reference", "give it \"reference_site\" or \"reference_body\"");
    spec.reference_body = known(node["reference_body"], "body", subjects.bodies);
}

void read_joint(const Node& node, const SensorSubjects& subjects, bool axis, SensorSpec& spec) {
    const int joint = resolve_one(node["joint"], "joint", subjects.joints);
    if (axis ? subjects.joint_dofs[joint] != 1 : subjects.joint_dofs[joint] == 0)
        node["joint"].fail(axis ? "is not a joint with one dof" : "is a fixed joint", "name another joint");
    spec.joint = subjects.joints[joint];
}

void read_actuator(const Node& node, const SensorSubjects& subjects, bool drive, SensorSpec& spec) {
    const int actuator = resolve_one(node["actuator"], "actuator", subjects.actuators);
    if (drive && !subjects.actuator_on_joint[actuator])
        node["actuator"].fail("drives no joint", "name an actuator on a joint");
    spec.actuator = subjects.actuators[actuator];
}

void read_pair(const Node& node, const SensorSubjects& subjects, SensorSpec& spec) {
    const bool shapes = node.has("shapes");
    if (shapes) node.forbid({"bodies"}, "\"shapes\" says which parts of bodies");
    if (!shapes && !node.has("bodies"))
        node.fail("is attached to nothing", "give it \"bodies\" or \"shapes\", two of them");
    const std::vector<Node> two = node[shapes ? "shapes" : "bodies"].items(2);
    const auto end = [&](const Node& name) {
        if (name.text() == "world" || (shapes && name.text().starts_with(of_world))) return name.text();
        return shapes ? known(name, "shape", subjects.shapes) : known(name, "body", subjects.bodies);
    };
    (shapes ? spec.shape_a : spec.body_a) = end(two[0]);
    (shapes ? spec.shape_b : spec.body_b) = end(two[1]);
    if (two[0].text() == two[1].text())
        two[1].fail(shapes ? "is the same shape" : "is the same body",
                    shapes ? "name another shape" : "name another body");
}

void read_grid(const Node& node, Sensor& s) {
    const std::vector<Node> size = node["size"].items(2);
    s.rows = static_cast<int>(size[0].integer(1, most_points));
    s.columns = static_cast<int>(size[1].integer(1, most_points));
    if (s.rows * static_cast<std::int64_t>(s.columns) > most_points)
        node["size"].fail("has more than 10000 points", "use fewer");
    const std::vector<Node> spacing = node["spacing"].items(2);
    s.spacing_x = spacing[0].positive();
    s.spacing_y = spacing[1].positive();
}

Zone read_zone(const Node& node) {
    node.expect_keys("zone");
    std::vector<const ShapeKind*> kinds;
    std::vector<std::string> names;
    for (const ShapeType type :
         {ShapeType::sphere, ShapeType::capsule, ShapeType::cylinder, ShapeType::ellipsoid, ShapeType::box}) {
        kinds.push_back(&shape_kind(type));
        names.emplace_back(kinds.back()->formats[0].name);
    }
    const size_t n = node["type"].choice(names);
    for (const ShapeKind* other : kinds)
        for (const SizeKey& key : other->sizes) {
            const auto same = [&](const SizeKey& own) {
                return own.name != nullptr && std::string_view(own.name) == key.name;
            };
            if (key.name != nullptr && std::ranges::none_of(kinds[n]->sizes, same))
                node.forbid({key.name}, "the zone is a " + names[n]);
        }
    return {kinds[n]->type, read_size(node, *kinds[n], false)};
}

}  // namespace

SensorSpec read_sensor(const Node& node, const SensorSubjects& subjects) {
    node.expect_keys("sensor");
    SensorSpec spec;
    Sensor& s = spec.sensor;
    s.name = read_name(node["name"]);
    s.kind = static_cast<SensorKind>(node["type"].choice(kind_names()));
    const SensorSubject subject = traits_of(s.kind).subject;
    const std::string because = "the sensor is of type " + node["type"].text();
    const auto unless = [&](bool allowed, std::initializer_list<const char*> keys) {
        if (!allowed) node.forbid(keys, because);
    };
    const bool relative = subject == SensorSubject::frames;
    const bool framed = subject == SensorSubject::frame || subject == SensorSubject::scan || relative;
    const bool joint = subject == SensorSubject::joint || subject == SensorSubject::axis;
    const bool actuator = subject == SensorSubject::drive || subject == SensorSubject::actuator;
    unless(framed, {"site"});
    unless(framed || subject == SensorSubject::subtree, {"body"});
    unless(relative, {"reference_site", "reference_body"});
    unless(joint, {"joint"});
    unless(subject == SensorSubject::tendon, {"tendon"});
    unless(actuator, {"actuator"});
    unless(subject == SensorSubject::pair, {"bodies", "shapes"});
    unless(subject == SensorSubject::scan, {"size", "spacing"});
    unless(can_be_cut_off(s.kind), {"cutoff"});
    unless(s.kind == SensorKind::touch || s.kind == SensorKind::contact_force, {"radius", "zone"});
    if (framed) read_frame(node, subjects, spec);
    if (relative) read_reference(node, subjects, spec);
    if (joint) read_joint(node, subjects, subject == SensorSubject::axis, spec);
    if (subject == SensorSubject::tendon) spec.tendon = known(node["tendon"], "tendon", subjects.tendons);
    if (actuator) read_actuator(node, subjects, subject == SensorSubject::drive, spec);
    if (subject == SensorSubject::pair) read_pair(node, subjects, spec);
    if (subject == SensorSubject::scan) read_grid(node, s);
    if (const auto body = node.find("body"); body && subject == SensorSubject::subtree)
        spec.body = known(*body, "body", subjects.bodies);
    s.cutoff = node.positive_or("cutoff", ends_at_cutoff(s.kind) ? default_cutoff : unlimited);
    s.radius = node.nonnegative_or("radius", 0);
    if (const auto zone = node.find("zone")) {
        node.forbid({"radius"}, "\"zone\" says which contacts count");
        s.zone = read_zone(*zone);
    }
    return spec;
}

SensorSubjects subjects_of(const World& world) {
    const Model& m = world.model;
    SensorSubjects out{names_of(m.bodies, &Body::name),
                       names_of(m.sites, &Site::name),
                       names_of(m.bodies, &Body::joint_name),
                       names_of(m.tendons, &Tendon::name),
                       names_of(m.actuators, &Actuator::name),
                       names_of(world.shapes.shapes, &Shape::name),
                       {},
                       {}};
    for (const Body& b : m.bodies)
        out.joint_dofs.push_back(b.nv);
    for (const Actuator& a : m.actuators)
        out.actuator_on_joint.push_back(a.on_joint);
    return out;
}

std::string add_sensor(const SensorSpec& spec, World& world) {
    const Model& m = world.model;
    Sensor s = spec.sensor;
    if (!spec.body.empty()) s.body = m.body_index(spec.body);
    if (!spec.site.empty()) {
        s.site = m.site_index(spec.site);
        s.body = m.sites[s.site].body;
    }
    if (!spec.reference_body.empty()) s.reference.body = m.body_index(spec.reference_body);
    if (!spec.reference_site.empty()) {
        s.reference.site = m.site_index(spec.reference_site);
        s.reference.body = m.sites[s.reference.site].body;
    }
    if (!spec.joint.empty()) s.body = m.joint_index(spec.joint);
    if (!spec.tendon.empty())
        s.tendon =
            static_cast<int>(std::ranges::find(m.tendons, spec.tendon, &Tendon::name) - m.tendons.begin());
    if (!spec.actuator.empty()) {
        s.actuator = m.actuator_index(spec.actuator);
        s.body = m.actuators[s.actuator].body;
    }
    if (traits_of(s.kind).subject == SensorSubject::subtree) {
        const int bodies = static_cast<int>(m.bodies.size());
        s.bodies = {std::max(s.body, 0), bodies};
        if (s.body >= 0) {
            // bodies are in depth-first order: the subtree ends before the first that s.body does not carry
            const auto carried = [&](int i) {
                while (i > s.body)
                    i = m.bodies[i].parent;
                return i == s.body;
            };
            s.bodies.end = s.body + 1;
            while (s.bodies.end < bodies && carried(s.bodies.end))
                ++s.bodies.end;
        }
    }
    std::string missing;
    const auto shapes = [&](const std::string& body, const std::string& shape) {
        const bool of_shape = !shape.empty() && shape != "world",
                   in_model = of_shape && shape.starts_with(of_world);
        const std::string name = in_model ? shape.substr(std::string_view(of_world).size()) : shape;
        const int on = body.empty() || body == "world" ? -1 : m.body_index(body);
        std::vector<int> all;
        for (size_t n = 0; n < world.shapes.shapes.size(); ++n) {
            const Shape& each = world.shapes.shapes[n];
            if (of_shape ? each.name == name : each.body == on) all.push_back(static_cast<int>(n));
        }
        if (of_shape && all.empty()) missing = shape;
        return all;
    };
    if (traits_of(s.kind).subject == SensorSubject::pair) {
        s.shapes_a = shapes(spec.body_a, spec.shape_a);
        s.shapes_b = shapes(spec.body_b, spec.shape_b);
    }
    const std::string name = s.name;
    world.add_sensor(std::move(s));
    if (missing.empty()) return "";
    return "sensor \"" + name + "\" needs shape \"" + missing +
           "\", which this scene does not have; it measures nothing";
}

void read_pushes(const Node& scene, World& world) {
    const auto pushes = scene.find("pushes");
    if (!pushes) return;
    NameTable names("push");
    for (const Node& node : pushes->items()) {
        node.expect_keys("push");
        PushSpec push;
        push.name = read_name(node["name"]);
        names.add(node["name"], push.name);
        push.body = resolve_one(node["body"], "body", names_of(world.model.bodies, &Body::name));
        push.times = node["times"].numbers();
        if (push.times.size() < 2 || push.times.size() > most_knots ||
            !std::is_sorted(push.times.begin(), push.times.end(), std::less_equal<>()))
            node["times"].fail("must be two or more increasing times", "for example [0.5, 0.6]");
        if (!node.has("force") && !node.has("torque"))
            node.fail("has no effect", "give it \"force\" or \"torque\"");
        const auto knots = [&](const char* key) {
            std::vector<Vec3<double>> values(push.times.size(), Vec3<double>::Zero());
            const auto given = node.find(key);
            if (!given) return values;
            const bool constant =
                given->is_array() && !given->value().empty() && given->value()[0].is_number();
            if (constant) return std::vector<Vec3<double>>(push.times.size(), given->vec3());
            const std::vector<Node> items = given->items(static_cast<int>(push.times.size()));
            for (size_t k = 0; k < items.size(); ++k)
                values[k] = items[k].vec3();
            return values;
        };
        push.force = knots("force");
        push.torque = knots("torque");
        world.add_push(push);
    }
}

}  // namespace costate
