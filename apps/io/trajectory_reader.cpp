#include "apps/io/trajectory_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <unordered_map>

#include "apps/io/trajectory.hpp"
#include "scenes/format/json.hpp"
#include "scenes/format/names.hpp"

namespace costate {

namespace {

// A table and the places of its rows.
struct TextTable {
    std::vector<std::string> columns;
    std::vector<std::vector<double>> rows;
    std::vector<std::string> places;  // "file:line" or "file#/rows/3"
};

// The fields of a line of CSV (RFC 4180); false if a quote is left open.
bool split(const std::string& line, std::vector<std::string>& fields) {
    fields.assign(1, "");
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
        const bool twice = line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"';
        if (twice)
            fields.back() += line[++i];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            fields.emplace_back();
        else
            fields.back() += line[i];
    }
    return !quoted;
}

// A field made printable for a message.
std::string shown(const std::string& field) {
    std::string text = "'";
    for (const char c : field.substr(0, 40))
        text += c >= 32 && c < 127 ? c : '?';
    return text + (field.size() > 40 ? "...'" : "'");
}

TextTable read_csv_table(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw SceneError(file.string() + ": cannot be read; check the path and its permissions");
    TextTable table;
    std::vector<std::string> fields;
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        const std::string place = file.string() + ":" + std::to_string(number);
        if (number == 1 && line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);  // a byte-order mark
        if (!line.empty() && line.back() == '\r') line.pop_back();
        if (line.empty()) continue;
        if (!split(line, fields))
            throw SceneError(place + ": unclosed quote; the file is damaged or truncated");
        if (table.columns.empty()) {
            table.columns = fields;
            continue;
        }
        if (fields.size() != table.columns.size())
            throw SceneError(place + ": has " + std::to_string(fields.size()) +
                             " fields, but the first line has " + std::to_string(table.columns.size()) +
                             "; the file is damaged or truncated");
        std::vector<double> row(fields.size());
        for (size_t c = 0; c < fields.size(); ++c) {
            const char *begin = fields[c].data(), *end = begin + fields[c].size();
            const auto [rest, error] = std::from_chars(begin, end, row[c]);
            if (error != std::errc() || rest != end || !std::isfinite(row[c]))
                throw SceneError(place + ": " + shown(fields[c]) + " is not a finite number; correct it");
        }
        table.rows.push_back(std::move(row));
        table.places.push_back(place);
    }
    if (in.bad()) throw SceneError(file.string() + ": reading it failed; check its disk");
    if (table.columns.empty())
        throw SceneError(file.string() + ": is empty; give a file that costate simulate wrote");
    return table;
}

TextTable read_json_table(const std::filesystem::path& file) {
    const Json document = read_json(file);
    const std::string name = file.string();
    const Node node(document, name);
    if (!node.is_object()) node.fail("is not a trajectory", "give a file that costate simulate wrote");
    TextTable table;
    for (const Node& column : node["columns"].items())
        table.columns.push_back(column.text());
    for (const Node& row : node["rows"].items()) {
        table.rows.push_back(row.numbers(static_cast<int>(table.columns.size())));
        table.places.push_back(row.place());
    }
    return table;
}

// The index of every wanted column in the table; -1: missing. The others must be known.
std::vector<int> find_columns(const TextTable& table, const std::vector<std::string>& wanted,
                              const std::vector<std::string>& known, const std::string& file) {
    std::unordered_map<std::string, int> there;
    for (const std::string& column : table.columns)
        if (!there.emplace(column, static_cast<int>(there.size())).second)
            throw SceneError(file + ": two columns are named " + shown(column) + "; remove one");
    std::vector<int> at;
    for (const std::string& name : wanted) {
        const auto it = there.find(name);
        at.push_back(it == there.end() ? -1 : it->second);
        if (it != there.end()) there.erase(it);
    }
    for (const std::string& name : known)
        there.erase(name);
    if (!there.empty())
        throw SceneError(file + ": the scene has no column " + shown(there.begin()->first) +
                         suggestion(there.begin()->first, wanted) +
                         "; remove it, or give the scene of this trajectory");
    return at;
}

// Normalizes the quaternions of a state.
void normalise_quaternions(const Model& m, const std::string& place, VecX<double>& x) {
    for (const Body& b : m.bodies) {
        const JointKind& kind = joint_kind(b.joint);
        if (kind.rotations == 0) continue;
        auto q = x.segment(b.q0 + kind.numbers, 4);
        if (!(q.norm() > 1e-6))
            throw SceneError(place + ": the quaternion of joint \"" + b.joint_name +
                             "\" is 0; give a nonzero quaternion");
        q /= q.norm();
    }
}

}  // namespace

Trajectory read_trajectory(const std::filesystem::path& file, const Scene& scene) {
    const World& w = scene.world;
    const TextTable table = file.extension() == ".json" ? read_json_table(file) : read_csv_table(file);
    std::vector<std::string> wanted = column_names(state_signals(w.model));
    wanted.insert(wanted.begin(), "time");
    const std::vector<int> at = find_columns(table, wanted, trajectory_columns(w), file.string());
    const auto first_rest = at.begin() + 1 + w.nq();
    for (auto it = at.begin(); it != first_rest; ++it)
        if (*it < 0)
            throw SceneError(file.string() + ": there is no column '" + wanted[it - at.begin()] +
                             "'; give the scene of this trajectory, or add the column");
    Trajectory out;
    out.complete = std::find(first_rest, at.end(), -1) == at.end();
    for (size_t r = 0; r < table.rows.size(); ++r) {
        const auto value = [&](int column) {
            const int place = at[column];
            return place < 0 ? 0.0 : table.rows[r][place];
        };
        const int columns = w.own_nx();
        VecX<double> x = VecX<double>::Zero(w.nx()), u(w.nu());
        for (int i = 0; i < columns; ++i)
            x[i] = value(1 + i);
        for (int n = 0; n < w.nu(); ++n)
            u[n] = value(1 + columns + n);
        normalise_quaternions(w.model, table.places[r], x);
        if (r > 0 && !(value(0) > out.times.back()))
            throw SceneError(table.places[r] +
                             ": the time is not later than in the previous row; sort the rows");
        out.times.push_back(value(0));
        out.states.push_back(std::move(x));
        out.controls.push_back(std::move(u));
    }
    return out;
}

}  // namespace costate
