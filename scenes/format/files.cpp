#include "scenes/format/files.hpp"

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

}  // namespace costate
