// Safe reading of XML files of unknown origin. Broken, hostile or out-of-range input throws a SceneError of
// one line, "<file>:<line>: fault; remedy". Entities are not expanded, document types are refused, and size,
// number of elements and depth are bounded before a tree is built.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/math/linalg.hpp"

namespace tinyxml2 {
class XMLDocument;
class XMLElement;
}  // namespace tinyxml2

namespace costate {

inline constexpr size_t max_xml_bytes = 64 << 20, max_xml_elements = 1'000'000;

// Warnings about what an importer ignored, replaced or guessed. The same warning at several places becomes one
// line with the `example` of the first place. At one place it counts once: a default serves many elements.
class Warnings {
public:
    explicit Warnings(bool strict = false) : strict_(strict) {}
    // Something that may change the motion; an error if strict
    void add(const std::string& place, const std::string& what, const std::string& remedy,
             const std::string& example = "");
    // Something that cannot change the motion, such as a colour
    void note(const std::string& place, const std::string& what, const std::string& remedy,
              const std::string& example = "");
    std::vector<std::string> lines() const;
    bool empty() const { return entries_.empty(); }

private:
    struct Entry {
        std::string place, what, remedy, example;
        std::set<std::string> more = {};  // further places
    };
    void enter(Entry entry);
    std::vector<Entry> entries_;
    bool strict_;
};

// The file of a document. With `warnings`, slips that leave no doubt about the meaning are warnings instead of
// errors: bytes that are not UTF-8, commas between numbers, numbers beyond those of a vector.
struct XmlSource {
    std::string file;  // its name in messages
    Warnings* warnings = nullptr;
};

// One attribute, copied: it may outlive its element, for example as a default.
class XmlAttribute {
public:
    XmlAttribute(std::string name, std::string text, std::string element, const XmlSource& source, int line)
        : name_(std::move(name)),
          text_(std::move(text)),
          element_(std::move(element)),
          source_(&source),
          line_(line) {}

    const std::string& name() const { return name_; }
    const std::string& text() const { return text_; }
    int line() const { return line_; }
    std::string place() const { return source_->file + ":" + std::to_string(line_); }
    [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;

    std::string word() const;  // a text that is not empty
    double number() const;     // finite, as are all numbers of this class
    double positive() const;
    double nonnegative() const;
    std::int64_t integer(std::int64_t lower, std::int64_t upper) const;
    bool boolean() const;                                          // true, false, 1, 0
    std::vector<double> numbers(size_t least, size_t most) const;  // separated by white space
    std::vector<double> numbers(size_t size) const { return numbers(size, size); }
    Vec3<double> vec3() const;
    std::vector<double> colour() const;  // red, green, blue, opacity, each brought within 0 to 1
    int choice(std::initializer_list<const char*> names) const;  // index of the text among the names

private:
    // All numbers of the text. With `commas`, a comma also separates numbers.
    std::vector<double> all_numbers(size_t most, bool commas) const;

    std::string name_, text_, element_;
    const XmlSource* source_;
    int line_;
};

// An element of a document, which must outlive it. Attributes are accessed like the members of a JSON object
// (scenes/format/json.hpp). An attribute without text counts as absent.
class XmlElement {
public:
    XmlElement(const tinyxml2::XMLElement& element, const XmlSource& source)
        : element_(&element),
          source_(&source) {}

    std::string name() const;
    int line() const;
    const std::string& file() const { return source_->file; }
    std::string place() const { return source_->file + ":" + std::to_string(line()); }
    std::string text() const;  // between its tags, trimmed
    // What it says by its attribute "value", otherwise between its tags; for messages, as an attribute "value"
    XmlAttribute value() const;
    [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;
    void warn(Warnings& warnings, const std::string& what, const std::string& remedy) const;
    void note(Warnings& warnings, const std::string& what, const std::string& remedy) const;

    // Attributes
    bool has(const char* attribute) const { return find(attribute).has_value(); }
    std::optional<XmlAttribute> find(const char* attribute) const;
    XmlAttribute operator[](const char* attribute) const;  // fails if it is absent
    std::vector<XmlAttribute> attributes() const;
    std::string text_or(const char* attribute, const std::string& otherwise) const;
    double number_or(const char* attribute, double otherwise) const;
    double nonnegative_or(const char* attribute, double otherwise) const;
    Vec3<double> vec3_or(const char* attribute, const Vec3<double>& otherwise) const;

    // Children
    std::vector<XmlElement> children() const;
    std::vector<XmlElement> children(std::string_view name) const;
    std::optional<XmlElement> child(std::string_view name) const;  // the first one
    XmlElement only(std::string_view name) const;                  // the first one; fails if there is none

    // Warns of every attribute and child that is not in these lists: they are not supported.
    void warn_others(Warnings& warnings, std::initializer_list<const char*> attributes,
                     std::initializer_list<const char*> children) const;
    void warn_other_attributes(Warnings& warnings, std::initializer_list<const char*> attributes) const;

    bool operator==(const XmlElement& other) const { return element_ == other.element_; }

private:
    const tinyxml2::XMLElement* element_;
    const XmlSource* source_;
};

// A parsed file. Moving the document keeps its elements valid.
class XmlDocument {
public:
    // `file` is the name in messages. For `warnings`, which must outlive the document, see XmlSource.
    XmlDocument(const std::string& text, const std::string& file, Warnings* warnings = nullptr);
    ~XmlDocument();
    XmlDocument(XmlDocument&&) noexcept;

    const std::string& file() const { return source_->file; }
    Warnings* warnings() const { return source_->warnings; }
    XmlElement root() const;

private:
    std::unique_ptr<const XmlSource> source_;
    std::unique_ptr<tinyxml2::XMLDocument> document_;
};

// The text of a file that is not too large, not checked otherwise.
std::string read_xml_text(const std::filesystem::path& file);
XmlDocument read_xml(const std::filesystem::path& file, Warnings* warnings = nullptr);

}  // namespace costate
