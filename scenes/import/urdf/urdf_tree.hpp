// The tree of links and joints of a URDF, validated: unique names, at most one parent per link, one root, no
// cycles. Other links without a parent are fixed to the root if that is "world", as in MuJoCo.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scenes/import/xml/xml.hpp"

namespace costate {

// `spherical` is an extension of Bullet
enum class UrdfType { revolute, continuous, prismatic, fixed, floating, planar, spherical };

struct UrdfLink {
    XmlElement element;  // of a "world" without a <link>, the <parent> that names it
    std::string name;
    int joint = -1;             // joint that carries it, -1 for the root
    std::vector<int> children;  // joints to its children, in the order of the file
};

struct UrdfJoint {
    XmlElement element;  // of a joint to "world" that is not in the file, the <link>
    std::string name;
    UrdfType type;
    int parent, child;  // links

    bool is_in_file() const { return element.name() == "joint"; }
    bool has_axis() const { return one_dof() || type == UrdfType::planar; }
    bool one_dof() const {
        return type == UrdfType::revolute || type == UrdfType::continuous || type == UrdfType::prismatic;
    }
};

struct UrdfTree {
    std::vector<UrdfLink> links;
    std::vector<UrdfJoint> joints;
    std::vector<int> order;  // of links, parents first: depth first in the order of the file
    int root = 0;

    UrdfTree(const XmlElement& robot, Warnings& warnings);
    const UrdfJoint* joint(const std::string& name) const;  // null if the name is unknown
    std::vector<std::string> joint_names() const;
    bool is_fixed(int link) const;  // all joints from the root to the link are fixed

private:
    std::map<std::string, int> link_index_, joint_index_;
    void find_root(Warnings& warnings);
    int add_link(const XmlElement& element, const std::string& name);
    // As in Drake, a parent "world" needs no <link>.
    int find_link(const XmlElement& joint, const char* role);
};

}  // namespace costate
