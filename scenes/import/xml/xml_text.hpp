// Checks of a text before it is parsed as XML.
#pragma once

#include <string>

namespace costate {

// Throws SceneError "<file>:<line>: fault; remedy" unless a text is UTF-8 without control characters,
// declares neither another encoding nor a document type, and is not too long.
void check_xml_text(const std::string& text, const std::string& file);

}  // namespace costate
