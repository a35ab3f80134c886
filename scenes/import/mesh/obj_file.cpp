#include "scenes/import/mesh/obj_file.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>

namespace costate {
namespace {

// Object under construction: the vertices of the file that its faces use, by their index there.
struct ObjObject {
    TriangleMesh mesh;
    std::map<size_t, int> index;
    int corner(size_t vertex, const std::vector<Vec3<double>>& all) {
        const auto [it, fresh] = index.try_emplace(vertex, static_cast<int>(mesh.vertices.size()));
        if (fresh) mesh.vertices.push_back(all[vertex]);
        return it->second;
    }
};

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// The next word of a line, which is taken from it; empty at its end.
std::string_view next_word(std::string_view& line) {
    size_t begin = 0;
    while (begin < line.size() && is_space(line[begin]))
        ++begin;
    size_t end = begin;
    while (end < line.size() && !is_space(line[end]))
        ++end;
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

// visit(kind, rest of the line) for every line, kind being its first word.
template <class Visit> void for_each_line(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::string_view kind = next_word(line);
        visit(kind, line);
    }
}

// The number at the beginning of a word, of type double or long; NaN or 0 if there is none.
template <class Number> Number leading_number(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    Number x = std::numeric_limits<Number>::quiet_NaN();
    std::from_chars(word.data(), word.data() + word.size(), x);
    return x;
}

}  // namespace

bool is_plain_obj(const std::string& bytes) {
    bool plain = bytes.find("\\\n") == std::string::npos && bytes.find("\\\r") == std::string::npos;
    for_each_line(bytes, [&](std::string_view kind, std::string_view line) {
        if (kind != "f") return;
        int corners = 0;
        while (!next_word(line).empty())
            ++corners;
        plain = plain && corners == 3;
    });
    return plain;
}

std::vector<TriangleMesh> parse_obj(const std::string& bytes, const std::string& name) {
    const auto broken = [&](const std::string& what) -> MeshFileError {
        return {name + " " + what, "export it again"};
    };
    std::vector<Vec3<double>> vertices;
    std::vector<ObjObject> objects(1);
    size_t triangles = 0;
    std::vector<int> corners;
    for_each_line(bytes, [&](std::string_view kind, std::string_view line) {
        if (kind == "o" || kind == "g") {
            if (!objects.back().mesh.triangles.empty()) objects.emplace_back();
        } else if (kind == "v") {
            Vec3<double> v;
            for (double& x : v)
                x = static_cast<float>(leading_number<double>(next_word(line)));
            if (!v.allFinite()) throw broken("has a vertex that is not finite");
            vertices.push_back(v);
        } else if (kind == "f") {
            corners.clear();
            for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
                const long given =
                               leading_number<long>(word),  // from 1, or from the last; then /texture/normal
                    vertex = given < 0 ? given + static_cast<long>(vertices.size()) : given - 1;
                if (given == 0 || vertex < 0 || vertex >= static_cast<long>(vertices.size()))
                    throw broken("refers to a vertex that it does not contain");
                corners.push_back(objects.back().corner(static_cast<size_t>(vertex), vertices));
            }
            for (size_t k = 2; k < corners.size(); ++k)
                objects.back().mesh.triangles.push_back({corners[0], corners[k - 1], corners[k]});
            triangles += corners.size();
            if (triangles > 3 * max_triangles) throw broken("has more than 1000000 triangles");
        }
    });
    std::vector<TriangleMesh> out;
    for (ObjObject& object : objects)
        if (!object.mesh.triangles.empty()) out.push_back(std::move(object.mesh));
    if (out.empty() && !vertices.empty()) out.push_back({std::move(vertices), {}});
    return out;
}

}  // namespace costate
