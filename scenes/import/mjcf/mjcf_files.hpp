// A model file and its included files as one tree.
#pragma once

#include <filesystem>
#include <set>

#include "scenes/import/mesh/mesh_path.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

class MjcfFiles {
public:
    // Reads the included files. No file may be included twice.
    MjcfFiles(const XmlDocument& document, const ImportOptions& options);

    const XmlElement& root() const { return root_; }
    const std::filesystem::path& folder() const { return folder_; }

    // The children of an element; an <include> is replaced by the children of the included file's root
    // element.
    std::vector<XmlElement> children(const XmlElement& element) const;
    std::vector<XmlElement> children(const XmlElement& element, std::string_view name) const;

    // The file that an attribute names, relative to the model's folder
    std::filesystem::path find(const XmlAttribute& name) const;
    // What find_mesh (scenes/import/mesh/mesh_path.hpp) says of a name in this model
    MeshPath look_up(const std::string& name) const { return find_mesh(name, folder_, options_); }

private:
    void read_includes(const XmlElement& element, int depth);

    XmlElement root_;
    std::filesystem::path folder_;
    ImportOptions options_;
    Warnings* warnings_;
    std::vector<XmlDocument> documents_;
    std::vector<std::pair<XmlElement, size_t>> includes_;  // <include> element, index of its document
    std::set<std::filesystem::path> seen_;                 // canonical paths
};

}  // namespace costate
