#include "scenes/read/task/control_file.hpp"

#include <algorithm>

#include "scenes/format/csv.hpp"
#include "scenes/format/json.hpp"
#include "scenes/format/names.hpp"
#include "scenes/read/task/file_times.hpp"

namespace costate {
const std::vector<std::string>& resampling_names() {
    static const std::vector<std::string> names{"hold", "linear"};
    return names;
}

std::string control_column(const std::string& actuator) { return "u(" + actuator + ")"; }

ControlFile::ControlFile(std::filesystem::path file) : file_(std::move(file)) {
    if (is_result())
        read_result();
    else
        read_csv_columns();
}

void ControlFile::read_csv_columns() {
    const Table table = read_csv(file_);
    const auto time = std::find(table.columns.begin(), table.columns.end(), "time");
    if (time == table.columns.end())
        throw SceneError(file_.string() + ": has no column \"time\"; add the time of each row in s");
    std::vector<double> times;
    for (size_t row = 0; row < table.rows.size(); ++row) {
        const double now = table.rows[row][static_cast<size_t>(time - table.columns.begin())];
        if (row > 0 && !(now > times.back()))
            throw SceneError(file_.string() + ":" + std::to_string(table.lines[row]) + ": the time " +
                             in_seconds(now) + " is not later than " + in_seconds(times.back()) +
                             "; sort the rows");
        times.push_back(now);
    }
    begin_ = times.front();
    end_ = times.back();
    rows_ = static_cast<int>(times.size());
    const auto shared = std::make_shared<const std::vector<double>>(std::move(times));
    for (size_t c = 0; c < table.columns.size(); ++c) {
        if (table.columns[c] == "time") continue;
        columns_.push_back(table.columns[c]);
        Series& series = series_.emplace_back(Series{shared, {}, false});
        for (const std::vector<double>& row : table.rows)
            series.values.push_back(row[c]);
    }
}

void ControlFile::read_result() {
    const Json document = read_json(file_);
    const std::string name = file_.string();
    const Node node(document, name);
    if (!node.is_object() || !node.has("controls") || !node.has("steps") || !node.has("time_step"))
        node.fail("is not a result.json with controls",
                  "give one that this version of costate optimize --out wrote, or a CSV file");
    const double time_step = node["time_step"].positive();
    rows_ = static_cast<int>(node["steps"].integer(1, 1'000'000'000)) + 1;
    end_ = time_step * (rows_ - 1);
    for (const auto& [actuator, control] : node["controls"].members()) {
        Series series;
        series.values = control["values"].numbers();
        series.knots = control.has("times");
        std::vector<double> times;
        if (series.knots) {
            times = control["times"].numbers(static_cast<int>(series.values.size()));
            if (!std::is_sorted(times.begin(), times.end(), std::less_equal<>()))
                control["times"].fail("do not increase", "sort the knots");
        } else {
            for (size_t t = 0; t < series.values.size(); ++t)
                times.push_back(static_cast<double>(t) * time_step);
        }
        if (series.values.empty()) control["values"].fail("is empty", "write at least one number");
        series.times = std::make_shared<const std::vector<double>>(std::move(times));
        columns_.push_back(control_column(actuator));
        series_.push_back(std::move(series));
    }
}

bool ControlFile::has(const std::string& column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

void ControlFile::expect_rollout(int steps, double time_step) const {
    const double duration = steps * time_step, last = (steps - 1) * time_step, rounding = 1e-6 * time_step;
    const auto fail = [&](const std::string& why) {
        throw SceneError(file_.string() + ": lasts from " + in_seconds(begin_) + " to " + in_seconds(end_) +
                         ", but the rollout from 0 s to " + in_seconds(duration) + "; " + why);
    };
    if (seem_milliseconds(begin_, end_, rows_, time_step, duration)) fail(remedy_for_milliseconds);
    if (begin_ > rounding) fail("let its times begin at 0");
    if (end_ < last - rounding) fail("use fewer steps, or a longer file");
}

std::vector<double> ControlFile::sample(const std::string& column, const std::vector<double>& at,
                                        Resampling how) const {
    const Series& series =
        series_[static_cast<size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin())];
    const std::vector<double>& times = *series.times;
    const bool linear = series.knots || how == Resampling::linear;
    std::vector<double> out;
    for (const double time : at) {
        // a row that rounding moved behind the time it was written for still counts
        const double rounding = 1e-9 * std::max(1.0, std::abs(time));
        const auto after =
            std::upper_bound(times.begin(), times.end(), linear ? time : time + rounding) - times.begin();
        const auto next = static_cast<size_t>(after);
        if (next == 0 || next == times.size() || !linear) {
            out.push_back(series.values[next == 0 ? 0 : next - 1]);
            continue;
        }
        const double part = (time - times[next - 1]) / (times[next] - times[next - 1]);
        out.push_back((1 - part) * series.values[next - 1] + part * series.values[next]);
    }
    return out;
}

}  // namespace costate
