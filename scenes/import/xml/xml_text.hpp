// What is looked for in a text before it is parsed as XML.
#pragma once

#include <string>

namespace costate {

// That a text is UTF-8 without control characters, declares no other encoding than it has and no document
// type, and is not too long; else a SceneError "<file>:<line>: what; remedy".
void check_xml_text(const std::string& text, const std::string& file);

}  // namespace costate
