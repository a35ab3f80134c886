// Where a value is in the text of a JSON document.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace costate {

struct TextPosition {
    int line = 1, column = 1;  // in bytes, from 1
};

TextPosition text_position(const std::string& text, size_t offset);

// The position of the value at the tokens of a JSON pointer, for a member that of its key. The text must be
// well-formed JSON, in which comments are allowed. None if there is no such value.
std::optional<TextPosition> json_position(const std::string& text, const std::vector<std::string>& tokens);

}  // namespace costate
