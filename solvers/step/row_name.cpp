#include "solvers/step/row_name.hpp"

#include <algorithm>
#include <cmath>

namespace costate {

namespace {

std::string joint_of(const Model& m, int dof) {
    const auto carries = [&](const Body& b) { return dof >= b.v0 && dof < b.v0 + b.nv; };
    return "joint '" + std::ranges::find_if(m.bodies, carries)->joint_name + "'";
}

}  // namespace

std::string row_name(const World& w, const StepScratch<double>& s, int row) {
    const auto holds = [&](const RowBlock& b) { return row >= b.row && row < b.row + b.rows; };
    const auto block = std::ranges::find_if(s.rows.blocks, holds);
    if (block == s.rows.blocks.end()) return "";
    const int index = block->index;
    const Model& m = w.model;
    switch (block->kind) {
        case RowKind::contact: {
            const ContactPoint<double>& c = s.contacts.points[index];
            const auto name = [&](int shape) { return "'" + w.shapes.shapes[shape].name + "'"; };
            constexpr const char* parts[] = {"normal",    "tangent", "tangent",
                                             "torsional", "rolling", "rolling"};
            const int r = row - block->row;
            return "contact of " + name(c.features.a) + " and " + name(c.features.b) + ", " +
                   (c.pyramid ? "edge " + std::to_string(r) : parts[r]);
        }
        case RowKind::limit:
        case RowKind::ball_limit: return "limit of joint '" + m.bodies[m.limits[index].body].joint_name + "'";
        case RowKind::tendon_limit:
            return "limit of tendon '" + m.tendons[m.measured_tendons[index].tendon].name + "'";
        case RowKind::dry_friction: return "dry friction of " + joint_of(m, m.dry_dofs[index]);
        case RowKind::coupling:
        case RowKind::connect:
        case RowKind::weld: break;
    }
    return "equality '" + m.equalities[index].name + "'";
}

std::string first_bad_row(const World& w, const StepScratch<double>& s) {
    const ImpulseScratch<double>& i = s.impulses;
    for (size_t r = 0; r < i.lambda_bar.size(); ++r)
        if (!std::isfinite(i.lambda_bar[r]) || (r < i.b_bar.size() && !std::isfinite(i.b_bar[r])))
            return row_name(w, s, static_cast<int>(r));
    return "";
}

}  // namespace costate
