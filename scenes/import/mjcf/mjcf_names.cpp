// Names of unnamed things in MJCF, and collision groups.
#include "scenes/import/mjcf/mjcf_names.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

template <class Item>
const Item& find_named(const std::map<std::string, const Item*>& items, const char* kind,
                       const XmlAttribute& name) {
    const auto it = items.find(name.text());
    if (it != items.end()) return *it->second;
    std::vector<std::string> names;
    for (const auto& [known, item] : items)
        names.push_back(known);
    name.fail(std::string("is not a ") + kind + suggestion(name.text(), names), "correct it");
}

}  // namespace

void MjcfNames::add(const XmlElement& where, const std::string& name) {
    if (name.empty()) return;
    if (name.find('*') != std::string::npos || (name == "world" && kind_ == std::string("body")))
        where.fail("has the reserved name \"" + name + "\"", "rename it");
    if (!names_.insert(name).second)
        where.fail(std::string("is the second ") + kind_ + " named \"" + name + "\"",
                   "rename one of the two");
}

std::string MjcfNames::take(const std::string& wish) {
    std::string name = wish;
    for (int& k = next_.try_emplace(wish, 2).first->second; !names_.insert(name).second; ++k)
        name = wish + "_" + std::to_string(k);
    return name;
}

MjcfIndex::MjcfIndex(const std::vector<MjcfBody>& all, bool incomplete)
    : bodies(all),
      incomplete_(incomplete) {
    for (const MjcfBody& body : bodies) {
        by_body_[body.name] = &body;
        for (const MjcfJoint& joint : body.joints)
            by_joint_[joint.name] = &joint;
        for (const MjcfSite& site : body.sites)
            by_site_[site.name] = &site;
        for (const MjcfGeom& geom : body.geoms)
            by_geom_[geom.name] = &geom;
    }
}

std::optional<XmlAttribute> MjcfIndex::left_out(const MjcfAttributes& a) const {
    if (!incomplete_) return {};
    for (const char* key : {"body1", "body2"})
        if (const auto name = a.find(key); name && !by_body_.contains(name->text())) return name;
    for (const char* key : {"joint", "jointinparent", "joint1", "joint2"})
        if (const auto name = a.find(key); name && !by_joint_.contains(name->text())) return name;
    for (const char* key : {"site", "site1", "site2", "sidesite"})
        if (const auto name = a.find(key); name && !by_site_.contains(name->text())) return name;
    for (const char* key : {"geom", "geom1", "geom2"})
        if (const auto name = a.find(key); name && !by_geom_.contains(name->text())) return name;
    return {};
}

const MjcfBody& MjcfIndex::body(const XmlAttribute& name) const { return find_named(by_body_, "body", name); }
const MjcfJoint& MjcfIndex::joint(const XmlAttribute& name) const {
    return find_named(by_joint_, "joint", name);
}

std::pair<const MjcfBody*, const MjcfSite*> MjcfIndex::site(const XmlAttribute& name) const {
    const MjcfSite& found = find_named(by_site_, "site", name);
    return {&owner(found, &MjcfBody::sites), &found};
}
std::pair<const MjcfBody*, const MjcfGeom*> MjcfIndex::geom(const XmlAttribute& name) const {
    const MjcfGeom& found = find_named(by_geom_, "geom", name);
    return {&owner(found, &MjcfBody::geoms), &found};
}

const MjcfJoint& MjcfIndex::one_dof_joint(const XmlAttribute& name) const {
    const MjcfJoint& found = joint(name);
    if (found.type == MjcfJointType::free || found.type == MjcfJointType::ball)
        name.fail("names a joint of several dofs", "name a hinge or a slide");
    return found;
}

