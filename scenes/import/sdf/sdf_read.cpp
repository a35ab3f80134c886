#include "scenes/import/sdf/sdf_read.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <numbers>
#include <set>

#include "scenes/import/sdf/sdf_parts.hpp"
#include "scenes/import/xml/xml_text.hpp"

namespace costate {
namespace {

constexpr size_t most_links = 4096;

// Where a model of a file is.
struct ModelPlace {
    const SdfFile& file;
    const sdf::Model& model;
    Transform<double> X, own;  // of its frame, in the world and in the file
    std::string prefix;        // of its names
    std::string scope;         // its name in the model around it
    bool fixed, self_collision;
};

class SdfReader {
public:
    SdfReader(const ImportOptions& options, Warnings& warnings) : options_(options), warnings_(warnings) {}

    // A model with all models in it, as one.
    SdfModel read(const ModelPlace& place) {
        SdfModel out{place.model.Name(), place.file.place(place.model.Element()), place.fixed};
        indices_.clear();
        read_links(place, out);
        if (!place.fixed) read_joints(place, out);
        return out;
    }

private:
    SdfContext context(const SdfFile& file) const { return {file, options_, warnings_}; }

    // The models in a model.
    std::vector<ModelPlace> inner_models(const ModelPlace& place) const {
        std::vector<ModelPlace> out;
        const sdf::Model& model = place.model;
        for (uint64_t k = 0; k < model.ModelCount(); ++k) {
            const sdf::Model& inner = *model.ModelByIndex(k);
            const Transform<double> at = sdf_pose(inner, place.file, warnings_, "__model__");
            out.push_back({place.file, inner, compose(place.X, at), compose(place.own, at),
                           place.prefix + inner.Name() + "::", inner.Name(), place.fixed,
                           place.self_collision});
        }
        for (uint64_t k = 0; k < model.InterfaceModelCount(); ++k) {
            const SdfInclude& include = place.file.include(*model.InterfaceModelNestedIncludeByIndex(k));
            const std::string name = model.InterfaceModelByIndex(k)->Name();
            out.push_back({*include.file, *include.file->root.Model(),
                           compose(place.X, compose(inverse(place.own), include.X)), own_pose(*include.file),
                           include.merged ? place.prefix : place.prefix + name + "::", name, place.fixed,
                           place.self_collision});
        }
        return out;
    }

    Transform<double> own_pose(const SdfFile& file) const {
        return sdf_pose(*file.root.Model(), file, warnings_);
    }

    void warn_of_model(const ModelPlace& place, const SdfContext& c) const {
        const sdf::ElementPtr at = place.model.Element();
        if (!place.fixed && c.is_true(at, {"enable_wind"}))
            c.warn(at, "<enable_wind> is not supported and is ignored", "give the scene a medium");
        if (SdfContext::find(at, {"gripper"}) != nullptr && !place.fixed)
            c.warn(SdfContext::find(at, {"gripper"}), "a <gripper> holds nothing by itself and is ignored",
                   "remove it to silence this");
    }

    void read_links(const ModelPlace& place, SdfModel& out) {
        const SdfContext c = context(place.file);
        warn_of_model(place, c);
        for (uint64_t k = 0; k < place.model.LinkCount(); ++k) {
            const sdf::Link& link = *place.model.LinkByIndex(k);
            const sdf::ElementPtr at = link.Element();
            if (out.links.size() == most_links) c.fail(at, "exceeds the 4096 links of a model", "use fewer");
            SdfLink read{place.prefix + link.Name(), place.file.place(at),
                         compose(place.X, sdf_pose(link, place.file, warnings_, "__model__"))};
            if (link.Name() == "world") {
                c.note(at, "a link with the name \"world\" is taken for the world and left out",
                       "rename it to have it");
                continue;
            }
            if (read.name.find('*') != std::string::npos) c.fail(at, "has a name with a *", "rename it");
            if (!read.X.p.allFinite() || !read.X.R.allFinite())
                c.fail(at, "has a pose that is not finite", "correct it");
            const auto own = SdfContext::find(at, {"self_collide"});
            const bool collides =
                own != nullptr ? own->Get<bool>() : place.model.SelfCollide() || place.self_collision;
            if (!place.fixed) {
                c.read_mass(link, read);
                warn_of_link(at, c);
                read.weightless = SdfContext::find(at, {"gravity"}) != nullptr && !c.is_true(at, {"gravity"});
            }
            c.read_shapes(link, collides || options_.self_collision, place.fixed, read);
            c.read_visuals(link, read);
            indices_[read.name] = static_cast<int>(out.links.size());
            out.links.push_back(std::move(read));
        }
        for (const ModelPlace& inner : inner_models(place))
            read_links(inner, out);
    }

