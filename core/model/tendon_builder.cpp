#include "core/model/tendon_builder.hpp"

#include <algorithm>
#include <cassert>
#include <set>

namespace costate {

namespace {

// The places of a path in order: before each point the centre and the side of what the tendon wraps around.
template <class Visit> void places_of(const TendonSpec& spec, const Visit& visit) {
    for (const TendonBranchSpec& branch : spec.branches)
        for (const TendonPointSpec& point : branch.points) {
            if (point.around) visit(point.around->centre);
            if (point.around && point.around->side) visit(*point.around->side);
            visit(static_cast<const TendonPlaceSpec&>(point));
        }
}

PathParameters add_path_parameters(ParameterLayout& layout, const TendonSpec& spec) {
    std::vector<double> points, radii;
    places_of(spec, [&](const TendonPlaceSpec& place) {
        if (place.site < 0) points.insert(points.end(), place.position.begin(), place.position.end());
    });
    for (const TendonBranchSpec& branch : spec.branches)
        for (const TendonPointSpec& point : branch.points)
            if (point.around) radii.push_back(point.around->radius);
    PathParameters out;
    const auto add = [&](const char* quantity, ParameterRange range, const std::vector<double>& values) {
        if (values.empty()) return 0;
        return layout.add("tendons", {spec.name}, quantity, static_cast<int>(values.size()), range, values)
            .offset;
    };
    out.world_points = add("world_points", ParameterRange::any, points);
    out.radii = add("radii", ParameterRange::positive, radii);
    return out;
}

// Adds the segments of a spatial tendon and the dofs that change its length.
void add_segments(Model& m, const TendonSpec& spec, PathParameters next, Tendon& tendon) {
    const auto place = [&](const TendonPlaceSpec& at) {
        if (at.site >= 0) return TendonPoint{m.sites[at.site].body, m.site_position.at(at.site)};
        next.world_points += 3;
        return TendonPoint{-1, next.world_points - 3};
    };
    for (const TendonBranchSpec& branch : spec.branches) {
        assert(branch.points.size() >= 2 && !branch.points[0].around);
        TendonPoint last;
        for (size_t i = 0; i < branch.points.size(); ++i) {
            int index = -1;
            if (const auto& around = branch.points[i].around) {
                TendonWrap wrap;
                wrap.shape = around->shape;
                wrap.centre = place(around->centre);
                wrap.R = around->R;
                if (const int site = around->centre.site; site >= 0) {
                    wrap.R = m.sites[site].R_BS;
                    wrap.rotation = m.site_rotation.at(site);
                }
                wrap.radius = next.radii++;
                wrap.sided = around->side.has_value();
                if (wrap.sided) wrap.side = place(*around->side);
                index = static_cast<int>(m.wraps.size());
                m.wraps.push_back(wrap);
            }
            const TendonPoint point = place(branch.points[i]);
            if (i > 0) tendon.segments.push_back({last, point, branch.divisor, index});
            last = point;
        }
    }
    for (int j = 0; j < m.nv; ++j)
        if (std::ranges::any_of(tendon.segments,
                                [&](const TendonSegment& s) { return m.changes_length(j, s); }))
            tendon.dofs.push_back(j);
    tendon.first_arm = m.tendon_arms;
    m.tendon_arms += static_cast<int>(tendon.dofs.size());
}

// Adds the dofs that change the length of a measured tendon.
void add_measured_dofs(Model& m, MeasuredTendon& measured) {
    const Tendon& tendon = m.tendons[measured.tendon];
    std::set<int> dofs(tendon.dofs.begin(), tendon.dofs.end());
    for (const TendonJoint& joint : tendon.joints)
        dofs.insert(joint.v);
    measured.dofs.assign(dofs.begin(), dofs.end());
    measured.first_arm = m.measured_arms;
    m.measured_arms += static_cast<int>(dofs.size());
}

Tendon make_tendon(Model& m, const TendonSpec& spec, const std::vector<int>& index) {
    Tendon tendon;
    tendon.name = spec.name;
    std::vector<double> coefficients;
    for (const auto& [handle, coefficient] : spec.joints) {
        const Body& b = m.bodies[index[handle]];
        assert(b.nv == 1);
        tendon.joints.push_back({b.q0, b.v0});
        coefficients.push_back(coefficient);
    }
    if (!coefficients.empty())
        tendon.coefficients =
            m.layout
                .add("tendons", {spec.name}, "coefficients", static_cast<int>(coefficients.size()),
                     ParameterRange::any, coefficients)
                .offset;
    return tendon;
}

}  // namespace

std::vector<PathParameters> add_tendons(Model& m, const std::vector<TendonSpec>& specs,
                                        const std::vector<int>& index) {
    std::vector<PathParameters> paths;
    std::vector<std::string> names;
    std::vector<double> stiffness, rest, slack, damping;
    for (const TendonSpec& s : specs) {
        m.tendons.push_back(make_tendon(m, s, index));
        paths.push_back(add_path_parameters(m.layout, s));
        names.push_back(s.name);
        stiffness.push_back(s.stiffness);
        rest.push_back(s.rest);
        slack.push_back(s.slack);
        damping.push_back(s.damping);
        if (s.lower > -unlimited || s.upper < unlimited)
            m.measured_tendons.push_back(
                {static_cast<int>(m.tendons.size()) - 1,
                 m.layout.add_interval("tendons", s.name, "limits", s.lower, s.upper),
                 {}});
    }
    using Range = ParameterRange;
    m.tendon_stiffness = m.layout.add("tendons", names, "stiffness", 1, Range::nonnegative, stiffness);
    m.tendon_rest = m.layout.add("tendons", names, "rest", 1, Range::any, rest);
    m.tendon_slack = m.layout.add("tendons", names, "slack", 1, Range::nonnegative, slack);
    m.tendon_damping = m.layout.add("tendons", names, "damping", 1, Range::nonnegative, damping);
    return paths;
}

int measured_tendon(Model& m, int tendon) {
    const auto at = std::ranges::find(m.measured_tendons, tendon, &MeasuredTendon::tendon);
    const auto n = static_cast<int>(at - m.measured_tendons.begin());
    if (at == m.measured_tendons.end()) m.measured_tendons.push_back({tendon, {}, {}});
    return n;
}

void complete_tendons(Model& m, const std::vector<TendonSpec>& specs,
                      const std::vector<PathParameters>& paths) {
    for (size_t n = 0; n < specs.size(); ++n)
        add_segments(m, specs[n], paths[n], m.tendons[n]);
    for (MeasuredTendon& measured : m.measured_tendons)
        add_measured_dofs(m, measured);
}

}  // namespace costate
