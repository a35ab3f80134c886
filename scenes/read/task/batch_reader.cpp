#include "scenes/read/task/batch_reader.hpp"

#include <cmath>
#include <numbers>

#include "scenes/format/names.hpp"
#include "scenes/read/world/initial_reader.hpp"

namespace costate {
namespace {

constexpr std::int64_t most = 1'000'000'000;

// Largest displacements of positions, or of velocities with offset = nv.
void read_spreads(const Node& object, const Model& model, int offset, VecX<double>& start) {
    const std::vector<std::string> joints = names_of(model.bodies, &Body::joint_name);
    for (const auto& [pattern, value] : object.members())
        for (const int body : resolve(value, pattern, "joint", joints)) {
            const Body& b = model.bodies[body];
            auto entries = start.segment(offset + b.v0, b.nv);
            if (b.nv == 0 && pattern.find('*') == std::string::npos)
                value.fail("a fixed joint has no state", "remove it");
            if (b.joint != JointType::free) {
                if (value.is_object())
                    value.fail("\"linear\" and \"angular\" are for free joints", "give one number");
                entries.setConstant(value.nonnegative());
                continue;
            }
            value.expect_keys("spread");
            entries.head(3).setConstant(value.nonnegative_or("linear", 0));
            entries.tail(3).setConstant(value.nonnegative_or("angular", 0));
        }
}

std::pair<double, double> read_ends(const Node& node) {
    const std::vector<double> ends = node.numbers(2);
    if (!(ends[0] <= ends[1])) node.fail("its lower end is above its upper end", "give [lower, upper]");
    return {ends[0], ends[1]};
}

bool is_inertia(const Selection& s, const Model& m) {
    return s.entry->offset >= m.inertia.offset &&
           s.entry->offset < m.inertia.at(static_cast<int>(m.bodies.size()));
}

void check_factor(const Node& node, const Selection& s, double upper, const World& world,
                  const VecX<double>& theta) {
    if (s.width < s.entry->width &&
        (is_inertia(s, world.model) || s.entry->range == ParameterRange::interval))
        node.fail("one number of \"" + s.entry->path + "\" alone could become unphysical",
                  "leave out its index");
    if (s.entry->range == ParameterRange::angle && !(theta[s.offset] * upper < std::numbers::pi))
        node.fail("\"" + s.entry->path + "\" times its upper end is not below pi", "lower it");
}

// The least and largest values must be those that "parameters" accepts.
void check_offset(const Node& node, const Selection& s, const RandomParameter& p, const World& world,
                  const VecX<double>& theta, const ParameterMap& optimized) {
    const auto refuse = [&](const std::string& why) {
        node.fail("\"" + s.entry->path + "\" " + why, "give a \"factor\" instead");
    };
    if (is_inertia(s, world.model)) refuse("could become the inertia of no solid");
    const ParameterRange range = s.entry->range;
    if (range == ParameterRange::any) return;
    for (const ParameterVariable& v : optimized) {
        const bool whole = v.scale == ParameterScale::log_cholesky;
        if (whole ? s.entry->offset == world.model.mass.at(v.index)
                  : v.index >= s.offset && v.index < s.offset + s.width)
            refuse("is optimized, and an offset could take it out of its range");
    }
    for (int k = s.offset; k < s.offset + s.width; ++k) {
        const double least = theta[k] + p.lower;
        if (range == ParameterRange::interval) continue;
        if (range == ParameterRange::nonnegative ? !(least >= 0) : !(least > 0))
            refuse("could become " +
                   std::string(range == ParameterRange::nonnegative ? "negative" : "0 or less"));
        if (range == ParameterRange::angle && !(theta[k] + p.upper < std::numbers::pi))
            refuse("could reach pi");
    }
    const double* ends = theta.data() + s.entry->offset;
    if (range == ParameterRange::interval && !(ends[0] + p.upper < ends[1] + p.lower))
        refuse("could have its lower end above its upper one");
}

void read_random_parameters(const Node& list, const World& world, const VecX<double>& theta,
                            const ParameterMap& optimized, std::vector<RandomParameter>& out) {
    std::vector<bool> drawn(theta.size());
    for (const Node& node : list.items()) {
        node.expect_keys("random_parameter");
        if (node.has("factor") == node.has("offset"))
            node.fail(node.has("factor") ? "has a \"factor\" and an \"offset\"" : "changes nothing",
                      "give either \"factor\" or \"offset\", as [lower, upper]");
        RandomParameter p;
        p.factor = node.has("factor");
        const Node range = node[p.factor ? "factor" : "offset"];
        std::tie(p.lower, p.upper) = read_ends(range);
        if (p.factor && !(p.lower > 0)) range.fail("a factor must be above 0", "give for example [0.8, 1.2]");
        for (const Selection& s : select_parameters(node["path"], world.model.layout)) {
            if (s.entry->path == "world/time_step")
                node["path"].fail("the time step is that of all environments", "choose another parameter");
            if (p.factor)
                check_factor(range, s, p.upper, world, theta);
            else
                check_offset(range, s, p, world, theta, optimized);
            for (int k = s.offset; k < s.offset + s.width; ++k) {
                if (drawn[k])
                    node["path"].fail(
                        std::string("\"") + world.model.layout.element_name(k) + "\" is randomized twice",
                        "name it in one place");
                drawn[k] = true;
            }
            p.offset = s.offset;
            p.width = s.width;
            out.push_back(p);
        }
    }
}

VecX<double> read_noise(const Node& list, const Model& model) {
    VecX<double> noise = VecX<double>::Zero(static_cast<Eigen::Index>(model.actuators.size()));
    const std::vector<std::string> names = names_of(model.actuators, &Actuator::name);
    for (const Node& node : list.items()) {
        node.expect_keys("random_control");
        for (const Node& pattern : node["actuators"].items())
            for (const int n : resolve(pattern, pattern.text(), "actuator", names))
                noise[n] = node["noise"].nonnegative();
    }
    return noise;
}

}  // namespace

Randomization read_batch(const Node& scene, const World& world, const VecX<double>& theta,
                         const ParameterMap& optimized) {
    Randomization r;
    const auto batch = scene.find("batch");
    if (!batch) return r;
    batch->expect_keys("batch");
    r.environments = (*batch)["environments"].integer(1, most);
    if (const auto seed = batch->find("seed")) r.seed = static_cast<std::uint64_t>(seed->integer(0, most));
    const Node randomize = (*batch)["randomize"];
    randomize.expect_keys("randomize");
    const Model& m = world.model;
    if (randomize.has("joints") || randomize.has("velocities") || randomize.has("activations"))
        r.start.setZero(world.own_ndx());
    if (const auto joints = randomize.find("joints")) read_spreads(*joints, m, 0, r.start);
    if (const auto velocities = randomize.find("velocities")) read_spreads(*velocities, m, m.nv, r.start);
    if (const auto activations = randomize.find("activations"))
        for (const auto& [pattern, value] : activations->members())
            for (const int k : resolve(value, pattern, "actuator with dynamics", activated_names(m)))
                r.start[2 * m.nv + k] = value.nonnegative();
    if (const auto parameters = randomize.find("parameters"))
        read_random_parameters(*parameters, world, theta, optimized, r.parameters);
    if (const auto controls = randomize.find("controls")) r.controls = read_noise(*controls, m);
    if ((r.start.array() == 0).all() && r.parameters.empty() && (r.controls.array() == 0).all())
        randomize.fail("changes nothing, so all environments are equal",
                       "add \"joints\", \"velocities\", \"activations\", \"parameters\" or \"controls\"");
    return r;
}

}  // namespace costate
