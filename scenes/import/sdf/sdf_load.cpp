#include "scenes/import/sdf/sdf_load.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <set>

#include "core/math/rotation.hpp"
#include "scenes/format/files.hpp"
#include "scenes/format/names.hpp"
#include "scenes/import/mesh/mesh_path.hpp"
#include "scenes/import/sdf/sdf_fault.hpp"
#include "scenes/import/sdf/text_editor.hpp"
#include "scenes/import/xml/xml_text.hpp"

namespace costate {
namespace {

constexpr int deepest_include = 20, most_includes = 2000;
// What stands for an <include> in the text that libsdformat reads; of one that is left out, without a number
constexpr const char* included = "costate include ";

// libsdformat writes its messages also into a file below $HOME, and says so on std::cerr where that fails.
void silence_library() {
    static std::once_flag once;
    std::call_once(once, [] {
        std::streambuf* const own = std::cerr.rdbuf(nullptr);
        sdf::Console::Instance()->SetQuiet(true);
        std::cerr.rdbuf(own);
        std::cerr.clear();
    });
}

sdf::SDFPtr empty_document() {
    static const sdf::SDFPtr description = [] {
        auto out = std::make_shared<sdf::SDF>();
        sdf::init(out);
        return out;
    }();
    auto out = std::make_shared<sdf::SDF>();
    out->Root(description->Root()->Clone());
    return out;
}

size_t index_of(const sdf::NestedInclude& nested) {
    return std::stoul(nested.Uri().substr(std::string_view(included).size()));
}

ignition::math::Pose3d to_pose(const Transform<double>& X) {
    const Eigen::Quaterniond q(X.R);
    return {X.p.x(), X.p.y(), X.p.z(), q.w(), q.x(), q.y(), q.z()};
}

// Removes what the motion does not depend on, so that its faults are none.
void keep_what_moves(const sdf::ElementPtr& element) {
    for (sdf::ElementPtr child = element->GetFirstElement(); child != nullptr;) {
        const sdf::ElementPtr next = child->GetNextElement();
        const std::string name = child->GetName();
        const bool pictures = element->GetName() == "material" && name != "diffuse";
        if (pictures || name == "sensor" || name == "plugin" || name == "light" || name == "actor" ||
            name == "particle_emitter" || name == "projector" || name == "gui" || name == "scene" ||
            name == "audio" || name == "spherical_coordinates" || name == "atmosphere")
            element->RemoveChild(child);
        else
            keep_what_moves(child);
        child = next;
    }
}

// The files of a model and of what it includes.
class SdfLoader {
public:
    SdfLoader(const ImportOptions& options, Warnings& warnings) : warnings_(warnings), options_(options) {}

    std::unique_ptr<SdfFile> load(const XmlDocument& document, const std::string& text, int depth) {
        auto file = std::make_unique<SdfFile>();
        file->name = document.file();
        file->folder = std::filesystem::path(document.file()).parent_path();
        const XmlElement root = document.root();
        if (root.name() != "sdf")
            root.fail("is not the root element of SDFormat", "begin the file with <sdf version=\"1.9\">");
        TextEditor editor(text);
        editor.next();
        const std::string version = root["version"].word();
        file->scoped_names = minor_of(version) >= 8;
        if (is_later(root["version"])) editor.set_attribute("version", "1.9");
        edit(root, *file, editor, depth, {}, {});
        read(editor.text(), root, *file);
        return file;
    }

private:
    static int minor_of(const std::string& version) {
        return version.starts_with("1.") ? std::atoi(version.c_str() + 2) : 0;
    }
    // True for a version above 1.9, the last one that libsdformat 12 knows.
    bool is_later(const XmlAttribute& version) {
        const std::string text = version.word();
        if (minor_of(text) < 10) return false;
        warnings_.note(version.place(), "SDFormat " + text + " is read as version 1.9", "none is needed");
        return true;
    }

    // Names of a scope that an <include merge="true"> brings -> the name of its model, in which libsdformat finds
    // them
    using Merged = std::map<std::string, std::string>;

