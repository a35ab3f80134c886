#include "collision/shapes/shape.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <tuple>
#include <unordered_map>

namespace costate {

int ShapeSet::index(std::string_view name) const {
    const auto it =
        std::find_if(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.name == name; });
    return it == shapes.end() ? -1 : static_cast<int>(it - shapes.begin());
}

bool ShapeSet::is_pair(int a, int b) const {
    const CollisionFilter &first = filters[a], &second = filters[b];
    if (first.body < 0 || first.body == second.body || (second.body >= 0 && a > b)) return false;
    if (own_pair(a, b) >= 0) return pair_supported(shapes[a].type, shapes[b].type);
    const bool jointed = second.body >= 0 && (first.parent == second.body || second.parent == first.body);
    if (jointed || (first.group & second.mask) == 0 || (second.group & first.mask) == 0) return false;
    if ((!first.self_collision || !second.self_collision) && first.tree == second.tree) return false;
    if (!pair_supported(shapes[a].type, shapes[b].type)) return false;
    const std::pair<int, int> bodies = std::minmax({shapes[a].body, shapes[b].body});
    return !std::binary_search(excluded.begin(), excluded.end(), bodies);
}

int ShapeSet::find_own_pair(int a, int b) const {
    const auto shapes_of = [](const ContactPair& pair) { return std::pair(pair.a, pair.b); };
    const std::pair<int, int> sought = std::minmax(a, b);
    const auto it = std::ranges::lower_bound(own_pairs, sought, {}, shapes_of);
    return it == own_pairs.end() || shapes_of(*it) != sought ? -1 : static_cast<int>(it - own_pairs.begin());
}

double ShapeSet::largest_margin(const double* theta, int shape) const {
    double most = theta[margin.at(shape)];
    for (size_t n = 0; n < own_pairs.size(); ++n)
        if (own_pairs[n].a == shape || own_pairs[n].b == shape)
            most = std::max(most, theta[pair_margin.at(static_cast<int>(n))]);
    return most;
}

std::vector<std::pair<int, int>> ShapeSet::pairs() const {
    std::vector<std::pair<int, int>> all;
    const int n = static_cast<int>(shapes.size());
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b)
            if (is_pair(a, b)) all.emplace_back(a, b);
    return all;
}

