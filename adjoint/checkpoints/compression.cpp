#include "adjoint/checkpoints/compression.hpp"

#include <cstdint>
#include <cstring>
#include <stdexcept>

#ifdef COSTATE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace costate {

#ifdef COSTATE_HAVE_ZSTD

namespace {

constexpr int level = 1;  // higher levels hardly compress states better

std::uint64_t bits(const double* x) {
    std::uint64_t b;
    std::memcpy(&b, x, sizeof b);
    return b;
}

}  // namespace

bool have_compression() { return true; }

std::vector<char> compress(const double* records, size_t each, size_t count) {
    const size_t n = each * count;
    std::vector<char> planes(8 * n), packed(ZSTD_compressBound(8 * n));
    for (size_t i = 0; i < n; ++i) {
        const std::uint64_t b = bits(records + i) ^ (i < each ? 0 : bits(records + i - each));
        for (size_t p = 0; p < 8; ++p)
            planes[p * n + i] = static_cast<char>(b >> (56 - 8 * p));
    }
    const size_t size = ZSTD_compress(packed.data(), packed.size(), planes.data(), planes.size(), level);
    if (ZSTD_isError(size)) throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(size));
    packed.resize(size);
    return packed;
}

bool decompress(const char* bytes, size_t n_bytes, double* records, size_t each, size_t count) {
    const size_t n = each * count;
    std::vector<unsigned char> planes(8 * n);
    if (ZSTD_decompress(planes.data(), planes.size(), bytes, n_bytes) != planes.size()) return false;
    for (size_t i = 0; i < n; ++i) {
        std::uint64_t b = i < each ? 0 : bits(records + i - each);
        for (size_t p = 0; p < 8; ++p)
            b ^= static_cast<std::uint64_t>(planes[p * n + i]) << (56 - 8 * p);
        std::memcpy(records + i, &b, sizeof b);
    }
    return true;
}

#else

bool have_compression() { return false; }

std::vector<char> compress(const double*, size_t, size_t) {
    throw std::runtime_error(
        "this build does not support compressed checkpoints: install libzstd-dev, configure and build again");
}
bool decompress(const char*, size_t, double*, size_t, size_t) { return false; }

#endif

}  // namespace costate
