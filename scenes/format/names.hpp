// Names as users write them: patterns that match several, and what was probably meant by one that matches
// none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenes/format/json.hpp"

namespace costate {

// Fit for one line of a terminal: control characters become spaces.
std::string one_line(std::string text);

// A name for a thing: not empty, in one line, no *, and not "world".
std::string read_name(const Node& node);

// Whether `name` fits `pattern`, in which every * stands for any run of characters.
bool matches(std::string_view pattern, std::string_view name);

// Edits (insert, delete, replace, swap of neighbours) that lead from a to b.
int edit_distance(std::string_view a, std::string_view b);

// ", the nearest is \"...\"" of the names; the first of them if none is near; or that there are none
std::string suggestion(std::string_view wanted, const std::vector<std::string>& names);

// Indices of the names that fit, in their order; `where` fails if there are none.
std::vector<int> resolve(const Node& where, const std::string& pattern, const char* kind,
                         const std::vector<std::string>& names);

// The one index of a name that is no pattern.
int resolve_one(const Node& where, const char* kind, const std::vector<std::string>& names);

// Names in use, each once.
class NameTable {
public:
    explicit NameTable(const char* kind) : kind_(kind) {}
    void add(const Node& where, const std::string& name);  // fails if it is taken
    // of what a text names; fails if there is no such name
    int index(const Node& name) const;
    int index(const std::string& name) const { return index_.at(name); }
    size_t size() const { return names_.size(); }

private:
    const char* kind_;  // "joint", "body", ...
    std::vector<std::string> names_;
    std::map<std::string, int> index_;
};

// The names of things, in order.
template <class Items, class Member> std::vector<std::string> names_of(const Items& items, Member name) {
    std::vector<std::string> names;
    names.reserve(items.size());
    for (const auto& item : items)
        names.push_back(item.*name);
    return names;
}

}  // namespace costate
