#include "scenes/format/names.hpp"

#include <algorithm>

namespace costate {
namespace {

[[noreturn]] void fail_unknown(const Node& where, const std::string& name, const char* kind,
                               const std::vector<std::string>& names) {
    where.fail(std::string("no ") + kind + " is named \"" + name + "\"" + suggestion(name, names),
               "correct the name");
}

}  // namespace

std::string one_line(std::string text) {
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
    return text;
}

bool matches(std::string_view pattern, std::string_view name) {
    size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = n;
        } else if (p < pattern.size() && pattern[p] == name[n]) {
            ++p;
            ++n;
        } else if (star != std::string_view::npos) {  // let the last star match one more character
            p = star + 1;
            n = ++retry;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

// Optimal string alignment, three rows at a time.
int edit_distance(std::string_view a, std::string_view b) {
    std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j)
        last[j] = static_cast<int>(j);
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = static_cast<int>(i);
        for (size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::string suggestion(std::string_view wanted, const std::vector<std::string>& names) {
    if (names.empty()) return ", there are none";
    const std::string_view shortened = wanted.substr(0, 200);  // the cost is quadratic in the length
    const std::string* nearest = nullptr;
    int distance = std::max<int>(2, static_cast<int>(shortened.size()) / 2) + 1;
    for (const std::string& name : names) {
        const int d = edit_distance(shortened, std::string_view(name).substr(0, 200));
        if (d < distance) {
            distance = d;
            nearest = &name;
        }
    }
    if (nearest) return ", the nearest is \"" + *nearest + "\"";
    std::string all = ", there are ";
    for (size_t i = 0; i < names.size() && i < 8; ++i)
        all += (i > 0 ? ", \"" : "\"") + names[i] + "\"";
    return all + (names.size() > 8 ? ", ..." : "");
}

std::vector<int> resolve(const Node& where, const std::string& pattern, const char* kind,
                         const std::vector<std::string>& names) {
    std::vector<int> found;
    for (size_t i = 0; i < names.size(); ++i)
        if (matches(pattern, names[i])) found.push_back(static_cast<int>(i));
    if (found.empty()) fail_unknown(where, pattern, kind, names);
    return found;
}

int resolve_one(const Node& where, const char* kind, const std::vector<std::string>& names) {
    const std::string name = where.text();
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) fail_unknown(where, name, kind, names);
    return static_cast<int>(it - names.begin());
}

std::string listed(const std::vector<std::string>& items) {
    std::string text = items[0];
    for (size_t k = 1; k < items.size(); ++k)
        text += (k + 1 < items.size() ? ", " : " and ") + items[k];
    return text;
}

std::string read_name(const Node& node) {
    const std::string name = node.text();
    if (name.empty()) node.fail("is empty", "give it a name");
    if (name.find('*') != std::string::npos) node.fail("a name may not contain *", "rename it");
    if (name == "world") node.fail("the name \"world\" is reserved", "rename it");
    if (one_line(name) != name)
        node.fail("a name may not contain line breaks or other control characters", "rename it");
    return name;
}

void NameTable::add(const Node& where, const std::string& name) {
    if (!index_.emplace(name, static_cast<int>(names_.size())).second)
        where.fail(std::string("there is already a ") + kind_ + " named \"" + name + "\"",
                   "rename one of the two");
    names_.push_back(name);
}

int NameTable::index(const Node& name) const {
    const auto it = index_.find(name.text());
    if (it == index_.end()) fail_unknown(name, name.text(), kind_, names_);
    return it->second;
}

}  // namespace costate
