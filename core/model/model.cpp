#include "core/model/model.hpp"

#include <algorithm>

namespace costate {

namespace {

template <class Items, class Name> int index_by(const Items& items, Name name, std::string_view wanted) {
    const auto it =
        std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.*name == wanted; });
    return it == items.end() ? -1 : static_cast<int>(it - items.begin());
}

}  // namespace

int Model::body_index(std::string_view name) const { return index_by(bodies, &Body::name, name); }
int Model::joint_index(std::string_view name) const { return index_by(bodies, &Body::joint_name, name); }
int Model::actuator_index(std::string_view name) const { return index_by(actuators, &Actuator::name, name); }
int Model::site_index(std::string_view name) const { return index_by(sites, &Site::name, name); }

bool Model::moves(int j, int body) const {
    int i = body < 0 ? -1 : bodies[body].last_dof;
    while (i > j)
        i = dofs[i].parent;
    return i == j;
}

VecX<double> Model::neutral_configuration() const {
    VecX<double> q = VecX<double>::Zero(nq);
    for (const Body& b : bodies) {
        const JointKind& kind = joint_kind(b.joint);
        for (int r = 0; r < kind.rotations; ++r)
            q[b.q0 + kind.numbers + 4 * r] = 1.0;
    }
    return q;
}

}  // namespace costate
