#include "scenes/read/world/world_reader.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "scenes/read/world/assembly.hpp"
#include "scenes/read/world/instance_model.hpp"
#include "scenes/read/world/settings_reader.hpp"

namespace costate {
namespace {

inline constexpr size_t max_bodies = 100000, max_shapes = 10000, max_keyframes = 10000;
// such a mass matrix takes seconds to factor, or 320 MB
inline constexpr size_t max_dofs_in_a_row = 3000, max_mass_matrix = 20'000'000;

void read_ground(const Node& node, Assembly& a) {
    ShapeSpec ground;
    ground.name = "ground";
    ground.type = ShapeType::plane;
    if (node.is_boolean()) {
        if (node.boolean()) add_world_shape(a, node, ground);
        return;
    }
    node.expect_keys("ground");
    read_surface(node, ground);
    ground.position.z() = node.number_or("height", 0);
    const Vec3<double> normal = node.vec3_or("normal", Vec3<double>::UnitZ());
    if (!(normal.norm() > 1e-12))
        node["normal"].fail("has no direction: its length is 0", "use [0, 0, 1] for level ground");
    ground.R_BS = rotation_of_z_onto(normal.stableNormalized());
    add_world_shape(a, node, ground);
}

// The pairs of all instances and of the scene. A pair with a shape that the world of this scene does not have is left
// out with a warning.
std::vector<ContactPairSpec> read_pairs(const Node& scene, Assembly& a) {
    std::vector<std::string> names;
    for (const ShapeSpec& shape : a.shapes)
        names.push_back(shape.name);
    if (const auto pairs = scene.find("pairs"))
        for (const Node& node : pairs->items()) {
            a.pairs.push_back(read_pair(node));
            for (const Node& shape : node["shapes"].items())
                resolve(shape, shape.text(), "shape", names);
        }
    std::map<std::string, int> index;
    for (size_t n = 0; n < names.size(); ++n)
        index[names[n]] = static_cast<int>(n);
    NameTable pair_names("pair");
    std::set<std::pair<int, int>> seen;
    std::vector<ContactPairSpec> out;
    for (const PairInput& pair : a.pairs) {
        ContactPairSpec spec = pair.spec;
        bool complete = true;
        for (const auto& [name, place] : {std::pair(&pair.a, &spec.a), std::pair(&pair.b, &spec.b)}) {
            const bool world = name->starts_with(of_world);
            const auto found = index.find(world ? name->substr(std::string_view(of_world).size()) : *name);
            complete = complete && found != index.end();
            if (found != index.end()) {
                *place = found->second;
                continue;
            }
            a.warnings.push_back(scene.place() + ": pair \"" + spec.name + "\" needs shape \"" + *name +
                                 "\", which this scene does not have; it is left out");
        }
        if (!complete) continue;
        pair_names.add(scene, spec.name);
        if (!seen.insert(std::minmax({spec.a, spec.b})).second)
            scene.fail("has two pairs of the shapes \"" + names[spec.a] + "\" and \"" + names[spec.b] + "\"",
                       "keep one");
        out.push_back(spec);
    }
    return out;
}

// Number of nonzeros in the mass matrix of a model: one for each pair of dofs of which one carries the other.
size_t mass_matrix_size(const Node& where, const std::vector<BodySpec>& bodies) {
    std::vector<size_t> dofs;  // on the path from the world to each body
    size_t size = 0;
    for (const BodySpec& body : bodies) {
        const size_t before = body.parent < 0 ? 0 : dofs[body.parent], own = joint_nv(body.joint);
        dofs.push_back(before + own);
        if (dofs.back() > max_dofs_in_a_row)
            where.fail("body \"" + body.name + "\" is carried by more than 3000 dofs",
                       "use shorter chains of joints");
        size += own * before + own * (own + 1) / 2;
    }
    return size;
}

void read_instance(const Node& scene, const Node& node, const std::filesystem::path& folder,
                   const ImportOptions& options, Assembly& a) {
    node.expect_keys("instance");
    const std::string name = read_name(node["name"]);
    const ModelInput model = read_instance_model(scene, node, folder, options, a.warnings);
    a.warnings.insert(a.warnings.end(), model.warnings.begin(), model.warnings.end());
    Transform<double> X = read_pose(node);
    const std::optional<Node> copies = node.find("copies");
    size_t count = 1;
    Vec3<double> offset = Vec3<double>::Zero();
    if (copies) {
        copies->expect_keys("copies");
        count = static_cast<size_t>((*copies)["count"].integer(1, max_bodies));
        offset = (*copies)["offset"].vec3();
    }
    const Keyframe* keyframe = chosen_keyframe(node, model.keyframes);
    if (a.bodies.size() + count * model.bodies.size() > max_bodies)
        node.fail("makes more than 100000 bodies", "use fewer");
    if (a.shapes.size() + count * model.shapes.size() > max_shapes)
        node.fail("makes more than 10000 shapes", "use fewer");
    if (a.keyframes.size() + count * model.keyframes.size() > max_keyframes)
        node.fail("makes more than 10000 keyframes", "use fewer");
    a.mass_matrix += count * mass_matrix_size(node, model.bodies);
    if (a.mass_matrix > max_mass_matrix)
        node.fail("makes a mass matrix of more than 20000000 numbers", "use fewer or shorter chains");
    for (size_t k = 0; k < count; ++k, X.p += offset)
        add_copy(node, model, name, copies ? name + std::to_string(k) : name, X, keyframe, a);
}

}  // namespace

WorldInput read_world(const Node& scene, const std::filesystem::path& folder, const ImportOptions& options) {
    Assembly a;
    a.builder.set_gravity(scene.vec3_or("gravity", {0, 0, -9.81}));
    if (const auto medium = scene.find("medium")) a.builder.set_medium(read_medium(*medium));
    const Settings settings = read_settings(scene, options);
    a.warnings = settings_without_effect(scene, settings);
    ImportOptions importing = options;
    importing.law = settings.law;
    a.builder.set_soft(settings.law == ContactLaw::mujoco);
    if (const auto ground = scene.find("ground")) read_ground(*ground, a);
    if (const auto shapes = scene.find("shapes"))
        for (const Node& shape : shapes->items()) {
            if (!shape.has("name")) shape.fail("a shape of the world needs a \"name\"", "add it");
            add_world_shape(a, shape, read_shape(shape, "", a.warnings));
        }
    for (const Node& instance : scene["models"].items())
        read_instance(scene, instance, folder, importing, a);
    if (const auto equalities = scene.find("equalities"))
        for (const Node& equality : equalities->items())
            add_equality(a, equality, read_equality(equality, a.builder.bodies(), a.builder.tendons()));
    Model model = a.builder.build();
    if (settings.integrator == Integrator::mujoco_rk4 && !model.activations.empty())
        scene["solver"]["integrator"].fail("\"mujoco_rk4\" has no stages for the dynamics of actuators",
                                           "use \"mujoco_euler\"");
    if (model.nv == 0)
        a.warnings.push_back(scene.place() +
                             ": no body can move, so a simulation changes nothing; add a body with a joint");

    if (const auto exclude = scene.find("exclude"))
        for (auto& pair : read_exclude(*exclude, names_of(model.bodies, &Body::name)))
            a.excluded.push_back(std::move(pair));
    std::map<std::string, int> index;  // of bodies in the model, which reorders them
    for (size_t i = 0; i < model.bodies.size(); ++i)
        index[model.bodies[i].name] = static_cast<int>(i);
    for (size_t n = 0; n < a.shapes.size(); ++n)
        a.shapes[n].body = a.shape_bodies[n].empty() ? -1 : index.at(a.shape_bodies[n]);
    for (size_t n = 0; n < a.visuals.size(); ++n)
        a.visuals[n].body = index.at(a.visual_bodies[n]);
    const std::vector<ContactPairSpec> pairs = read_pairs(scene, a);
    ShapeSet shapes = build_shapes(model, a.shapes, a.excluded, pairs, a.carriers);

    VecX<double> q = model.neutral_configuration();
    for (const auto& [name, X] : a.free_bodies) {
        const Body& b = model.bodies[index.at(name)];
        const Eigen::Quaterniond turn(X.R);
        q.segment<7>(b.q0) << X.p, turn.w(), turn.x(), turn.y(), turn.z();
    }
    const VecX<double> reference = q;
    VecX<double> v = VecX<double>::Zero(model.nv);
    VecX<double> activations = VecX<double>::Zero(static_cast<Eigen::Index>(model.activations.size()));
    enter_keyframe(a.start, model, q.data(), v.data(), activations.data());
    std::vector<std::optional<double>> controls(model.actuators.size());
    for (size_t n = 0; n < controls.size(); ++n)
        if (const auto start = a.start.controls.find(model.actuators[n].name);
            start != a.start.controls.end())
            controls[n] = start->second;
    World world(std::move(model), std::move(shapes), settings);
    if (world.model.soft) world.inverse_weights = inverse_weights(world.model, reference);
    const auto add = [&](const SensorSpec& sensor) {
        if (const std::string missing = add_sensor(sensor, world); !missing.empty())
            a.warnings.push_back(scene.place() + ": " + missing);
    };
    std::ranges::for_each(a.sensors, add);
    if (const auto sensors = scene.find("sensors")) {
        const SensorSubjects subjects = subjects_of(world);
        for (const Node& node : sensors->items()) {
            const SensorSpec sensor = read_sensor(node, subjects);
            a.sensor_names.add(node["name"], sensor.sensor.name);
            add(sensor);
        }
    }
    read_pushes(scene, world);
    return {std::move(world),
            q,
            v,
            activations,
            std::move(controls),
            std::move(a.keyframes),
            std::move(a.equalities),
            std::move(a.visuals),
            std::move(a.warnings)};
}

}  // namespace costate
