// <attach>: a model of another file, or a body of it with all that it carries, becomes a part of this model. The other file
// is imported by itself, with its own options of the compiler and defaults, and its JSON is taken over with other names.
#include <algorithm>

#include "scenes/import/mjcf/mjcf_attach.hpp"

#include "scenes/format/inertia.hpp"

namespace costate {
namespace {

using NameSet = std::set<std::string>;

bool is_in(const NameSet& names, const Json& name) {
    return name == "world" || names.contains(name.get<std::string>());
}

// The names of the things that a part of a model has, by the keys that refer to them.
struct Scope {
    NameSet bodies, joints, sites, shapes, tendons, actuators;
    const NameSet* of(const std::string& key) const {
        if (key == "body" || key == "body_a" || key == "body_b" || key == "parent" || key == "reference_body")
            return &bodies;
        if (key == "joint" || key == "joint_a" || key == "joint_b") return &joints;
        if (key == "site" || key == "side" || key == "reference_site") return &sites;
        if (key == "tendon" || key == "tendon_a" || key == "tendon_b") return &tendons;
        return key == "actuator" ? &actuators : nullptr;
    }
    // True if all that an item refers to is here.
    bool holds(const Json& item) const {
        for (const auto& [key, value] : item.items()) {
            if (const NameSet* names = of(key);
                names != nullptr && value.is_string() && !is_in(*names, value))
                return false;
            if (!value.is_array()) continue;
            const NameSet* listed = key == "bodies" ? &bodies : key == "shapes" ? &shapes : nullptr;
            for (const Json& each : value)
                if ((each.is_object() && !holds(each)) ||
                    (listed && each.is_string() && !is_in(*listed, each)))
                    return false;
        }
        return true;
    }
};

void add_names(const Json& items, NameSet& names) {
    for (const Json& item : items)
        if (item.contains("name")) names.insert(item["name"].get<std::string>());
}

// The bodies of a model that are a body or carried by it; all for an empty name.
Json subtree(const Json& model, const std::string& root) {
    Json out = Json::array();
    NameSet kept;
    for (const Json& body : model["bodies"]) {
        const std::string name = body["name"].get<std::string>();
        if (!root.empty() && name != root && !kept.contains(body.value("parent", ""))) continue;
        kept.insert(name);
        out.push_back(body);
        if (name == root) out.back().erase("parent");
    }
    return out;
}

Scope scope_of(const Json& bodies) {
    Scope scope;
    add_names(bodies, scope.bodies);
    for (const Json& body : bodies) {
        add_names(body.value("sites", Json::array()), scope.sites);
        add_names(body.value("shapes", Json::array()), scope.shapes);
        add_names(body.value("joints", Json::array()), scope.joints);
        if (body.contains("joint")) add_names(Json::array({body["joint"]}), scope.joints);
    }
    return scope;
}

// Renames what an item is called and refers to.
template <class Rename> void rename(Json& item, const Rename& name) {
    for (auto& [key, value] : item.items()) {
        if ((key == "name" || Scope().of(key) != nullptr) && value.is_string()) {
            name(value);
        } else if (value.is_object()) {
            rename(value, name);
        } else if (value.is_array()) {
            for (Json& each : value) {
                if (each.is_object()) rename(each, name);
                if (each.is_string() && (key == "bodies" || key == "shapes")) name(each);
            }
        }
    }
}

// Puts a pose before that of an item.
void place_in(const MjcfPose& frame, Json& item) {
    MjcfPose own;
    if (item.contains("position"))
        for (int i = 0; i < 3; ++i)
            own.p[i] = item["position"][static_cast<size_t>(i)].get<double>();
    if (item.contains("quaternion")) {
        const std::vector<double> q = item["quaternion"];
        own.q = {q[0], {q[1], q[2], q[3]}};
    }
    item.erase("position");
    item.erase("quaternion");
    put_pose(item, frame * own);
}

}  // namespace

void attach_model(const ImportedModel& other, const MjcfAttachment& attachment, const std::string& parent,
                  ImportedModel& out) {
    const XmlElement& e = attachment.element;
    const std::string root = e.text_or("body", ""), prefix = e.text_or("prefix", "");
    const bool on_world = parent == "world";
    const auto name = [&](Json& value) {
        if (value == "world") return;
        std::string own = value.get<std::string>();
        const bool wall = own.starts_with(of_world);
        if (wall) own.erase(0, std::string_view(of_world).size());
        value = (wall && on_world ? of_world : "") + prefix + own + attachment.suffix;
    };
    Json bodies = subtree(other.model, root);
    if (!root.empty() && bodies.empty())
        e["body"].fail("is not a body of the attached model",
                       "correct it, or leave it out for the whole model");
    Scope scope = scope_of(bodies);
    for (Json& body : bodies) {
        const bool first = !body.contains("parent");
        rename(body, name);
        if (first) {
            if (!on_world) body["parent"] = parent;
            Json& joint = body.contains("joints") ? body["joints"][0] : body["joint"];
            if (joint.is_null()) joint = {{"type", "fixed"}};
            place_in(attachment.frame, joint);
        }
        put_item(out, "bodies", e, body);
    }
    if (root.empty())
        for (Json shape : other.scene.value("shapes", Json::array())) {
            if (on_world || shape["type"] != "plane")
                scope.shapes.insert(of_world + shape["name"].get<std::string>());
            rename(shape, name);
            place_in(attachment.frame, shape);
            if (on_world) {
                out.scene["shapes"].push_back(shape);
                continue;
            }
            for (Json& body : out.model["bodies"])
                if (body["name"] == parent && shape["type"] != "plane") body["shapes"].push_back(shape);
        }
    const auto take = [&](const char* list, NameSet* names) {
        for (Json item : other.model.value(list, Json::array())) {
            if (!scope.holds(item)) continue;
            if (names != nullptr) names->insert(item["name"].get<std::string>());
            rename(item, name);
            put_item(out, list, e, item);
        }
    };
    take("tendons", &scope.tendons);
    take("actuators", &scope.actuators);
    take("equalities", nullptr);
    take("sensors", nullptr);
    take("pairs", nullptr);
    for (Json pair : other.model.value("exclude", Json::array())) {
        if (!is_in(scope.bodies, pair[0]) || !is_in(scope.bodies, pair[1])) continue;
        std::ranges::for_each(pair, name);
        put_item(out, "exclude", e, pair);
    }
}

}  // namespace costate
