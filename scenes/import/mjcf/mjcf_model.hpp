// A model in MJCF's terms, between its XML and the scene that it becomes: names are settled, units are SI,
// defaults are in place.
#pragma once

#include "core/model/model.hpp"
#include "scenes/import/import_options.hpp"
#include "scenes/import/imported_model.hpp"
#include "scenes/import/mesh/mesh_mass.hpp"
#include "scenes/import/mjcf/mjcf_compiler.hpp"
#include "scenes/import/mjcf/mjcf_geometry.hpp"

namespace costate {

enum class MjcfJointType { free, ball, slide, hinge };

struct MjcfJoint {
    XmlElement element;
    std::string name;
    MjcfJointType type = MjcfJointType::hinge;
    Vec3<double> pos = Vec3<double>::Zero(), axis = Vec3<double>::UnitZ();  // in the body
    // MuJoCo's coordinate where ours is 0
    double ref = 0;
    // limits, damping, ... as a scene says them
    Json properties;
    std::optional<std::pair<double, double>> range = {};  // of MuJoCo's coordinate, limit or not; rad or m
    double force_lower = -unlimited, force_upper = unlimited;  // of its actuators, N m or N
    // not of the file, nor in its keyframes
    bool added = false;
    bool locked() const { return properties.contains("locked"); }
};

// A vertex v of the file, or of the text, is at scale R^T (v - p) in a geom, with refpos p and the rotation R
// of refquat.
struct MjcfMesh {
    XmlElement element;
    Vec3<double> scale = Vec3<double>::Ones(), refpos = Vec3<double>::Zero();
    Quaternion<double> refquat = Quaternion<double>::identity();
    std::vector<Vec3<double>> vertices = {};         // where there is no file
    std::vector<std::array<int, 3>> triangles = {};  // of these, none: those of their hull
    MeshInertia inertia = MeshInertia::legacy;
    int most_vertices = std::numeric_limits<int>::max();  // of its hull
};

struct MjcfGeom {
    XmlElement element;
    std::string name;
    MjcfPose pose;  // in the body
    // as a scene says it, but for its name and place; null: it has no counterpart
    Json shape;
    Json rgba = nullptr;                        // null: none of its own
    std::int64_t contype = 1, conaffinity = 1;  // 32 bits each
    // What it weighs, if it counts for the inertia of its body: as a solid of this density, kg/m^3, or of
    // this mass, kg
    bool counts = false;
    Solid solid = {};
    const MjcfMesh* mesh = nullptr;  // a solid in its place
    bool shell = false;              // of the mesh, whatever that says itself
    double density = 1000;
    std::optional<double> mass = {};
    bool visual() const { return contype == 0 && conaffinity == 0; }
};

struct MjcfSite {
    XmlElement element;
    std::string name;
    MjcfPose pose;  // in the body
};

struct MjcfBody {
    XmlElement element;
    std::string name;
    int parent = -1;
    MjcfPose pose = {}, world = {};  // in the parent and in the world, with all joints at their reference
    std::vector<MjcfJoint> joints = {};
    std::vector<MjcfGeom> geoms = {};
    std::vector<MjcfSite> sites = {};
    MassProperties<double> mass = MassProperties<double>::zero();
    XmlElement mass_element;  // that gives the mass
};

// What <flag> of <option> leaves switched on.
struct MjcfFlags {
    bool contact = true, limit = true, frictionloss = true, equality = true;
    bool spring = true, damper = true, gravity = true;
    bool actuation = true, clampctrl = true;  // actuators, and the ranges of their controls
};

// What has been named, to be found by whoever refers to it.
class MjcfIndex {
public:
    explicit MjcfIndex(const std::vector<MjcfBody>& bodies);
    const MjcfBody& body(const XmlAttribute& name) const;  // these fail if there is none
    const MjcfJoint& joint(const XmlAttribute& name) const;
    const MjcfJoint& one_dof_joint(const XmlAttribute& name) const;

    const std::vector<MjcfBody>& bodies;

private:
    std::map<std::string, const MjcfBody*> by_body_;
    std::map<std::string, const MjcfJoint*> by_joint_;
};

// What bodies are read with.
struct MjcfContext {
    const MjcfFiles& files;
    const MjcfCompiler& compiler;
    const MjcfDefaults& defaults;
    const MjcfFlags flags;
    Warnings& warnings;
    std::vector<std::filesystem::path> search;  // folders that meshes may lie in or below
    int hull_vertices;                          // at most, of a hull
    std::map<std::string, Json> materials;      // rgba
    std::map<std::string, MjcfMesh> meshes;
    std::map<std::string, Json> hfields;  // as shapes
};

void read_assets(MjcfContext& context);

// The mesh that an attribute names, where its own frame is in its geom's, and what it is in a scene (null:
// there is no file).
std::string mesh_name(const XmlElement& mesh);  // its own, or that of its file; may be empty
const MjcfMesh& find_mesh_asset(const MjcfContext& context, const XmlAttribute& name);
MjcfPose mesh_pose(const MjcfMesh& mesh);
Json mesh_shape(const MjcfContext& context, const MjcfMesh& mesh, bool visual);
// What a mesh at scale weighs at density 1, in its own frame
MassProperties<double> mesh_solid(const MjcfContext& context, const MjcfMesh& mesh, MeshInertia kind);

// The world first, then bodies in the order of the text.
std::vector<MjcfBody> read_bodies(const MjcfContext& context);
MjcfJoint read_mjcf_joint(const MjcfContext& context, const MjcfAttributes& a);
MjcfGeom read_mjcf_geom(const MjcfContext& context, const MjcfAttributes& a);

// Mass of each body, from its <inertial> or its geoms, as the compiler's options have it.
void set_masses(const MjcfContext& context, std::vector<MjcfBody>& bodies);

// Names for what has none, after its body; two of one kind with the same name are an error.
void settle_names(std::vector<MjcfBody>& bodies);

// A root that the caller wants to be fixed or to float: locks its free joint, or gives it one.
void set_base(Base base, std::vector<MjcfBody>& bodies);

// Warns of what says how hard constraints are (solref, solimp, ...), if it is not what MuJoCo takes without a
// word.
void warn_of_softness(const MjcfContext& context, const MjcfAttributes& a);

// Groups and masks that let two geoms meet where (contype of one & conaffinity of the other) is not 0 either
// way round; none do where contacts are switched off.
void set_groups(const MjcfFlags& flags, std::vector<MjcfBody>& bodies);

// "limited" and its like: by itself, or by whether there is a range and autolimits.
bool is_limited(const MjcfAttributes& a, const char* limited, const char* range,
                const MjcfCompiler& compiler);
std::pair<double, double> read_mjcf_range(const XmlAttribute& a);

// What MJCF becomes: a model and the world around it.
void put_bodies(const std::vector<MjcfBody>& bodies, ImportedModel& out);

// The name of each actuator, in the order of MuJoCo's ctrl; empty where it has no counterpart.
using MjcfControls = std::vector<std::string>;

// Appends to a list of the model, and notes where it came from.
void put_item(ImportedModel& out, const char* list, const XmlElement& from, const Json& item);

// The other sections
void read_actuators(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out,
                    MjcfControls& controls);
void read_equalities(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out);
void read_excludes(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out);
MjcfFlags read_flags(const MjcfFiles& files, Warnings& warnings);
void read_option(const MjcfContext& context, Json& scene);
void put_keyframes(const MjcfContext& context, const std::vector<MjcfBody>& bodies,
                   const MjcfControls& controls, ImportedModel& out);

}  // namespace costate
