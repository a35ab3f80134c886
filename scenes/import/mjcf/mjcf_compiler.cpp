#include "scenes/import/mjcf/mjcf_compiler.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace costate {
namespace {

// Options of MuJoCo's compiler that are read, or that do not affect the simulation.
constexpr std::initializer_list<const char*> compiler_keys = {
    "angle",        "autolimits",   "eulerseq",     "inertiafromgeom",   "balanceinertia",
    "boundmass",    "boundinertia", "settotalmass", "coordinate",        "meshdir",
    "assetdir",     "texturedir",   "strippath",    "inertiagrouprange", "discardvisual",
    "usethread",    "fusestatic",   "convexhull",   "exactmeshinertia",  "alignfree",
    "saveinertial", "conflict",     "fitaabb"};

void read_one(const XmlElement& e, MjcfCompiler& c) {
    if (const auto a = e.find("angle")) c.degrees = a->choice({"radian", "degree"}) == 1;
    if (const auto a = e.find("autolimits")) c.autolimits = a->boolean();
    if (const auto a = e.find("eulerseq")) {
        c.eulerseq = a->word();
        if (c.eulerseq.size() != 3 || c.eulerseq.find_first_not_of("xyzXYZ") != std::string::npos)
            a->fail("is not a sequence of axes", "write three of x, y, z, or of X, Y, Z for fixed axes");
    }
    if (const auto a = e.find("inertiafromgeom"))
        c.inertiafromgeom = static_cast<InertiaFromGeom>(a->choice({"false", "true", "auto"}));
    if (const auto a = e.find("balanceinertia")) c.balanceinertia = a->boolean();
    if (const auto a = e.find("exactmeshinertia")) c.exactmeshinertia = a->boolean();
    if (const auto a = e.find("boundmass")) c.boundmass = a->nonnegative();
    if (const auto a = e.find("boundinertia")) c.boundinertia = a->nonnegative();
    if (const auto a = e.find("settotalmass")) c.settotalmass = a->number();
    if (const auto a = e.find("inertiagrouprange")) {
        const std::vector<double> range = a->numbers(2);
        c.group_least = static_cast<int>(std::clamp(range[0], -1e9, 1e9));
        c.group_most = static_cast<int>(std::clamp(range[1], -1e9, 1e9));
    }
    if (const auto a = e.find("fitaabb")) c.fitaabb = a->boolean();
    if (const auto a = e.find("alignfree")) c.alignfree = a->boolean();
    if (const auto a = e.find("assetdir")) c.meshdir = a->text();
    if (const auto a = e.find("meshdir")) c.meshdir = a->text();
    if (const auto a = e.find("coordinate")) c.global = a->choice({"local", "global"}) == 1;
}

}  // namespace

double MjcfCompiler::angle(double x) const { return degrees ? x / 180 * std::numbers::pi : x; }

MjcfCompiler read_compiler(const MjcfFiles& files, Warnings& warnings) {
    MjcfCompiler c;
    for (const XmlElement& e : files.children(files.root(), "compiler")) {
        e.warn_others(warnings, compiler_keys, {"lengthrange"});
        // Numbers of the simulation that finds the lengths of muscles without a range: ours has none of them.
        if (const auto range = e.child("lengthrange"))
            range->warn_others(
                warnings, {"accel", "maxforce", "timeconst", "timestep", "inttotal", "interval", "tolrange"},
                {});
        read_one(e, c);
    }
    return c;
}

MjcfPose operator*(const MjcfPose& a, const MjcfPose& b) {
    return {a.p + rotation_matrix(a.q) * b.p, quaternion_product(a.q, b.q)};
}

MjcfPose inverse(const MjcfPose& a) {
    const Quaternion<double> back{a.q.w, -a.q.v};
    return {-(rotation_matrix(back) * a.p), back};
}

Quaternion<double> turn_of_z(const Vec3<double>& direction) {
    const Vec3<double> across = Vec3<double>::UnitZ().cross(direction);
    const double sine = across.norm(), angle = atan2(sine, direction.z());
    const Vec3<double> axis =
        sine < 1e-10 * direction.norm() ? Vec3<double>::UnitX() : Vec3<double>(across / sine);
    return quaternion_exp<double>(angle * axis);
}

Quaternion<double> mjcf_euler(const Vec3<double>& angles, const MjcfCompiler& c) {
    Quaternion<double> q = Quaternion<double>::identity();
    for (int k = 0; k < 3; ++k) {
        const char axis = c.eulerseq[k];
        const bool turning = axis >= 'x';
        const Quaternion<double> turn =
            quaternion_exp<double>(c.angle(angles[k]) * Vec3<double>::Unit(axis - (turning ? 'x' : 'X')));
        q = turning ? quaternion_product(q, turn) : quaternion_product(turn, q);
    }
    return q;
}

Quaternion<double> read_mjcf_orientation(const MjcfAttributes& attributes, const MjcfCompiler& c) {
    // The attribute of the innermost layer that has one of them
    std::optional<XmlAttribute> found;
    for (size_t i = attributes.layers().size(); i-- > 0 && !found;)
        for (const char* name : {"quat", "axisangle", "euler", "xyaxes", "zaxis"})
            if (const auto a = attributes.layers()[i].find(name)) {
                if (found) a->fail("gives the orientation a second time", "keep one of the two");
                found = a;
            }
    if (!found) return Quaternion<double>::identity();
    const XmlAttribute& a = *found;
    const auto direction = [&](const Vec3<double>& v) -> Vec3<double> {
        if (!(v.norm() > 1e-14)) a.fail("has no direction", "write an axis of any length but 0");
        return v.stableNormalized();
    };
    if (a.name() == "quat") {
        const std::vector<double> q = a.numbers(4);
        const double norm = Eigen::Map<const Eigen::Vector4d>(q.data()).stableNorm();
        if (!(norm > 1e-14) || !std::isfinite(norm))
            a.fail("has no direction", "write 1 0 0 0 for the identity");
        return {q[0] / norm, Vec3<double>(q[1], q[2], q[3]) / norm};
    }
    if (a.name() == "axisangle") {
        const std::vector<double> x = a.numbers(4);
        return quaternion_exp<double>(c.angle(x[3]) * direction({x[0], x[1], x[2]}));
    }
    if (a.name() == "euler") return mjcf_euler(a.vec3(), c);
    if (a.name() == "zaxis") return turn_of_z(direction(a.vec3()));
    const std::vector<double> two = a.numbers(6);
    Mat3<double> R;
    R.col(0) = direction({two[0], two[1], two[2]});
    const Vec3<double> y(two[3], two[4], two[5]);
    R.col(1) = direction(y - R.col(0).dot(y) * R.col(0));
    R.col(2) = R.col(0).cross(R.col(1));
    const Eigen::Quaterniond q(R);
    return {q.w(), q.vec()};
}

MjcfPose read_mjcf_pose(const MjcfAttributes& a, const MjcfCompiler& compiler) {
    return {a.vec3_or("pos", Vec3<double>::Zero()), read_mjcf_orientation(a, compiler)};
}

Json to_json(const Quaternion<double>& q) { return Json{q.w, q.v.x(), q.v.y(), q.v.z()}; }

void put_pose(Json& object, const MjcfPose& pose) {
    if (!pose.p.isZero(0)) object["position"] = to_json(pose.p);
    if (!pose.q.v.isZero(0)) object["quaternion"] = to_json(pose.q);
}

}  // namespace costate
