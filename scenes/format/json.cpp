#include "scenes/format/json.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "scenes/format/files.hpp"
#include "scenes/format/json_position.hpp"
#include "scenes/format/known_keys.hpp"
#include "scenes/format/names.hpp"

namespace costate {
namespace {

// A key as a reference token of a JSON pointer (RFC 6901).
std::string pointer_step(const std::string& key) {
    std::string step = "/";
    for (const char c : key)
        c == '~' ? step += "~0" : (c == '/' ? step += "~1" : step += c);
    return step;
}

std::vector<std::string> tokens_of(const std::string& pointer) {
    std::vector<std::string> tokens;
    for (size_t i = 0; i < pointer.size(); ++i) {
        if (pointer[i] == '/')
            tokens.emplace_back();
        else if (pointer[i] == '~' && i + 1 < pointer.size())
            tokens.back() += pointer[++i] == '0' ? '~' : '/';
        else
            tokens.back() += pointer[i];
    }
    return tokens;
}

// A JSON pointer for readers: names with a slash stand in quotes.
std::string readable(const std::string& pointer) {
    std::string out;
    for (const std::string& token : tokens_of(pointer))
        out += token.find('/') == std::string::npos ? "/" + token : "/\"" + token + "\"";
    return out;
}

// ":<line>:<column>" of a value in its file; empty if the file does not have this value there, since the
// document is no file, or was changed after reading.
std::string position_in_file(const std::string& file, const std::string& pointer, const Json& value) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return "";
    try {
        const std::string text = read_file(file);
        const Json document = Json::parse(text, nullptr, true, true);
        const Json::json_pointer where(pointer);
        if (!document.contains(where) || document[where] != value) return "";
        const auto p = json_position(text, tokens_of(pointer));
        return p ? ":" + std::to_string(p->line) + ":" + std::to_string(p->column) : "";
    } catch (const std::exception&) {
        return "";
    }
}

// A token in quotes; it may have been cut within a UTF-8 character.
std::string quoted(std::string token) {
    const bool longer = token.size() > 40;
    token.resize(std::min<size_t>(token.size(), 40));
    for (char& c : token)
        if (static_cast<unsigned char>(c) > 126) c = '?';
    return "\"" + token + (longer ? "..." : "") + "\"";
}

// Builds the value during parsing, where duplicate keys and depth are still visible.
class StrictBuilder : public nlohmann::json_sax<Json> {
public:
    StrictBuilder(const std::string& text, const std::string& file) : text_(text), file_(file) {}
    Json take() { return std::move(root_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }  // never called for text
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool end_object() override { return close(); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_array() override { return close(); }
    bool key(string_t& value) override {
        if (open_.back()->contains(value))
            fail("#" + readable(pointer() + pointer_step(value)), "duplicate key; remove one of the two");
        keys_.back() = value;
        return true;
    }
    bool parse_error(std::size_t position, const std::string& last_token,
                     const nlohmann::detail::exception& e) override {
        const auto [line, column] = text_position(text_, position > 0 ? position - 1 : 0);
        const std::string place = ":" + std::to_string(line) + ":" + std::to_string(column);
        if (e.id == 406) fail(place, "number out of range: " + quoted(last_token) + "; use a finite number");
        if (position > text_.size())
            fail(place, "broken JSON: the text ends too early; close open brackets and quotes");
        const size_t begin = position > 0 ? position - 1 : 0;
        for (const char* word : {"NaN", "Infinity", "inf"})
            if (text_.compare(begin, std::char_traits<char>::length(word), word) == 0)
                fail(place, std::string("broken JSON: JSON has no number ") + word + "; use a finite number");
        fail(place, "broken JSON: unexpected " + quoted(last_token) +
                        "; check commas, quotes and brackets before it");
    }

private:
    [[noreturn]] void fail(const std::string& place, const std::string& message) const {
        throw SceneError(one_line(file_ + place + ": " + message));
    }
    Json* put(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *open_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        return &(parent[keys_.back()] = std::move(value));
    }
    bool add(Json value) {
        put(std::move(value));
        return true;
    }
    bool open(Json value) {
        if (static_cast<int>(open_.size()) == max_json_depth)
            fail("#" + readable(pointer()),
                 "is nested deeper than " + std::to_string(max_json_depth) + "; flatten it");
        open_.push_back(put(std::move(value)));
        keys_.emplace_back();
        return true;
    }
    bool close() {
        open_.pop_back();
        keys_.pop_back();
        return true;
    }
    std::string pointer() const {
        std::string p;
        for (size_t i = 0; i < open_.size(); ++i) {
            if (open_[i]->is_object() && i + 1 < open_.size()) p += pointer_step(keys_[i]);
            if (open_[i]->is_array())
                p.append("/").append(std::to_string(open_[i]->size() - (i + 1 < open_.size() ? 1 : 0)));
        }
        return p;
    }

    const std::string &text_, &file_;
    Json root_;
    std::vector<Json*> open_;        // open containers, from the root to the innermost
    std::vector<std::string> keys_;  // the current key of each open object
};

const std::vector<std::string>& keys_of(const char* kind) {
    for (const KnownKeys& known : known_keys())
        if (known.kind == kind) return known.keys;
    throw std::logic_error(std::string("no such kind of object: ") + kind);
}

std::string number_text(double x) {
    std::ostringstream out;
    out << x;
    return out.str();
}

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
    StrictBuilder builder(text, file);
    Json::sax_parse(text, &builder, Json::input_format_t::json, true, true);
    return builder.take();
}

Json read_json(const std::filesystem::path& file) {
    std::error_code error;
    if (std::filesystem::is_directory(file, error))
        throw SceneError(file.string() + ": is a folder; name a file");
    return parse_json(read_file(file, "check the path"), file.string());
}

void Node::fail(const std::string& what, const std::string& remedy) const {
    throw SceneError(one_line(place() + ": " + what + "; " + remedy));
}

// For an imported value: the source of the value, or of its nearest enclosing value that has one.
std::string Node::place() const {
    std::string pointer = pointer_;
    while (places_ != nullptr) {
        if (const auto it = places_->find(pointer); it != places_->end()) return it->second;
        if (pointer.empty()) break;
        pointer.erase(pointer.rfind('/'));
    }
    if (places_ != nullptr) return *file_ + "#" + readable(pointer_);
    return *file_ + position_in_file(*file_, pointer_, *value_) + "#" + readable(pointer_);
}

void Node::expect(bool right, const char* type) const {
    if (!right)
        fail(std::string("must be ") + type + ", is " + value_->type_name(), std::string("write ") + type);
}

Node Node::child(const Json& value, const std::string& key) const {
    return {value, *this, pointer_ + pointer_step(key)};
}

void Node::expect_keys(const char* kind) const {
    expect(value_->is_object(), "an object");
    const std::vector<std::string>& known = keys_of(kind);
    for (const auto& [key, value] : value_->items())
        if (std::find(known.begin(), known.end(), key) == known.end())
            child(value, key)
                .fail("unknown key of " + std::string(kind) + suggestion(key, known), "correct or remove it");
}

Node Node::operator[](const char* key) const {
    if (const std::optional<Node> node = find(key)) return *node;
    fail(std::string("has no \"") + key + "\"", "add it");
}

std::optional<Node> Node::find(const char* key) const {
    expect(value_->is_object(), "an object");
    const auto it = value_->find(key);
    if (it == value_->end()) return {};
    return child(*it, key);
}

std::vector<std::pair<std::string, Node>> Node::members() const {
    expect(value_->is_object(), "an object");
    std::vector<std::pair<std::string, Node>> out;
    for (const auto& [key, value] : value_->items())
        out.emplace_back(key, child(value, key));
    return out;
}

void Node::forbid(std::initializer_list<const char*> keys, const std::string& because) const {
    for (const char* key : keys)
        if (has(key)) (*this)[key].fail("has no meaning here: " + because, "remove it");
}

std::vector<Node> Node::items(int size) const {
    expect(value_->is_array(), "an array");
    if (size >= 0 && value_->size() != static_cast<size_t>(size))
        fail("must have " + std::to_string(size) + " entries, has " + std::to_string(value_->size()),
             "give all of them");
    std::vector<Node> out;
    for (size_t i = 0; i < value_->size(); ++i)
        out.push_back(child((*value_)[i], std::to_string(i)));
    return out;
}

std::vector<double> Node::numbers(int size) const {
    std::vector<double> out;
    for (const Node& item : items(size))
        out.push_back(item.number());
    return out;
}

Vec3<double> Node::vec3() const {
    const std::vector<double> x = numbers(3);
    return {x[0], x[1], x[2]};
}

double Node::number() const {
    expect(value_->is_number(), "a number");
    const double x = value_->get<double>();
    if (!std::isfinite(x)) fail("must be finite, is " + number_text(x), "use a finite number");
    return x;
}

double Node::positive() const {
    const double x = number();
    if (!(x > 0)) fail("must be positive, is " + number_text(x), "use a number above 0");
    return x;
}

double Node::nonnegative() const {
    const double x = number();
    if (x < 0) fail("must not be negative, is " + number_text(x), "use 0 or more");
    return x;
}

std::int64_t Node::integer(std::int64_t lower, std::int64_t upper) const {
    const double x = number();
    const std::string range = "a whole number from " + std::to_string(lower) + " to " + std::to_string(upper);
    if (x != std::floor(x) || x < static_cast<double>(lower) || x > static_cast<double>(upper))
        fail("is " + number_text(x), "use " + range);
    return static_cast<std::int64_t>(x);
}

bool Node::boolean() const {
    expect(value_->is_boolean(), "true or false");
    return value_->get<bool>();
}

std::string Node::text() const {
    expect(value_->is_string(), "a text");
    return value_->get<std::string>();
}

std::string Node::prose() const {
    if (!is_array()) return text();
    std::string out;
    for (const Node& line : items())
        out.append(out.empty() ? "" : " ").append(line.text());
    return out;
}

int Node::choice(const std::vector<std::string>& names) const { return resolve_one(*this, "choice", names); }

Quaternion<double> read_orientation(const Node& object) {
    const std::optional<Node> quaternion = object.find("quaternion"), rpy = object.find("rpy_deg");
    if (quaternion && rpy) rpy->fail("the orientation is given twice", "keep \"quaternion\" or \"rpy_deg\"");
    if (quaternion) {
        const std::vector<double> q = quaternion->numbers(4);
        const double norm = Eigen::Map<const Eigen::Vector4d>(q.data()).stableNorm();
        if (!(norm > 1e-12) || !std::isfinite(norm))
            quaternion->fail("has no direction: its length is " + number_text(norm),
                             "use [1, 0, 0, 0] for the identity");
        return {q[0] / norm, Vec3<double>(q[1], q[2], q[3]) / norm};
    }
    Quaternion<double> turn = Quaternion<double>::identity();
    if (!rpy) return turn;
    const Vec3<double> angles = std::numbers::pi / 180 * rpy->vec3();
    for (int axis = 0; axis < 3; ++axis)
        turn = quaternion_product(quaternion_exp<double>(angles[axis] * Vec3<double>::Unit(axis)), turn);
    return turn;
}

Json to_json(const Vec3<double>& v) { return Json::array({v.x(), v.y(), v.z()}); }

Transform<double> read_pose(const Node& object) {
    return {rotation_matrix(read_orientation(object)), object.vec3_or("position", Vec3<double>::Zero())};
}

std::filesystem::path find_file(const Node& name, const std::filesystem::path& folder) {
    const std::filesystem::path given = name.text();
    if (given.empty() || given.is_absolute() || std::find(given.begin(), given.end(), "..") != given.end())
        name.fail("must lie in the scene's folder or below", "use a relative path without ..");
    const std::filesystem::path file = folder / given;
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error))
        name.fail("there is no file " + file.string(), "correct the path");
    const auto relative =
        std::filesystem::relative(std::filesystem::canonical(file, error),
                                  std::filesystem::canonical(folder.empty() ? "." : folder, error), error);
    if (relative.empty() || *relative.begin() == "..")
        name.fail("leads out of the scene's folder", "copy the file into it");
    return file;
}

}  // namespace costate
