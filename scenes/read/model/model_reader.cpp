#include "scenes/read/model/model_reader.hpp"

#include <algorithm>
#include <unordered_map>

#include "scenes/format/names.hpp"
#include "scenes/read/model/joint_reader.hpp"
#include "scenes/read/model/mass_reader.hpp"

namespace costate {
namespace {

inline constexpr size_t max_bodies_of_a_model = 100000, max_excluded = 1000000;

// The names of a model under construction, and the node from which each body was read.
struct ModelNames {
    NameTable bodies{"body"}, joints{"joint"}, shapes{"shape"}, actuators{"actuator"}, equalities{"equality"},
        tendons{"tendon"}, sites{"site"};
    std::vector<Node> nodes;
};

// Adds the links of a body, the last of which is the body itself. The body does not collide with its parent,
// whatever the number of links between them.
void add_links(const Node& node, const std::string& name, ModelInput& model, ModelNames& names) {
    int parent = -1;
    if (const auto named = node.find("parent"); named && named->text() != "world")
        parent = names.bodies.index(*named);
    const int carrier = moving_body(model.bodies, parent);
    const std::vector<BodySpec> links = read_joints(node, name, parent < 0);
    for (BodySpec spec : links) {
        names.bodies.add(node["name"], spec.name);
        names.joints.add(node, spec.joint_name);
        names.nodes.push_back(node);
        spec.parent = parent;
        parent = static_cast<int>(model.bodies.size());
        model.bodies.push_back(spec);
    }
    if (carrier >= 0 && links.size() > 1) model.carriers.emplace_back(name, model.bodies[carrier].name);
}

void read_body(const Node& node, ModelInput& model, ModelNames& names) {
    node.expect_keys("body");
    const std::string name = read_name(node["name"]);
    add_links(node, name, model, names);
    model.bodies.back().mass = read_mass(node);
    read_drag_box(node, model.bodies.back());
    model.bodies.back().gravity_compensation = node.number_or("gravity_compensation", 0);
    const int body = static_cast<int>(model.bodies.size()) - 1;
    if (const auto shapes = node.find("shapes"))
        for (const Node& shape : shapes->items()) {
            ShapeSpec s = read_shape(shape, name, model.warnings);
            s.body = body;
            if (s.terrain && moving_body(model.bodies, s.body) >= 0)
                shape["type"].fail("a " + shape["type"].text() + " must be fixed in the world, but body \"" +
                                       name + "\" moves",
                                   "use a mesh, or put it in \"shapes\" of the scene");
            names.shapes.add(shape, s.name);
            model.shapes.push_back(s);
        }
    if (const auto visuals = node.find("visuals"))
        for (const Node& visual : visuals->items()) {
            model.visuals.push_back(read_visual(visual));
            model.visuals.back().body = body;
        }
    if (const auto sites = node.find("sites"))
        for (const Node& site : sites->items()) {
            site.expect_keys("site");
            const Transform<double> X = read_pose(site);
            model.sites.push_back({read_name(site["name"]), body, X.p, X.R});
            names.sites.add(site["name"], model.sites.back().name);
        }
}

// Refuses joints that move no mass: any force would accelerate them without bound.
void check_masses(const std::vector<Node>& nodes, const std::vector<BodySpec>& bodies) {
    std::vector<double> carried(bodies.size());
    for (size_t i = bodies.size(); i-- > 0;) {
        carried[i] += bodies[i].mass.m;
        if (bodies[i].parent >= 0) carried[bodies[i].parent] += carried[i];
        const bool armature = !bodies[i].armature.empty() && bodies[i].armature[0] > 0;
        if (carried[i] > 0 || joint_nv(bodies[i].joint) == 0 || armature) continue;
        const Node& where = nodes[i].has("mass") ? nodes[i]["mass"] : nodes[i];
        where.fail("a moving body needs mass, but neither \"" + bodies[i].name +
                       "\" nor any body that it carries has mass",
                   "use a mass above 0 kg");
    }
}

// Reads the quantities of the actuator's law: the required and the optional ones of its type.
void read_quantities(const Node& node, const ActuatorKind& kind, const std::string& because,
                     ActuatorSpec& a) {
    for (const ActuatorQuantity& quantity : actuator_quantities()) {
        if (!kind.has(quantity.name)) {
            node.forbid({quantity.name}, because);
            continue;
        }
        const bool may_lack = kind.may_have != nullptr && std::string_view(quantity.name) == kind.may_have;
        if (may_lack && !node.has(quantity.name)) continue;
        const Node value = node[quantity.name];
        if (quantity.width == 1) {
            *quantity.of(a) = quantity.range == ParameterRange::nonnegative ? value.nonnegative()
                              : quantity.range == ParameterRange::positive  ? value.positive()
                                                                            : value.number();
            continue;
        }
        const std::vector<Node> items = value.items(quantity.width);
        for (int c = 0; c < quantity.width; ++c)
            quantity.of(a)[c] = items[c].number();
    }
}

// A body that a tendon pulls: of its first joint or its first site.
int body_of(const TendonSpec& tendon, const ModelInput& model) {
    if (!tendon.joints.empty()) return tendon.joints[0].first;
    for (const TendonBranchSpec& branch : tendon.branches)
        for (const TendonPointSpec& point : branch.points)
            for (const int site : {point.site, point.around ? point.around->centre.site : -1})
                if (site >= 0) return model.sites[site].body;
    return 0;
}

ActivationSpec read_dynamics(const Node& node) {
    node.expect_keys("dynamics");
    ActivationSpec a;
    a.type = static_cast<ActivationType>(node["type"].choice(activation_type_names()));
    const ActivationKind& kind = activation_kind(a.type);
    for (const char* key : {"time_constant", "rise_time", "fall_time"}) {
        const auto* const at =
            std::find_if(std::begin(kind.times), std::end(kind.times),
                         [&](const char* time) { return time != nullptr && std::string_view(time) == key; });
        if (at == std::end(kind.times))
            node.forbid({key}, "the dynamics are of type " + node["type"].text());
        else
            a.times[at - std::begin(kind.times)] = node[key].positive();
    }
    if (a.type != ActivationType::muscle)
        node.forbid({"switch_width"}, "the dynamics are of type " + node["type"].text());
    a.switch_width = node.nonnegative_or("switch_width", 0);
    if (const auto early = node.find("early")) a.early = early->boolean();
    if (const auto limits = node.find("limits")) std::tie(a.lower, a.upper) = read_range(*limits);
    return a;
}

MuscleSpec read_muscle(const Node& node) {
    node.expect_keys("muscle");
    MuscleSpec m;
    for (const MuscleQuantity& quantity : muscle_quantities()) {
        const std::string_view name = quantity.name;
        const bool needed = name == "force" || name == "length_range";
        if (!needed && !node.has(quantity.name)) continue;
        const Node value = node[quantity.name];
        double* const of = quantity.of(m);
        if (quantity.range == ParameterRange::interval)
            std::tie(of[0], of[1]) = read_range(value);
        else
            *of = quantity.range == ParameterRange::nonnegative ? value.nonnegative()
                  : quantity.range == ParameterRange::positive  ? value.positive()
                                                                : value.number();
    }
    if (!(m.lmin < 1 && m.lmax > 1)) node.fail("needs lmin below 1 and lmax above 1", "correct them");
    if (!(m.fvmax >= 1)) node.fail("needs an fvmax of 1 or more", "correct it");
    return m;
}

ActuatorSpec read_actuator(const Node& node, const ModelInput& model, ModelNames& names) {
    node.expect_keys("actuator");
    ActuatorSpec a;
    a.type = static_cast<ActuatorType>(node["type"].choice(actuator_type_names()));
    const ActuatorKind& kind = actuator_kind(a.type);
    const std::string because = "the actuator is of type " + node["type"].text();
    if (kind.on_joint)
        node.forbid({"body", "axis", "position", "drag", "moment"}, because);
    else
        node.forbid({"joint", "tendon"}, because);
    if (const auto tendon = node.find("tendon")) {
        node.forbid({"joint"}, "the actuator drives a tendon");
        a.tendon = names.tendons.index(*tendon);
        a.body = body_of(model.tendons[a.tendon], model);
    } else {
        a.body = kind.on_joint ? names.joints.index(node["joint"]) : names.bodies.index(node["body"]);
    }
    const BodySpec& body = model.bodies[a.body];
    if (kind.on_joint && a.tendon < 0 && joint_nv(body.joint) != 1)
        node["joint"].fail(
            "an actuator drives one dof, but this joint is " + std::string(joint_type_name(body.joint)),
            "name a joint with an axis");
    if (!kind.on_joint && moving_body(model.bodies, a.body) < 0)
        node["body"].fail("a thruster needs a body that moves, but this body is fixed", "name another body");
    const auto name = node.find("name");
    a.name = name            ? read_name(*name)
             : a.tendon >= 0 ? model.tendons[a.tendon].name
             : kind.on_joint ? body.joint_name
                             : body.name;
    names.actuators.add(node, a.name);
    if (!kind.on_joint) {
        a.moment = node.vec3_or("moment", Vec3<double>::Zero());
        if (node.has("moment") && !node.has("axis")) a.axis.setZero();  // a moment alone
        if (const auto axis = node.find("axis")) a.axis = read_direction(*axis);
        a.position = node.vec3_or("position", Vec3<double>::Zero());
        a.drag = node.number_or("drag", 0);
    }
    a.gear = node.number_or("gear", 1);
    if (a.type != ActuatorType::general)
        node.forbid({"gain_slopes"}, because);
    else if (const auto slopes = node.find("gain_slopes")) {
        const std::vector<double> s = slopes->numbers(2);
        a.gain_slopes = {s[0], s[1]};
    }
    if (a.type == ActuatorType::muscle)
        a.muscle = read_muscle(node["muscle"]);
    else
        node.forbid({"muscle"}, because);
    read_quantities(node, kind, because, a);
    if (const auto limits = node.find("control_limits"))
        std::tie(a.control_lower, a.control_upper) = read_range(*limits);
    if (const auto limits = node.find("force_limits"))
        std::tie(a.force_lower, a.force_upper) = read_range(*limits);
    if (const auto dynamics = node.find("dynamics")) a.activation = read_dynamics(*dynamics);
    return a;
}

// A site by its name, or a point of the world.
TendonPlaceSpec read_place(const Node& item, const ModelNames& names) {
    TendonPlaceSpec place;
    if (const auto site = item.find("site"))
        place.site = names.sites.index(*site);
    else
        place.position = item["world"].vec3();
    return place;
}

// What a tendon wraps around. "side" is the name of a site, or a point of the world.
TendonWrapSpec read_wrap(const Node& item, const ModelNames& names) {
    TendonWrapSpec wrap;
    wrap.shape = static_cast<WrapShape>(item["wrap"].choice({"sphere", "cylinder"}));
    wrap.centre = read_place(item, names);
    wrap.radius = item["radius"].positive();
    if (item.has("site"))
        item.forbid({"quaternion", "rpy_deg"}, "the site has its own axes");
    else
        wrap.R = read_pose(item).R;
    if (const auto side = item.find("side")) {
        wrap.side.emplace();
        if (side->is_text())
            wrap.side->site = names.sites.index(*side);
        else
            wrap.side->position = side->vec3();
    }
    return wrap;
}

// The branches of a spatial tendon: its sites, points of the world and objects to wrap around in order, and pulleys
// between them.
std::vector<TendonBranchSpec> read_path(const Node& path, const ModelNames& names) {
    std::vector<TendonBranchSpec> branches(1);
    bool any_site = false;
    std::optional<TendonWrapSpec> around;  // before the next point
    const auto check_branch = [&](const Node& last, const TendonBranchSpec& branch) {
        if (around) last.fail("ends a branch with a \"wrap\"", "put a point after it");
        if (branch.points.size() < 2)
            last.fail("ends a branch of one point, which has no length", "give a branch at least two points");
    };
    const std::vector<Node> items = path.items();
    for (const Node& item : items) {
        item.expect_keys("tendon_path");
        if (item.has("site") + item.has("world") + item.has("pulley") != 1)
            item.fail("must be one thing", "give \"site\", \"world\" or \"pulley\"");
        if (!item.has("wrap")) item.forbid({"radius", "side", "quaternion", "rpy_deg"}, "it is no \"wrap\"");
        if (const auto divisor = item.find("pulley")) {
            const bool first = &item == items.data();
            if (!first) {
                check_branch(item, branches.back());
                branches.emplace_back();
            }
            branches.back().divisor = divisor->positive();
            continue;
        }
        any_site = any_site || item.has("site");
        if (item.has("wrap")) {
            if (branches.back().points.empty() || around)
                item.fail("is not between two points", "put a point before it, and one after it");
            around = read_wrap(item, names);
            continue;
        }
        branches.back().points.push_back({read_place(item, names), around});
        around.reset();
    }
    check_branch(path, branches.back());
    if (!any_site) path.fail("runs over no site, so no body is pulled", "name a site of a body");
    return branches;
}

TendonSpec read_tendon(const Node& node, const ModelInput& model, ModelNames& names) {
    node.expect_keys("tendon");
    TendonSpec t;
    t.name = read_name(node["name"]);
    names.tendons.add(node, t.name);
    t.stiffness = node.nonnegative_or("stiffness", 0);
    t.rest = node.number_or("rest", 0);
    t.slack = node.nonnegative_or("slack", 0);
    t.damping = node.nonnegative_or("damping", 0);
    if (const auto limits = node.find("limits"))
        std::tie(t.lower, t.upper) = read_range(*limits);
    else
        node.forbid({"limit_solref", "limit_solimp"}, "the tendon has no \"limits\"");
    t.limit_softness = read_softness(node, "limit_solref", "limit_solimp");
    if (const auto path = node.find("path")) {
        node.forbid({"joints"}, "a tendon with a path is spatial");
        t.branches = read_path(*path, names);
        return t;
    }
    for (const Node& joint : node["joints"].items()) {
        joint.expect_keys("tendon_joint");
        const int body = names.joints.index(joint["joint"]);
        if (joint_nv(model.bodies[body].joint) != 1)
            joint["joint"].fail("has no axis, so a tendon cannot run over it", "name a joint with an axis");
        t.joints.emplace_back(body, joint["coefficient"].number());
    }
    if (t.joints.empty()) node["joints"].fail("is empty", "name at least one joint and its coefficient");
    return t;
}

SensorSubjects subjects_of(const ModelInput& model) {
    SensorSubjects out{names_of(model.bodies, &BodySpec::name),
                       names_of(model.sites, &SiteSpec::name),
                       names_of(model.bodies, &BodySpec::joint_name),
                       names_of(model.tendons, &TendonSpec::name),
                       names_of(model.actuators, &ActuatorSpec::name),
                       names_of(model.shapes, &ShapeSpec::name),
                       {},
                       {}};
    for (const BodySpec& b : model.bodies)
        out.joint_dofs.push_back(joint_nv(b.joint));
    for (const ActuatorSpec& a : model.actuators)
        out.actuator_on_joint.push_back(actuator_kind(a.type).on_joint);
    return out;
}

// Checks the "world" of a model, so that errors name places in the model file; the scene made of the model
// reads it again.
void check_world(const Node& world) {
    world.expect_keys("model_world");
    world.positive_or("time_step", 1);
    world.vec3_or("gravity", Vec3<double>::Zero());
    if (const auto medium = world.find("medium")) read_medium(*medium);
    if (const auto contact = world.find("contact")) contact->expect_keys("contact");
    NameTable names("shape");
    std::vector<std::string> repeated;  // by the reader of the scene
    if (const auto shapes = world.find("shapes"))
        for (const Node& shape : shapes->items()) {
            read_shape(shape, "", repeated);
            names.add(shape, read_name(shape["name"]));
        }
}

}  // namespace

MediumSpec read_medium(const Node& node) {
    node.expect_keys("medium");
    return {node.nonnegative_or("density", 0), node.nonnegative_or("viscosity", 0),
            node.vec3_or("wind", Vec3<double>::Zero())};
}

std::vector<std::pair<std::string, std::string>> read_exclude(const Node& node,
                                                              std::vector<std::string> bodies) {
    bodies.push_back("world");
    std::unordered_map<std::string, int> index;
    for (size_t i = 0; i < bodies.size(); ++i)
        index.emplace(bodies[i], static_cast<int>(i));
    const auto matching = [&](const Node& pattern) {
        const auto named = index.find(pattern.text());
        return named != index.end() ? std::vector<int>{named->second}
                                    : resolve(pattern, pattern.text(), "body", bodies);
    };
    std::vector<std::pair<std::string, std::string>> out;
    for (const Node& pair : node.items()) {
        const std::vector<Node> two = pair.items(2);
        const std::vector<int> first = matching(two[0]), second = matching(two[1]);
        if (out.size() + first.size() * second.size() > max_excluded)
            pair.fail("excludes more than 1000000 pairs", "use fewer bodies");
        for (const int i : first)
            for (const int j : second)
                if (i != j) out.emplace_back(bodies[i], bodies[j]);
    }
    return out;
}

ModelInput read_model(const Node& node) {
    node.expect_keys("model");
    ModelInput model;
    for (const char* key : {"name", "description", "source"})
        node.prose_or(key, "");
    const std::vector<Node> bodies = node["bodies"].items();
    if (bodies.size() > max_bodies_of_a_model) node["bodies"].fail("more than 100000 bodies", "use fewer");
    ModelNames names;
    for (const Node& body : bodies)
        read_body(body, model, names);
    check_masses(names.nodes, model.bodies);
    model.one_body = bodies.size() == 1;
    if (const auto tendons = node.find("tendons"))
        for (const Node& tendon : tendons->items())
            model.tendons.push_back(read_tendon(tendon, model, names));
    if (const auto actuators = node.find("actuators"))
        for (const Node& actuator : actuators->items())
            model.actuators.push_back(read_actuator(actuator, model, names));
    if (const auto equalities = node.find("equalities"))
        for (const Node& equality : equalities->items()) {
            model.equalities.push_back(read_equality(equality, model.bodies, model.tendons));
            names.equalities.add(equality, model.equalities.back().spec.name);
        }
    if (const auto sensors = node.find("sensors")) {
        const SensorSubjects subjects = subjects_of(model);
        NameTable sensor_names("sensor");
        for (const Node& sensor : sensors->items()) {
            model.sensors.push_back(read_sensor(sensor, subjects));
            sensor_names.add(sensor["name"], model.sensors.back().sensor.name);
        }
    }
    if (const auto exclude = node.find("exclude"))
        for (auto& pair : read_exclude(*exclude, names_of(model.bodies, &BodySpec::name)))
            model.excluded.push_back(std::move(pair));
    if (const auto pairs = node.find("pairs")) {
        const std::vector<std::string> shapes = names_of(model.shapes, &ShapeSpec::name);
        for (const Node& pair : pairs->items()) {
            model.pairs.push_back(read_pair(pair));
            for (const Node& shape : pair["shapes"].items())
                if (!shape.text().starts_with(of_world)) resolve(shape, shape.text(), "shape", shapes);
        }
    }
    if (const auto keyframes = node.find("keyframes")) model.keyframes = read_keyframes(*keyframes, model);
    if (const auto world = node.find("world")) check_world(*world);
    return model;
}

}  // namespace costate
