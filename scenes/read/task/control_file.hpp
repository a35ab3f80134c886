// Controls over time from a file: columns of a CSV file, or the controls of an optimization's result.json.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace costate {

// Between two times of the file: hold keeps the earlier value, linear follows a straight line.
enum class Resampling { hold, linear };
const std::vector<std::string>& resampling_names();  // in the order of the enumerators

// The column of an actuator's control, u(<actuator>).
std::string control_column(const std::string& actuator);

class ControlFile {
public:
    // A name that ends in .json is that of a result.json, other files are CSV with the column "time" in s.
    // Throws SceneError with file, line and remedy.
    explicit ControlFile(std::filesystem::path file);

    const std::filesystem::path& path() const { return file_; }
    bool is_result() const { return file_.extension() == ".json"; }
    // All columns but the time; those of a result.json are u(<actuator>) of the optimized actuators.
    const std::vector<std::string>& columns() const { return columns_; }
    bool has(const std::string& column) const;

    // Throws SceneError unless the file reaches from the first to the last step of such a rollout.
    void expect_rollout(int steps, double time_step) const;

    // The values of a column at increasing times, s; outside of the file's times its first or last value. Knots
    // of a result.json are always followed linearly.
    std::vector<double> sample(const std::string& column, const std::vector<double>& at,
                               Resampling how) const;

private:
    struct Series {
        std::shared_ptr<const std::vector<double>> times;  // s, increasing
        std::vector<double> values;
        bool knots = false;
    };
    void read_csv_columns();
    void read_result();

    std::filesystem::path file_;
    std::vector<std::string> columns_;
    std::vector<Series> series_;  // one per column
    double begin_ = 0, end_ = 0;  // first and last time, s
    int rows_ = 0;                // of a result: steps and one
};

}  // namespace costate
