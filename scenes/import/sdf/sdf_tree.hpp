// Joints of an SDFormat model as trees below the world. A joint may point either way, and joints may close loops.
#pragma once

#include "scenes/import/sdf/sdf_model.hpp"

namespace costate {

struct SdfTrees {
    struct Carrier {
        int joint = -1;         // -1: none; the link floats or is fixed in the world
        bool reversed = false;  // the joint's child is the parent here
    };
    std::vector<Carrier> carriers;  // of each link
    std::vector<int> parents;       // of each link: a link, or sdf_world
    std::vector<int> order;         // of links, parents first
    std::vector<int> roots;         // of each link: the first link of its tree
    std::vector<int> closing;       // joints that close loops
};

// Joints that cannot be closed by an equality are tried first, then those with limits or forces, so that the
// loops are closed by the most simple joints; those of one kind in the order of the file. A tree begins at the
// world if a joint leads there, otherwise at the first link that no joint carries.
SdfTrees trees_of(const SdfModel& model);

}  // namespace costate