void settle_names(std::vector<MjcfBody>& bodies) {
    MjcfNames body_names("body"), joint_names("joint"), geom_names("geom"), site_names("site");
    for (const MjcfBody& body : bodies) {
        if (&body != &bodies[0]) body_names.add(body.element, body.name);
        for (const MjcfJoint& joint : body.joints)
            joint_names.add(joint.element, joint.name);
        for (const MjcfGeom& geom : body.geoms)
            geom_names.add(geom.element, geom.name);
        for (const MjcfSite& site : body.sites)
            site_names.add(site.element, site.name);
    }
    for (MjcfBody& body : bodies) {
        if (body.name.empty()) {
            const std::string& parent = bodies[body.parent].name;
            body.name = body_names.take(parent == "world" ? "body" : parent + "_body");
        }
        const std::string wish = body.name == "world" ? "ground" : body.name;
        for (MjcfJoint& joint : body.joints)
            if (joint.name.empty()) joint.name = joint_names.take(body.name);
        for (MjcfGeom& geom : body.geoms)
            if (geom.name.empty()) geom.name = geom_names.take(wish);
        for (MjcfGeom& geom : body.geoms)
            for (size_t k = 0; k < geom.hulls.size(); ++k)
                geom.hulls[k].first = geom_names.take(geom.name + "." + std::to_string(k + 2));
        for (MjcfSite& site : body.sites)
            if (site.name.empty()) site.name = site_names.take(body.name + "_site");
    }
}

// Shapes of a scene collide if the mask of each has a bit of the other's group. Therefore every pair
// (contype, conaffinity) becomes a group, and its mask is the set of groups with which it collides. MuJoCo's
// default (1, 1) becomes group 1, the default group of scenes; it also collides with groups that the model
// does not use.
void set_groups(const MjcfFlags& flags, std::vector<MjcfBody>& bodies) {
    using Kind = std::pair<std::int64_t, std::int64_t>;  // contype, conaffinity
    std::vector<Kind> kinds{{1, 1}};
    const auto group_of = [&](const Kind& kind) {
        return static_cast<size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
    };
    for (const MjcfBody& body : bodies)
        for (const MjcfGeom& geom : body.geoms) {
            const Kind kind(geom.contype, geom.conaffinity);
            if (geom.visual() || geom.shape.is_null() || group_of(kind) < kinds.size()) continue;
            if (kinds.size() == 32)
                geom.element.fail("has the 33rd pair of contype and conaffinity",
                                  "use at most 32, the default included");
            kinds.push_back(kind);
        }
    std::vector<std::uint32_t> masks;
    for (size_t i = 0; i < kinds.size(); ++i) {
        masks.push_back(i == 0 && kinds.size() < 32 ? ~0u << kinds.size() : 0);
        for (size_t j = 0; j < kinds.size(); ++j)
            if ((kinds[i].first & kinds[j].second) != 0 || (kinds[j].first & kinds[i].second) != 0)
                masks[i] |= 1u << j;
    }
    for (MjcfBody& body : bodies)
        for (MjcfGeom& geom : body.geoms) {
            if (geom.visual() || geom.shape.is_null()) continue;
            const size_t i = group_of({geom.contype, geom.conaffinity});
            const std::uint32_t mask = flags.other_contacts ? masks[i] : 0;
            if (i > 0) geom.shape["group"] = 1u << i;
            if (mask != ~0u) geom.shape["mask"] = mask;
        }
}

std::string put_site(ImportedModel& out, const MjcfIndex& index, const MjcfBody& body, std::string name,
                     const MjcfPose& pose) {
    const auto taken = [&] {
        return std::ranges::any_of(index.bodies, [&](const MjcfBody& b) {
            return std::ranges::any_of(b.sites, [&](const MjcfSite& s) { return s.name == name; });
        });
    };
    while (taken())
        name += "_";
    Json site{{"name", name}};
    put_pose(site, pose);
    Json& sites = out.model["bodies"][static_cast<size_t>(&body - index.bodies.data()) - 1]["sites"];
    if (sites.is_null() || std::ranges::find(sites, site) == sites.end()) sites.push_back(site);
    return name;
}

}  // namespace costate
