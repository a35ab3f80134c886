#include "scenes/import/mesh/obj_file.hpp"

#include <cstdlib>
#include <map>
#include <sstream>

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

}  // namespace

std::vector<TriangleMesh> parse_obj(const std::string& bytes, const std::string& name) {
    const auto broken = [&](const std::string& what) -> MeshFileError {
        return {name + " " + what, "export it again"};
    };
    std::vector<Vec3<double>> vertices;
    std::vector<ObjObject> objects(1);
    size_t triangles = 0;
    std::istringstream lines(bytes);
    lines.exceptions(std::ios::badbit);  // out of memory, which would end the text
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        words.exceptions(std::ios::badbit);
        std::string kind;
        words >> kind;
        if (kind == "o" || kind == "g") {
            if (!objects.back().mesh.triangles.empty()) objects.emplace_back();
        } else if (kind == "v") {
            Vec3<double> v;
            if (!(words >> v[0] >> v[1] >> v[2]) || !v.allFinite())
                throw broken("has a vertex that is not finite");
            vertices.push_back(v);
        } else if (kind == "f") {
            std::vector<int> corners;
            for (std::string word;
                 words >> word;) {  // vertex, or vertex/texture/normal; from 1, or from the last
                const long given = std::strtol(word.c_str(), nullptr, 10),
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
    }
    std::vector<TriangleMesh> out;
    for (ObjObject& object : objects)
        if (!object.mesh.triangles.empty()) out.push_back(std::move(object.mesh));
    if (out.empty() && !vertices.empty()) out.push_back({std::move(vertices), {}});
    return out;
}

}  // namespace costate
