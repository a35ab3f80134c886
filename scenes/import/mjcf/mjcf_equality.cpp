// Equalities and excluded pairs of MJCF.
#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"

namespace costate {
namespace {

// connect: the anchor is given in the first body; the point of the second body coincides with it at the
// reference configuration. weld: the second body keeps its pose in the first, that of the reference
// configuration or "relpose"; the anchor is given in the second body.
Json connect_or_weld(const MjcfAttributes& a, const MjcfIndex& index, bool global) {
    const XmlElement& e = a.element();
    const MjcfBody &one = index.body(e["body1"]),
                   &two = e.has("body2") ? index.body(e["body2"]) : index.bodies[0];
    MjcfPose relative = inverse(one.world) * two.world;  // pose of two in one
    Json out{{"body_a", one.name}, {"body_b", two.name}};
    if (e.name() == "connect") {
        Vec3<double> anchor = e["anchor"].vec3();
        if (global) anchor = (inverse(one.world) * MjcfPose{anchor}).p;
        out["point_a"] = to_json(anchor);
        out["point_b"] = to_json(Vec3<double>((inverse(relative) * MjcfPose{anchor}).p));
        return out;
    }
    if (const auto given = a.find("relpose")) {
        const std::vector<double> x = given->numbers(7);
        const Eigen::Vector4d q(x[3], x[4], x[5], x[6]);
        if (!q.isZero(0)) {  // zeros: that of the reference configuration
            const double norm = q.stableNorm();
            if (!(norm > 1e-14)) given->fail("has no orientation", "write 1 0 0 0 for the identity");
            relative = {{x[0], x[1], x[2]}, {q[0] / norm, q.tail<3>() / norm}};
        }
    }
    const Vec3<double> anchor = a.vec3_or("anchor", Vec3<double>::Zero());
    out["point_a"] = to_json(Vec3<double>((relative * MjcfPose{anchor}).p));
    out["point_b"] = to_json(anchor);
    out["quaternion"] = to_json(inverse(relative).q);
    return out;
}

// Two sites coincide: their origins, of a weld also their axes.
Json between_sites(const XmlElement& e, const MjcfIndex& index) {
    const auto [one, first] = index.site(e["site1"]);
    const auto [two, second] = index.site(e["site2"]);
    Json out{{"body_a", one->name},
             {"body_b", two->name},
             {"point_a", to_json(first->pose.p)},
             {"point_b", to_json(second->pose.p)}};
    if (e.name() == "weld") out["quaternion"] = to_json((second->pose * inverse(first->pose)).q);
    return out;
}

// q_1 = c_0 + c_1 q_2, both relative to their reference. Without joint2, joint1 is held at c_0: a coupling to
// any other joint with c_1 = 0.
Json coupling(const MjcfContext& context, const MjcfAttributes& a, const MjcfIndex& index) {
    const XmlElement& e = a.element();
    const MjcfJoint& one = index.one_dof_joint(e["joint1"]);
    const MjcfJoint* two = e.has("joint2") ? &index.one_dof_joint(e["joint2"]) : nullptr;
    if (one.locked() || (two != nullptr && two->locked())) {
        e.warn(context.warnings, "couples a locked joint and is ignored", "give the joint mass to move");
        return {};
    }
    std::vector<double> c{0, 1, 0, 0, 0};
    if (const auto given = a.find("polycoef")) {
        const std::vector<double> x = given->numbers(1, 5);
        std::copy(x.begin(), x.end(), c.begin());
        if (two != nullptr && (c[2] != 0 || c[3] != 0 || c[4] != 0))
            context.warnings.add(given->place(), "couplings with higher-order coefficients are not supported",
                                 "give two coefficients");
    }
    if (two == nullptr)
        for (const MjcfBody& body : index.bodies)
            for (const MjcfJoint& joint : body.joints)
                if (&joint != &one &&
                    (joint.type == MjcfJointType::slide || joint.type == MjcfJointType::hinge))
                    two = &joint, c[1] = 0;
    if (two == nullptr) {
        e.warn(context.warnings, "holds the only joint of the model and is ignored", "remove the joint");
        return {};
    }
    Json out{{"joint_a", one.name}, {"joint_b", two->name}};
    if (c[0] != 0) out["offset"] = c[0];
    out["ratio"] = c[1];
    return out;
}

}  // namespace

void read_equalities(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    if (!context.flags.equality) return;
    MjcfNames names("equality");
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "equality");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section))
            names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section)) {
            const MjcfAttributes a = context.defaults.attributes(e);
            const std::string kind = e.name();
            const bool sites = e.has("site1") || e.has("site2");
            if ((kind != "connect" && kind != "weld" && kind != "joint") || !a.boolean_or("active", true)) {
                e.warn(context.warnings, "is inactive or not supported, and is ignored",
                       "use connect, weld or joint");
                continue;
            }
            if (const auto name = index.left_out(a)) {
                e.warn(context.warnings, "refers to a part that is left out or replicated, and is ignored",
                       "replace that part");
                continue;
            }
            e.warn_others(context.warnings,
                          {"name", "class", "active", "solref", "solimp", "body1", "body2", "anchor",
                           "relpose", "torquescale", "joint1", "joint2", "polycoef", "site1", "site2"},
                          {});
            const Json what = kind == "joint" ? coupling(context, a, index)
                              : sites         ? between_sites(e, index)
                                              : connect_or_weld(a, index, context.compiler.global);
            if (what.empty()) continue;
            Json equality{{"name", e.has("name") ? e["name"].text() : names.take(kind)},
                          {"type", kind == "joint" ? "coupling" : kind}};
            equality.update(what);
            put_softness(context, a, "solref", "solimp", "", equality);
            put_item(out, "equalities", e, equality);
        }
}

void read_excludes(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    for (const XmlElement& section : context.files.children(context.files.root(), "contact"))
        for (const XmlElement& e : context.files.children(section)) {
            if (e.name() == "exclude" && index.left_out(MjcfAttributes(e, {}))) continue;
            if (e.name() == "exclude")
                put_item(out, "exclude", e, {index.body(e["body1"]).name, index.body(e["body2"]).name});
            else
                e.warn(context.warnings, "in <contact> is not supported and is ignored",
                       "use contype and conaffinity of geoms");
        }
}

}  // namespace costate