namespace {

// The first moving body on the path from a body to the world, which represents all bodies fixed to it; -1:
// the world.
int moving_body(const Model& model, int body) {
    while (body >= 0 && model.bodies[body].joint == JointType::fixed)
        body = model.bodies[body].parent;
    return body;
}

int moving_parent(const Model& model, int body) { return moving_body(model, model.bodies[body].parent); }

// The bodies by their names, and -1 for "world".
std::unordered_map<std::string, int> named_bodies(const Model& model) {
    std::unordered_map<std::string, int> index{{"world", -1}};
    for (size_t i = 0; i < model.bodies.size(); ++i)
        index.emplace(model.bodies[i].name, static_cast<int>(i));
    return index;
}

void register_parameters(Model& model, const std::vector<ShapeSpec>& specs, ShapeSet& set) {
    std::vector<std::string> names, compliant, moving;
    std::vector<double> size, position, friction, restitution, margin, stiffness, damping, torsional, rolling,
        surface_velocity, surface_angular_velocity;
    for (const ShapeSpec& s : specs) {
        names.push_back(s.name);
        size.insert(size.end(), s.size.begin(), s.size.end());
        position.insert(position.end(), s.position.begin(), s.position.end());
        friction.push_back(s.friction);
        restitution.push_back(s.restitution);
        margin.push_back(s.margin);
        torsional.push_back(s.torsional_friction);
        rolling.push_back(s.rolling_friction);
        set.condim = std::max(set.condim, s.condim);
        if (s.surface_motion) {
            set.shapes[names.size() - 1].moving_surface = set.moving_surfaces++;
            moving.push_back(s.name);
            const auto& [ang, lin] = *s.surface_motion;
            surface_velocity.insert(surface_velocity.end(), lin.begin(), lin.end());
            surface_angular_velocity.insert(surface_angular_velocity.end(), ang.begin(), ang.end());
        }
        if (s.stiffness == unlimited) continue;
        set.shapes[names.size() - 1].spring = static_cast<int>(compliant.size());
        compliant.push_back(s.name);
        stiffness.push_back(s.stiffness);
        damping.push_back(s.damping);
    }
    set.size = model.layout.add("shapes", names, "size", 3, ParameterRange::positive, size);
    set.position = model.layout.add("shapes", names, "position", 3, ParameterRange::any, position);
    set.rotation = model.layout.add("shapes", names, "rotation", 3, ParameterRange::any,
                                    std::vector<double>(3 * names.size()));
    set.friction = model.layout.add("shapes", names, "friction", 1, ParameterRange::nonnegative, friction);
    set.restitution =
        model.layout.add("shapes", names, "restitution", 1, ParameterRange::nonnegative, restitution);
    set.margin = model.layout.add("shapes", names, "margin", 1, ParameterRange::nonnegative, margin);
    set.stiffness =
        model.layout.add("shapes", compliant, "stiffness", 1, ParameterRange::positive, stiffness);
    set.damping = model.layout.add("shapes", compliant, "damping", 1, ParameterRange::nonnegative, damping);
    set.surface_velocity =
        model.layout.add("shapes", moving, "surface_velocity", 3, ParameterRange::any, surface_velocity);
    set.surface_angular_velocity = model.layout.add("shapes", moving, "surface_angular_velocity", 3,
                                                    ParameterRange::any, surface_angular_velocity);
    if (set.condim > 3) {
        const auto add = [&](const char* quantity, const std::vector<double>& values) {
            return model.layout.add("shapes", names, quantity, 1, ParameterRange::nonnegative, values);
        };
        set.torsional_friction = add("torsional_friction", torsional);
        set.rolling_friction = add("rolling_friction", rolling);
    }
    if (model.soft) {
        std::vector<Softness> softness;
        for (const ShapeSpec& s : specs)
            softness.push_back(s.softness);
        set.softness = add_softness(model.layout, "shapes", names, "", softness);
    }
    for (size_t n = 0; n < specs.size(); ++n) {
        if (specs[n].type == ShapeType::plane)
            model.layout.set_no_effect(set.size, static_cast<int>(n), "a plane has no size", "remove it");
        if (set.shapes[n].spring >= 0)
            model.layout.set_no_effect(set.restitution, static_cast<int>(n),
                                       "a compliant shape has no restitution", "remove its stiffness");
    }
}

void add_pairs(Model& model, std::vector<ContactPairSpec> specs, ShapeSet& set) {
    for (ContactPairSpec& s : specs)
        std::tie(s.a, s.b) = std::pair(std::minmax({s.a, s.b}));
    std::ranges::sort(specs, {}, [](const ContactPairSpec& s) { return std::pair(s.a, s.b); });
    std::vector<std::string> names;
    std::vector<Softness> softness;
    for (const ContactPairSpec& s : specs) {
        names.push_back(s.name);
        softness.push_back(s.softness);
        set.own_pairs.push_back({s.a, s.b, s.condim});
    }
    const auto add = [&](const char* quantity, double ContactPairSpec::*of) {
        std::vector<double> values;
        for (const ContactPairSpec& s : specs)
            values.push_back(s.*of);
        return model.layout.add("pairs", names, quantity, 1, ParameterRange::nonnegative, values);
    };
    set.pair_friction = add("friction", &ContactPairSpec::friction);
    set.pair_margin = add("margin", &ContactPairSpec::margin);
    if (set.condim > 3) {
        set.pair_torsional_friction = add("torsional_friction", &ContactPairSpec::torsional_friction);
        set.pair_rolling_friction = add("rolling_friction", &ContactPairSpec::rolling_friction);
    }
    if (model.soft) set.pair_softness = add_softness(model.layout, "pairs", names, "", softness);
}

void find_groups(ShapeSet& set) {
    const int n = static_cast<int>(set.shapes.size());
    for (int i = 0; i < n; ++i)
        if (set.shapes[i].type != ShapeType::plane) set.grouped.push_back(i);
    const auto body = [&](int i) { return set.filters[i].body; };
    std::ranges::stable_sort(set.grouped, {}, body);
    const int count = static_cast<int>(set.grouped.size());
    for (int k = 0; k < count; ++k)
        if (k + 1 == count || body(set.grouped[k]) < 0 || body(set.grouped[k]) != body(set.grouped[k + 1]))
            set.group_end.push_back(k + 1);
    set.group_of.assign(set.shapes.size(), -1);
    for (size_t g = 0; g < set.group_end.size(); ++g)
        for (int k = set.group_begin(g); k < set.group_end[g]; ++k)
            set.group_of[set.grouped[k]] = static_cast<int>(g);
}

void find_group_pairs(ShapeSet& set) {
    constexpr int most_groups = 400;  // with more, listing their pairs would take long
    const int groups = static_cast<int>(set.group_end.size());
    if (groups > most_groups) return;
    const auto may_meet = [&](int g, int h) {
        for (int i = set.group_begin(g); i < set.group_end[g]; ++i)
            for (int j = set.group_begin(h); j < set.group_end[h]; ++j)
                if (set.is_pair(set.grouped[i], set.grouped[j]) ||
                    set.is_pair(set.grouped[j], set.grouped[i]))
                    return true;
        return false;
    };
    std::vector<std::pair<int, int>> pairs;
    for (int g = 0; g < groups; ++g)
        for (int h = g + 1; h < groups; ++h) {
            if (!may_meet(g, h)) continue;
            if (pairs.size() == max_group_pairs) return;
            pairs.emplace_back(g, h);
        }
    set.group_pairs = std::move(pairs);
}

}  // namespace

