// Compact encoding of tables of numbers for pages. apps/viewer/web/src/decode.js is the decoder.
//
// A table of numbers (rows x width) is encoded in four steps:
//
// 1. quantize: integer multiples of a quantum, with an error of at most half a quantum
// 2. predict from earlier rows: x_t - x_(t-1) or x_t - 2 x_(t-1) + x_(t-2), modulo 2^32
// 3. zigzag: small magnitudes become small unsigned numbers
// 4. byte planes: the lowest bytes of all numbers, then the next bytes, ..., column by column, without zero
// planes
//
// The encoded text is "costate1", the length of a JSON header (4 bytes, little endian), the header, and the
// planes of all tables, deflated by zlib with its checksum, in base64.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace costate {

enum class Prediction { none, last, line };

class TableEncoder {
public:
    using Json = nlohmann::ordered_json;

    // Each function returns the description of the table for the header. Numbers are clamped to 2^31 quanta.
    Json table(const std::vector<double>& numbers, int width, double quantum, Prediction prediction);

    // Numbers with 8 significant bits at any magnitude: the upper halves of single-precision floats. Numbers
    // that are not finite become 0.
    Json magnitudes(const std::vector<double>& numbers, int width);

    // A table whose rows form groups of `counts` rows. A row is predicted from the row with the same index in
    // the previous group, if that group has the same number of rows.
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