    // Edits what is in an element, whose start tag is the editor's: the URI of each <include> becomes its index,
    // after its file is loaded. `around` and `merged`: names of the scopes of the element and of what is in it.
    void edit(const XmlElement& parent, SdfFile& file, TextEditor& editor, int depth, const Merged& around,
              const Merged& merged) {
        std::vector<std::pair<XmlElement, size_t>> loaded;  // includes of this element, and their indices
        Merged own = merged;
        const bool scope = parent.name() == "model";
        if (scope) own.clear();
        for (const XmlElement& child : parent.children("include")) {
            const auto uri = child.child("uri");
            if (!uri || !add_include(*uri, file, depth)) continue;
            loaded.emplace_back(child, file.includes.size() - 1);
            SdfInclude& include = file.includes.back();
            include.merged = child.text_or("merge", "false") == "true" || child.text_or("merge", "0") == "1";
            if (!include.merged) continue;
            const auto given = child.child("name");
            const sdf::Model& model = *include.file->root.Model();
            for (const std::string& name : names_of_parts(*include.file, model))
                own.emplace(name, given ? given->text() : model.Name());
        }
        std::set<std::pair<std::string, std::string>> names;
        for (const XmlElement& child : parent.children()) {
            editor.next();
            note_names(child, file);
            const std::string tag = child.name();
            // the pose of a model is one of the scope around it
            rename_references(parent, child, editor, scope && tag == "pose" ? around : own);
            if (parent.name() == "link" && child.has("name")) {  // two of one name are two
                std::string name = child["name"].text();
                while (!names.emplace(tag, name).second)
                    name += "_";
                if (name != child["name"].text()) editor.set_attribute("name", name);
            }
            if ((tag == "mu" || tag == "mu2") && child.text().starts_with('-')) {
                warnings_.add(child.place(), "a negative coefficient of friction is read as 100",
                              "write the coefficient");
                editor.set_text("100");
            }
            const auto include = std::ranges::find(loaded, child, &std::pair<XmlElement, size_t>::first);
            if (tag == "include" && child.has("merge")) editor.set_attribute("merge", "false");
            if (tag == "plugin")
                skip_tags(child, editor);
            else if (tag == "include")
                edit_include(child, editor, own,
                             include == loaded.end() ? "" : std::to_string(include->second));
            else
                edit(child, file, editor, depth, scope ? own : around, own);
        }
    }

    static void edit_include(const XmlElement& include, TextEditor& editor, const Merged& merged,
                             const std::string& index) {
        for (const XmlElement& child : include.children()) {
            editor.next();
            rename_references(include, child, editor, merged);
            if (child.name() == "uri") editor.set_text(included + index);
            skip_tags(child, editor);
        }
    }
    static void skip_tags(const XmlElement& parent, TextEditor& editor) {
        for (const XmlElement& child : parent.children()) {
            editor.next();
            skip_tags(child, editor);
        }
    }

    // Names that other elements may refer to.
    static std::vector<std::string> names_of_parts(const SdfFile& file, const sdf::Model& model) {
        std::vector<std::string> names;
        for (uint64_t k = 0; k < model.LinkCount(); ++k)
            names.push_back(model.LinkByIndex(k)->Name());
        for (uint64_t k = 0; k < model.JointCount(); ++k)
            names.push_back(model.JointByIndex(k)->Name());
        for (uint64_t k = 0; k < model.FrameCount(); ++k)
            names.push_back(model.FrameByIndex(k)->Name());
        for (uint64_t k = 0; k < model.ModelCount(); ++k)
            names.push_back(model.ModelByIndex(k)->Name());
        for (uint64_t k = 0; k < model.InterfaceModelCount(); ++k) {
            const SdfInclude& inner = file.include(*model.InterfaceModelNestedIncludeByIndex(k));
            if (!inner.merged)
                names.push_back(model.InterfaceModelByIndex(k)->Name());
            else
                for (const std::string& name : names_of_parts(*inner.file, *inner.file->root.Model()))
                    names.push_back(name);
        }
        return names;
    }

