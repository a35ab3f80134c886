#include "scenes/read/task/recording_reader.hpp"

#include <algorithm>
#include <cmath>

#include "scenes/format/csv.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/task/file_times.hpp"

namespace costate {
namespace {

using Names = std::vector<std::string>;

constexpr size_t max_samples = 200'000'000;  // 1.6 GB

std::optional<size_t> find_name(const Names& names, const std::string& name) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) return {};
    return static_cast<size_t>(it - names.begin());
}

// The columns of the file, except "time", that the patterns match; each must be the name of a signal.
Names chosen_columns(const Node& patterns, Names in_file, const Names& in_world) {
    Names chosen;
    std::erase(in_file, "time");
    for (const Node& pattern : patterns.items())
        for (const int c : resolve(pattern, pattern.text(), "column of the file", in_file)) {
            const std::string& name = in_file[c];
            if (!find_name(in_world, name))
                pattern.fail("the scene has no signal named \"" + name + "\"" + suggestion(name, in_world),
                             "name other columns");
            if (!find_name(chosen, name)) chosen.push_back(name);
        }
    if (chosen.empty())
        patterns.fail("is empty", "name columns, for example those that costate simulate writes");
    return chosen;
}

// The signals of these columns; all four columns of a rotation must be included.
std::vector<Signal> signals_of(const Node& patterns, const World& world, const Names& chosen) {
    std::vector<Signal> out;
    for (const Signal& s : all_signals(world)) {
        const auto count = std::count_if(s.names.begin(), s.names.end(), [&](const std::string& n) {
            return find_name(chosen, n).has_value();
        });
        if (count == 0) continue;
        if (count < s.width())
            patterns.fail(
                "contains only a part of the rotation \"" + s.names[0] + "\" ... \"" + s.names[3] + "\"",
                "name all four, as in \"" + s.names[0].substr(0, s.names[0].size() - 1) + "*\"");
        out.push_back(s);
    }
    return out;
}

[[noreturn]] void fail_row(const std::filesystem::path& file, int line, const std::string& what) {
    throw SceneError(file.string() + ":" + std::to_string(line) + ": " + what);
}

// The columns of the signals in order, with normalized quaternions.
std::vector<double> row_of(const std::vector<Signal>& signals, const Table& table, size_t row,
                           const std::filesystem::path& file) {
    std::vector<double> out;
    for (const Signal& s : signals) {
        double norm2 = 0;
        for (const std::string& name : s.names) {
            out.push_back(table.rows[row][*find_name(table.columns, name)]);
            norm2 += out.back() * out.back();
        }
        if (!s.is_rotation()) continue;
        if (!(norm2 > 1e-24) || !std::isfinite(norm2))
            fail_row(file, table.lines[row],
                     "the quaternion \"" + s.names[0] +
                         "\" ... has no direction; use 1, 0, 0, 0 for the identity");
        for (auto q = out.end() - 4; q != out.end(); ++q)
            *q /= std::sqrt(norm2);
    }
    return out;
}

// The rows of a file with a column "time", as `read` reads them.
struct TimedRows {
    std::vector<double> times;
    std::vector<std::vector<double>> rows;
};
template <class Read>
TimedRows timed_rows(const Table& table, const std::filesystem::path& file, const Read& read) {
    const std::optional<size_t> time = find_name(table.columns, "time");
    TimedRows out;
    for (size_t row = 0; row < table.rows.size(); ++row) {
        const double now = table.rows[row][*time];
        if (row > 0 && !(now > out.times.back()))
            fail_row(file, table.lines[row],
                     "the time " + in_seconds(now) + " is not later than " + in_seconds(out.times.back()) +
                         "; sort the rows");
        out.times.push_back(now);
        out.rows.push_back(read(row));
    }
    return out;
}

Table read_timed_table(const std::filesystem::path& file) {
    Table table = read_csv(file);
    if (!find_name(table.columns, "time"))
        fail_row(file, 1, "has no column \"time\"; add the time of each row in s");
    return table;
}

