// The manual page and the completion of shells, from the tables of commands and options.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/command.hpp"

namespace costate {

std::string man_page(const std::vector<const Command*>& commands);  // source for man(1)
std::string bash_completion(const std::vector<const Command*>& commands);
std::string zsh_completion(const std::vector<const Command*>& commands);

}  // namespace costate
