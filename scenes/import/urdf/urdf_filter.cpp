// Pairs of links that do not collide. Of <drake:collision_filter_group> these are the members of a group and those of
// the groups that it ignores (Drake, "Parsing robot model files").
#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/import/urdf/urdf_parts.hpp"

namespace costate {
namespace {

struct Filters {
    const UrdfTree& tree;
    Warnings& warnings;
    std::map<std::string, XmlElement> groups;

    // The group of this name; warns if there is none.
    const XmlElement* find(const XmlAttribute& name) const {
        const auto found = groups.find(name.text());
        if (found != groups.end()) return &found->second;
        std::vector<std::string> names;
        for (const auto& [known, group] : groups)
            names.push_back(known);
        warnings.add(name.place(),
                     "\"" + name.text() + "\" is not a group" + suggestion(name.text(), names) +
                         ", and nothing is filtered",
                     "correct the name");
        return nullptr;
    }

    // Adds the links of a group and of the groups that are its members; `seen` are names of groups.
    void add_members(const XmlElement& group, std::set<int>& links, std::set<std::string>& seen) const {
        if (!seen.insert(group["name"].text()).second) return;
        for (const XmlElement& member : group.children("drake:member")) {
            const XmlAttribute name = member["link"];
            const auto link = std::ranges::find(tree.links, name.text(), &UrdfLink::name);
            if (link != tree.links.end())
                links.insert(static_cast<int>(link - tree.links.begin()));
            else
                warnings.add(name.place(), "\"" + name.text() + "\" is not a link and is not filtered",
                             "correct the name");
        }
        for (const XmlElement& member : group.children("drake:member_group"))
            if (const XmlElement* other = find(member["name"])) add_members(*other, links, seen);
    }

    std::set<int> members(const XmlElement& group) const {
        std::set<int> links;
        std::set<std::string> seen;
        add_members(group, links, seen);
        return links;
    }
};

using Pairs = std::set<std::pair<int, int>>;

void add_filtered(const XmlElement& robot, const UrdfTree& tree, Warnings& warnings, Pairs& out) {
    Filters filters{tree, warnings, {}};
    for (const XmlElement& group : robot.children("drake:collision_filter_group"))
        if (group.text_or("ignore", "false") != "true") filters.groups.emplace(group["name"].text(), group);
    for (const auto& [name, group] : filters.groups) {
        const std::set<int> first = filters.members(group);
        for (const XmlElement& ignored : group.children("drake:ignored_collision_filter_group"))
            if (const XmlElement* other = filters.find(ignored["name"]))
                for (const int b : filters.members(*other))
                    for (const int a : first)
                        if (a != b) out.insert(std::minmax(a, b));
    }
}

// A parent that stands still is a part of the world, with which all bodies collide.
void add_still_parents(const UrdfTree& tree, bool floating, const std::vector<bool>& held, Pairs& out) {
    const auto collides = [&](int link) { return !tree.links[link].element.children("collision").empty(); };
    std::vector<int> moving(tree.links.size(), -1);  // the link itself or that to which it is fixed
    for (const int link : tree.order) {
        const int by = tree.links[link].joint;
        if (by >= 0 && held[by])
            moving[link] = moving[tree.joints[by].parent];
        else if (by >= 0 || floating)
            moving[link] = link;
        const int carrier = moving[link] < 0 ? -1 : tree.links[moving[link]].joint;
        if (carrier < 0 || tree.joints[carrier].type == UrdfType::floating) continue;
        const int parent = tree.joints[carrier].parent;
        if (moving[parent] < 0 && collides(link) && collides(parent)) out.insert(std::minmax(parent, link));
    }
}

}  // namespace

std::set<std::pair<int, int>> pairs_apart(const XmlElement& robot, const UrdfTree& tree, bool floating,
                                          const std::vector<bool>& held, Warnings& warnings) {
    Pairs out;
    add_filtered(robot, tree, warnings, out);
    add_still_parents(tree, floating, held, out);
    return out;
}

}  // namespace costate
