#include "scenes/import/sdf/sdf_fault.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"
#include "scenes/import/sdf/sdf_load.hpp"

namespace costate {
namespace {

// True for an error that says clearly what is wrong, but may be none: links of included models are not known to
// this check, after which libsdformat resolves all names.
bool is_doubtful(const sdf::Error& error) {
    return error.Message().starts_with("child frame with name") ||
           error.Message().starts_with("parent frame with name");
}

// Errors of libsdformat that an importer repairs, or of which it has warned
bool is_repaired(const sdf::Error& error) {
    switch (error.Code()) {
        case sdf::ErrorCode::LINK_INERTIA_INVALID:
        case sdf::ErrorCode::URI_LOOKUP: return true;
        case sdf::ErrorCode::RESERVED_NAME:
            return error.Message().starts_with("The supplied link name [world]");
        case sdf::ErrorCode::ELEMENT_MISSING:
            return error.Message().find("limit element") != std::string::npos;
        // follows from others
        case sdf::ErrorCode::ELEMENT_INVALID: return error.Message() == "Failed to load a world.";
        default: return is_doubtful(error);
    }
}

const char* remedy_of(const sdf::Error& error) {
    switch (error.Code()) {
        case sdf::ErrorCode::DUPLICATE_NAME: return "rename one of the two";
        case sdf::ErrorCode::RESERVED_NAME: return "use another name";
        case sdf::ErrorCode::ATTRIBUTE_MISSING:
        case sdf::ErrorCode::ELEMENT_MISSING: return "add it";
        case sdf::ErrorCode::MODEL_WITHOUT_LINK: return "add a <link>, or remove the model";
        case sdf::ErrorCode::JOINT_CHILD_LINK_INVALID:
        case sdf::ErrorCode::JOINT_PARENT_LINK_INVALID:
        case sdf::ErrorCode::FRAME_ATTACHED_TO_INVALID:
        case sdf::ErrorCode::MODEL_CANONICAL_LINK_INVALID:
        case sdf::ErrorCode::MODEL_PLACEMENT_FRAME_INVALID:
        case sdf::ErrorCode::POSE_RELATIVE_TO_INVALID: return "name a link or a frame of the model";
        case sdf::ErrorCode::JOINT_PARENT_SAME_AS_CHILD: return "name two links";
        case sdf::ErrorCode::FRAME_ATTACHED_TO_CYCLE:
        case sdf::ErrorCode::POSE_RELATIVE_TO_CYCLE: return "give one of these frames another reference";
        default: return "correct it";
    }
}

// The place of an error: its line if it has one, otherwise the first element that it names in brackets.
std::string place_of(const sdf::Error& error, const SdfFile& file) {
    if (const auto line = error.LineNumber(); line && *line > 0) return file.place(*line);
    const std::string text = error.Message();
    for (const auto* lines : {&file.lines, &file.references})
        for (size_t at = text.find('['); at != std::string::npos; at = text.find('[', at + 1)) {
            const std::string name = text.substr(at + 1, text.find(']', at) - at - 1);
            auto known = lines->find(name);
            if (known == lines->end()) known = lines->find(name.substr(name.rfind(':') + 1));
            if (known != lines->end()) return file.place(known->second);
        }
    return file.place(1);
}

// Warns of an element that the format does not have: "XML Element[x], child of element[y], not defined ...".
void warn_of_unknown(const sdf::Error& error, const SdfFile& file, Warnings& warnings) {
    const std::string text = error.Message(), path = error.XmlPath().value_or("");
    for (const char* still :
         {"/sensor", "/visual", "/light", "/plugin", "/scene", "/gui", "/projector", "/actor"})
        if (path.find(still) != std::string::npos) return;
    const size_t first = text.find('['), second = text.find('[', first + 1);
    if (!text.starts_with("XML Element") || second == std::string::npos)
        return warnings.add(place_of(error, file), without_end(text), "keep one of them");
    const auto in_brackets = [&](size_t at) { return text.substr(at + 1, text.find(']', at) - at - 1); };
    const std::string name = in_brackets(first);
    if (name == "mimic" || name == "screw_thread_pitch") return;  // of later versions, and read
    warnings.add(
        place_of(error, file),
        "<" + name + "> in <" + in_brackets(second) + "> is not known to libsdformat 12 and is ignored",
        "remove it to silence this");
}

}  // namespace

std::string without_end(std::string text) {
    text = one_line(std::move(text));
    while (!text.empty() && (text.back() == ' ' || text.back() == '.'))
        text.pop_back();
    return text;
}

std::string what_failed(const std::string& text) {
    const std::string_view begin = "Error";
    const size_t at = text.find(begin), colon = at == std::string::npos ? at : text.find(':', at);
    if (colon == std::string::npos) return without_end(text);
    const size_t end = text.find("In function", colon);
    std::string line = text.substr(colon + 1, end == std::string::npos ? end : end - colon - 1);
    line.erase(0, line.find_first_not_of(" \n"));
    return without_end(line);
}

void check_sdf(const sdf::Errors& errors, const SdfFile& file, Warnings& warnings) {
    for (const sdf::Error& error : errors) {
        if (is_repaired(error)) continue;
        if (error.Code() == sdf::ErrorCode::ELEMENT_INCORRECT_TYPE) {
            warn_of_unknown(error, file, warnings);
            continue;
        }
        if (!file.missing.empty()) throw SceneError(one_line(file.missing));
        const auto clear = std::ranges::find_if(errors, [&](const sdf::Error& other) {
            const std::string text = other.Message();
            const size_t name = text.find('[');
            return is_doubtful(other) &&
                   error.Message().find(text.substr(name, text.find(']') + 1 - name)) != std::string::npos;
        });
        const sdf::Error& told = clear == errors.end() ? error : *clear;
        std::string text = without_end(told.Message());
        constexpr std::string_view unreadable = "Error reading element ";
        if (text.starts_with(unreadable))
            text = text.substr(unreadable.size()) + " has a value that it cannot have";
        throw SceneError(one_line(place_of(told, file) + ": " + text + "; " + remedy_of(told)));
    }
}

}  // namespace costate