    static void rename_references(const XmlElement& parent, const XmlElement& child, TextEditor& editor,
                                  const Merged& merged) {
        if (merged.empty()) return;
        const auto renamed = [&](const std::string& name) {
            const auto found = merged.find(name.substr(0, name.find("::")));
            return found == merged.end() ? name : found->second + "::" + name;
        };
        for (const char* reference : {"relative_to", "attached_to", "expressed_in"})
            if (const auto name = child.find(reference))
                editor.set_attribute(reference, renamed(name->text()));
        if (parent.name() == "joint" && (child.name() == "parent" || child.name() == "child"))
            editor.set_text(renamed(child.text()));
    }

    void note_names(const XmlElement& element, SdfFile& file) {
        if (element.name() == "inertial" && element.text_or("auto", "false") == "true")
            warnings_.add(element.place(), "an automatic <inertial> is not computed from the collisions",
                          "write mass and inertia");
        if (const auto name = element.find("name")) {
            file.lines.emplace(name->text(), element.line());
            if (file.scoped_names && element.name() != "plugin" &&
                name->text().find("::") != std::string::npos)
                name->fail("contains ::, which separates names", "rename it");
        }
        for (const char* reference : {"relative_to", "attached_to", "expressed_in", "placement_frame"})
            if (const auto name = element.find(reference))
                file.references.emplace(name->text(), element.line());
        if (element.name() == "joint" && element.has("type")) {
            std::string type = element["type"].text();  // of any case
            std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
            static constexpr std::initializer_list<const char*> types = {
                "revolute", "continuous", "prismatic", "ball",   "universal",
                "screw",    "fixed",      "revolute2", "gearbox"};
            if (std::ranges::find(types, type) == types.end()) element["type"].choice(types);
        }
        if (element.name() == "xyz" && element.text().find_first_of("123456789nN") == std::string::npos)
            element.fail("has no direction", "write for example 0 0 1");
    }

    // False: the include is left out.
    bool add_include(const XmlElement& uri, SdfFile& file, int depth) {
        const std::string name = uri.value().word();
        if (depth == deepest_include)
            uri.fail("\"" + name + "\" is more than " + std::to_string(deepest_include) + " files deep",
                     "files must not include themselves");
        std::filesystem::path path = find(uri, name, file);
        std::error_code error;
        if (is_far(name) && std::filesystem::equivalent(path, file.name, error)) path.clear();
        if (path.empty()) {
            const std::string last = name.substr(name.find_last_of('/') + 1);
            if (last == "sun" || last == "Sun") return false;
            warnings_.add(uri.place(), "an included model is left out, because there is no file",
                          "name the folder of its folder with --search", name);
            if (file.missing.empty())
                file.missing = uri.place() + ": there is no file for the included model \"" + name +
                               "\", which the file needs; name the folder of its folder with --search";
            return false;
        }
        if (++count_ > most_includes)
            uri.fail("is one of more than " + std::to_string(most_includes) + " includes", "use fewer");
        const std::string text = read_xml_text(path);
        const XmlDocument document(text, path.string(), &warnings_);
        std::unique_ptr<SdfFile> inner = load(document, checked_text(text, path), depth + 1);
        if (inner->root.Model() == nullptr) {
            const XmlElement root = document.root();
            if (!root.child("light") && !root.child("actor"))
                warnings_.add(uri.place(), "an included file has no <model> and is left out", "remove it",
                              name);
            return false;
        }
        file.includes.push_back({std::move(inner), uri.place()});
        return true;
    }

    std::string checked_text(const std::string& text, const std::filesystem::path& path) {
        Warnings known;  // the document has told of them
        return checked_xml_text(text, path.string(), &known);
    }

    static bool is_far(const std::string& name) {
        return name.starts_with("http://") || name.starts_with("https://");
    }

