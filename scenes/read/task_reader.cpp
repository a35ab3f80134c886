#include "scenes/read/task_reader.hpp"

#include <algorithm>
#include <cmath>

#include "scenes/format/inertia.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/initial_reader.hpp"
#include "scenes/read/model_reader.hpp"
#include "scenes/read/recording_reader.hpp"

namespace costate {
namespace {

using Entry = ParameterLayout::Entry;

// The numbers of theta that a path selects: all of an entry, or "<entry>[k]".
struct Selection {
    const Entry* entry;
    int offset, width;
};

// Skips entries without effect, unless the pattern matches only such entries.
std::vector<Selection> select(const Node& node, const ParameterLayout& layout) {
    std::string path = node.text();
    const size_t bracket = path.find('[');
    int element = -1;
    if (bracket != std::string::npos) {
        if (bracket + 3 != path.size() || path.back() != ']' || path[bracket + 1] < '0' ||
            path[bracket + 1] > '9')
            node.fail("has no valid index after [", "write for example bodies/box/com[0]");
        element = path[bracket + 1] - '0';
        path.resize(bracket);
    }
    const std::vector<Entry>& entries = layout.entries();
    std::vector<Selection> out;
    const Entry* without_effect = nullptr;
    for (const int i : resolve(node, path, "parameter", names_of(entries, &Entry::path))) {
        const Entry& e = entries[i];
        if (!e.no_effect.empty()) {
            without_effect = &e;
            continue;
        }
        if (element >= e.width)
            node.fail("\"" + e.path + "\" has " + std::to_string(e.width) + " numbers, counted from 0",
                      "correct the index");
        out.push_back({&e, e.offset + std::max(element, 0), element < 0 ? e.width : 1});
    }
    if (out.empty())
        node.fail("\"" + without_effect->path + "\" has no effect: " + without_effect->no_effect,
                  without_effect->remedy);
    return out;
}

const double pi = std::acos(-1.0);

double in_range(const Node& node, ParameterRange range) {
    switch (range) {
        case ParameterRange::any:
        case ParameterRange::interval: break;
        case ParameterRange::nonnegative: return node.nonnegative();
        case ParameterRange::positive: return node.positive();
        case ParameterRange::angle:
            if (!(node.positive() < pi)) node.fail("must be below pi", "use a smaller angle, rad");
    }
    return node.number();
}

// "bodies/<body>/pseudo_inertia" stands for mass, centre of mass and inertia together.
constexpr std::string_view pseudo_inertia = "/pseudo_inertia";

// Checks the ranges whose ends entries of "parameters" have set, one end or both.
void check_intervals(const Node& parameters, const World& world, const VecX<double>& theta) {
    for (const Node& node : parameters.items()) {
        if (node["path"].text().ends_with(pseudo_inertia)) continue;
        for (const Selection& s : select(node["path"], world.model.layout))
            if (s.entry->range == ParameterRange::interval &&
                !(theta[s.entry->offset] < theta[s.entry->offset + 1]))
                node.fail("makes the lower end of \"" + s.entry->path + "\" not less than its upper end",
                          "give both as [lower, upper]");
    }
}

void set_values(const Node& value, const Selection& s, const World& world, VecX<double>& theta) {
    if (s.entry->path == "world/time_step")
        value.fail("the time step cannot be set here", "use \"time_step\" of the scene");
    const std::vector<Node> items =
        value.is_array() ? value.items(s.width) : std::vector<Node>(s.width, value);
    for (int k = 0; k < s.width; ++k)
        theta[s.offset + k] = in_range(items[k], s.entry->range);
    const int from = world.model.inertia.offset, to = from + 6 * static_cast<int>(world.model.bodies.size());
    if (s.entry->offset < from || s.entry->offset >= to) return;
    const std::string reason = unphysical(inertia_matrix(theta.data() + s.entry->offset));
    if (!reason.empty()) value.fail("the inertia " + reason, "use the inertia of a solid");
}

// A variable and its bounds. The ends of a range are kept on their sides of its initial middle.
ParameterVariable read_variable(const Node& node, const Selection& s, int index, const VecX<double>& theta) {
    const double value = theta[index];
    ParameterVariable variable;
    variable.index = index;
    if (node.has("scale") && node["scale"].choice({"linear", "log"}) == 1)
        variable.scale = ParameterScale::log;
    const bool log = variable.scale == ParameterScale::log;
    if (s.entry->range == ParameterRange::nonnegative) variable.lower = 0;
    if (s.entry->range == ParameterRange::positive || s.entry->range == ParameterRange::angle || log)
        variable.lower = 1e-6 * value;
    if (log && !(value > 0))
        node["scale"].fail("a log scale needs a value above 0", "use \"linear\", or give a \"value\"");
    if (const auto lower = node.find("lower"))
        variable.lower = log ? lower->positive() : in_range(*lower, s.entry->range);
    variable.upper = node.number_or("upper", variable.upper);
    if (s.entry->range == ParameterRange::angle) variable.upper = std::min(variable.upper, pi);
    if (s.entry->range == ParameterRange::interval) {
        const double middle = 0.5 * (theta[s.entry->offset] + theta[s.entry->offset + 1]);
        if (index == s.entry->offset)
            variable.upper = std::min(variable.upper, middle);
        else
            variable.lower = std::max(variable.lower, middle);
    }
    if (!(variable.lower < variable.upper))
        node["upper"].fail("is not above the lower bound", "widen the bounds");
    if (value < variable.lower || value > variable.upper)
        node.fail("the value is outside its bounds", "widen the bounds or change the value");
    return variable;
}

// The bodies that "bodies/<pattern>/pseudo_inertia" selects.
std::vector<int> select_bodies(const Node& node, const Model& model) {
    node.forbid({"value", "lower", "upper", "scale"}, "a pseudo-inertia has its own scale and no bounds");
    if (!node.has("optimize") || !node["optimize"].boolean())
        node["path"].fail("a pseudo-inertia can only be optimized",
                          "add \"optimize\": true, or set mass, com and inertia");
    std::vector<std::string> paths;
    for (const Body& b : model.bodies)
        paths.push_back(std::string("bodies/").append(b.name).append(pseudo_inertia));
    return resolve(node["path"], node["path"].text(), "parameter", paths);
}

// Marks a number of theta as optimized; fails if it is marked already.
void claim(const Node& path, const World& world, std::vector<bool>& moves, int index) {
    if (moves[index])
        path.fail("\"" + world.model.layout.element_name(index) + "\" is optimized twice",
                  "name it in one place");
    moves[index] = true;
}

// "squared" by default
TermNorm read_norm(const Node& node) {
    const auto norm = node.find("norm");
    return norm && norm->choice({"squared", "distance"}) == 1 ? TermNorm::distance : TermNorm::squared;
}

// Refuses the keys that a term does not use.
void forbid_others(const Node& node, const TermTraits& traits) {
    const std::string because = std::string("the term is ") + traits.name;
    const auto unless = [&](bool meant, std::initializer_list<const char*> keys) {
        if (!meant) node.forbid(keys, because);
    };
    const TermSubject subject = traits.subject;
    unless(subject == TermSubject::point, {"point", "site"});
    unless(subject == TermSubject::point || subject == TermSubject::body, {"body"});
    unless(traits.has_target, {"axes"});
    unless(traits.has_target || traits.kind == TermKind::configuration, {"target"});
    unless(traits.kind == TermKind::orientation, {"quaternion", "rpy_deg"});
    unless(subject == TermSubject::bodies, {"tree"});
    unless(subject == TermSubject::joints, {"joints"});
    unless(subject == TermSubject::actuators, {"actuators"});
    unless(subject == TermSubject::shape, {"shape"});
    unless(subject == TermSubject::file, {"file", "columns"});
    if (traits.numbers == 0) node.forbid({"norm"}, because + ", which is linear");
}

std::vector<std::string> term_names() {
    std::vector<std::string> names;
    for (const TermTraits& traits : term_traits)
        names.push_back(traits.name);
    return names;
}

// The indices that the patterns under `key` match; all indices if the key is absent.
std::vector<int> read_matches(const Node& node, const char* key, const char* kind,
                              const std::vector<std::string>& names) {
    std::vector<bool> chosen(names.size(), !node.has(key));
    if (const auto patterns = node.find(key))
        for (const Node& pattern : patterns->items())
            for (const int i : resolve(pattern, pattern.text(), kind, names))
                chosen[i] = true;
    std::vector<int> out;
    for (size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) out.push_back(static_cast<int>(i));
    return out;
}

Term read_term(const Node& node, const World& world, const VecX<double>& x0,
               const std::filesystem::path& folder, int steps) {
    node.expect_keys("term");
    const Model& model = world.model;
    Term term;
    const Node kind = node["term"];
    term.kind = static_cast<TermKind>(kind.choice(term_names()));
    const TermTraits& traits = traits_of(term.kind);
    forbid_others(node, traits);
    term.name = node.text_or("name", kind.text());
    term.norm = read_norm(node);
    term.weight = node.number_or("weight", 1);
    term.running = traits.of_a_step || traits.subject == TermSubject::file;
    if (const auto at = node.find("at")) term.running = at->choice({"end", "running"}) == 1;
    if (traits.of_a_step && !term.running)
        node["at"].fail("the final state has no " + kind.text() + ", because no step follows it",
                        "use \"running\"");

    if (traits.subject == TermSubject::file) {
        term.recording =
            read_recording(node, world, folder, term.running ? 0 : steps, term.running ? steps - 1 : steps);
        for (const Signal& s : term.recording.signals)
            if (s.is_of_a_step() && !term.running)
                node["at"].fail("the final state has no \"" + s.names[0] + "\", because no step follows it",
                                "use \"running\"");
    }
    if (const auto site = node.find("site")) {
        node.forbid({"body", "point"}, "the site gives the point");
        term.site = resolve_one(*site, "site", names_of(model.sites, &Site::name));
        term.body = model.sites[term.site].body;
    } else if (traits.subject == TermSubject::point || traits.subject == TermSubject::body)
        term.body = resolve_one(node["body"], "body", names_of(model.bodies, &Body::name));
    term.point = node.vec3_or("point", term.point);
    if (traits.has_target) {
        term.target = node.vec3_or("target", term.target);
        term.axes = node.vec3_or("axes", term.axes);
    }
    if (term.kind == TermKind::orientation) term.orientation = read_orientation(node);
    term.bodies = {0, static_cast<int>(model.bodies.size())};
    if (const auto tree = node.find("tree")) {
        const int body = resolve_one(*tree, "body", names_of(model.bodies, &Body::name));
        const Tree& it = model.trees[model.bodies[body].tree];
        term.bodies = {it.body_begin, it.body_end};
    }
    if (const auto shape = node.find("shape"))
        term.shape = resolve_one(*shape, "shape", names_of(world.shapes.shapes, &Shape::name));
    if (traits.subject == TermSubject::actuators)
        term.controls =
            read_matches(node, "actuators", "actuator", names_of(model.actuators, &Actuator::name));
    if (traits.subject != TermSubject::joints) return term;

    term.q_target = x0.head(model.nq);
    for (const int i : read_matches(node, "joints", "joint", names_of(model.bodies, &Body::joint_name))) {
        const Body& b = model.bodies[i];
        for (int j = b.v0; j < b.v0 + b.nv; ++j)
            term.dofs.push_back(j);
        if (b.nv == 1 && node.has("target") && node["target"].is_number())
            term.q_target[b.q0] = node["target"].number();
    }
    if (const auto target = node.find("target"); target && !target->is_number())
        read_configuration(*target, model, term.q_target);
    return term;
}

}  // namespace

ParameterMap read_parameters(const Node& scene, const World& world, VecX<double>& theta) {
    ParameterMap variables;
    const Model& m = world.model;
    const auto parameters = scene.find("parameters");
    if (!parameters) return variables;
    std::vector<bool> moves(theta.size());
    std::vector<std::pair<Node, int>> whole;  // bodies with optimized pseudo-inertia
    for (const Node& node : parameters->items()) {
        node.expect_keys("parameter");
        const Node path = node["path"];
        if (path.text().ends_with(pseudo_inertia)) {
            for (const int body : select_bodies(node, m)) {
                for (const ParameterSlice& s : {m.mass, m.com, m.inertia})
                    for (int k = 0; k < s.width; ++k)
                        claim(path, world, moves, s.at(body) + k);
                variables.push_back({body, -unlimited, unlimited, ParameterScale::log_cholesky});
                whole.emplace_back(path, body);
            }
            continue;
        }
        const bool optimize = node.has("optimize") && node["optimize"].boolean();
        if (!optimize) node.forbid({"lower", "upper", "scale"}, "the parameter is not optimized");
        if (!optimize && !node.has("value"))
            node.fail("changes nothing", "add a \"value\" or \"optimize\": true");
        for (const Selection& s : select(path, m.layout)) {
            if (const auto value = node.find("value")) set_values(*value, s, world, theta);
            for (int i = s.offset; optimize && i < s.offset + s.width; ++i) {
                claim(path, world, moves, i);
                variables.push_back(read_variable(node, s, i, theta));
            }
        }
    }
    check_intervals(*parameters, world, theta);
    for (const auto& [path, body] : whole)
        if (!log_cholesky_of(mass_properties(m, theta.data(), body)))
            path.fail("body \"" + m.bodies[body].name +
                          "\" is a point, thin or flat, so its inertia has no log-Cholesky form",
                      "give it extent in all directions");
    return variables;
}

Objective read_objective(const Node& scene, const World& world, const VecX<double>& x0,
                         const std::filesystem::path& folder, int steps) {
    Objective objective;
    if (const auto terms = scene.find("objective"))
        for (const Node& term : terms->items())
            objective.push_back(read_term(term, world, x0, folder, steps));
    return objective;
}

}  // namespace costate
