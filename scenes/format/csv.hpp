// Tables as text: rows of fields with commas between, a field in double quotes if it holds a comma or a
// quote, which is then doubled (RFC 4180). Every complaint names the file and the line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace costate {

struct Table {
    std::vector<std::string> columns;       // the first line, all different
    std::vector<std::vector<double>> rows;  // finite numbers, one a column
    std::vector<int> lines;                 // where each row stands, counted from 1
};

// Throws SceneError; `shown` is the file's name in messages.
Table parse_csv(const std::string& text, const std::string& shown);
Table read_csv(const std::filesystem::path& file);

}  // namespace costate
