// CSV tables (RFC 4180): fields with a comma or a quote are in double quotes, with inner quotes doubled.
// Every error names the file and the line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace costate {

struct Table {
    std::vector<std::string> columns;       // names in the first line, all different
    std::vector<std::vector<double>> rows;  // finite numbers, one per column
    std::vector<int> lines;                 // line of each row in the file, from 1
};

// Throws SceneError; `shown` is the file's name in messages.
Table parse_csv(const std::string& text, const std::string& shown);
Table read_csv(const std::filesystem::path& file);

}  // namespace costate
