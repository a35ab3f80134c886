// The intermediate form of an MJCF model, between XML and scene: names are assigned, units are SI, defaults
// are applied.
#pragma once

#include <algorithm>
#include <array>
#include <set>

#include "core/model/model.hpp"
#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"
#include "scenes/import/mesh/solid.hpp"
#include "scenes/import/mjcf/mjcf_compiler.hpp"

namespace costate {

enum class MjcfJointType { free, ball, slide, hinge };

struct MjcfJoint {
    XmlElement element;
    std::string name;
    MjcfJointType type = MjcfJointType::hinge;
    Vec3<double> pos = Vec3<double>::Zero(), axis = Vec3<double>::UnitZ();  // in the body
    // MuJoCo's coordinates at which costate's coordinate is 0, and at which springs are at rest
    double ref = 0, springref = 0;
    // limits, damping, ... with the keys of a scene
    Json properties;
    std::optional<std::pair<double, double>> range = {};       // "range" in MuJoCo's coordinate; rad or m
    double force_lower = -unlimited, force_upper = unlimited;  // of its actuators, N m or N
    // added by set_base: not in the file and its keyframes
    bool added = false;
    bool locked() const { return properties.contains("locked"); }
};

// A vertex v of the file or of "vertex" is at scale R^T (v - p) in the geom, with p = refpos and R the
// rotation of refquat.
struct MjcfMesh {
    XmlElement element;
    Vec3<double> scale = Vec3<double>::Ones(), refpos = Vec3<double>::Zero();
    Quaternion<double> refquat = Quaternion<double>::identity();
    std::vector<Vec3<double>> vertices = {};         // if there is no file
    std::vector<std::array<int, 3>> triangles = {};  // of these vertices; empty: those of their hull
    MeshInertia inertia = MeshInertia::legacy;
    int most_vertices = std::numeric_limits<int>::max();  // most vertices of its hull
    bool left_out = false;  // made by a plugin or by the compiler, which is not supported: no vertices
};

struct MjcfGeom {
    XmlElement element;
    std::string name;
    MjcfPose pose;  // in the body
    // with the keys of a scene, without name and pose; null: not supported
    Json shape;
    // of further hulls of a mesh, which are as the shape otherwise: name, vertices
    std::vector<std::pair<std::string, Json>> hulls = {};
    Json rgba = nullptr;                        // null: default colour
    std::int64_t contype = 1, conaffinity = 1;  // 32 bits each
    int condim = 3;
    std::array<double, 3> friction{1, 0.005, 0.0001};  // sliding; torsional and rolling, m
    // Mass properties, if the geom contributes to the inertia of its body: a solid of given density, kg/m^3,
    // or mass, kg
    bool counts = false;
    Solid solid = {};
    const MjcfMesh* mesh = nullptr;  // mesh whose solid gives the mass
    bool shell = false;              // overrides "inertia" of the mesh
    double density = 1000;
    std::optional<double> mass = {};
    bool paired = false;  // named by a <pair>
    bool visual() const { return contype == 0 && conaffinity == 0 && !paired; }
};

struct MjcfSite {
    XmlElement element;
    std::string name;
    MjcfPose pose;  // in the body
    Json zone;      // its shape, as "zone" of a sensor
};

// An <attach> in a body: the frame in which the other model lies, and what <replicate> appends to its names.
struct MjcfAttachment {
    XmlElement element;
    MjcfPose frame;
    std::string suffix;
    size_t order;  // in the file
};

struct MjcfBody {
    XmlElement element;
    std::string name;
    int parent = -1;
    MjcfPose pose = {}, world = {};  // in the parent and in the world, in the reference configuration
    std::vector<MjcfJoint> joints = {};
    std::vector<MjcfGeom> geoms = {};
    std::vector<MjcfSite> sites = {};
    std::vector<MjcfAttachment> attachments = {};
    double gravcomp = 0;  // share of its weight that it does not feel
    MassProperties<double> mass = MassProperties<double>::zero();
    XmlElement mass_element;  // <inertial>, otherwise the <body>: the place of faults of the mass
    // principal axes in the body, where the file gives them: of <inertial>, or of the body's only geom
    std::optional<Quaternion<double>> principal = {};
};

// The features that <flag> of <option> leaves enabled.
struct MjcfFlags {
    bool contact = true, limit = true, frictionloss = true, equality = true;
    bool spring = true, damper = true, gravity = true;
    bool actuation = true, clampctrl = true;      // actuators; ranges of their controls
    bool pairs = true, other_contacts = true;     // contacts of <pair>; those of groups
    bool medium = false;                          // drags the bodies
    std::set<std::int64_t> disabled_groups = {};  // of actuators
};

// Bodies and joints by name, for references.
class MjcfIndex {
public:
    // `incomplete`: some names of the file do not exist, because parts of it are left out or replicated
    MjcfIndex(const std::vector<MjcfBody>& bodies, bool incomplete);
    bool incomplete() const { return incomplete_; }
    // The reference of an element to a name that does not exist for this reason
    std::optional<XmlAttribute> left_out(const MjcfAttributes& a) const;
    const MjcfBody& body(const XmlAttribute& name) const;  // these fail if the name is unknown
    const MjcfJoint& joint(const XmlAttribute& name) const;
    const MjcfJoint& one_dof_joint(const XmlAttribute& name) const;
    std::pair<const MjcfBody*, const MjcfSite*> site(const XmlAttribute& name) const;
    std::pair<const MjcfBody*, const MjcfGeom*> geom(const XmlAttribute& name) const;

