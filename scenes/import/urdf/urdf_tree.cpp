#include "scenes/import/urdf/urdf_tree.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"

namespace costate {
namespace {

constexpr size_t max_links = 4096;

// The name of a link or joint: unique, and valid in a model.
std::string new_name(const XmlElement& element, const std::map<std::string, int>& index) {
    const XmlAttribute name = element["name"];
    if (name.word() != name.text()) name.fail("begins or ends with white space", "rename it");
    if (name.text().find('*') != std::string::npos) name.fail("contains a *", "rename it");
    if (index.contains(name.text()))
        name.fail("is the name of another " + element.name() + ", too", "rename one of the two");
    return name.text();
}

}  // namespace

int UrdfTree::find_link(const XmlElement& joint, const char* role) {
    const XmlElement reference = joint.only(role);
    const XmlAttribute name = reference["link"];
    const auto it = link_index_.find(name.text());
    if (it != link_index_.end()) return it->second;
    if (name.text() == "world" && reference.name() == "parent") return add_link(reference, "world");
    name.fail("is not a link" + suggestion(name.text(), names_of(links, &UrdfLink::name)),
              "correct it or add the link");
}

int UrdfTree::add_link(const XmlElement& element, const std::string& name) {
    const int index = static_cast<int>(links.size());
    link_index_[name] = index;
    links.push_back({element, name, -1, {}});
    return index;
}

UrdfTree::UrdfTree(const XmlElement& robot, Warnings& warnings) {
    for (const XmlElement& element : robot.children("link")) {
        const std::string name = new_name(element, link_index_);
        if (links.size() == max_links) element.fail("exceeds the 4096 links of a robot", "use fewer");
        add_link(element, name);
    }
    if (links.empty()) robot.fail("has no <link>", "add one");
    for (const XmlElement& element : robot.children("joint")) {
        const std::string name = new_name(element, joint_index_);
        const auto type = static_cast<UrdfType>(element["type"].choice(
            {"revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical"}));
        const int parent = find_link(element, "parent"), child = find_link(element, "child");
        UrdfLink& link = links[child];
        if (link.joint >= 0)
            element.fail("\"" + name + "\" carries link \"" + link.name + "\", which joint \"" +
                             joints[link.joint].name + "\" already carries",
                         "a link has one parent: remove one of the two");
        joint_index_[name] = static_cast<int>(joints.size());
        link.joint = static_cast<int>(joints.size());
        links[parent].children.push_back(link.joint);
        joints.push_back({element, name, type, parent, child});
    }

    find_root(warnings);

    std::vector<bool> reached(links.size());
    for (std::vector<int> stack{root}; !stack.empty();) {
        const int link = stack.back();
        stack.pop_back();
        order.push_back(link);
        reached[link] = true;
        const std::vector<int>& children = links[link].children;
        for (size_t k = children.size(); k-- > 0;)
            stack.push_back(joints[children[k]].child);
    }
    for (const UrdfJoint& joint : joints)
        if (!reached[joint.child])
            joint.element.fail("\"" + joint.name + "\" is part of a cycle that the root does not reach",
                               "remove a joint of the cycle");
}

void UrdfTree::find_root(Warnings& warnings) {
    std::vector<int> roots;
    for (size_t i = 0; i < links.size(); ++i)
        if (links[i].joint < 0) roots.push_back(static_cast<int>(i));
    if (roots.empty())
        joints[0].element.fail("is part of a cycle: no link is without a parent",
                               "remove a joint of the cycle");
    const auto world = std::ranges::find_if(roots, [&](int i) { return links[i].name == "world"; });
    root = world == roots.end() ? roots[0] : *world;
    for (const int i : roots) {
        if (i == root) continue;
        UrdfLink& link = links[i];
        if (world == roots.end())
            link.element.fail("\"" + link.name + "\" has no joint to a parent, but \"" + links[root].name +
                                  "\" is the root",
                              "add a joint between them");
        warnings.note(link.element.place(),
                      "a link without a joint is fixed to the world:", "add a joint if it moves", link.name);
        link.joint = static_cast<int>(joints.size());
        links[root].children.push_back(link.joint);
        joints.push_back({link.element, link.name + "_to_world", UrdfType::fixed, root, i});
    }
}

const UrdfJoint* UrdfTree::joint(const std::string& name) const {
    const auto it = joint_index_.find(name);
    return it == joint_index_.end() ? nullptr : &joints[it->second];
}

std::vector<std::string> UrdfTree::joint_names() const { return names_of(joints, &UrdfJoint::name); }

bool UrdfTree::is_fixed(int link) const {
    while (link != root) {
        const UrdfJoint& joint = joints[links[link].joint];
        if (joint.type != UrdfType::fixed) return false;
        link = joint.parent;
    }
    return true;
}

}  // namespace costate
