// Files with a part of a sum over environments, which `costate merge` adds up.
#pragma once

#include <filesystem>

#include "adjoint/expectation/expected_loss.hpp"

namespace costate {

struct Shard {
    std::string version;             // of costate
    std::uint32_t settings = 0;      // checksum of scene and options
    std::uint32_t trial = 0;         // checksum of environment 0
    std::int64_t index = 1, of = 1;  // shard `index` of 1 to `of`
    std::string scene;               // its name
    std::string names;               // gradient_names as JSON
    EnvironmentSum part;
    template <class Archive> void transfer(Archive& a) {
        a(version, settings, trial, index, of, scene, names);
        part.transfer(a);
    }
};

// Writes a file atomically.
void write_shard(const std::filesystem::path& file, Shard& shard);
// Throws UsageError if the file cannot be read, is no shard, is truncated or changed, or of another version.
Shard read_shard(const std::filesystem::path& file);

}  // namespace costate
