// Names in user input: patterns, and suggestions for names that match nothing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenes/format/json.hpp"

namespace costate {

// The text with control characters replaced by spaces, for one-line messages.
std::string one_line(std::string text);

// "a", "a and b", or "a, b and c"; one item or more
std::string listed(const std::vector<std::string>& items);

// A valid name: not empty, without * and control characters, and not "world".
std::string read_name(const Node& node);

// True if `name` matches `pattern`, in which * stands for any run of characters.
bool matches(std::string_view pattern, std::string_view name);

// Number of edits (insert, delete, replace, swap of neighbours) that turn a into b.
int edit_distance(std::string_view a, std::string_view b);

// Appended to a message about an unknown name: the nearest of `names`, or the first few if none is near.
std::string suggestion(std::string_view wanted, const std::vector<std::string>& names);

// Indices of the names that match the pattern, in their order; `where` fails if no name matches.
std::vector<int> resolve(const Node& where, const std::string& pattern, const char* kind,
                         const std::vector<std::string>& names);

// Index of the name that `where` holds, without patterns; fails if the name is unknown.
int resolve_one(const Node& where, const char* kind, const std::vector<std::string>& names);

// A set of unique names with their indices.
class NameTable {
public:
    explicit NameTable(const char* kind) : kind_(kind) {}
    void add(const Node& where, const std::string& name);  // fails if the name is in use
    // Index of the name that a node holds; fails if the name is unknown.
    int index(const Node& name) const;
    int index(const std::string& name) const { return index_.at(name); }
    size_t size() const { return names_.size(); }

private:
    const char* kind_;  // "joint", "body", ...
    std::vector<std::string> names_;
    std::map<std::string, int> index_;
};

// Begins the name of a shape of the world in a model's pairs.
inline constexpr const char* of_world = "world/";

// The names of the items, in order.
template <class Items, class Member> std::vector<std::string> names_of(const Items& items, Member name) {
    std::vector<std::string> names;
    names.reserve(items.size());
    for (const auto& item : items)
        names.push_back(item.*name);
    return names;
}

}  // namespace costate
