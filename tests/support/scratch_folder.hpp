// A temporary folder for the files of a test, removed by the destructor.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace costate::test {

class ScratchFolder {
public:
    explicit ScratchFolder(const std::string& name)
        : folder_(std::filesystem::temp_directory_path() /
                  ("costate_" + name + "_" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(folder_);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }
    std::filesystem::path path(const std::string& name = "") const { return folder_ / name; }
    std::filesystem::path write(const std::string& name, const std::string& bytes) const {
        std::filesystem::create_directories(path(name).parent_path());
        std::ofstream(path(name), std::ios::binary) << bytes;
        return path(name);
    }

private:
    std::filesystem::path folder_;
};

}  // namespace costate::test
