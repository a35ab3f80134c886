#include "scenes/import/mesh/obj_file.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

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

using Position = std::array<double, 3>;
using Edge = std::pair<Position, Position>;  // the lower position first

// The edges that belong to one triangle of a mesh. Corners at the same position are one.
std::vector<Edge> open_edges(const TriangleMesh& mesh) {
    std::vector<Edge> edges;
    for (const std::array<int, 3>& t : mesh.triangles)
        for (size_t i = 0; i < 3; ++i) {
            const Vec3<double>& from = mesh.vertices[static_cast<size_t>(t[i])];
            const Vec3<double>& to = mesh.vertices[static_cast<size_t>(t[(i + 1) % 3])];
            const Position a{from.x(), from.y(), from.z()}, b{to.x(), to.y(), to.z()};
            edges.push_back(std::minmax(a, b));
        }
    std::ranges::sort(edges);
    std::vector<Edge> out;
    for (auto first = edges.begin(); first != edges.end();) {
        const auto next = std::find_if(first, edges.end(), [&](const Edge& e) { return e != *first; });
        if (next - first == 1) out.push_back(*first);
        first = next;
    }
    return out;
}

}  // namespace

std::vector<std::vector<size_t>> solids_of_objects(const std::vector<TriangleMesh>& objects) {
    std::vector<size_t> joined_to(objects.size());  // an object of the same solid before it, or itself
    const auto first_of = [&](size_t i) {
        while (joined_to[i] != i)
            i = joined_to[i];
        return i;
    };
    std::map<Edge, size_t> object_of;
    for (size_t i = 0; i < objects.size(); ++i) {
        joined_to[i] = i;
        for (const Edge& edge : open_edges(objects[i])) {
            const auto [other, fresh] = object_of.try_emplace(edge, i);
            if (fresh) continue;
            const auto [low, high] = std::minmax({first_of(other->second), first_of(i)});
            joined_to[high] = low;
        }
    }
    std::map<size_t, std::vector<size_t>> solids;  // by their first object
    for (size_t i = 0; i < objects.size(); ++i)
        solids[first_of(i)].push_back(i);
    std::vector<std::vector<size_t>> out;
    for (auto& [first, members] : solids)
        out.push_back(std::move(members));
    return out;
}

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
