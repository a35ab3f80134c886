// A stopwatch, and a progress bar on stderr, which is drawn only if stderr is a terminal, or if COSTATE_PROGRESS in the
// environment is 1: mpirun passes stderr on through a pipe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "apps/io/terminal.hpp"
#include "core/platform/posix.hpp"

namespace costate {

class Stopwatch {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_ = Clock::now();
};

class Progress {
public:
    explicit Progress(std::string label)
        : label_(std::move(label)),
          shown_(!is_quiet() && (isatty(STDERR_FILENO) == 1 || wanted())) {}
    ~Progress() { finish(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    bool shown() const { return shown_; }

    // Call when the work is done, before other output: erases the bar and returns the duration, s.
    double finish() {
        if (drawn_) std::fputs("\r\033[K", stderr);
        drawn_ = false;
        return watch_.seconds();
    }

    // True if the bar should be redrawn: ten times a second, after the first half second.
    bool due() const { return shown_ && watch_.seconds() > next_; }

    // `fraction`: completed part of the work; `note`: short text next to the bar.
    void draw(double fraction, const std::string& note = {}) {
        const double elapsed = watch_.seconds(), share = std::clamp(fraction, 0.0, 1.0);
        std::string after = std::to_string(static_cast<int>(100 * share)) + " %";
        if (share > 0) after += ", " + duration(elapsed / share - elapsed) + " left";
        if (!note.empty()) after += ", " + note;
        const std::string line = "\r\033[K" + fitted(label_, share, after, terminal_width());
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
        next_ = elapsed + 0.1;
        drawn_ = true;
    }

    // "label [###...]after" in fewer than `columns`, so that the terminal does not scroll: the bar shrinks,
    // then the text behind it is cut, then the label. 0 columns: no bound.
    static std::string fitted(const std::string& label, double share, const std::string& after, int columns) {
        constexpr int longest = 30, shortest = 10, frame = 4;  // the frame: two spaces and two brackets
        const int text = static_cast<int>(label.size() + after.size()) + frame;
        const int width = columns > 0 ? std::clamp(columns - 1 - text, shortest, longest) : longest;
        const int filled = static_cast<int>(share * width);
        std::string line = label + " [" + std::string(static_cast<size_t>(filled), '#') +
                           std::string(static_cast<size_t>(width - filled), '.') + "] " + after;
        if (columns > 0 && static_cast<int>(line.size()) >= columns) line.resize(std::max(columns - 1, 0));
        return line;
    }

private:
    static bool wanted() {
        const char* choice = std::getenv("COSTATE_PROGRESS");
        return choice != nullptr && std::string(choice) == "1";
    }
    static std::string duration(double seconds) {
        const auto whole = static_cast<long>(seconds + 0.5);
        return whole < 100 ? std::to_string(whole) + " s" : std::to_string((whole + 30) / 60) + " min";
    }

    std::string label_;
    bool shown_, drawn_ = false;
    Stopwatch watch_;
    double next_ = 0.5;
};

}  // namespace costate
