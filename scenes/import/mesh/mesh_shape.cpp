#include "scenes/import/mesh/mesh_shape.hpp"

#include <algorithm>

#include "scenes/import/mesh/mesh_hull.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {

std::vector<Json> mesh_shapes(const std::filesystem::path& file, const MeshUse& use,
                              const ImportOptions& options, Warnings& warnings) {
    const Vec3<double> size = use.scale.cwiseAbs(), sign = use.scale.cwiseSign();
    const std::vector<MeshHull> parts = read_solid_hulls(
        file, {.vertices = options.hull_vertices, .hulls = options.decompose, .surfaces = true});
    const std::string name = "mesh \"" + use.name + "\" ";
    if (options.decompose > 1 && !std::ranges::all_of(parts, &MeshHull::convex))
        warnings.note(use.place, name + text_of_split(parts), "allow more with --decompose");
    std::vector<Json> out;
    for (const MeshHull& hull : parts) {
        if (hull.thickness > 0)
            warnings.add(use.at, "a flat collision mesh is given a thickness of a hundredth of its extent",
                         "use a mesh with a volume", use.name);
        if (hull.left_out > 0)
            warnings.add(use.at, text_of_coarse(hull, size.maxCoeff()) + ":",
                         "use a mesh with fewer vertices, or choose their number with --hull-vertices",
                         use.name);
        if (!hull.convex && options.decompose == 1)
            warnings.add(use.place, name + "is not convex; its convex hull is used",
                         "split it into several hulls with --decompose, or into convex parts, a <collision> "
                         "or an object of "
                         "an OBJ file each");
        Json& shape = out.emplace_back(Json{{"type", "mesh"}});
        Json& vertices = shape["vertices"] = Json::array();
        for (const Vec3<double>& v : hull.vertices)
            vertices.push_back(to_json(v.cwiseProduct(sign)));
        if (!size.isOnes(0)) shape["scale"] = to_json(size);
    }
    return out;
}

}  // namespace costate
