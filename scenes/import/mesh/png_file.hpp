// Pictures as grids of numbers: the heights of a terrain.
#pragma once

#include <string>
#include <vector>

namespace costate {

// One number of 8 bits for each point, the first row on top.
struct GrayImage {
    int rows = 0, columns = 0;
    std::vector<unsigned char> values;  // (rows x columns)
};

// True if this build reads PNG files.
bool reads_png();

// The first channel of a PNG file, red if it has colours; of 16 bits the upper 8. `name` is that of the file in
// messages. Throws MeshFileError, also for pictures of more than `most` points.
GrayImage parse_png(const std::string& bytes, const std::string& name, size_t most);

}  // namespace costate
