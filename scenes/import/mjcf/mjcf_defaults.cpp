#include "scenes/import/mjcf/mjcf_defaults.hpp"

#include <algorithm>

#include "scenes/format/names.hpp"

namespace costate {
namespace {

constexpr const char* actuators[] = {"general",  "motor",  "position", "velocity", "intvelocity", "damper",
                                     "cylinder", "muscle", "adhesion", "plugin",   "pid",         "dcmotor"};

constexpr size_t max_layers = 200;

// True for elements that define an actuator. A default for one of them applies to all.
bool is_actuator(const std::string& element) {
    return std::find(std::begin(actuators), std::end(actuators), element) != std::end(actuators);
}

// True if a default of one element name applies to an element of another name.
bool holds_for(const std::string& default_name, const std::string& element) {
    if (is_actuator(element)) return is_actuator(default_name);
    const bool tendon = element == "fixed" || element == "spatial";
    return default_name == (tendon ? "tendon" : element);
}

}  // namespace

std::optional<XmlAttribute> MjcfAttributes::find(const char* name) const {
    for (size_t i = layers_.size(); i-- > 0;)
        if (auto a = layers_[i].find(name)) return a;
    return {};
}

double MjcfAttributes::number_or(const char* name, double otherwise) const {
    const auto a = find(name);
    return a ? a->number() : otherwise;
}

std::vector<double> MjcfAttributes::numbers_or(const char* name, std::vector<double> otherwise) const {
    for (const XmlElement& layer : layers_)
        if (const auto given = layer.find(name))
            std::ranges::copy(given->numbers(0, otherwise.size()), otherwise.begin());
    return otherwise;
}

double MjcfAttributes::nonnegative_or(const char* name, double otherwise) const {
    const auto a = find(name);
    return a ? a->nonnegative() : otherwise;
}

Vec3<double> MjcfAttributes::vec3_or(const char* name, const Vec3<double>& otherwise) const {
    const auto a = find(name);
    return a ? a->vec3() : otherwise;
}

std::int64_t MjcfAttributes::integer_or(const char* name, std::int64_t otherwise, std::int64_t lower,
                                        std::int64_t upper) const {
    const auto a = find(name);
    return a ? a->integer(lower, upper) : otherwise;
}

bool MjcfAttributes::boolean_or(const char* name, bool otherwise) const {
    const auto a = find(name);
    return a ? a->boolean() : otherwise;
}

void MjcfAttributes::warn_others(Warnings& warnings, std::initializer_list<const char*> attributes,
                                 std::initializer_list<const char*> children) const {
    for (const XmlElement& layer : layers_)
        if (layer == element_)
            layer.warn_others(warnings, attributes, children);
        else
            layer.warn_other_attributes(warnings, attributes);
}

MjcfDefaults::MjcfDefaults(const MjcfFiles& files) : classes_(1), index_{{"main", 0}} {
    for (const XmlElement& section : files.children(files.root(), "default")) {
        if (const auto name = section.find("class")) {
            const auto [it, added] = index_.emplace(name->word(), 0);
            if (!added && it->second != 0) name->fail("defines a class twice", "rename one of the two");
        }
        read(files, section, 0);
    }
}

// Reads the contents of a class: its own elements first, which the classes in it start with.
void MjcfDefaults::read(const MjcfFiles& files, const XmlElement& element, int at) {
    const std::vector<XmlElement> children = files.children(element);
    for (const XmlElement& child : children)
        if (child.name() != "default") classes_[at].push_back(child);
    for (const XmlElement& child : children) {
        if (child.name() != "default") continue;
        const XmlAttribute name = child["class"];
        const int index = static_cast<int>(classes_.size());
        if (!index_.emplace(name.word(), index).second)
            name.fail("defines a class twice", "rename one of the two");
        std::vector<XmlElement> inherited = classes_[at];
        classes_.push_back(std::move(inherited));
        read(files, child, index);
    }
}

int MjcfDefaults::index(const XmlAttribute& name) const {
    const auto it = index_.find(name.text());
    if (it != index_.end()) return it->second;
    std::vector<std::string> names;
    for (const auto& [known, i] : index_)
        names.push_back(known);
    name.fail("is not a class of defaults" + suggestion(name.text(), names),
              "correct it or define the class");
}

void MjcfDefaults::check_class(const XmlAttribute& name) const { index(name); }

MjcfAttributes MjcfDefaults::attributes(const XmlElement& element, const std::string& childclass) const {
    return attributes_as(element.name(), element, childclass);
}

MjcfAttributes MjcfDefaults::equality_attributes(const XmlElement& element) const {
    return attributes_as("equality", element, {});
}

MjcfAttributes MjcfDefaults::attributes_as(const std::string& kind, const XmlElement& element,
                                           const std::string& childclass) const {
    int at = childclass.empty() ? 0 : index_.at(childclass);
    if (const auto own = element.find("class")) at = index(*own);
    std::vector<XmlElement> found;
    for (const XmlElement& e : classes_[at])
        if (holds_for(e.name(), kind)) found.push_back(e);
    if (found.size() > max_layers) element.fail("has more than 200 defaults", "use fewer");
    return {element, found};
}

}  // namespace costate
