#include "scenes/import/sdf/sdf_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace costate {
namespace {

// 2: closed by an equality without loss; 1: with loss of its limits and forces; 0: not closed
int ease_of_closing(const SdfJoint& joint) {
    if (joint.type == SdfJointType::fixed || joint.type == SdfJointType::ball) return 2;
    if (joint.type != SdfJointType::revolute) return 0;
    const SdfAxis& a = joint.axes[0];
    const bool plain = a.lower == -unlimited && a.upper == unlimited && a.damping == 0 && a.friction == 0 &&
                       a.stiffness == 0 && a.effort == 0 && !joint.mimic;
    return plain ? 2 : 1;
}

// Sets of links that joints connect. Index 0 is the world.
struct Groups {
    std::vector<int> next;
    explicit Groups(size_t links) : next(links + 1) { std::iota(next.begin(), next.end(), 0); }
    int first(int link) {
        int at = link + 1;
        while (next[at] != at)
            at = next[at] = next[next[at]];
        return at;
    }
    bool join(int a, int b) {
        const auto [low, high] = std::minmax({first(a), first(b)});
        next[high] = low;
        return low != high;
    }
};

}  // namespace

SdfTrees trees_of(const SdfModel& model) {
    const size_t n = model.links.size();
    SdfTrees out{
        std::vector<SdfTrees::Carrier>(n), std::vector<int>(n, sdf_world), {}, std::vector<int>(n, -1), {}};
    std::vector<int> by_ease(model.joints.size());
    std::iota(by_ease.begin(), by_ease.end(), 0);
    std::ranges::stable_sort(by_ease, {}, [&](int j) { return ease_of_closing(model.joints[j]); });
    Groups groups(n);
    std::vector<bool> in_tree(model.joints.size());
    for (const int j : by_ease)
        in_tree[j] = groups.join(model.joints[j].parent, model.joints[j].child);
    std::vector<std::vector<int>> joints_at(n + 1);  // index 0: the world
    std::vector<bool> carried(n);
    for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
        const SdfJoint& joint = model.joints[j];
        if (!in_tree[j]) {
            out.closing.push_back(j);
            continue;
        }
        joints_at[joint.parent + 1].push_back(j);
        joints_at[joint.child + 1].push_back(j);
        if (joint.child != sdf_world) carried[joint.child] = true;
    }

    std::vector<int> stack;
    const auto visit = [&](int from) {
        for (stack.push_back(from); !stack.empty();) {
            const int at = stack.back();
            stack.pop_back();
            if (at != sdf_world) out.order.push_back(at);
            const std::vector<int>& joints = joints_at[at + 1];
            for (size_t k = joints.size(); k-- > 0;) {
                const SdfJoint& joint = model.joints[joints[k]];
                const bool reversed = joint.parent != at;
                const int other = reversed ? joint.parent : joint.child;
                if (other == sdf_world || out.roots[other] >= 0) continue;
                out.carriers[other] = {joints[k], reversed};
                out.parents[other] = at;
                out.roots[other] = at == sdf_world ? other : out.roots[at];
                stack.push_back(other);
            }
        }
    };
    visit(sdf_world);
    for (const bool any : {false, true})
        for (int link = 0; link < static_cast<int>(n); ++link)
            if (out.roots[link] < 0 && (any || !carried[link])) {
                out.roots[link] = link;
                visit(link);
            }
    return out;
}

}  // namespace costate
