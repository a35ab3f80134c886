#include "scenes/import/mjcf/mjcf.hpp"

#include <algorithm>

#include "scenes/import/mjcf/mjcf_model.hpp"
#include "scenes/import/mjcf/mjcf_tendon.hpp"

namespace costate {
namespace {

// Sections that are read, or that do not affect the motion
constexpr std::initializer_list<const char*> read_sections = {
    "compiler", "option",   "default", "asset",  "worldbody", "contact", "equality", "actuator",
    "tendon",   "keyframe", "size",    "visual", "statistic", "custom",  "sensor",   "include"};

void warn_sections(const MjcfContext& context) {
    for (const XmlElement& section : context.files.children(context.files.root())) {
        if (std::find(read_sections.begin(), read_sections.end(), section.name()) != read_sections.end())
            continue;
        for (const XmlElement& e : context.files.children(section))
            e.warn(context.warnings, "in <" + section.name() + "> is not supported and is ignored",
                   "remove it to silence this");
    }
}

// True if names of a file are missing here: it has elements that make bodies and are not supported, or that
// rename them.
bool is_incomplete(const MjcfFiles& files, const XmlElement& element) {
    for (const XmlElement& child : files.children(element)) {
        const std::string kind = child.name();
        if (kind == "composite" || kind == "flexcomp" || kind == "attach" || kind == "replicate" ||
            is_incomplete(files, child))
            return true;
    }
    return false;
}

}  // namespace

ImportedModel import_mjcf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings) {
    const std::filesystem::path file = document.file();
    const MjcfFiles files(document, options.search);
    const MjcfCompiler compiler = read_compiler(files, warnings);
    const MjcfDefaults defaults(files);
    MjcfContext context{files,
                        compiler,
                        defaults,
                        read_flags(files, warnings),
                        warnings,
                        options.search,
                        options.hull_vertices,
                        {},
                        {},
                        {}};
    warn_sections(context);
    read_assets(context);
    std::vector<MjcfBody> bodies = read_bodies(context);
    set_base(options.base, bodies);
    settle_names(bodies);
    set_masses(context, bodies);
    set_groups(context.flags, bodies);
    put_friction(bodies);

    ImportedModel out;
    out.places[""] = document.root().place();
    out.model["name"] = document.root().text_or("model", file.stem().string());
    put_bodies(bodies, out);
    const bool no_joints =
        std::ranges::all_of(bodies, [](const MjcfBody& body) { return body.joints.empty(); });
    const MjcfIndex index(bodies, no_joints || is_incomplete(files, files.root()));
    MjcfControls controls;
    read_tendons(context, index, out);
    read_actuators(context, index, out, controls);
    read_equalities(context, index, out);
    read_excludes(context, index, out);
    read_sensors(context, index, out);
    put_keyframes(context, index, controls, out);
    read_option(context, out.scene);
    if (out.scene.contains("medium")) put_drag_boxes(bodies, out);
    return out;
}

}  // namespace costate
