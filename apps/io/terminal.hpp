// What the program says on stderr, which may be a terminal.
#pragma once

#include <string>

namespace costate {

// One line each: "costate: <text>" is an error, "costate: warning: <text>", "costate: note: <text>".
enum class Message { error, warning, note };

// Prints a message to stderr, needing no memory. Its beginning is coloured if stderr is a terminal, unless
// NO_COLOR is set or TERM is dumb. Warnings and notes are left out after set_quiet(true). A rank other than 0
// is named.
void tell(Message kind, const char* text, int rank = 0);
inline void tell(Message kind, const std::string& text) { tell(kind, text.c_str()); }

void set_quiet(bool quiet);
bool is_quiet();

// Columns of the terminal that stderr is; 0: none, or unknown.
int terminal_width();

}  // namespace costate
