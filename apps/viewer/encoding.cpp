#include "apps/viewer/encoding.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <stdexcept>

namespace costate {

namespace {

// x/quantum rounded, modulo 2^32; 0 for NaN
std::uint32_t whole(double x, double quantum) {
    if (std::isnan(x)) return 0;
    constexpr double limit = 2147483647;
    return static_cast<std::uint32_t>(
        static_cast<std::int32_t>(std::lround(std::clamp(x / quantum, -limit, limit))));
}

// 0, -1, 1, -2, ... -> 0, 1, 2, 3, ...
std::uint32_t zigzag(std::uint32_t x) { return (x << 1) ^ (0u - (x >> 31)); }

// Prediction residuals of the integers of a table, row by row.
std::vector<std::uint32_t> predicted(const std::vector<std::uint32_t>& x, size_t width,
                                     Prediction prediction) {
    std::vector<std::uint32_t> r(x);
    for (size_t i = width; i < x.size() && prediction != Prediction::none; ++i) {
        r[i] -= x[i - width];
        if (prediction == Prediction::line && i >= 2 * width) r[i] -= x[i - width] - x[i - 2 * width];
    }
    return r;
}

}  // namespace

TableEncoder::Json TableEncoder::append(const std::vector<std::uint32_t>& residuals, int width, Json about) {
    const size_t columns = width, rows = residuals.size() / std::max<size_t>(1, columns);
    assert(rows * columns == residuals.size());
    std::uint32_t all = 0;
    for (const std::uint32_t r : residuals)
        all |= zigzag(r);
    const int planes = (std::bit_width(all) + 7) / 8;
    about["offset"] = planes_.size();
    about["rows"] = rows;
    about["width"] = width;
    about["planes"] = planes;
    planes_.reserve(planes_.size() + residuals.size() * static_cast<size_t>(planes));
    for (int plane = 0; plane < planes; ++plane)
        for (size_t column = 0; column < columns; ++column)
            for (size_t row = 0; row < rows; ++row)
                planes_ += static_cast<char>(zigzag(residuals[row * columns + column]) >> (8 * plane) & 0xff);
    return about;
}

TableEncoder::Json TableEncoder::table(const std::vector<double>& numbers, int width, double quantum,
                                       Prediction prediction) {
    std::vector<std::uint32_t> x(numbers.size());
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = whole(numbers[i], quantum);
    return append(predicted(x, static_cast<size_t>(width), prediction), width,
                  {{"code", "table"}, {"quantum", quantum}, {"order", static_cast<int>(prediction)}});
}

TableEncoder::Json TableEncoder::magnitudes(const std::vector<double>& numbers, int width) {
    std::vector<std::uint32_t> x(numbers.size());
    for (size_t i = 0; i < x.size(); ++i) {
        const float value = std::isfinite(numbers[i]) ? static_cast<float>(numbers[i]) : 0.0f;
        const auto bits = std::isfinite(value) ? std::bit_cast<std::uint32_t>(value) : 0u;
        x[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;  // round to nearest, ties to even
    }
    return append(predicted(x, static_cast<size_t>(width), Prediction::last), width,
                  {{"code", "magnitudes"}, {"order", 1}});
}

TableEncoder::Json TableEncoder::groups(const std::vector<double>& numbers, int width, double quantum,
                                        const std::vector<int>& counts) {
    std::vector<std::uint32_t> x(numbers.size()), r;
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = whole(numbers[i], quantum);
    r = x;
    size_t end = 0;
    for (size_t g = 0; g < counts.size(); ++g) {
        const size_t size = static_cast<size_t>(counts[g]) * static_cast<size_t>(width), begin = end;
        end += size;
        if (g == 0 || counts[g] != counts[g - 1]) continue;
        for (size_t i = begin; i < end; ++i)
            r[i] -= x[i - size];
    }
    assert(end == numbers.size());
    return append(r, width, {{"code", "groups"}, {"quantum", quantum}});
}

std::string TableEncoder::finish(const Json& header) const {
    const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string bytes = "costate1";
    for (int k = 0; k < 4; ++k)
        bytes += static_cast<char>(text.size() >> (8 * k) & 0xff);
    bytes += text;
    bytes += planes_;
    uLongf size = compressBound(static_cast<uLong>(bytes.size()));
    std::string deflated(size, '\0');
    if (compress2(reinterpret_cast<Bytef*>(deflated.data()), &size,
                  reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(bytes.size()),
                  Z_BEST_COMPRESSION) != Z_OK)
        throw std::bad_alloc();
    deflated.resize(size);
    return base64(deflated);
}

std::string base64(const std::string& bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (size_t i = 0; i < bytes.size(); i += 3) {
        const size_t count = std::min<size_t>(3, bytes.size() - i);
        std::uint32_t word = 0;
        for (size_t k = 0; k < 3; ++k)
            word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (size_t k = 0; k < 4; ++k)
            text += k <= count ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

}  // namespace costate
