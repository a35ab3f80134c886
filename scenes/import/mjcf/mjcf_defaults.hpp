// MJCF's defaults: a tree of classes with default attributes per kind of element. An attribute is looked up
// in the element, then in its class, then in the enclosing classes. A class inherits what its parent has when the class
// is defined: a later section <default> does not change it, as in MuJoCo.
#pragma once

#include <map>

#include "scenes/import/mjcf/mjcf_files.hpp"

namespace costate {

// The attributes of an element, with the defaults that apply to it.
class MjcfAttributes {
public:
    MjcfAttributes(const XmlElement& element, std::vector<XmlElement> defaults)
        : element_(element),
          layers_(std::move(defaults)) {
        layers_.push_back(element);
    }

    const XmlElement& element() const { return element_; }
    // outermost class first, the element last
    const std::vector<XmlElement>& layers() const { return layers_; }

    std::optional<XmlAttribute> find(const char* name) const;
    bool has(const char* name) const { return find(name).has_value(); }
    double number_or(const char* name, double otherwise) const;
    double nonnegative_or(const char* name, double otherwise) const;
    // As many numbers as `otherwise` has. Those that the attribute does not give are those of its defaults.
    std::vector<double> numbers_or(const char* name, std::vector<double> otherwise) const;
    Vec3<double> vec3_or(const char* name, const Vec3<double>& otherwise) const;
    std::int64_t integer_or(const char* name, std::int64_t otherwise, std::int64_t lower,
                            std::int64_t upper) const;
    bool boolean_or(const char* name, bool otherwise) const;

    // Warns of every attribute of the element and of its defaults, and of every child of the element, that is not in
    // these lists: they are not supported.
    void warn_others(Warnings& warnings, std::initializer_list<const char*> attributes,
                     std::initializer_list<const char*> children) const;

private:
    XmlElement element_;
    std::vector<XmlElement> layers_;
};

class MjcfDefaults {
public:
    explicit MjcfDefaults(const MjcfFiles& files);

    // The element with the defaults of its own class, otherwise of `childclass`, which enclosing bodies set
    // for their contents (empty: none).
    MjcfAttributes attributes(const XmlElement& element, const std::string& childclass = {}) const;
    // The same for an element of <equality>, one of which has the name of a joint
    MjcfAttributes equality_attributes(const XmlElement& element) const;
    void check_class(const XmlAttribute& name) const;  // fails if the class does not exist

private:
    void read(const MjcfFiles& files, const XmlElement& element, int at);
    int index(const XmlAttribute& name) const;
    MjcfAttributes attributes_as(const std::string& kind, const XmlElement& element,
                                 const std::string& childclass) const;

    // The elements of each class, those that it inherits first. Class 0 is "main".
    std::vector<std::vector<XmlElement>> classes_;
    std::map<std::string, int> index_;
};

}  // namespace costate