    // The file of an include; empty: not found.
    std::filesystem::path find(const XmlElement& uri, std::string name, const SdfFile& file) {
        if (is_far(name))  // a file of the same model
            name = "model://" + name.substr(name.find_last_of('/') + 1);
        while (name.ends_with('/'))
            name.pop_back();
        ImportOptions options = options_;
        std::error_code error;
        const std::filesystem::path beside = file.folder / "../models";  // of a folder of worlds
        if (std::filesystem::is_directory(beside, error)) options.search.push_back(beside);
        std::vector<std::string> names{name, name + "/model.config", name + "/model.sdf"};
        if (name.find("://") == std::string::npos && !std::filesystem::path(name).is_absolute())
            for (const char* end : {"/model.config", "/model.sdf"})  // the name of a model alone
                names.push_back("model://" + name + end);
        for (const std::string& each : names) {
            const MeshPath found = find_mesh(each, file.folder, options);
            if (!found.allowed)
                uri.fail("\"" + name + "\" leads out of the model's folder", "name its folder with --search");
            if (!found.known_scheme)
                uri.fail("\"" + name + "\" is not a path",
                         "use model://, file:// or a path from this folder");
            if (found.file.empty()) continue;
            if (found.file.filename() != "model.config") return found.file;
            const std::string best = best_model(found.file);
            const MeshPath model = find_mesh(best, found.file.parent_path(), options);
            if (!best.empty() && model.allowed && !model.file.empty()) return model.file;
        }
        return {};
    }

    // The file of the latest version that model.config names and libsdformat knows, or of the last one.
    std::string best_model(const std::filesystem::path& config) {
        const XmlDocument document = read_xml(config);
        std::pair<double, std::string> best{-1, ""};
        for (const XmlElement& sdf : document.root().children("sdf")) {
            const double version = std::atof(sdf.text_or("version", "1.0").substr(2).c_str());
            best = std::max(best, {version, sdf.text()});
        }
        return best.second;
    }

    void read(const std::string& text, const XmlElement& root, SdfFile& file) {
        sdf::ParserConfig config;
        config.SetWarningsPolicy(sdf::EnforcementPolicy::LOG);
        config.SetDeprecatedElementsPolicy(sdf::EnforcementPolicy::LOG);
        config.SetUnrecognizedElementsPolicy(sdf::EnforcementPolicy::ERR);
        config.SetFindCallback(
            [](const std::string& uri) { return uri.starts_with(included) && uri != included ? uri : ""; });
        config.RegisterCustomModelParser(
            [&](const sdf::NestedInclude& nested, sdf::Errors&) { return interface_of(nested, file); });
        const sdf::SDFPtr document = empty_document();
        sdf::Errors errors;
        try {
            const bool read = sdf::readString(text, config, document->Root(), errors);
            check_sdf(errors, file, warnings_);
            if (!read) root.fail("cannot be read by libsdformat", "check the elements of the file");
            keep_what_moves(document->Root());
            check_sdf(file.root.Load(document, config), file, warnings_);
        } catch (const SceneError&) {
            throw;
        } catch (const sdf::Exception& e) {  // of its assertions
            root.fail("cannot be read by libsdformat: " + what_failed(e.GetErrorStr()), "correct the file");
        } catch (const std::exception& e) {
            root.fail("cannot be read by libsdformat: " + without_end(e.what()), "correct the file");
        }
    }

    // What libsdformat sees of an included file. It takes the pose of the model from <include> alone: without
    // one, that of the model itself goes into the frames of its parts.
    sdf::InterfaceModelPtr interface_of(const sdf::NestedInclude& nested, SdfFile& file) {
        SdfInclude& include = file.includes[index_of(nested)];
        include.is_static = nested.IsStatic();
        const SdfFile& inner = *include.file;
        const sdf::Model& model = *inner.root.Model();
        const Transform<double> own = sdf_pose(model, inner, warnings_);
        const Transform<double> X = nested.IncludeRawPose() ? Transform<double>::identity() : own;
        const auto place = [&include, X](const sdf::InterfaceModelPoseGraph& graph) {
            ignition::math::Pose3d pose;
            graph.ResolveNestedModelFramePoseInWorldFrame(pose);
            include.X = compose(to_transform(pose), X);
        };
        return interface_of(inner, model, nested.LocalModelName().value_or(model.Name()), X, own, {}, place);
    }

    // `X`: of the model's frame, in the frame that libsdformat takes for it; `own`: of the model's frame in its
    // file
    sdf::InterfaceModelPtr interface_of(const SdfFile& file, const sdf::Model& model, const std::string& name,
                                        const Transform<double>& X, const Transform<double>& own,
                                        const ignition::math::Pose3d& pose,
                                        const sdf::RepostureFunction& place) {
        auto out =
            std::make_shared<sdf::InterfaceModel>(name, place, model.Static(), first_link(file, model), pose);
        add_parts(file, model, X, own, *out);
        return out;
    }

