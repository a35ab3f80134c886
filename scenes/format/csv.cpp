#include "scenes/format/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "scenes/format/error.hpp"
#include "scenes/format/files.hpp"

namespace costate {
namespace {

[[noreturn]] void fail(const std::string& file, int line, const std::string& what) {
    throw SceneError(file + ":" + std::to_string(line) + ": " + what);
}

// A field, shortened and without control characters, for a message.
std::string shown_field(std::string field) {
    const bool longer = field.size() > 40;
    field.resize(std::min<size_t>(field.size(), 40));
    for (char& c : field)
        if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
    return "\"" + field + (longer ? "...\"" : "\"");
}

// The fields of one line, without spaces around those that are not quoted.
std::vector<std::string> split(const std::string& line, const std::string& file, int number) {
    std::vector<std::string> fields;
    size_t i = 0;
    const auto skip_spaces = [&] {
        while (i < line.size() && (line[i] == ' ' || line[i] == '\t'))
            ++i;
    };
    for (;; ++i) {
        std::string field;
        skip_spaces();
        if (i < line.size() && line[i] == '"') {
            for (++i; i < line.size() && (line[i] != '"' || (i + 1 < line.size() && line[i + 1] == '"'));
                 ++i) {
                if (line[i] == '"') ++i;  // "" stands for one quote
                field += line[i];
            }
            if (i == line.size()) fail(file, number, "unclosed quote; close it on the same line");
            ++i;
            skip_spaces();
            if (i < line.size() && line[i] != ',')
                fail(file, number, "text after a closing quote; put a comma there, or double the quote");
        } else {
            while (i < line.size() && line[i] != ',')
                field += line[i++];
            while (!field.empty() && (field.back() == ' ' || field.back() == '\t'))
                field.pop_back();
        }
        fields.push_back(std::move(field));
        if (i >= line.size()) return fields;
    }
}

}  // namespace

Table parse_csv(const std::string& text, const std::string& shown) {
    Table table;
    std::istringstream in(
        text.substr(text.starts_with("\xef\xbb\xbf") ? 3 : 0));  // without a byte-order mark
    in.exceptions(std::ios::badbit);                             // out of memory, which would end the text
    std::string line;
    int number = 0;
    while (std::getline(in, line)) {
        ++number;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.find_first_not_of(" \t") == std::string::npos) continue;
        const std::vector<std::string> fields = split(line, shown, number);
        if (table.columns.empty()) {
            table.columns = fields;
            for (size_t c = 0; c < fields.size(); ++c)
                if (std::find(fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(c), fields[c]) !=
                    fields.begin() + static_cast<std::ptrdiff_t>(c))
                    fail(shown, number,
                         "two columns are named " + shown_field(fields[c]) + "; rename or remove one");
            continue;
        }
        if (fields.size() != table.columns.size())
            fail(shown, number,
                 "has " + std::to_string(fields.size()) + " cells, but the first line has " +
                     std::to_string(table.columns.size()) + "; write one cell per column");
        std::vector<double> row;
        for (size_t c = 0; c < fields.size(); ++c) {
            double x = 0;
            const char *begin = fields[c].data(), *end = begin + fields[c].size();
            const auto [rest, error] = std::from_chars(begin, end, x);
            if (error != std::errc() || rest != end || !std::isfinite(x))
                fail(shown, number,
                     shown_field(fields[c]) + " in column " + shown_field(table.columns[c]) +
                         " is not a finite number; correct the cell");
            row.push_back(x);
        }
        table.rows.push_back(std::move(row));
        table.lines.push_back(number);
    }
    if (table.rows.empty())
        fail(shown, std::max(number, 1),
             "there is no row of numbers; write a line of names and rows of numbers below it");
    return table;
}

Table read_csv(const std::filesystem::path& file) {
    expect_file(file);
    return parse_csv(read_file(file), file.string());
}

}  // namespace costate