    static void warn_of_link(sdf::ElementPtr at, const SdfContext& c) {
        if (c.is_true(at, {"enable_wind"}))
            c.warn(at, "<enable_wind> is not supported and is ignored", "give the scene a medium");
        if (c.is_true(at, {"kinematic"}))
            c.warn(at, "<kinematic> is not supported: the link moves by forces", "fix it by a joint");
        for (const char* kind : {"linear", "angular"})
            if (const auto decay = c.number(at, {"velocity_decay", kind}); decay && *decay != 0)
                c.warn(SdfContext::find(at, {"velocity_decay"}), "is not supported and is ignored",
                       "give the joints damping", "velocity_decay");
    }

    int link_of(const ModelPlace& place, const std::string& name, const SdfContext& c,
                sdf::ElementPtr at) const {
        if (name == "world") return sdf_world;
        for (const ModelPlace& inner : inner_models(place))
            if (name.starts_with(inner.scope + "::"))
                return link_of(inner, name.substr(inner.scope.size() + 2), c, at);
        const auto found = indices_.find(place.prefix + name);
        if (found == indices_.end())
            c.fail(at, "refers to \"" + name + "\", which is not a link", "name a link");
        return found->second;
    }

    void read_joints(const ModelPlace& place, SdfModel& out) {
        const SdfContext c = context(place.file);
        for (uint64_t k = 0; k < place.model.JointCount(); ++k) {
            const sdf::Joint& joint = *place.model.JointByIndex(k);
            const sdf::ElementPtr at = joint.Element();
            std::string parent, child;
            check_sdf(joint.ResolveParentLink(parent), place.file, warnings_);
            check_sdf(joint.ResolveChildLink(child), place.file, warnings_);
            SdfJoint read{place.prefix + joint.Name(),
                          place.file.place(at),
                          SdfJointType::fixed,
                          link_of(place, parent, c, at),
                          link_of(place, child, c, at),
                          compose(place.X, sdf_pose(joint, place.file, warnings_, "__model__")).p};
            if (read.name.find('*') != std::string::npos) c.fail(at, "has a name with a *", "rename it");
            if (!read.anchor.allFinite()) c.fail(at, "has a pose that is not finite", "correct it");
            if (read.parent == read.child)
                c.fail(at, "\"" + read.name + "\" joins a link with itself", "name two links");
            if (read_type(joint, place, c, read)) out.joints.push_back(std::move(read));
        }
        for (const ModelPlace& inner : inner_models(place))
            read_joints(inner, out);
    }

    // False: the joint is left out.
    bool read_type(const sdf::Joint& joint, const ModelPlace& place, const SdfContext& c,
                   SdfJoint& out) const {
        const sdf::ElementPtr at = joint.Element();
        const bool two =
            joint.Type() == sdf::JointType::UNIVERSAL || joint.Type() == sdf::JointType::REVOLUTE2;
        const auto axis = [&](unsigned int index) {
            const sdf::JointAxis* given = joint.Axis(index);
            if (given == nullptr && two)
                c.fail(at, "\"" + out.name + "\" has no " + (index == 0 ? "<axis>" : "<axis2>"), "add it");
            if (given == nullptr)
                c.warn(at, "a joint without <axis> moves along or about z", "add it", out.name);
            out.axes.push_back(given != nullptr ? c.read_axis(*given, place.X)
                                                : SdfAxis{place.X.R.col(2), -unlimited, unlimited});
        };
        switch (joint.Type()) {
            case sdf::JointType::FIXED: return true;
            case sdf::JointType::BALL: out.type = SdfJointType::ball; return true;
            case sdf::JointType::CONTINUOUS:
                out.type = SdfJointType::revolute;
                axis(0);
                out.axes[0].lower = -unlimited;
                out.axes[0].upper = unlimited;
                break;
            case sdf::JointType::REVOLUTE:
                out.type = SdfJointType::revolute;
                axis(0);
                break;
            case sdf::JointType::PRISMATIC:
                out.type = SdfJointType::prismatic;
                axis(0);
                break;
            case sdf::JointType::UNIVERSAL:
            case sdf::JointType::REVOLUTE2:
                out.type = SdfJointType::two_axes;
                axis(0);
                axis(1);
                return true;
            case sdf::JointType::SCREW:
                out.type = SdfJointType::screw;
                axis(0);
                out.pitch = pitch_of(joint, c);
                break;
            default:
                c.warn(at, "a joint of this type is not supported and is left out:",
                       "use revolute, prismatic, ball, universal, screw or fixed",
                       at->Get<std::string>("type"));
                return false;
        }
        read_mimic(at, place, c, out);
        return true;
    }

