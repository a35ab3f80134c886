// The script and the style sheet that the build bundles from apps/viewer/web.
#pragma once

#include <string_view>

namespace costate {

std::string_view viewer_script();
std::string_view viewer_style();

}  // namespace costate
