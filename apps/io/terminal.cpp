#include "apps/io/terminal.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/platform/posix.hpp"

namespace costate {

namespace {

bool quiet_now = false;

bool is_coloured() {
    const char *no_colour = std::getenv("NO_COLOR"), *term = std::getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && (no_colour == nullptr || *no_colour == 0) && term != nullptr &&
           std::strcmp(term, "dumb") != 0;
}

}  // namespace

void tell(Message kind, const char* text, int rank) {
    if (quiet_now && kind != Message::error) return;
    const char* colour = kind == Message::error ? "\033[31m" : kind == Message::warning ? "\033[33m" : "";
    const char* word = kind == Message::error ? "" : kind == Message::warning ? " warning:" : " note:";
    const bool coloured = *colour != 0 && is_coloured();
    char who[32] = "";
    if (rank > 0) std::snprintf(who, sizeof who, "rank %d: ", rank);
    // in one call, so that lines of several processes do not mix
    std::fprintf(stderr, "%scostate:%s%s %s%s\n", coloured ? colour : "", word, coloured ? "\033[0m" : "",
                 who, text);
}

void set_quiet(bool quiet) { quiet_now = quiet; }

bool is_quiet() { return quiet_now; }

int terminal_width() {
    winsize size{};
    return isatty(STDERR_FILENO) == 1 && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace costate
