#include "scenes/import/mesh/png_file.hpp"

#include "scenes/import/mesh/mesh_file.hpp"
#ifdef COSTATE_HAVE_PNG
#include <png.h>

#include <cstring>
#endif

namespace costate {

#ifdef COSTATE_HAVE_PNG
namespace {

struct Source {
    const char* at;
    size_t left;
};

void take(png_structp png, png_bytep out, size_t count) {
    Source& source = *static_cast<Source*>(png_get_io_ptr(png));
    if (count > source.left) png_error(png, "ends too early");
    std::memcpy(out, source.at, count);
    source.at += count;
    source.left -= count;
}

[[noreturn]] void give_up(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void pass_over(png_structp, png_const_charp) {}

// Reads the picture into the structs of libpng, which own it; false if it is broken. libpng leaves by longjmp, so
// nothing here has a destructor.
bool decode(png_structp png, png_infop info, Source& source) {
    if (setjmp(png_jmpbuf(png))) return false;
    png_set_read_fn(png, &source, take);
    png_read_png(png, info, PNG_TRANSFORM_EXPAND | PNG_TRANSFORM_STRIP_16 | PNG_TRANSFORM_STRIP_ALPHA,
                 nullptr);
    return true;
}

// A number of four bytes of the header
size_t number_at(const std::string& bytes, size_t begin) {
    size_t out = 0;
    for (size_t i = begin; i < begin + 4; ++i)
        out = out << 8 | static_cast<unsigned char>(bytes[i]);
    return out;
}

}  // namespace

bool reads_png() { return true; }

GrayImage parse_png(const std::string& bytes, const std::string& name, size_t most) {
    const MeshFileError broken(name + " is not a PNG file, or is broken", "export it again");
    constexpr size_t header = 24;  // with width and height
    if (bytes.size() < header || png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) != 0)
        throw broken;
    const size_t width = number_at(bytes, 16), height = number_at(bytes, 20);
    if (width == 0 || height > most / width)
        throw MeshFileError(name + " has more than " + std::to_string(most) + " points",
                            "use a smaller picture");
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, give_up, pass_over);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    GrayImage out;
    Source source{bytes.data(), bytes.size()};
    const bool read = info != nullptr && decode(png, info, source);
    try {
        if (read) {
            const png_bytepp rows = png_get_rows(png, info);
            const int channels = png_get_channels(png, info);
            out.rows = static_cast<int>(height);
            out.columns = static_cast<int>(width);
            for (int row = 0; row < out.rows; ++row)
                for (int column = 0; column < out.columns; ++column)
                    out.values.push_back(rows[row][column * channels]);
        }
    } catch (...) {
        png_destroy_read_struct(&png, &info, nullptr);
        throw;
    }
    png_destroy_read_struct(&png, &info, nullptr);
    if (!read) throw broken;
    return out;
}
#else
bool reads_png() { return false; }

GrayImage parse_png(const std::string&, const std::string& name, size_t) {
    throw MeshFileError(name + " is a PNG file, which this build cannot read, because libpng was missing",
                        "install libpng-dev and build again");
}
#endif

}  // namespace costate
