#include "scenes/import/mjcf/mjcf_files.hpp"

#include <algorithm>

namespace costate {
namespace {

namespace fs = std::filesystem;

constexpr size_t max_included_files = 1000;
constexpr int max_include_depth = 20;

}  // namespace

MjcfFiles::MjcfFiles(const XmlElement& root, const fs::path& folder)
    : root_(root),
      folder_(folder.empty() ? "." : folder) {
    std::error_code error;
    seen_.insert(fs::weakly_canonical(root.file(), error));
    read_includes(root, 0);
}

fs::path MjcfFiles::inside(const XmlAttribute& name, const fs::path& below) const {
    const fs::path given = (below / name.word()).lexically_normal();
    if (given.is_absolute() || *given.begin() == "..")
        name.fail("leads out of the model's folder",
                  "keep files in it or below, and name them by relative paths");
    std::error_code error;
    if (!fs::is_regular_file(folder_ / given, error))
        name.fail("there is no file " + (folder_ / given).string(), "correct the path");
    const fs::path relative =
        fs::relative(fs::canonical(folder_ / given, error), fs::canonical(folder_, error), error);
    if (relative.empty() || *relative.begin() == "..")
        name.fail("leads out of the model's folder", "copy the file into it");
    return given;
}

void MjcfFiles::read_includes(const XmlElement& element, int depth) {
    for (const XmlElement& child : element.children()) {
        if (child.name() != "include") {
            read_includes(child, depth);
            continue;
        }
        const XmlAttribute name = child["file"];
        const fs::path file = folder_ / inside(name);
        std::error_code error;
        if (!seen_.insert(fs::canonical(file, error)).second)
            name.fail("is included again, or includes itself", "include each file once");
        if (documents_.size() == max_included_files || depth == max_include_depth)
            child.fail("exceeds 1000 included files, or a nesting depth of 20", "include fewer");
        documents_.push_back(read_xml(file));
        includes_.emplace_back(child, documents_.size() - 1);
        read_includes(documents_.back().root(), depth + 1);
    }
}

std::vector<XmlElement> MjcfFiles::children(const XmlElement& element) const {
    std::vector<XmlElement> out;
    for (const XmlElement& child : element.children()) {
        if (child.name() != "include") {
            out.push_back(child);
            continue;
        }
        const auto include =
            std::find_if(includes_.begin(), includes_.end(), [&](const auto& i) { return i.first == child; });
        const std::vector<XmlElement> more = children(documents_[include->second].root());
        out.insert(out.end(), more.begin(), more.end());
    }
    return out;
}

std::vector<XmlElement> MjcfFiles::children(const XmlElement& element, std::string_view name) const {
    std::vector<XmlElement> out;
    for (const XmlElement& child : children(element))
        if (child.name() == name) out.push_back(child);
    return out;
}

}  // namespace costate
