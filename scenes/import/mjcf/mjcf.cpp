#include "scenes/import/mjcf/mjcf.hpp"

#include <algorithm>

#include "scenes/import/mjcf/mjcf_attach.hpp"
#include "scenes/import/mjcf/mjcf_tendon.hpp"

namespace costate {
namespace {

// Sections that are read, or that do not affect the motion
constexpr std::initializer_list<const char*> read_sections = {
    "compiler", "option",   "default", "asset",  "worldbody", "contact", "equality", "actuator",
    "tendon",   "keyframe", "size",    "visual", "statistic", "custom",  "sensor",   "include"};

constexpr std::string_view parts_of_bodies[] = {"body", "frame",    "joint", "freejoint",
                                                "geom", "inertial", "site",  "replicate"};

void warn_sections(const MjcfContext& context) {
    for (const XmlElement& section : context.files.children(context.files.root())) {
        if (std::find(read_sections.begin(), read_sections.end(), section.name()) != read_sections.end())
            continue;
        if (std::ranges::find(parts_of_bodies, section.name()) != std::end(parts_of_bodies)) {
            section.warn(context.warnings, "outside of <worldbody> is ignored",
                         "name a file that includes this one");
            continue;
        }
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

constexpr int max_attach_depth = 20;
constexpr size_t max_attached_bodies = 100000;

// outer: of the file that attaches this one, whose <option> is not read
ImportedModel import_nested(const XmlDocument& document, const ImportOptions& options, const MjcfFlags* outer,
                            Warnings& warnings, int depth);

// Adds the models that bodies attach, in the order of the file; each file is read once.
void read_attachments(const MjcfContext& context, const ImportOptions& options,
                      const std::vector<MjcfBody>& bodies, int depth, ImportedModel& out) {
    std::map<size_t, std::pair<const MjcfBody*, const MjcfAttachment*>> in_order;
    for (const MjcfBody& body : bodies)
        for (const MjcfAttachment& attachment : body.attachments)
            in_order[attachment.order] = {&body, &attachment};
    std::map<std::string, ImportedModel> read;
    for (const auto& [order, attached] : in_order) {
        const auto& [body, attachment] = attached;
        const XmlAttribute name = attachment->element["model"];
        const auto model = context.models.find(name.word());
        if (model == context.models.end())
            name.fail("is not a <model> among the assets", "correct it or add the <model>");
        if (depth == max_attach_depth) name.fail("is attached 20 files deep", "attach fewer");
        if (!read.contains(name.word())) {
            ImportOptions inner = options;
            inner.base = Base::automatic;
            const XmlDocument document = read_xml(context.files.find(model->second), &context.warnings);
            read[name.word()] = import_nested(document, inner, &context.flags, context.warnings, depth + 1);
        }
        attach_model(read[name.word()], *attachment, body->name, out);
        if (out.model["bodies"].size() > max_attached_bodies)
            attachment->element.fail("exceeds the 100000 bodies of a file", "use fewer");
    }
}

ImportedModel import_nested(const XmlDocument& document, const ImportOptions& options, const MjcfFlags* outer,
                            Warnings& warnings, int depth) {
    const std::filesystem::path file = document.file();
    const MjcfFiles files(document, options);
    const MjcfCompiler compiler = read_compiler(files, warnings);
    const MjcfDefaults defaults(files);
    MjcfContext context{files,
                        compiler,
                        defaults,
                        outer != nullptr ? *outer : read_flags(files, warnings),
                        warnings,
                        {options.hull_vertices, options.decompose},
                        options.law.value_or(ContactLaw::rigid),
                        {},
                        {},
                        {},
                        paired_geoms(files)};
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
    read_contacts(context, index, out);
    read_sensors(context, index, out);
    put_keyframes(context, index, controls, out);
    if (context.flags.medium) put_drag_boxes(bodies, out);
    read_attachments(context, options, bodies, depth, out);
    if (outer == nullptr) read_option(context, out.model.value("actuators", Json::array()), out.scene);
    return out;
}

}  // namespace

ImportedModel import_mjcf(const XmlDocument& document, const ImportOptions& options, Warnings& warnings) {
    return import_nested(document, options, nullptr, warnings, 0);
}

}  // namespace costate
