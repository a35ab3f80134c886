#include "scenes/import/mjcf/mjcf_tendon.hpp"

#include <algorithm>

#include "scenes/import/mjcf/mjcf_names.hpp"

namespace costate {
namespace {

std::vector<XmlElement> fixed_tendons(const MjcfContext& context) {
    std::vector<XmlElement> out;
    for (const XmlElement& section : context.files.children(context.files.root(), "tendon"))
        for (const XmlElement& e : context.files.children(section, "fixed"))
            out.push_back(e);
    return out;
}

struct TendonTerm {
    const MjcfJoint* joint;
    double coefficient;
};

// The joints of a tendon; none if it runs over one without an axis or over one that is left out.
std::vector<TendonTerm> terms_of(const MjcfContext& context, const MjcfIndex& index, const XmlElement& e) {
    std::vector<TendonTerm> out;
    for (const XmlElement& term : context.files.children(e, "joint")) {
        if (index.left_out(MjcfAttributes(term, {}))) return {};
        const MjcfJoint& joint = index.joint(term["joint"]);
        if (joint.type == MjcfJointType::free || joint.type == MjcfJointType::ball) return {};
        out.push_back({&joint, term["coef"].number()});
    }
    return out;
}

void warn_of_the_rest(const MjcfContext& context, const MjcfAttributes& a) {
    const auto nonzero = [&](const char* name) {
        const auto given = a.find(name);
        return given && given->numbers(1, 3)[0] != 0;
    };
    const bool limited = is_limited(a, "limited", "range", context.compiler);
    for (const char* name : {"frictionloss", "armature"})
        if (nonzero(name))
            context.warnings.add(a.find(name)->place(), std::string(name) + " of a tendon is not supported",
                                 "give it to the joints");
    if (limited && context.flags.limit)
        a.element().warn(context.warnings, "has limits, which are not supported", "limit the joints");
}

// Writes the spring and the damper. reference: the length in the reference configuration; offset: MuJoCo's
// length minus costate's.
void put_spring(const MjcfContext& context, const MjcfAttributes& a, double reference, double offset,
                Json& tendon) {
    if (const double damping = a.nonnegative_or("damping", 0); damping > 0 && context.flags.damper)
        tendon["damping"] = damping;
    const double stiffness = a.nonnegative_or("stiffness", 0);
    if (!(stiffness > 0) || !context.flags.spring) return;
    tendon["stiffness"] = stiffness;
    std::vector<double> lengths{-1};
    if (const auto given = a.find("springlength")) lengths = given->numbers(1, 2);
    double lower = lengths.front() - offset, upper = lengths.back() - offset;
    if (lengths.front() == -1 && lengths.back() == -1) lower = upper = reference;
    if (lower > upper)
        a.find("springlength")->fail("has its lower length above its upper one", "swap the two");
    if (lower != 0) tendon["rest"] = lower;
    if (upper > lower) tendon["slack"] = upper - lower;
}

}  // namespace

void read_tendons(const MjcfContext& context, const MjcfIndex& index, ImportedModel& out) {
    for (const XmlElement& section : context.files.children(context.files.root(), "tendon"))
        for (const XmlElement& e : context.files.children(section))
            if (e.name() != "fixed")
                e.warn(context.warnings, "in <tendon> is not supported and is ignored", "use a fixed tendon");
    for (const XmlElement& e : fixed_tendons(context)) {
        Json joints = Json::array();
        for (const TendonTerm& term : terms_of(context, index, e))
            if (!term.joint->locked())
                joints.push_back({{"joint", term.joint->name}, {"coefficient", term.coefficient}});
        if (joints.empty() || !e.has("name")) {
            e.warn(context.warnings,
                   "in <tendon> runs over no hinge or slide, or has no name, and is ignored",
                   "name it and its joints");
            continue;
        }
        const MjcfAttributes a = context.defaults.attributes(e);
        warn_of_the_rest(context, a);
        Json tendon{{"name", e["name"].text()}, {"joints", joints}};
        put_spring(context, a, 0, tendon_offset(context, index, e["name"].text()), tendon);
        put_item(out, "tendons", e, tendon);
    }
}

bool has_tendon(const ImportedModel& model, const std::string& name) {
    const auto tendons = model.model.find("tendons");
    return tendons != model.model.end() &&
           std::ranges::any_of(*tendons, [&](const Json& tendon) { return tendon["name"] == name; });
}

double tendon_offset(const MjcfContext& context, const MjcfIndex& index, const std::string& name) {
    double offset = 0;
    for (const XmlElement& e : fixed_tendons(context))
        if (e.text_or("name", "") == name)
            for (const TendonTerm& term : terms_of(context, index, e))
                offset += term.coefficient * term.joint->ref;
    return offset;
}

}  // namespace costate
