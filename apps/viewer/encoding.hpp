// Numbers as few bytes, for a page that unpacks them (apps/viewer/web/src/decode.js holds the inverse of
// every line here).
//
// A table of numbers (rows x width) becomes whole multiples of a quantum, so that a number is off by half a
// quantum at most; then what is left after a prediction from the rows before, x_t - x_(t-1) or x_t - 2
// x_(t-1) + x_(t-2), modulo 2^32; zigzag, which makes small magnitudes small numbers; then the lowest bytes
// of all, the next bytes of all, and so on, column by column, without the planes that are zero. A pack is
// "costate1", the length of a JSON text (4 bytes, little endian), that text, and the planes of all tables;
// deflated by zlib, whose checksum guards the whole, and written in base64.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace costate {

enum class Prediction { none, last, line };

class Packer {
public:
    using Json = nlohmann::ordered_json;

    // Each returns what the page has to know of the table. Numbers beyond 2^31 quanta are cut off there.
    Json table(const std::vector<double>& numbers, int width, double quantum, Prediction prediction);

    // To 8 significant bits, whatever their magnitude: the upper halves of single-precision floats. Not
    // finite ones are 0.
    Json magnitudes(const std::vector<double>& numbers, int width);

    // Of tables whose rows come in groups, here `counts` rows a group: a row is predicted by the one of the
    // same place in the group before, if that has as many.
    Json groups(const std::vector<double>& numbers, int width, double quantum,
                const std::vector<int>& counts);

    std::string finish(const Json& header) const;  // base64

private:
    Json append(const std::vector<std::uint32_t>& residuals, int width, Json about);
    std::string planes_;
};

// RFC 4648
std::string base64(const std::string& bytes);

}  // namespace costate
