#include <algorithm>
#include <cstdio>
#include <numeric>

#include "adjoint/optimize/optimize.hpp"
#include "apps/cli/command.hpp"
#include "apps/io/output.hpp"
#include "scenes/format/names.hpp"

namespace costate {

namespace {

using Row = std::vector<std::string>;

// Columns as wide as their widest cell.
void print_table(const std::vector<Row>& rows) {
    std::vector<size_t> width(rows.front().size());
    for (const Row& row : rows)
        for (size_t c = 0; c < row.size(); ++c)
            width[c] = std::max(width[c], row[c].size());
    for (const Row& row : rows) {
        std::string line;
        for (size_t c = 0; c < row.size(); ++c)
            line += row[c] + std::string(width[c] - row[c].size() + 2, ' ');
        std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
    }
}

template <class Items, class Describe> std::string joined(const Items& items, int body, Describe describe) {
    std::string text;
    for (const auto& item : items)
        if (item.body == body) text += (text.empty() ? "" : ", ") + describe(item);
    return text;
}

std::string dofs(const Body& b) {
    if (b.nv == 0) return "-";
    const std::string first = std::to_string(b.v0);
    return b.nv == 1 ? first : first + "-" + std::to_string(b.v0 + b.nv - 1);
}

void print_tree(const Scene& s) {
    const Model& m = s.world.model;
    const auto shapes = [&](int body) {
        return joined(s.world.shapes.shapes, body,
                      [](const Shape& shape) { return shape_type_name(shape.type) + (" " + shape.name); });
    };
    const auto actuators = [&](int body) {
        return joined(m.actuators, body,
                      [](const Actuator& a) { return actuator_kind(a.type).name + (" " + a.name); });
    };
    const auto sites = [&](int body) {
        return joined(m.sites, body, [](const Site& site) { return site.name; });
    };
    std::vector<Row> rows{
        {"body", "joint", "", "dofs", "mass, kg", "actuators", "shapes", m.sites.empty() ? "" : "sites"},
        {"world", "", "", "", "", "", shapes(-1), ""}};
    std::vector<size_t> depth;
    for (size_t i = 0; i < m.bodies.size(); ++i) {
        const Body& b = m.bodies[i];
        const int body = static_cast<int>(i);
        depth.push_back(b.parent < 0 ? 1 : depth[b.parent] + 1);
        char mass[32];
        std::snprintf(mass, sizeof mass, "%.6g", s.theta[m.mass.at(body)]);
        rows.push_back({std::string(2 * depth[i], ' ') + b.name, b.joint_name, joint_type_name(b.joint),
                        dofs(b), mass, actuators(body), shapes(body), sites(body)});
    }
    print_table(rows);
}

void print_sensors(const World& w) {
    if (w.sensors.empty()) return;
    std::printf("\n");
    std::vector<Row> rows{{"sensor", "type", "numbers", "unit", "on"}};
    for (const Sensor& s : w.sensors) {
        const SensorTraits& traits = traits_of(s.kind);
        const Model& m = w.model;
        const bool joint = traits.subject == SensorSubject::joint || traits.subject == SensorSubject::axis;
        const std::string on = s.site >= 0       ? "site " + m.sites[s.site].name
                               : s.actuator >= 0 ? "actuator " + m.actuators[s.actuator].name
                               : joint           ? "joint " + m.bodies[s.body].joint_name
                               : s.body >= 0     ? "body " + m.bodies[s.body].name
                                                 : "";
        rows.push_back({s.name, traits.name, std::to_string(s.size), traits.unit, on});
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
    std::printf("%s\n", one_line(scene.name + ": " + scene.description).c_str());
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

const Command info_command{"info", "list the bodies, joints, masses and shapes of a scene", {}, info};

}  // namespace costate
