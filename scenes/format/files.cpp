#include "scenes/format/files.hpp"

#include <fstream>

#include "scenes/format/error.hpp"
#include "scenes/format/names.hpp"

namespace costate {

void expect_file(const std::filesystem::path& path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (status.type() == std::filesystem::file_type::regular) return;
    const auto fail = [&](const char* message) {
        throw SceneError(one_line(path.string() + ": " + message));
    };
    if (status.type() == std::filesystem::file_type::directory) fail("is a folder; name a file in it");
    if (error == std::errc::permission_denied)
        fail("permission denied; check the permissions of its folders");
    fail("there is no such file; check the path");
}

// By read(), which tells an error from the end of the file. It takes a failure of memory for one, too.
std::string read_file(const std::filesystem::path& file, const char* remedy) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw SceneError(one_line(file.string() + ": cannot be read; " + remedy));
    std::string bytes;
    char part[1 << 14];
    while (in.read(part, sizeof part), in.gcount() > 0)
        bytes.append(part, static_cast<size_t>(in.gcount()));
    if (in.bad()) throw SceneError(one_line(file.string() + ": reading it failed; check its disk"));
    return bytes;
}

}  // namespace costate