    // m/rad. <screw_thread_pitch> is in m per turn; the older <thread_pitch> in rad/m, of a left-handed thread.
    static double pitch_of(const sdf::Joint& joint, const SdfContext& c) {
        if (const auto pitch = c.number(joint.Element(), {"screw_thread_pitch"}))
            return *pitch / (2 * std::numbers::pi);
        const double pitch = c.finite(joint.ThreadPitch(), joint.Element());
        if (pitch == 0) c.fail(joint.Element(), "has a thread pitch of 0 rad/m", "use a prismatic joint");
        return -1 / pitch;
    }

    void read_mimic(sdf::ElementPtr at, const ModelPlace& place, const SdfContext& c, SdfJoint& out) const {
        const sdf::ElementPtr mimic = SdfContext::find(at, {"axis", "mimic"});
        if (mimic == nullptr || !mimic->HasAttribute("joint")) return;
        out.mimic = {place.prefix + mimic->GetAttribute("joint")->GetAsString(),
                     c.number(mimic, {"multiplier"}).value_or(1), c.number(mimic, {"offset"}).value_or(0),
                     c.number(mimic, {"reference"}).value_or(0)};
    }

    const ImportOptions& options_;
    Warnings& warnings_;
    std::map<std::string, int> indices_;  // of the links of the model that is read
};

void read_world(const sdf::World& world, const SdfFile& file, const ImportOptions& options,
                Warnings& warnings, SdfScene& out) {
    const SdfContext c{file, options, warnings};
    const sdf::ElementPtr at = world.Element();
    out.world = true;
    out.physics_place = file.place(at);
    out.gravity = c.finite(world.Gravity(), at);
    if (const sdf::Physics* physics = world.PhysicsDefault();
        physics != nullptr && world.PhysicsCount() > 0) {
        out.time_step = c.finite(physics->MaxStepSize(), physics->Element());
        if (!(*out.time_step > 0)) c.fail(physics->Element(), "has a step that is not positive", "use 0.001");
        if (physics->Element() != nullptr) out.physics_place = file.place(physics->Element());
    }
    if (const auto state = SdfContext::find(at, {"state"}))
        c.note(state, "a saved <state> is passed over: models are at their own poses", "remove it");
    if (const auto population = SdfContext::find(at, {"population"}))
        c.warn(population, "<population> is not supported and is left out", "write its models");
    SdfReader reader(options, warnings);
    for (uint64_t k = 0; k < world.ModelCount(); ++k) {
        const sdf::Model& model = *world.ModelByIndex(k);
        const Transform<double> X = sdf_pose(model, file, warnings);
        out.models.push_back(
            reader.read({file, model, X, X, model.Name() + "::", model.Name(), model.Static(), false}));
    }
    for (uint64_t k = 0; k < world.InterfaceModelCount(); ++k) {
        const SdfInclude& include = file.include(*world.InterfaceModelNestedIncludeByIndex(k));
        const sdf::Model& model = *include.file->root.Model();
        out.models.push_back(
            reader.read({*include.file, model, include.X, sdf_pose(model, *include.file, warnings),
                         world.InterfaceModelByIndex(k)->Name() + "::", model.Name(),
                         include.is_static.value_or(model.Static()), false}));
    }
}

// The options with the folders of models that Gazebo searches.
ImportOptions with_folders_of_gazebo(ImportOptions options) {
    for (const char* variable : {"GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "GAZEBO_MODEL_PATH"}) {
        const char* list = std::getenv(variable);
        std::string rest = list == nullptr ? "" : list;
        while (!rest.empty()) {
            const size_t end = std::min(rest.find(':'), rest.size());
            if (end > 0) options.search.emplace_back(rest.substr(0, end));
            rest.erase(0, end + 1);
        }
    }
    return options;
}

}  // namespace

SdfScene read_sdf(const XmlDocument& document, const std::string& text, const ImportOptions& given,
                  Warnings& warnings) {
    const ImportOptions options = with_folders_of_gazebo(given);
    static std::mutex library;  // which shares its log and its description of the format
    const std::lock_guard<std::mutex> lock(library);
    Warnings known;  // the document has told of them
    const std::unique_ptr<const SdfFile> file =
        load_sdf(document, checked_xml_text(text, document.file(), &known), options, warnings);
    SdfScene out;
    const sdf::Root& root = file->root;
    if (root.WorldCount() > 1)
        warnings.add(file->place(root.WorldByIndex(1)->Element()), "a second world is left out", "keep one");
    if (root.WorldCount() > 0) {
        read_world(*root.WorldByIndex(0), *file, options, warnings, out);
    } else if (const sdf::Model* model = root.Model()) {
        const Transform<double> X = sdf_pose(*model, *file, warnings);
        out.models.push_back(SdfReader(options, warnings)
                                 .read({*file, *model, X, X, "", model->Name(), model->Static(), false}));
    } else {
        document.root().fail("has neither a <model> nor a <world>", "add one");
    }
    return out;
}

}  // namespace costate