ShapeSet build_shapes(Model& model, const std::vector<ShapeSpec>& specs,
                      const std::vector<std::pair<std::string, std::string>>& excluded,
                      const std::vector<ContactPairSpec>& pairs,
                      const std::vector<std::pair<std::string, std::string>>& carriers) {
    ShapeSet set;
    const std::unordered_map<std::string, int> bodies = named_bodies(model);
    std::map<int, int> parents;  // of moving bodies whose joint is a chain of links
    for (const auto& [body, parent] : carriers)
        parents[moving_body(model, bodies.at(body))] = moving_body(model, bodies.at(parent));
    for (const ContactPairSpec& pair : pairs)
        set.condim = std::max(set.condim, pair.condim);
    for (const ShapeSpec& s : specs) {
        assert((s.type != ShapeType::mesh || s.hull) && (s.type != ShapeType::terrain || s.terrain) &&
               "a shape without its data");
        Shape& shape = set.shapes.emplace_back();
        shape = {.name = s.name,
                 .type = s.type,
                 .body = s.body,
                 .R_BS = s.R_BS,
                 .hull = s.hull,
                 .terrain = s.terrain,
                 .condim = s.condim,
                 .priority = s.priority,
                 .mixing_weight = s.mixing_weight};
        CollisionFilter m{moving_body(model, s.body), -1, -1, s.group, s.mask, s.self_collision};
        if (const auto chain = parents.find(m.body); chain != parents.end())
            m.parent = chain->second;
        else if (m.body >= 0)
            m.parent = moving_parent(model, m.body);
        if (s.body >= 0) m.tree = model.bodies[s.body].tree;
        set.filters.push_back(m);
        assert((s.type != ShapeType::terrain || m.body < 0) && "a terrain belongs to the world");
    }
    register_parameters(model, specs, set);
    if (!pairs.empty()) add_pairs(model, pairs, set);
    for (const auto& [first, second] : excluded)
        set.excluded.push_back(std::minmax({bodies.at(first), bodies.at(second)}));
    std::sort(set.excluded.begin(), set.excluded.end());

    const int n = static_cast<int>(specs.size());
    for (int plane = 0; plane < n; ++plane) {
        if (specs[plane].type != ShapeType::plane) continue;
        for (int i = 0; i < n; ++i) {
            const bool other_plane = specs[i].type == ShapeType::plane;
            if (set.is_pair(i, plane)) set.plane_pairs.emplace_back(i, plane);
            if (!other_plane && set.is_pair(plane, i)) set.plane_pairs.emplace_back(plane, i);
        }
    }
    std::sort(set.plane_pairs.begin(), set.plane_pairs.end());
    for (int i = 0; i < n && !set.any_pair; ++i)
        for (int j = 0; j < n && !set.any_pair; ++j)
            set.any_pair = set.is_pair(i, j);
    find_groups(set);
    find_group_pairs(set);
    return set;
}

}  // namespace costate
