#include "scenes/import/mjcf/mjcf_files.hpp"

#include <algorithm>

namespace costate {
namespace {

namespace fs = std::filesystem;

constexpr size_t max_included_files = 1000;
constexpr int max_include_depth = 20;

}  // namespace

MjcfFiles::MjcfFiles(const XmlDocument& document, const ImportOptions& options)
    : root_(document.root()),
      folder_(fs::path(document.file()).parent_path()),
      options_(options),
      warnings_(document.warnings()) {
    if (folder_.empty()) folder_ = ".";
    std::error_code error;
    seen_.insert(fs::weakly_canonical(document.file(), error));
    read_includes(root_, 0);
}

fs::path MjcfFiles::find(const XmlAttribute& name) const {
    const MeshPath found = look_up(name.word());
    if (!found.allowed)
        name.fail("leads out of the model's folder",
                  "name its folder with --search, or keep it in the model's folder or below");
    const fs::path beside = (folder_ / name.word()).lexically_normal();
    if (found.file.empty())
        name.fail("there is no file " + beside.string(),
                  "correct the path, or name its folder with --search");
    std::error_code error;
    return fs::equivalent(beside, found.file, error) ? beside : found.file;  // messages show the given path
}

void MjcfFiles::read_includes(const XmlElement& element, int depth) {
    for (const XmlElement& child : element.children()) {
        if (child.name() != "include") {
            read_includes(child, depth);
            continue;
        }
        const XmlAttribute name = child["file"];
        const fs::path file = find(name);
        std::error_code error;
        if (!seen_.insert(fs::canonical(file, error)).second)
            name.fail("is included again, or includes itself", "include each file once");
        if (documents_.size() == max_included_files || depth == max_include_depth)
            child.fail("exceeds 1000 included files, or a nesting depth of 20", "include fewer");
        documents_.push_back(read_xml(file, warnings_));
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
