// A stopwatch, and a progress bar on stderr, which is drawn only if stderr is a terminal, or if COSTATE_PROGRESS in the
// environment is 1: mpirun passes stderr on through a pipe.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

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
          shown_(isatty(STDERR_FILENO) == 1 || wanted()) {}
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
        constexpr int width = 30;
        const double elapsed = watch_.seconds(), share = std::clamp(fraction, 0.0, 1.0);
        const int filled = static_cast<int>(share * width);
        std::string line = "\r\033[K" + label_ + " [" + std::string(static_cast<size_t>(filled), '#') +
                           std::string(static_cast<size_t>(width - filled), '.') + "] " +
                           std::to_string(static_cast<int>(100 * share)) + " %";
        if (share > 0) line += ", " + duration(elapsed / share - elapsed) + " left";
        if (!note.empty()) line += ", " + note;
        std::fputs(line.c_str(), stderr);
        std::fflush(stderr);
        next_ = elapsed + 0.1;
        drawn_ = true;
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
