// What the build makes of apps/view: a script and a style sheet.
#pragma once

#include <string_view>

namespace costate {

std::string_view viewer_script();
std::string_view viewer_style();

}  // namespace costate
