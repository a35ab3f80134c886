// Equalities and contacts of MJCF.
#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_names.hpp"

namespace costate {
namespace {

// The body that carries another one without a joint between them, or the body itself.
int carrier(const MjcfIndex& index, const std::string& name) {
    int i = static_cast<int>(std::ranges::find(index.bodies, name, &MjcfBody::name) - index.bodies.begin());
    while (i > 0 && std::ranges::all_of(index.bodies[static_cast<size_t>(i)].joints, &MjcfJoint::locked))
        i = index.bodies[static_cast<size_t>(i)].parent;
    return i;
}

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

// The coefficients of a coupling to a second joint or tendon, or of one that is held.
void put_polynomial(const MjcfAttributes& a, bool second, Json& out) {
    std::vector<double> c{0, 1, 0, 0, 0};
    if (const auto given = a.find("polycoef")) {
        const std::vector<double> x = given->numbers(1, 5);
        std::copy(x.begin(), x.end(), c.begin());
    }
    if (second && (c[2] != 0 || c[3] != 0 || c[4] != 0)) {
        out["polynomial"] = c;
        return;
    }
    if (c[0] != 0) out["offset"] = c[0];
    if (second) out["ratio"] = c[1];
}

// The same of the lengths of two fixed tendons. Null, with a warning, if one is spatial or left out.
Json coupling_of_tendons(const MjcfContext& context, const MjcfAttributes& a, const ImportedModel& out) {
    const XmlElement& e = a.element();
    const auto fixed = [&](const char* key) {
        const std::string name = e[key].text();
        return out.model.contains("tendons") && std::ranges::any_of(out.model["tendons"], [&](const Json& t) {
                   return t["name"] == name && t.contains("joints");
               });
    };
    const bool second = e.has("tendon2");
    if (!fixed("tendon1") || (second && !fixed("tendon2"))) {
        e.warn(context.warnings, "couples a tendon that is spatial or left out, and is ignored",
               "couple fixed tendons");
        return {};
    }
    Json coupled{{"tendon_a", e["tendon1"].text()}};
    if (second) coupled["tendon_b"] = e["tendon2"].text();
    put_polynomial(a, second, coupled);
    return coupled;
}

// q_1 = c_0 + c_1 q_2 + ... + c_4 q_2^4, both relative to their reference. Without joint2, joint1 is held at c_0.
Json coupling(const MjcfContext& context, const MjcfAttributes& a, const MjcfIndex& index) {
    const XmlElement& e = a.element();
    const MjcfJoint& one = index.one_dof_joint(e["joint1"]);
    const MjcfJoint* two = e.has("joint2") ? &index.one_dof_joint(e["joint2"]) : nullptr;
    if (one.locked() || (two != nullptr && two->locked())) {
        e.warn(context.warnings, "couples a locked joint and is ignored", "give the joint mass to move");
        return {};
    }
    Json out{{"joint_a", one.name}};
    if (two != nullptr) out["joint_b"] = two->name;
    put_polynomial(a, two != nullptr, out);
    return out;
}

// The names of a geom's shapes as the pairs of a model have them.
std::vector<std::string> shape_names(const MjcfIndex& index, const MjcfBody& body, const MjcfGeom& geom) {
    const std::string prefix = &body == &index.bodies[0] ? of_world : "";
    std::vector<std::string> out{prefix + geom.name};
    for (const auto& [name, vertices] : geom.hulls)
        out.push_back(prefix + name);
    return out;
}

std::string pair_name(const Json& pair) {
    std::string name = pair["shapes"][0].get<std::string>() + "-" + pair["shapes"][1].get<std::string>();
    std::ranges::replace(name, '/', '_');
    return name;
}

// A <pair>, as one of each shape of its geoms with each of the other. What it does not give is MuJoCo's default,
// whatever its geoms have. None if its geoms cannot collide.
std::vector<Json> contact_pairs(const MjcfContext& context, const MjcfIndex& index, const XmlElement& e) {
    const MjcfAttributes a = context.defaults.attributes(e);
    a.warn_others(context.warnings,
                  {"name", "class", "geom1", "geom2", "condim", "friction", "solref", "solreffriction",
                   "solimp", "margin", "gap"},
                  {});
    const auto [body_1, one] = index.geom(e["geom1"]);
    const auto [body_2, two] = index.geom(e["geom2"]);
    if (body_1 == body_2 || one->shape.is_null() || two->shape.is_null()) return {};
    Json out = Json::object();
    // two directions of sliding, spinning, two directions of rolling
    const std::vector<double> friction = a.numbers_or("friction", {1, 1, 0.005, 0.0001, 0.0001});
    if (std::ranges::min(friction) < 0) a.find("friction")->fail("must not be negative", "use 0 or more");
    int condim = 3;
    if (const auto given = a.find("condim")) {
        condim = static_cast<int>(given->integer(1, 6));
        if (condim == 2 || condim == 5) given->fail("is not a number of rows", "use 1, 3, 4 or 6");
    }
    if ((condim > 1 && friction[1] != friction[0]) || (condim == 6 && friction[4] != friction[3]))
        context.warnings.add(
            a.find("friction")->place(),
            "friction that depends on the direction is not supported; it is that of the first one",
            "give both directions the same coefficient");
    if (condim != 3) out["condim"] = condim;
    if (friction[0] != 1) out["friction"] = friction[0];
    if (condim > 3) out["torsional_friction"] = friction[2];
    if (condim > 4) out["rolling_friction"] = friction[3];
    if (const double margin = contact_margin(context, a); margin > 0) out["margin"] = margin;
    if (const auto given = a.find("solreffriction"); given && !given->text().empty())
        context.warnings.add(given->place(),
                             "solreffriction is not supported; friction has the solref of the pair",
                             "remove it");
    put_softness(context, a, "solref", "solimp", "", out);
    std::vector<Json> pairs;
    for (const std::string& a_shape : shape_names(index, *body_1, *one))
        for (const std::string& b_shape : shape_names(index, *body_2, *two)) {
            Json& pair = pairs.emplace_back(Json{{"shapes", {a_shape, b_shape}}});
            pair.update(out);
        }
    return pairs;
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
            const MjcfAttributes a = context.defaults.equality_attributes(e);
            const std::string kind = e.name();
            const bool sites = e.has("site1") || e.has("site2");
            if (!a.boolean_or("active", true)) {
                e.note(context.warnings, "is inactive and is left out", "write active=\"true\" to have it");
                continue;
            }
            const bool couples = kind == "joint" || kind == "tendon";
            if (kind != "connect" && kind != "weld" && !couples) {
                e.warn(context.warnings, "in <equality> is not supported and is ignored",
                       "use connect, weld, joint or tendon");
                continue;
            }
            if (const auto name = index.left_out(a)) {
                e.warn(context.warnings, "refers to a part that is left out or replicated, and is ignored",
                       "replace that part");
                continue;
            }
            a.warn_others(
                context.warnings,
                {"name", "class", "active", "solref", "solimp", "body1", "body2", "anchor", "relpose",
                 "torquescale", "joint1", "joint2", "tendon1", "tendon2", "polycoef", "site1", "site2"},
                {});
            if (const auto scale = a.find("torquescale");
                scale && scale->number() != 1 && context.law == ContactLaw::mujoco)
                context.warnings.add(scale->place(), "torquescale is not supported; it counts as 1",
                                     "remove it");
            const Json what = kind == "joint"    ? coupling(context, a, index)
                              : kind == "tendon" ? coupling_of_tendons(context, a, out)
                              : sites            ? between_sites(e, index)
                                                 : connect_or_weld(a, index, context.compiler.global);
            if (what.empty()) continue;
            if (!couples && carrier(index, what["body_a"]) == carrier(index, what["body_b"])) {
                e.warn(context.warnings,
                       "holds two bodies that do not move relative to each other, and is ignored",
                       "remove it");
                continue;
            }
            Json equality{{"name", e.has("name") ? e["name"].text() : names.take(kind)},
                          {"type", couples ? "coupling" : kind}};
            equality.update(what);
            put_softness(context, a, "solref", "solimp", "", equality);
            put_item(out, "equalities", e, equality);
        }
}

std::set<std::string> paired_geoms(const MjcfFiles& files) {
    std::set<std::string> names;
    for (const XmlElement& section : files.children(files.root(), "contact"))
        for (const XmlElement& e : files.children(section))
            if (e.name() == "pair")
                for (const char* key : {"geom1", "geom2"})
                    names.insert(e.text_or(key, ""));
    return names;
}

void read_contacts(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    if (!context.flags.contact) return;
    MjcfNames names("pair");
    std::set<std::pair<Json, Json>> seen;
    const std::vector<XmlElement> sections = context.files.children(context.files.root(), "contact");
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section))
            if (e.name() == "pair") names.add(e, e.text_or("name", ""));
    for (const XmlElement& section : sections)
        for (const XmlElement& e : context.files.children(section)) {
            const bool left_out = index.left_out(MjcfAttributes(e, {})).has_value();
            if (e.name() == "exclude") {
                if (!left_out)
                    put_item(out, "exclude", e, {index.body(e["body1"]).name, index.body(e["body2"]).name});
            } else if (e.name() != "pair") {
                e.warn(context.warnings, "in <contact> is not supported and is ignored",
                       "use <exclude> and <pair>");
            } else if (!context.flags.pairs) {
                continue;
            } else if (left_out) {
                e.warn(context.warnings, "names a geom that is left out or replicated, and is ignored",
                       "replace that part");
            } else {
                bool named = !e.has("name");
                for (Json& pair : contact_pairs(context, index, e)) {
                    if (!seen.insert(std::minmax(pair["shapes"][0], pair["shapes"][1])).second) {
                        e.note(context.warnings, "is the second one of its two geoms and is ignored",
                               "keep one");
                        break;
                    }
                    pair["name"] = named ? names.take(pair_name(pair)) : e["name"].text();
                    named = true;
                    put_item(out, "pairs", e, pair);
                }
            }
        }
}

}  // namespace costate
