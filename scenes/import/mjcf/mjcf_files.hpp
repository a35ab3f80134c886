// A model and the files it includes, as one tree.
#pragma once

#include <filesystem>
#include <set>

#include "scenes/import/xml/xml.hpp"

namespace costate {

class MjcfFiles {
public:
    // Reads what the model includes, each file once, from the model's folder or below.
    MjcfFiles(const XmlElement& root, const std::filesystem::path& folder);

    const XmlElement& root() const { return root_; }
    const std::filesystem::path& folder() const { return folder_; }

    // In the place of an <include> stand the children of the file's outermost element.
    std::vector<XmlElement> children(const XmlElement& element) const;
    std::vector<XmlElement> children(const XmlElement& element, std::string_view name) const;

    // A path that an attribute names, relative to the model's folder and in it, whatever links lie on the
    // way.
    std::filesystem::path inside(const XmlAttribute& name, const std::filesystem::path& below = {}) const;

private:
    void read_includes(const XmlElement& element, int depth);

    XmlElement root_;
    std::filesystem::path folder_;
    std::vector<XmlDocument> documents_;
    std::vector<std::pair<XmlElement, size_t>> includes_;  // the <include>, its document
    std::set<std::filesystem::path> seen_;                 // canonical
};

}  // namespace costate
