#include "scenes/read/task/task_reader.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "scenes/format/inertia.hpp"
#include "scenes/format/names.hpp"

namespace costate {
namespace {

using Entry = ParameterLayout::Entry;

}  // namespace

std::vector<Selection> select_parameters(const Node& node, const ParameterLayout& layout) {
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

namespace {

using std::numbers::pi;

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
        for (const Selection& s : select_parameters(node["path"], world.model.layout))
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
        for (const Selection& s : select_parameters(path, m.layout)) {
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

std::vector<std::pair<int, double>> read_values(const Node& entries, const World& world, VecX<double> theta,
                                                const ParameterMap& variables) {
    std::vector<bool> moves(theta.size());
    for (const ParameterVariable& v : variables) {
        if (v.scale != ParameterScale::log_cholesky) moves[v.index] = true;
        for (const ParameterSlice& s : {world.model.mass, world.model.com, world.model.inertia})
            for (int k = 0; v.scale == ParameterScale::log_cholesky && k < s.width; ++k)
                moves[s.at(v.index) + k] = true;
    }
    const VecX<double> before = theta;
    for (const Node& node : entries.items()) {
        node.expect_keys("stage_parameter");
        for (const Selection& s : select_parameters(node["path"], world.model.layout)) {
            for (int i = s.offset; i < s.offset + s.width; ++i)
                if (moves[i])
                    node["path"].fail(
                        "\"" + world.model.layout.element_name(i) + "\" is optimized, so no stage sets it",
                        "leave it out");
            set_values(node["value"], s, world, theta);
        }
    }
    check_intervals(entries, world, theta);
    std::vector<std::pair<int, double>> changes;
    for (int i = 0; i < theta.size(); ++i)
        if (theta[i] != before[i]) changes.emplace_back(i, theta[i]);
    return changes;
}

}  // namespace costate
