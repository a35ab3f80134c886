// Strict JSON, except that comments are ignored (// to the end of the line, and /* */): duplicate keys, numbers
// beyond the range of double and excessive nesting are errors. Every error names the file and the place in it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/math/linalg.hpp"
#include "core/math/rotation.hpp"
#include "core/math/transform.hpp"
#include "scenes/format/error.hpp"

namespace costate {

using Json = nlohmann::ordered_json;

inline constexpr int max_json_depth = 64;

// `file` is the name in messages. Syntax errors give line and column instead of a pointer.
Json parse_json(const std::string& text, const std::string& file);
Json read_json(const std::filesystem::path& file);

// A value of a document and its place in it. The document must outlive the node.
class Node {
public:
    // `places` maps JSON pointers of imported values to their source, "<file>:<line>". Null: nothing
    // imported.
    Node(const Json& document, const std::string& file,
         const std::map<std::string, std::string>* places = nullptr)
        : value_(&document),
          file_(&file),
          places_(places) {}

    [[noreturn]] void fail(const std::string& what, const std::string& remedy) const;

    // Objects
    // Fails unless the value is an object whose keys are all in scenes/format/known_keys.hpp.
    void expect_keys(const char* kind) const;
    bool has(const char* key) const { return value_->contains(key); }
    Node operator[](const char* key) const;  // must be there
    std::optional<Node> find(const char* key) const;
    std::vector<std::pair<std::string, Node>> members() const;
    // Fails if a key is present that has no meaning here, such as the radius of a box.
    void forbid(std::initializer_list<const char*> keys, const std::string& because) const;

    // Arrays; a negative size accepts any size
    std::vector<Node> items(int size = -1) const;
    std::vector<double> numbers(int size = -1) const;
    Vec3<double> vec3() const;

    // Scalars
    bool is_number() const { return value_->is_number(); }
    bool is_object() const { return value_->is_object(); }
    bool is_array() const { return value_->is_array(); }
    bool is_text() const { return value_->is_string(); }
    bool is_boolean() const { return value_->is_boolean(); }
    double number() const;  // finite
    double positive() const;
    double nonnegative() const;
    std::int64_t integer(std::int64_t lower, std::int64_t upper) const;
    bool boolean() const;
    std::string text() const;
    std::string prose() const;                                // a text, or an array of its lines
    int choice(const std::vector<std::string>& names) const;  // index of the text among the names

    // Defaults for keys that may be left out
    double number_or(const char* key, double otherwise) const {
        return has(key) ? (*this)[key].number() : otherwise;
    }
    double nonnegative_or(const char* key, double otherwise) const {
        return has(key) ? (*this)[key].nonnegative() : otherwise;
    }
    double positive_or(const char* key, double otherwise) const {
        return has(key) ? (*this)[key].positive() : otherwise;
    }
    Vec3<double> vec3_or(const char* key, const Vec3<double>& otherwise) const {
        return has(key) ? (*this)[key].vec3() : otherwise;
    }
    std::string text_or(const char* key, const std::string& otherwise) const {
        return has(key) ? (*this)[key].text() : otherwise;
    }
    std::string prose_or(const char* key, const std::string& otherwise) const {
        return has(key) ? (*this)[key].prose() : otherwise;
    }

    const Json& value() const { return *value_; }
    std::string place() const;
    // The folder of the document
    std::filesystem::path folder() const { return std::filesystem::path(*file_).parent_path(); }

private:
    Node(const Json& value, const Node& parent, std::string pointer)
        : value_(&value),
          file_(parent.file_),
          places_(parent.places_),
          pointer_(std::move(pointer)) {}
    Node child(const Json& value, const std::string& key) const;
    void expect(bool right, const char* type) const;

    const Json* value_;
    const std::string* file_;
    const std::map<std::string, std::string>* places_;
    std::string pointer_;
};

// The orientation of an object: its "quaternion" (w x y z, any nonzero length) or its "rpy_deg" (rotations in
// degrees about the fixed axes x, y, z, in this order). Identity if it has neither.
Quaternion<double> read_orientation(const Node& object);

// An array of three numbers
Json to_json(const Vec3<double>& v);

// "position" and orientation of an object
Transform<double> read_pose(const Node& object);

// The file at the path `name`, relative to `folder`. It must exist in the folder or below.
std::filesystem::path find_file(const Node& name, const std::filesystem::path& folder);

}  // namespace costate
