// What the build makes of apps/viewer/web: a script and a style sheet.
#pragma once

#include <string_view>

namespace costate {

std::string_view viewer_script();
std::string_view viewer_style();

}  // namespace costate
