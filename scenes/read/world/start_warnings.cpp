#include "scenes/read/world/start_warnings.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "core/dynamics/measured_tendons.hpp"
#include "core/math/elementary.hpp"
#include "solvers/rows/contacts.hpp"

namespace costate {
namespace {

// An excess and its description.
struct Excess {
    double amount;
    std::string text;
};

std::string in_quotes(const std::string& name) { return "\"" + name + "\""; }

// Appends the line "<begin> <the largest three>[ and <count> more]; <remedy>", or nothing if `all` is empty.
void say(std::vector<std::string>& lines, const std::string& begin, std::vector<Excess> all,
         const std::string& remedy) {
    constexpr size_t most = 3;
    if (all.empty()) return;
    std::ranges::stable_sort(all, std::greater<>(), &Excess::amount);
    std::string line = begin;
    for (size_t i = 0; i < std::min(all.size(), most); ++i)
        line += (i == 0 ? " " : ", ") + all[i].text;
    if (all.size() > most) line += " and " + std::to_string(all.size() - most) + " more";
    lines.push_back(line + "; " + remedy);
}

std::string rounded(double x) {
    std::ostringstream out;
    out.precision(3);
    out << x;
    return out.str();
}

// Overlaps of compliant shapes are expected: their springs are compressed at rest.
bool is_compliant(const World& world, int shape) { return world.shapes.shapes[shape].spring >= 0; }

std::vector<Excess> overlaps(const World& world, const VecX<double>& theta, const VecX<double>& x0) {
    const VecX<double> at_rest = VecX<double>::Zero(world.model.nv);
    Kinematics<double> k(world.model);
    kinematics(world.model, theta.data(), x0.data(), at_rest.data(), k);
    ContactScratch<double> scratch(world);
    place_shapes(world, theta.data(), k, scratch);
    detect_contacts(world, theta.data(), scratch);
    make_contacts(world, theta.data(), k, scratch);
    std::map<std::pair<int, int>, double> depths;  // greatest depth of each pair of shapes
    for (const ContactPoint<double>& point : scratch.points) {
        if (is_compliant(world, point.features.a) || is_compliant(world, point.features.b)) continue;
        double& depth = depths[{point.features.a, point.features.b}];
        depth = std::max(depth, -point.geometry.gap);
    }
    std::vector<Excess> found;
    const auto name = [&](int shape) { return in_quotes(world.shapes.shapes[shape].name); };
    for (const auto& [pair, depth] : depths)
        if (depth > noted_overlap)
            found.push_back({depth, name(pair.first) + " and " + name(pair.second) + " by " +
                                        rounded(1e3 * depth) + " mm"});
    return found;
}

// Amount by which a joint exceeds its limits.
double beyond(const JointLimit& limit, const VecX<double>& theta, const VecX<double>& x0) {
    double q = x0[limit.q];
    if (limit.ball) q = 2 * atan2(x0.segment<3>(limit.q + 1).norm(), std::abs(x0[limit.q]));
    double excess = 0;
    if (limit.range.lower >= 0) excess = std::max(excess, theta[limit.range.lower] - q);
    if (limit.range.upper >= 0) excess = std::max(excess, q - theta[limit.range.upper]);
    return excess;
}

std::vector<Excess> beyond_limits(const World& world, const VecX<double>& theta, const VecX<double>& x0) {
    std::vector<Excess> found;
    for (const JointLimit& limit : world.model.limits) {
        const double excess = beyond(limit, theta, x0);
        if (!(excess > noted_excess)) continue;
        const Body& body = world.model.bodies[limit.body];
        const bool slides = body.joint == JointType::prismatic;
        found.push_back(
            {excess, in_quotes(body.joint_name) + " by " + rounded(excess) + (slides ? " m" : " rad")});
    }
    return found;
}

std::vector<Excess> tendons_beyond_limits(const World& world, const VecX<double>& theta,
                                          const VecX<double>& x0) {
    const Model& m = world.model;
    const VecX<double> at_rest = VecX<double>::Zero(m.nv);
    Kinematics<double> k(m);
    TendonPaths<double> paths(m);
    TendonMeasures<double> tendons(m);
    kinematics(m, theta.data(), x0.data(), at_rest.data(), k);
    place_tendons(m, theta.data(), k, paths);
    measure_tendons(m, theta.data(), x0.data(), paths, tendons);
    std::vector<Excess> found;
    for (size_t n = 0; n < m.measured_tendons.size(); ++n) {
        const MeasuredTendon& limit = m.measured_tendons[n];
        const Tendon& tendon = m.tendons[limit.tendon];
        double excess = 0;
        if (limit.range.lower >= 0) excess = theta[limit.range.lower] - tendons.length[n];
        if (limit.range.upper >= 0) excess = std::max(excess, tendons.length[n] - theta[limit.range.upper]);
        if (!(excess > noted_excess)) continue;
        found.push_back({excess, in_quotes(tendon.name) + " by " + rounded(excess) +
                                     (tendon.spatial() ? " m" : " m or rad")});
    }
    return found;
}

// Numbers of the trees that gravity moves for ever, because nothing can hold them: their root is free, and
// neither a shape of the world, nor an equality, a tendon through the world, a thruster or a tree that is
// held may touch them.
std::vector<int> falling_trees(const World& world, const VecX<double>& theta) {
    const Model& m = world.model;
    if (load3(theta.data() + m.gravity.at(0)).isZero(0)) return {};
    std::vector<int> tree_of(m.bodies.size());
    std::vector<bool> held;
    for (int t = 0; t < std::ssize(m.trees); ++t) {
        const Tree& tree = m.trees[t];
        for (int i = tree.body_begin; i < tree.body_end; ++i)
            tree_of[i] = t;
        held.push_back(m.bodies[tree.body_begin].joint != JointType::free);
    }
    const auto hold = [&](int body) {
        if (body >= 0) held[tree_of[body]] = true;
    };
    for (const Equality& e : m.equalities)
        if (e.type != EqualityType::coupling) {
            hold(e.body_a);
            hold(e.body_b);
        }
    for (const Actuator& a : m.actuators)
        if (!a.on_joint && a.tendon < 0) hold(a.body);
    for (const Tendon& tendon : m.tendons)
        for (const TendonSegment& segment : tendon.segments) {
            hold(segment.a.body);
            hold(segment.b.body);
        }
    const std::vector<Shape>& shapes = world.shapes.shapes;
    for (int a = 0; a < std::ssize(shapes); ++a)
        for (int b = 0; b < std::ssize(shapes); ++b)
            if (shapes[a].body >= 0 && shapes[b].body < 0 && !held[tree_of[shapes[a].body]] &&
                world.shapes.is_pair(a, b))
                hold(shapes[a].body);
    // what is held holds what it may touch
    for (bool more = std::ranges::count(held, false) > 0; more;) {
        more = false;
        for (int a = 0; a < std::ssize(shapes); ++a)
            for (int b = a + 1; b < std::ssize(shapes); ++b) {
                if (shapes[a].body < 0 || shapes[b].body < 0) continue;
                const int ta = tree_of[shapes[a].body], tb = tree_of[shapes[b].body];
                if (held[ta] == held[tb] || !(world.shapes.is_pair(a, b) || world.shapes.is_pair(b, a)))
                    continue;
                held[ta] = held[tb] = more = true;
            }
    }
    std::vector<int> falling;
    for (int t = 0; t < std::ssize(held); ++t)
        if (!held[t]) falling.push_back(t);
    return falling;
}

// A line for the robots that fall: trees with joints besides their free root. A body alone may be thrown.
void say_falling(std::vector<std::string>& lines, const World& world, const VecX<double>& theta) {
    const Model& m = world.model;
    std::vector<Excess> found;
    for (const int t : falling_trees(world, theta)) {
        const Tree& tree = m.trees[t];
        if (tree.dof_end - tree.dof_begin > 6)
            found.push_back({0, in_quotes(m.bodies[tree.body_begin].name)});
    }
    const bool there = std::ranges::any_of(world.shapes.shapes, [](const Shape& s) { return s.body < 0; });
    say(lines, "robots float and no shape can hold them, so they fall:", found,
        there ? "give them shapes that collide with those of the world"
              : "add \"ground\": true to the scene, or a floor to the file");
}

}  // namespace

std::vector<std::string> start_warnings(const World& world, const VecX<double>& theta,
                                        const VecX<double>& x0) {
    std::vector<std::string> lines;
    say_falling(lines, world, theta);
    say(lines, "shapes overlap at the start:", overlaps(world, theta, x0),
        "separate them, or list bodies that may overlap under \"exclude\"");
    say(lines, "joints start beyond their limits:", beyond_limits(world, theta, x0),
        "change \"joints\" of \"initial\"");
    say(lines, "tendons start beyond their limits:", tendons_beyond_limits(world, theta, x0),
        "change \"joints\" of \"initial\", or \"limits\" of the tendon");
    return lines;
}

}  // namespace costate