    const std::vector<MjcfBody>& bodies;

private:
    template <class Item> const MjcfBody& owner(const Item& item, std::vector<Item> MjcfBody::*items) const {
        return *std::ranges::find_if(bodies, [&](const MjcfBody& body) {
            const std::vector<Item>& all = body.*items;
            return !all.empty() && &item >= all.data() && &item < all.data() + all.size();
        });
    }
    std::map<std::string, const MjcfBody*> by_body_;
    std::map<std::string, const MjcfJoint*> by_joint_;
    std::map<std::string, const MjcfSite*> by_site_;
    std::map<std::string, const MjcfGeom*> by_geom_;
    bool incomplete_;
};

// Adds a site to a body of the model, which is not the world. Returns its name: the given one, with underscores
// if the file has it.
std::string put_site(ImportedModel& out, const MjcfIndex& index, const MjcfBody& body, std::string name,
                     const MjcfPose& pose);

// Context for reading bodies.
struct MjcfContext {
    const MjcfFiles& files;
    const MjcfCompiler& compiler;
    const MjcfDefaults& defaults;
    const MjcfFlags flags;
    Warnings& warnings;
    HullLimits hull_limits;
    ContactLaw law;                         // of contact, of the world that takes the model
    std::map<std::string, Json> materials;  // rgba
    std::map<std::string, MjcfMesh> meshes;
    std::map<std::string, Json> hfields;              // as shapes
    std::set<std::string> paired;                     // geoms that a <pair> names
    std::map<std::string, XmlAttribute> models = {};  // files of <model> assets
};

void read_assets(MjcfContext& context);
void read_height_field(MjcfContext& context, const XmlElement& e);
// The file of a mesh or a height field; empty: not found
std::filesystem::path find_asset(const MjcfContext& context, const XmlAttribute& name);

// Mesh assets: their name, the asset that an attribute names, the pose of the mesh in its geom, and its shapes
// with the keys of a scene (none: no file).
std::string mesh_name(const XmlElement& mesh);  // "name", or that of its file; may be empty
const MjcfMesh& find_mesh_asset(const MjcfContext& context, const XmlAttribute& name);
MjcfPose mesh_pose(const MjcfMesh& mesh);
std::vector<Json> mesh_shapes(const MjcfContext& context, const MjcfMesh& mesh, bool visual);
// Mass properties of a scaled mesh at density 1, in the frame of the mesh
MassProperties<double> mesh_solid(const MjcfContext& context, const MjcfMesh& mesh, MeshInertia kind);

// The size (as in MJCF) of a geom of another type that is fitted to a mesh, and the pose of its frame in that of the
// mesh: the mesh's principal axes at its centre of mass, the longest last. Nothing if there is no file.
struct MjcfFit {
    Vec3<double> size;
    MjcfPose pose;
};
std::optional<MjcfFit> fit_to_mesh(const MjcfContext& context, const MjcfMesh& mesh, MeshInertia kind,
                                   ShapeType type);

// The world first, then bodies in the order of the file.
std::vector<MjcfBody> read_bodies(const MjcfContext& context);
MjcfJoint read_mjcf_joint(const MjcfContext& context, const MjcfAttributes& a);
MjcfGeom read_mjcf_geom(const MjcfContext& context, const MjcfAttributes& a);

// Sets the mass of each body from its <inertial> or its geoms, according to the compiler's options.
void set_masses(const MjcfContext& context, std::vector<MjcfBody>& bodies);

// Names unnamed things after their body. Equal names of one kind are an error.
void settle_names(std::vector<MjcfBody>& bodies);

// Makes the root fixed (locks its free joint) or floating (adds a free joint), if the caller asks for it.
void set_base(Base base, std::vector<MjcfBody>& bodies);

// The "margin" of a geom or a pair, m. "gap" is without effect on forces, as in MuJoCo since 3.9.
double contact_margin(const MjcfContext& context, const MjcfAttributes& a);
// Writes the attributes solref and solimp under their names in models, with a prefix, unless they are MuJoCo's
// defaults. They take part in scenes with MuJoCo's law of contact; a warning says so.
void put_softness(const MjcfContext& context, const MjcfAttributes& a, const char* solref, const char* solimp,
                  const std::string& prefix, Json& out);

// Sets groups and masks so that two geoms collide if (contype of one & conaffinity of the other) != 0 in
// either order. With contacts disabled, no geoms collide.
void set_groups(const MjcfFlags& flags, std::vector<MjcfBody>& bodies);

// Writes the condim of shapes, and torsional and rolling friction if any contact of the file has them.
void put_friction(std::vector<MjcfBody>& bodies);

// The value of "limited" and similar attributes; by default, true if there is a range and autolimits is set.
bool is_limited(const MjcfAttributes& a, const char* limited, const char* range,
                const MjcfCompiler& compiler);
std::pair<double, double> read_mjcf_range(const XmlAttribute& a);
// A limit pushes where less than its "margin" is left, and towards it: moves the ends by it. A margin that leaves no
// range gives a warning.
void keep_margin(const MjcfContext& context, const MjcfAttributes& a, double& lower, double& upper);

// Writes the bodies into the model.
void put_bodies(const std::vector<MjcfBody>& bodies, ImportedModel& out);
// Writes the boxes by which the medium drags the bodies, where the file gives their axes.
void put_drag_boxes(const std::vector<MjcfBody>& bodies, ImportedModel& out);

// The actuators in the order of MuJoCo's ctrl. Those that are activated have a number in its act, in the same order.
struct MjcfControl {
    std::string name;  // empty: not supported
    bool activated = false;
};
using MjcfControls = std::vector<MjcfControl>;

// Appends to a list of the model and records the source of the item.
void put_item(ImportedModel& out, const char* list, const XmlElement& from, const Json& item);

// The other sections
void read_actuators(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out,
                    MjcfControls& controls);
void read_equalities(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out);
void read_sensors(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out);
// <contact>: excluded pairs of bodies, and pairs of geoms with parameters of their own
void read_contacts(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out);
std::set<std::string> paired_geoms(const MjcfFiles& files);
MjcfFlags read_flags(const MjcfFiles& files, Warnings& warnings);
void read_option(const MjcfContext& context, const Json& actuators, Json& scene);
void put_keyframes(const MjcfContext& context, const MjcfIndex& index, const MjcfControls& controls,
                   ImportedModel& out);

}  // namespace costate
