#include <algorithm>
#include <cstdio>
#include <numeric>

#include "adjoint/optimize/optimize.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "scenes/format/names.hpp"

namespace costate {

namespace {

// Items that are separated by commas and may stand on several lines.
using Cell = std::vector<std::string>;
using Row = std::vector<Cell>;

constexpr int widest_table = 110, between_columns = 2;

// The items on lines of at most `width` characters, unless an item is longer.
std::vector<std::string> lines_of(const Cell& cell, int width) {
    std::vector<std::string> lines{""};
    for (size_t i = 0; i < cell.size(); ++i) {
        const std::string item = cell[i] + (i + 1 < cell.size() ? "," : "");
        std::string& line = lines.back();
        if (line.empty())
            line = item;
        else if (std::ssize(line) + 1 + std::ssize(item) <= width)
            line += " " + item;
        else
            lines.push_back(item);
    }
    return lines;
}

int width_of(const std::vector<Row>& rows, size_t column, int most) {
    int width = 0;
    for (const Row& row : rows)
        for (const std::string& line : lines_of(row[column], most))
            width = std::max(width, static_cast<int>(line.size()));
    return width;
}

// Widths of the columns, 0 for those that are empty but for their heading. Those of lists shrink to keep the
// table within `widest_table` characters, as far as their items allow.
std::vector<int> column_widths(const std::vector<Row>& rows) {
    constexpr int unbounded = 1 << 20;
    const std::vector<Row> entries(rows.begin() + 1, rows.end());
    std::vector<int> width, shortest;
    for (size_t c = 0; c < rows.front().size(); ++c) {
        const bool empty = width_of(entries, c, unbounded) == 0;
        width.push_back(empty ? 0 : width_of(rows, c, unbounded));
        shortest.push_back(empty ? 0 : width_of(rows, c, 1));
    }
    const auto total = [&] {
        int sum = -between_columns;
        for (const int w : width)
            sum += w == 0 ? 0 : w + between_columns;
        return sum;
    };
    while (total() > widest_table) {
        size_t widest = width.size();
        for (size_t c = 0; c < width.size(); ++c)
            if (width[c] > shortest[c] && (widest == width.size() || width[c] > width[widest])) widest = c;
        if (widest == width.size()) break;
        --width[widest];
    }
    return width;
}

void print_table(const std::vector<Row>& rows) {
    const std::vector<int> width = column_widths(rows);
    for (const Row& row : rows) {
        std::vector<std::vector<std::string>> cells;
        size_t height = 0;
        for (size_t c = 0; c < row.size(); ++c) {
            cells.push_back(width[c] == 0 ? std::vector<std::string>() : lines_of(row[c], width[c]));
            height = std::max(height, cells[c].size());
        }
        for (size_t n = 0; n < height; ++n) {
            std::string line;
            for (size_t c = 0; c < row.size(); ++c) {
                if (width[c] == 0) continue;
                std::string part = n < cells[c].size() ? cells[c][n] : "";
                part.resize(std::max(part.size(), static_cast<size_t>(width[c])), ' ');
                line += part + std::string(between_columns, ' ');
            }
            std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
        }
    }
}

template <class Items, class Describe> Cell described(const Items& items, int body, Describe describe) {
    Cell cell;
    for (const auto& item : items)
        if (item.body == body) cell.push_back(describe(item));
    return cell;
}

// A name without that of its instance, if this is also the instance of `other`.
std::string short_name(const std::string& name, const std::string& other) {
    const size_t slash = other.find('/');
    const bool same = slash != std::string::npos && name.starts_with(other.substr(0, slash + 1));
    return same ? name.substr(slash + 1) : name;
}

std::string dofs(const Body& b) {
    if (b.nv == 0) return "-";
    const std::string first = std::to_string(b.v0);
    return b.nv == 1 ? first : first + "-" + std::to_string(b.v0 + b.nv - 1);
}

void print_tree(const Scene& s) {
    const Model& m = s.world.model;
    const auto own = [&](const std::string& name, int body) {
        return body < 0 ? name : short_name(name, m.bodies[body].name);
    };
    // nothing for the same name as `known`
    const auto named = [&](std::string what, const std::string& name, int body, const std::string& known) {
        if (body >= 0 && name == known) return what;
        what += " ";
        return what += own(name, body);
    };
    const auto shapes = [&](int body) {
        return described(s.world.shapes.shapes, body, [&](const Shape& shape) {
            return named(shape_type_name(shape.type), shape.name, body, body < 0 ? "" : m.bodies[body].name);
        });
    };
    const auto actuators = [&](int body) {
        return described(m.actuators, body, [&](const Actuator& a) {
            const std::string dynamics =
                a.activation < 0
                    ? ""
                    : std::string(" with ") + activation_kind(m.activations[a.activation].type).name;
            return named(actuator_kind(a.type).name, a.name, body, m.bodies[body].joint_name) + dynamics;
        });
    };
    const auto sites = [&](int body) {
        return described(m.sites, body, [&](const Site& site) { return own(site.name, body); });
    };
    std::vector<Row> rows{
        {{"body"}, {"joint"}, {""}, {"dofs"}, {"mass, kg"}, {"actuators"}, {"shapes"}, {"sites"}},
        {{"world"}, {}, {}, {}, {}, {}, shapes(-1), {}}};
    std::vector<int> depth;
    for (int body = 0; body < std::ssize(m.bodies); ++body) {
        const Body& b = m.bodies[body];
        depth.push_back(b.parent < 0 ? 1 : depth[b.parent] + 1);
        char mass[32];
        std::snprintf(mass, sizeof mass, "%.6g", s.theta[m.mass.at(body)]);
        const std::string indent(2 * static_cast<size_t>(depth.back()), ' ');
        const std::string name = b.parent < 0 ? b.name : own(b.name, b.parent);
        rows.push_back({{indent + name},
                        {own(b.joint_name, body)},
                        {joint_type_name(b.joint)},
                        {dofs(b)},
                        {mass},
                        actuators(body),
                        shapes(body),
                        sites(body)});
    }
    print_table(rows);
    std::puts(
        "\nNames without / are in the instance of their body or its parent. Shapes and actuators without a "
        "name "
        "have\nthat of their body or joint.");
}

// One of a pair: its shape, or the body that has its shapes.
std::string name_of(const World& w, const std::vector<int>& shapes) {
    if (shapes.empty()) return "no shape";
    const Shape& first = w.shapes.shapes[shapes[0]];
    if (shapes.size() == 1) return "shape " + first.name;
    return first.body < 0 ? "world" : "body " + w.model.bodies[first.body].name;
}

void print_sensors(const World& w) {
    if (w.sensors.empty()) return;
    std::printf("\n");
    std::vector<Row> rows{{{"sensor"}, {"type"}, {"numbers"}, {"unit"}, {"on"}}};
    for (const Sensor& s : w.sensors) {
        const SensorTraits& traits = traits_of(s.kind);
        const Model& m = w.model;
        const bool joint = traits.subject == SensorSubject::joint || traits.subject == SensorSubject::axis;
        const SensorFrame& r = s.reference;
        const std::string in = r.site >= 0   ? " in site " + m.sites[r.site].name
                               : r.body >= 0 ? " in body " + m.bodies[r.body].name
                                             : "";
        const bool pair = traits.subject == SensorSubject::pair;
        const std::string on = pair              ? name_of(w, s.shapes_a) + ", " + name_of(w, s.shapes_b)
                               : s.site >= 0     ? "site " + m.sites[s.site].name
                               : s.tendon >= 0   ? "tendon " + m.tendons[s.tendon].name
                               : s.actuator >= 0 ? "actuator " + m.actuators[s.actuator].name
                               : joint           ? "joint " + m.bodies[s.body].joint_name
                               : s.body >= 0     ? "body " + m.bodies[s.body].name
                                                 : "";
        rows.push_back({{s.name}, {traits.name}, {std::to_string(s.size)}, {traits.unit}, {on + in}});
    }
    print_table(rows);
}

// What reading the files changed, guessed or left out.
void print_changes(const std::vector<std::string>& warnings) {
    if (warnings.empty()) return;
    std::printf("\nchanged, guessed or left out:\n");
    for (const std::string& warning : warnings)
        std::printf("  %s\n", warning.c_str());
}

int info(const Arguments& a) {
    const Scene scene = a.load(true);
    const World& w = scene.world;
    const Model& m = w.model;
    const auto joints = std::count_if(m.bodies.begin(), m.bodies.end(),
                                      [](const Body& b) { return b.joint != JointType::fixed; });
    double mass = 0;
    for (size_t i = 0; i < m.bodies.size(); ++i)
        mass += scene.theta[m.mass.at(static_cast<int>(i))];
    const double time_step = scene.theta[w.time_step.offset];
    const size_t variables =
        Variables(w, scene.plan, scene.parameters, scene.initial_state, {scene.theta, scene.x0, scene.z0})
            .size();

    if (a.json()) {
        const Report report{{"name", scene.name},
                            {"description", scene.description},
                            {"file", scene.file.string()},
                            {"bodies", m.bodies.size()},
                            {"joints", joints},
                            {"nq", m.nq},
                            {"nv", m.nv},
                            {"nu", m.nu},
                            {"mass", mass},
                            {"shapes", w.shapes.shapes.size()},
                            {"shape_pairs", w.shapes.pairs().size()},
                            {"sites", m.sites.size()},
                            {"sensors", w.sensors.size()},
                            {"parameters", w.np()},
                            {"variables", variables},
                            {"steps", scene.steps},
                            {"time_step", time_step},
                            {"warnings", scene.warnings}};
        std::fputs(to_text(report).c_str(), stdout);
        return done;
    }
    const std::string what = scene.description.empty() ? "" : ": " + scene.description;
    std::printf("%s\n", one_line(scene.name + what).c_str());
    std::printf("%s, %d steps of %g s\n\n", scene.file.c_str(), scene.steps, time_step);
    std::printf(
        "bodies %zu, moving joints %td, nq %d, nv %d, nu %d, mass %.6g kg, shapes %zu, "
        "pairs that may collide %zu, sites %zu\n",
        m.bodies.size(), joints, m.nq, m.nv, m.nu, mass, w.shapes.shapes.size(), w.shapes.pairs().size(),
        m.sites.size());
    std::printf("parameters %d, variables to optimize %zu\n\n", w.np(), variables);
    print_tree(scene);
    print_sensors(w);
    print_changes(scene.warnings);
    return done;
}

}  // namespace

const Command info_command{
    "info", "list the bodies, joints, masses and shapes of a scene", "costate info go1_stand", {}, {}, info};

}  // namespace costate
