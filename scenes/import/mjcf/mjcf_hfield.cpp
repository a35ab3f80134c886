// Height fields of MJCF: a grid of heights over a rectangle, in the file itself, in a PNG file, in a file of MuJoCo's
// own format, or all 0.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "scenes/format/files.hpp"
#include "scenes/import/mesh/mesh_file.hpp"
#include "scenes/import/mesh/png_file.hpp"
#include "scenes/import/mjcf/mjcf_model.hpp"

namespace costate {
namespace {

constexpr std::int64_t max_heights = 1'000'000;

// Heights in any unit; the first row has the smallest y.
struct HeightGrid {
    size_t rows = 0, columns = 0;
    std::vector<double> z;
};

// Turns the order of the rows.
void turn_rows(HeightGrid& grid) {
    for (size_t row = 0; row < grid.rows / 2; ++row)
        std::swap_ranges(grid.z.begin() + static_cast<std::ptrdiff_t>(row * grid.columns),
                         grid.z.begin() + static_cast<std::ptrdiff_t>((row + 1) * grid.columns),
                         grid.z.begin() + static_cast<std::ptrdiff_t>((grid.rows - 1 - row) * grid.columns));
}

HeightGrid grid_of_picture(const std::string& bytes, const std::string& name) {
    const GrayImage image = parse_png(bytes, name, max_heights);
    HeightGrid grid{static_cast<size_t>(image.rows),
                    static_cast<size_t>(image.columns),
                    {image.values.begin(), image.values.end()}};
    turn_rows(grid);
    return grid;
}

// MuJoCo's own format: the numbers of rows and columns, of 32 bits, and the heights in single precision. Little-endian.
HeightGrid grid_of_binary(const std::string& bytes, const std::string& name) {
    const MeshFileError broken(name + " is not a height field of MuJoCo: its size is not that of its grid",
                               "export it again");
    std::uint32_t size[2];
    if (bytes.size() < sizeof size) throw broken;
    std::memcpy(size, bytes.data(), sizeof size);
    const std::uint64_t count = std::uint64_t{size[0]} * size[1];
    if (count > max_heights || bytes.size() != sizeof size + count * sizeof(float)) throw broken;
    std::vector<float> heights(count);
    std::memcpy(heights.data(), bytes.data() + sizeof size, count * sizeof(float));
    if (!std::ranges::all_of(heights, [](float z) { return std::isfinite(z); }))
        throw MeshFileError(name + " has a height that is not finite", "export it again");
    return {size[0], size[1], {heights.begin(), heights.end()}};
}

// Nothing, with a warning, if there is no file.
std::optional<HeightGrid> grid_of_file(const MjcfContext& context, const XmlElement& e) {
    const XmlAttribute name = e["file"];
    const std::filesystem::path file = find_asset(context, name);
    if (file.empty()) {
        context.warnings.add(name.place(),
                             "there is no file for height field \"" + name.word() + "\", which is ignored",
                             "name its folder with --search");
        return {};
    }
    const std::string type = e.text_or("content_type", "");
    const bool picture = type.empty() ? file.extension() == ".png" : type == "image/png";
    try {
        const std::string bytes = read_file(file);
        return picture ? grid_of_picture(bytes, name.word()) : grid_of_binary(bytes, name.word());
    } catch (const MeshFileError& fault) {
        if (picture && !reads_png()) {
            context.warnings.add(name.place(), fault.what() + std::string(", and is ignored"), fault.remedy);
            return {};
        }
        e.fail(std::string("cannot be read: ") + fault.what(), fault.remedy);
    }
}

HeightGrid grid_of_attributes(const XmlElement& e) {
    HeightGrid grid{static_cast<size_t>(e["nrow"].integer(2, max_heights)),
                    static_cast<size_t>(e["ncol"].integer(2, max_heights)),
                    {}};
    const size_t count = grid.rows * grid.columns;
    if (const auto elevation = e.find("elevation")) {
        grid.z = elevation->numbers(0, max_heights);
        if (grid.z.size() != count)
            elevation->fail("has " + std::to_string(grid.z.size()) + " numbers",
                            "give nrow times ncol, " + std::to_string(count));
        turn_rows(grid);
    } else if (count > max_heights) {
        e["nrow"].fail("times ncol is more than a million points", "use fewer");
    } else {
        grid.z.assign(count, 0);
    }
    return grid;
}

}  // namespace

void read_height_field(MjcfContext& context, const XmlElement& e) {
    const std::string name =
        e.has("name") ? e["name"].word() : std::filesystem::path(e["file"].word()).stem().string();
    Json& field = context.hfields[name];
    const std::vector<double> size = e["size"].numbers(4);
    if (!(*std::min_element(size.begin(), size.end()) > 0))
        e["size"].fail("must be positive", "use four numbers above 0");
    const std::optional<HeightGrid> grid = e.has("file") ? grid_of_file(context, e) : grid_of_attributes(e);
    if (!grid) return;
    if (grid->rows < 2 || grid->columns < 2)
        e.fail("has fewer than two rows or columns", "give it at least two of each");
    const auto [least, most] = std::minmax_element(grid->z.begin(), grid->z.end());
    const double span = *most > *least ? *most - *least : 1;
    field = {{"type", "height_field"}, {"heights", Json::array()}};
    for (size_t row = 0; row < grid->rows; ++row) {
        Json heights = Json::array();
        for (size_t column = 0; column < grid->columns; ++column)
            heights.push_back((grid->z[row * grid->columns + column] - *least) / span * size[2]);
        field["heights"].push_back(std::move(heights));
    }
    field["cell"] = Json{2 * size[0] / static_cast<double>(grid->columns - 1),
                         2 * size[1] / static_cast<double>(grid->rows - 1)};
}

}  // namespace costate
