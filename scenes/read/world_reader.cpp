#include "scenes/read/world_reader.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "scenes/format/names.hpp"
#include "scenes/import/mesh/mesh_path.hpp"
#include "scenes/read/model_reader.hpp"

namespace costate {
namespace {

inline constexpr size_t max_bodies = 100000, max_shapes = 10000, max_keyframes = 10000;
// such a mass matrix takes seconds to factor, or 320 MB
inline constexpr size_t max_dofs_in_a_row = 3000, max_mass_matrix = 20'000'000;

// The sum of all instances.
struct Assembly {
    ModelBuilder builder;
    std::vector<ShapeSpec> shapes;
    std::vector<std::string> shape_bodies;  // body of each shape; empty: the world
    std::vector<std::pair<std::string, std::string>> excluded;
    std::map<std::string, Transform<double>> free_bodies;  // poses at the start
    // The keyframes in which the instances start, merged, with names of the world
    Keyframe start{"", {}, {}, {}, {}};
    std::vector<Keyframe> keyframes;        // of all instances, named <instance>/<keyframe>
    std::vector<EqualityInput> equalities;  // bodies are handles of the builder
    std::vector<PairInput> pairs;           // with names of the world
    std::vector<Visual> visuals;
    std::vector<std::string> visual_bodies;  // body of each visual
    std::vector<SensorSpec> sensors;
    std::vector<std::string> warnings;  // of imported models
    size_t mass_matrix = 0;             // nonzeros of its sparsity pattern
    NameTable bodies{"body"}, joints{"joint"}, actuators{"actuator"}, shape_names{"shape"},
        equality_names{"equality"}, tendons{"tendon"}, sites{"site"}, sensor_names{"sensor"};
};

Settings read_settings(const Node& scene, const ImportOptions& options) {
    Settings s;
    s.time_step = scene.positive_or("time_step", s.time_step);
    if (const auto solver = scene.find("solver")) {
        solver->expect_keys("solver");
        std::vector<std::string> names;
        for (const SolverKind& kind : solver_kinds)
            names.emplace_back(kind.name);
        if (const auto type = solver->find("type"))
            s.solver = solver_kinds[type->choice(names)].type;
        else if (solver->has("sweeps") || solver->has("tolerance"))
            s.solver = SolverType::pgs;  // "sweeps" and "tolerance" imply pgs
        constexpr ImpulseGradient gradients[] = {ImpulseGradient::automatic, ImpulseGradient::swept,
                                                 ImpulseGradient::implicit};
        if (const auto gradient = solver->find("gradient")) {
            s.gradient = gradients[gradient->choice({"automatic", "swept", "implicit"})];
            if (!solver_kind(s.solver).sweeps && s.gradient == ImpulseGradient::swept)
                gradient->fail("\"swept\" requires pgs; exact solvers have no sweeps",
                               "use \"implicit\" or \"automatic\"");
        }
        constexpr ConeMethod methods[] = {ConeMethod::gauss_seidel, ConeMethod::admm};
        if (const auto method = solver->find("method"))
            s.cone_method = methods[method->choice({"gauss_seidel", "admm"})];
        if (const auto relaxed = solver->find("relaxed")) s.relaxed = relaxed->boolean();
        if (const auto aware = solver->find("complementarity_aware")) {
            s.complementarity_aware = aware->boolean();
            if (s.complementarity_aware && solver_kind(s.solver).sweeps &&
                s.gradient != ImpulseGradient::implicit)
                aware->fail("needs a gradient by the active set",
                            "use \"gradient\": \"implicit\", or type lcp or ncp");
        }
        if (const auto distant = solver->find("distant_contacts")) {
            distant->expect_keys("distant_contacts");
            s.felt_distance = (*distant)["distance"].nonnegative();
            s.felt_stiffness = (*distant)["stiffness"].positive();
        }
        if (const auto sweeps = solver->find("sweeps"))
            s.sweeps = static_cast<int>(sweeps->integer(1, 100000));
        s.tolerance = solver->nonnegative_or("tolerance", s.tolerance);
        constexpr Impact impacts[] = {Impact::start, Impact::elastic, Impact::located};
        if (const auto impact = solver->find("impact"))
            s.impact = impacts[impact->choice({"start", "elastic", "located"})];
        if (const auto warm = solver->find("warm_start")) s.warm_start = warm->boolean();
        if (const auto room = solver->find("warm_contacts"))
            s.warm_contacts = static_cast<int>(room->integer(0, 100000));
        constexpr ForwardDynamics kinds[] = {ForwardDynamics::automatic, ForwardDynamics::aba,
                                             ForwardDynamics::crba};
        if (const auto kind = solver->find("forward_dynamics"))
            s.forward_dynamics = kinds[kind->choice({"automatic", "aba", "crba"})];
        constexpr Gyroscopic biases[] = {Gyroscopic::explicit_bias, Gyroscopic::midpoint};
        if (const auto bias = solver->find("gyroscopic"))
            s.gyroscopic = biases[bias->choice({"explicit", "midpoint"})];
    }
    if (const auto contact = scene.find("contact")) {
        contact->expect_keys("contact");
        s.compliance = contact->nonnegative_or("compliance", s.compliance);
        s.erp = contact->nonnegative_or("erp", s.erp);
        if (s.erp > 1) (*contact)["erp"].fail("would correct more than the whole penetration", "use 0 to 1");
        s.slop = contact->nonnegative_or("slop", s.slop);
        s.recovery_speed = contact->nonnegative_or("recovery_speed", s.recovery_speed);
        s.rest_speed = contact->nonnegative_or("rest_speed", s.rest_speed);
        s.margin = contact->nonnegative_or("margin", s.margin);
        if (const auto law = contact->find("law"))
            s.law = static_cast<ContactLaw>(law->choice({contact_law_names[0], contact_law_names[1]}));
        s.impratio = contact->positive_or("impratio", s.impratio);
    }
    s.law = options.law.value_or(s.law);
    if (s.law == ContactLaw::mujoco) {
        if (s.impact != Impact::start)
            scene["solver"]["impact"].fail("has no effect: soft contacts have no restitution",
                                           "remove it, or \"law\" of \"contact\"");
        s.relaxed = true;  // MuJoCo's problem is convex
    }
    return s;
}

void add_world_shape(Assembly& a, const Node& where, ShapeSpec shape) {
    a.shape_names.add(where, shape.name);
    a.shapes.push_back(std::move(shape));
    a.shape_bodies.emplace_back();
}

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

// Refuses the options of importers for a model in JSON.
void forbid_import_options(const Node& instance) {
    instance.forbid({"base"}, "in a JSON model, the joints of the bodies define the base");
    instance.forbid({"self_collision"}, "in a JSON model, each shape has its own \"self_collision\"");
}

// Moves the shapes of an MJCF file that are fixed in the world into a fixed body of the model, so that they come
// with the instance. Planes are the floor of the file's own world and stay behind. True if there are planes.
bool take_surroundings(ImportedModel& robot) {
    Json walls = Json::array();
    bool floor = false;
    for (const Json& shape : robot.scene.value("shapes", Json::array()))
        shape["type"] == "plane" ? void(floor = true) : walls.push_back(shape);
    if (walls.empty()) return floor;
    Json& bodies = robot.model["bodies"];
    std::string name = "surroundings";
    while (std::ranges::any_of(bodies, [&](const Json& body) { return body["name"] == name; }))
        name += "_";
    bodies.push_back({{"name", name}, {"shapes", walls}});
    if (robot.model.contains("pairs"))
        for (Json& pair : robot.model["pairs"])
            for (Json& shape : pair["shapes"])
                for (const Json& wall : walls)
                    if (shape == of_world + wall["name"].get<std::string>()) shape = wall["name"];
    if (!robot.model.contains("exclude")) return floor;
    Json more = Json::array();
    for (Json pair : robot.model["exclude"])
        for (Json& body : pair)
            if (body == "world") {
                body = name;
                more.push_back(pair);
            }
    robot.model["exclude"].insert(robot.model["exclude"].end(), more.begin(), more.end());
    return floor;
}

std::string shown(const Json& value) { return one_line(value.dump()); }

// Warns of what a file says about the world and a scene that names it does not take over.
void warn_of_world(const Node& scene, const ImportedModel& robot, bool floor, const std::string& file,
                   std::vector<std::string>& warnings) {
    std::vector<std::string> parts, keys;
    if (floor && !scene.has("ground") && !scene.has("shapes")) {
        parts.emplace_back("floor");
        keys.emplace_back("\"ground\": true");
    }
    for (const auto& [key, name, otherwise] :
         {std::tuple("time_step", "time step", Json(Settings{}.time_step)),
          {"gravity", "gravity", Json{0, 0, -9.81}},
          {"medium", "medium", nullptr}}) {
        if (scene.has(key) || !robot.scene.contains(key) || robot.scene[key] == otherwise) continue;
        parts.push_back(std::string(name) + " " + shown(robot.scene[key]));
        keys.push_back("\"" + std::string(key) + "\": " + shown(robot.scene[key]));
    }
    if (parts.empty()) return;
    const auto listed = [](const std::vector<std::string>& items) {
        std::string text = items[0];
        for (size_t k = 1; k < items.size(); ++k)
            text += (k + 1 < items.size() ? ", " : " and ") + items[k];
        return text;
    };
    warnings.push_back(file + ": the scene does not take over the file's " + listed(parts) +
                       (parts.size() == 1 ? "; to have it, write " : "; to have them, write ") +
                       listed(keys) + " into the scene");
}

// The file of a model: in the scene's folder or below, or where a robot finds its meshes
// (scenes/import/mesh/mesh_path.hpp), if the user has named folders or the scene is a file. Texts in memory
// may come from anywhere.
std::filesystem::path find_model(const Node& name, const std::filesystem::path& folder,
                                 const ImportOptions& options) {
    if (!options.from_file && options.search.empty()) return find_file(name, folder);
    const std::filesystem::path given = name.text();
    const MeshPath found = find_mesh(given.string(), folder, options.search);
    if (!found.allowed)
        name.fail("leads out of the scene's folder, of its package and of its repository",
                  "name the folder of the model with --search");
    if (found.file.empty())
        name.fail("there is no file " + (folder / given).string(),
                  "correct the path, or name the folder of the model with --search");
    // by its shorter name, where this is the file
    std::error_code error;
    const bool here = std::filesystem::equivalent(folder / given, found.file, error);
    return here && given.is_relative() ? folder / given : found.file;
}

// The model of an instance, inline or from a file.
ModelInput read_instance_model(const Node& scene, const Node& instance, const std::filesystem::path& folder,
                               const ImportOptions& options, std::vector<std::string>& warnings) {
    if (const auto model = instance.find("model")) {
        if (const auto file = instance.find("file"))
            file->fail("the model is given twice", "keep \"model\" or \"file\"");
        forbid_import_options(instance);
        return read_model(*model);
    }
    const std::filesystem::path file = find_model(instance["file"], folder, options);
    const std::string name = file.string();
    if (is_robot_file(file)) {
        ImportOptions chosen = options;
        chosen.search.push_back(folder);
        constexpr Base bases[] = {Base::fixed, Base::floating};
        if (const auto base = instance.find("base")) chosen.base = bases[base->choice({"fixed", "floating"})];
        if (const auto self = instance.find("self_collision")) chosen.self_collision = self->boolean();
        ImportedModel robot = import_model(file, chosen);
        warnings.insert(warnings.end(), robot.warnings.begin(), robot.warnings.end());
        warn_of_world(scene, robot, take_surroundings(robot), name, warnings);
        return read_model(Node(robot.model, name, &robot.places));
    }
    forbid_import_options(instance);
    const Json document = read_json(file);
    return read_model(Node(document, name));
}

void add_equality(Assembly& a, const Node& where, const EqualityInput& input) {
    a.equality_names.add(where, input.spec.name);
    a.builder.add_equality(input.spec);
    a.equalities.push_back(input);
}

// An equality of a model that is placed at the pose X. Its names are already those of the world.
EqualityInput placed(EqualityInput input, const std::vector<int>& handles, const Transform<double>& X) {
    EqualitySpec& spec = input.spec;
    const auto end = [&](int& body, Vec3<double>& anchor) {
        if (body < 0 && spec.type != EqualityType::coupling) anchor = transform_point(X, anchor);
        if (body >= 0) body = handles[body];
    };
    if (spec.body_a < 0) spec.R_ba = spec.R_ba * X.R.transpose();
    if (spec.body_b < 0) spec.R_ba = X.R * spec.R_ba;
    end(spec.body_a, spec.anchor_a);
    end(spec.body_b, spec.anchor_b);
    if (input.point_at_start) spec.anchor_b.setZero();
    return input;
}

// Adds a keyframe of a model at the pose X to one of the world; states of free joints are transformed by X.
template <class Full>
void add_start(const Keyframe& start, const Full& full, const Transform<double>& X, Keyframe& to_world) {
    for (const auto& [joint, q] : start.q) {
        std::vector<double>& to = to_world.q[full(joint)] = q;
        if (static_cast<int>(q.size()) != joint_nq(JointType::free)) continue;
        const Vec3<double> p = transform_point(X, load3(q.data()));
        const Eigen::Quaterniond turn = Eigen::Quaterniond(X.R) * Eigen::Quaterniond(q[3], q[4], q[5], q[6]);
        to = {p.x(), p.y(), p.z(), turn.w(), turn.x(), turn.y(), turn.z()};
    }
    for (const auto& [joint, v] : start.v) {
        std::vector<double>& to = to_world.v[full(joint)] = v;
        if (static_cast<int>(v.size()) != joint_nv(JointType::free)) continue;
        const Vec3<double> lin = X.R * load3(v.data());
        std::copy(lin.begin(), lin.end(), to.begin());
    }
    for (const auto& [actuator, value] : start.activations)
        to_world.activations[full(actuator)] = value;
    for (const auto& [actuator, value] : start.controls)
        to_world.controls[full(actuator)] = value;
}

// Adds one copy of a model at the pose X. A name becomes <prefix>/<name>. In a model with one body, however,
// `own`, the name of the instance, becomes <prefix>, and <own>.<rest> becomes <prefix>.<rest>.
void add_copy(const Node& where, const ModelInput& model, const std::string& own, const std::string& prefix,
              const Transform<double>& X, const Keyframe* keyframe, Assembly& a) {
    const auto full = [&](const std::string& name) {
        const bool goes_on = name.compare(0, own.size() + 1, own + ".") == 0;
        return model.one_body && (name == own || goes_on) ? prefix + name.substr(own.size())
                                                          : prefix + "/" + name;
    };
    std::vector<int> handles;
    for (BodySpec spec : model.bodies) {
        spec.name = full(spec.name);
        spec.joint_name = full(spec.joint_name);
        a.bodies.add(where, spec.name);
        a.joints.add(where, spec.joint_name);
        if (spec.parent < 0) {
            const Transform<double> start = compose(X, Transform<double>{spec.R_PB, spec.placement});
            spec.placement = start.p;
            spec.R_PB = start.R;
            if (spec.joint == JointType::free) {
                a.free_bodies[spec.name] = start;
                spec.placement.setZero();
                spec.R_PB.setIdentity();
            }
        } else {
            spec.parent = handles[spec.parent];
        }
        handles.push_back(a.builder.add_body(spec));
    }
    std::vector<int> sites, tendons;
    for (SiteSpec spec : model.sites) {
        spec.name = full(spec.name);
        spec.body = handles[spec.body];
        a.sites.add(where, spec.name);
        sites.push_back(a.builder.add_site(spec));
    }
    const auto place = [&](TendonPlaceSpec& at) {
        if (at.site >= 0)
            at.site = sites[at.site];
        else
            at.position = transform_point(X, at.position);
    };
    for (TendonSpec spec : model.tendons) {
        spec.name = full(spec.name);
        for (TendonBranchSpec& branch : spec.branches)
            for (TendonPointSpec& point : branch.points) {
                place(point);
                if (!point.around) continue;
                place(point.around->centre);
                point.around->R = X.R * point.around->R;
                if (point.around->side) place(*point.around->side);
            }
        for (auto& [body, coefficient] : spec.joints)
            body = handles[body];
        a.tendons.add(where, spec.name);
        tendons.push_back(a.builder.add_tendon(spec));
    }
    for (ActuatorSpec spec : model.actuators) {
        spec.name = full(spec.name);
        if (spec.tendon >= 0) spec.tendon = tendons[spec.tendon];
        spec.body = handles[spec.body];
        a.actuators.add(where, spec.name);
        a.builder.add_actuator(spec);
    }
    for (SensorSpec spec : model.sensors) {
        spec.sensor.name = full(spec.sensor.name);
        for (std::string* name :
             {&spec.body, &spec.site, &spec.joint, &spec.actuator, &spec.body_a, &spec.body_b})
            if (!name->empty() && *name != "world") *name = full(*name);
        a.sensor_names.add(where, spec.sensor.name);
        a.sensors.push_back(std::move(spec));
    }
    for (EqualityInput input : model.equalities) {
        input.spec.name = full(input.spec.name);
        add_equality(a, where, placed(input, handles, X));
    }
    for (size_t n = 0; n < model.shapes.size(); ++n) {
        a.shapes.push_back(model.shapes[n]);
        a.shapes.back().name = full(model.shapes[n].name);
        a.shape_names.add(where, a.shapes.back().name);
        a.shape_bodies.push_back(full(model.bodies[model.shapes[n].body].name));
    }
    for (const Visual& visual : model.visuals) {
        a.visuals.push_back(visual);
        a.visual_bodies.push_back(full(model.bodies[visual.body].name));
    }
    if (keyframe != nullptr) add_start(*keyframe, full, X, a.start);
    for (const Keyframe& each : model.keyframes) {
        a.keyframes.push_back({prefix + "/" + each.name, {}, {}, {}, {}});
        add_start(each, full, X, a.keyframes.back());
    }
    for (PairInput pair : model.pairs) {
        pair.spec.name = full(pair.spec.name);
        for (std::string* shape : {&pair.a, &pair.b})
            if (!shape->starts_with(of_world)) *shape = full(*shape);
        a.pairs.push_back(pair);
    }
    const auto in_world = [&](const std::string& body) { return body == "world" ? body : full(body); };
    for (const auto& [first, second] : model.excluded)
        a.excluded.emplace_back(in_world(first), in_world(second));
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
            add_equality(a, equality, read_equality(equality, a.builder.bodies()));
    Model model = a.builder.build();
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
    ShapeSet shapes = build_shapes(model, a.shapes, a.excluded, pairs);

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
    for (const SensorSpec& sensor : a.sensors)
        add_sensor(sensor, world);
    if (const auto sensors = scene.find("sensors")) {
        const SensorSubjects subjects = subjects_of(world.model);
        for (const Node& node : sensors->items()) {
            const SensorSpec sensor = read_sensor(node, subjects);
            a.sensor_names.add(node["name"], sensor.sensor.name);
            add_sensor(sensor, world);
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
