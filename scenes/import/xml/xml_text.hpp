// Checks of a text before it is parsed as XML.
#pragma once

#include <string>

namespace costate {

class Warnings;

// The text without zeros and control characters at its end. Throws SceneError "<file>:<line>: fault; remedy"
// unless it is UTF-8 without control characters, declares neither another encoding nor a document type, and is
// not too long. With `warnings`, other control characters than zero become spaces, and bytes that are not UTF-8
// are read as Latin-1.
std::string checked_xml_text(std::string text, const std::string& file, Warnings* warnings);

}  // namespace costate