    void add_parts(const SdfFile& file, const sdf::Model& model, const Transform<double>& X,
                   const Transform<double>& own, sdf::InterfaceModel& out) {
        const auto in_model = [&](const auto& object) {
            return to_pose(compose(X, sdf_pose(object, file, warnings_, "__model__")));
        };
        for (uint64_t k = 0; k < model.LinkCount(); ++k)
            out.AddLink({model.LinkByIndex(k)->Name(), in_model(*model.LinkByIndex(k))});
        for (uint64_t k = 0; k < model.JointCount(); ++k) {
            const sdf::Joint& joint = *model.JointByIndex(k);
            std::string child;
            check_sdf(joint.ResolveChildLink(child), file, warnings_);
            out.AddJoint({joint.Name(), child, to_pose(sdf_pose(joint, file, warnings_, child))});
        }
        for (uint64_t k = 0; k < model.FrameCount(); ++k) {
            const sdf::Frame& frame = *model.FrameByIndex(k);
            std::string body;
            check_sdf(frame.ResolveAttachedToBody(body), file, warnings_);
            out.AddFrame({frame.Name(), body, to_pose(sdf_pose(frame, file, warnings_, body))});
        }
        const auto nothing = [](const sdf::InterfaceModelPoseGraph&) {};
        for (uint64_t k = 0; k < model.ModelCount(); ++k) {
            const sdf::Model& inner = *model.ModelByIndex(k);
            const Transform<double> at = sdf_pose(inner, file, warnings_, "__model__");
            out.AddNestedModel(interface_of(file, inner, inner.Name(), Transform<double>::identity(),
                                            compose(own, at), to_pose(compose(X, at)), nothing));
        }
        for (uint64_t k = 0; k < model.InterfaceModelCount(); ++k) {
            const SdfInclude& include = file.include(*model.InterfaceModelNestedIncludeByIndex(k));
            const Transform<double> at = compose(X, compose(inverse(own), include.X));
            if (include.merged) {
                add_parts(*include.file, *include.file->root.Model(), at, include.X, out);
                continue;
            }
            out.AddNestedModel(interface_of(*include.file, *include.file->root.Model(),
                                            model.InterfaceModelByIndex(k)->Name(),
                                            Transform<double>::identity(), include.X, to_pose(at), nothing));
        }
    }

    static std::string first_link(const SdfFile& file, const sdf::Model& model) {
        const auto [link, name] = model.CanonicalLinkAndRelativeName();
        if (link != nullptr) return name;
        if (model.LinkCount() > 0) return model.LinkByIndex(0)->Name();
        if (model.ModelCount() > 0) {
            const sdf::Model& inner = *model.ModelByIndex(0);
            return inner.Name() + "::" + first_link(file, inner);
        }
        if (model.InterfaceModelCount() == 0) return "";
        const SdfInclude& include = file.include(*model.InterfaceModelNestedIncludeByIndex(0));
        const std::string first = first_link(*include.file, *include.file->root.Model());
        return include.merged ? first : model.InterfaceModelByIndex(0)->Name() + "::" + first;
    }

    Warnings& warnings_;
    ImportOptions options_;
    int count_ = 0;
};

}  // namespace

std::string SdfFile::place(sdf::ElementPtr element) const {
    for (; element != nullptr; element = element->GetParent())
        if (const auto line = element->LineNumber(); line && *line > 0) return place(*line);
    return place(1);
}

const SdfInclude& SdfFile::include(const sdf::NestedInclude& nested) const {
    return includes[index_of(nested)];
}

Transform<double> to_transform(const ignition::math::Pose3d& pose) {
    const auto& p = pose.Pos();
    const auto& q = pose.Rot();
    const Quaternion<double> turn{q.W(), {q.X(), q.Y(), q.Z()}};
    return {rotation_matrix(turn), {p.X(), p.Y(), p.Z()}};
}

std::unique_ptr<SdfFile> load_sdf(const XmlDocument& document, const std::string& text,
                                  const ImportOptions& options, Warnings& warnings) {
    silence_library();
    return SdfLoader(options, warnings).load(document, text, 0);
}

}  // namespace costate