void refuse_milliseconds(const Node& where, const TimedRows& rows, int last, double h) {
    const double begin = rows.times.front(), end = rows.times.back(), to = last * h;
    if (seem_milliseconds(begin, end, static_cast<int>(rows.times.size()), h, to))
        where.fail("lasts from " + in_seconds(begin) + " to " + in_seconds(end) + ", but the term ends at " +
                       in_seconds(to),
                   remedy_for_milliseconds);
}

// Fails unless the rows cover the steps [first, last].
void check_cover(const Node& where, const TimedRows& rows, int first, int last, double h) {
    refuse_milliseconds(where, rows, last, h);
    const double from = first * h, to = last * h, rounding = 1e-6 * h;
    if (rows.times.front() > from + rounding)
        where.fail("begins at " + in_seconds(rows.times.front()) + ", after the " + in_seconds(from) +
                       " at which the term begins",
                   "shift its times, or start the recording earlier");
    if (rows.times.back() < to - rounding)
        where.fail("ends at " + in_seconds(rows.times.back()) + ", before the " + in_seconds(to) +
                       " at which the term ends",
                   "use fewer \"steps\", or record longer");
}
void check_size(const Node& where, size_t width, int last) {
    if (width * (static_cast<size_t>(last) + 1) > max_samples)
        where.fail("needs " + std::to_string(width) + " columns at " + std::to_string(last + 1) +
                       " times, more than 2e8 numbers",
                   "use fewer \"steps\"");
}

// Rows [time, number, ...]
TimedRows inline_rows(const Node& node, int width) {
    TimedRows out;
    for (const Node& row : node.items()) {
        std::vector<double> numbers = row.numbers(width + 1);
        if (!out.times.empty() && !(numbers[0] > out.times.back()))
            row.fail("is not later than the row before", "sort the rows by time");
        out.times.push_back(numbers[0]);
        numbers.erase(numbers.begin());
        out.rows.push_back(std::move(numbers));
    }
    if (out.times.empty()) node.fail("has no rows", "write [[time, number, ...], ...]");
    return out;
}

}  // namespace

Recording read_recording(const Node& term, const World& world, const std::filesystem::path& folder, int first,
                         int last) {
    const Node where = term["file"], patterns = term["columns"];
    const std::filesystem::path file = find_file(where, folder);
    const Table table = read_timed_table(file);
    const std::vector<Signal> signals = signals_of(
        patterns, world, chosen_columns(patterns, table.columns, column_names(all_signals(world))));
    const double h = world.settings.time_step;
    const TimedRows rows =
        timed_rows(table, file, [&](size_t row) { return row_of(signals, table, row, file); });
    check_cover(where, rows, first, last, h);
    check_size(where, rows.rows[0].size(), last);
    return resample(signals, rows.times, rows.rows, first, last, h);
}

Samples read_reference(const Node& node, int width, const std::filesystem::path& folder, int first, int last,
                       double h) {
    check_size(node, width, last);
    if (!node.is_object()) {
        const TimedRows rows = inline_rows(node, width);
        refuse_milliseconds(node, rows, last, h);
        return resample(rows.times, rows.rows, first, last, h);
    }
    node.expect_keys("reference");
    const Node where = node["file"];
    const std::filesystem::path file = find_file(where, folder);
    const Table table = read_timed_table(file);
    Names names = table.columns;
    std::vector<size_t> columns;
    std::erase(names, "time");
    for (const Node& pattern : node["columns"].items())
        for (const int c : resolve(pattern, pattern.text(), "column of the file", names))
            columns.push_back(*find_name(table.columns, names[c]));
    if (static_cast<int>(columns.size()) != width)
        node["columns"].fail("names " + std::to_string(columns.size()) + " columns, but the term has " +
                                 std::to_string(width) + " numbers",
                             "name one column for each");
    const TimedRows rows = timed_rows(table, file, [&](size_t row) {
        std::vector<double> numbers;
        for (const size_t c : columns)
            numbers.push_back(table.rows[row][c]);
        return numbers;
    });
    check_cover(where, rows, first, last, h);
    return resample(rows.times, rows.rows, first, last, h);
}

}  // namespace costate
