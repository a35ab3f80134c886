#include "scenes/import/xml/xml_text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "scenes/format/names.hpp"
#include "scenes/import/xml/xml.hpp"

namespace costate {
namespace {

[[noreturn]] void fail_at(const std::string& text, size_t position, const std::string& file,
                          const std::string& message) {
    const auto at = text.begin() + static_cast<std::ptrdiff_t>(std::min(position, text.size()));
    throw SceneError(
        one_line(file + ":" + std::to_string(1 + std::count(text.begin(), at, '\n')) + ": " + message));
}

// Length of the UTF-8 character at `i`; 0 if it is invalid (RFC 3629: no surrogates, no overlong forms).
size_t character_length(const std::string& text, size_t i) {
    const auto byte = [&](size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    const unsigned first = byte(i);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
    if (first < 0xc2 || first > 0xf4) return 0;
    for (size_t k = 1; k < length; ++k)
        if ((byte(i + k) & 0xc0) != 0x80) return 0;
    const unsigned second = byte(i + 1);
    const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
    const bool outside = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
    return too_long || outside ? 0 : length;
}

// The encoding that <?xml ... ?> declares, in lower case; utf-8 if none.
std::string declared_encoding(const std::string& text) {
    std::string head = text.substr(0, std::min(text.find("?>"), size_t{200}));
    std::transform(head.begin(), head.end(), head.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const size_t begin = head.find("<?xml") == std::string::npos ? std::string::npos : head.find("encoding");
    const size_t quote = begin == std::string::npos ? begin : head.find_first_of("\"'", begin);
    if (quote == std::string::npos) return "utf-8";
    return head.substr(quote + 1, head.find(head[quote], quote + 1) - quote - 1);
}

bool is_control(char c) {
    return (static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\n' && c != '\r') || c == 127;
}

bool is_control_or_white(char c) { return is_control(c) || std::isspace(static_cast<unsigned char>(c)); }

// The text with spaces for control characters, and with other bytes than UTF-8 read as Latin-1.
std::string repaired(const std::string& text, const std::string& file, Warnings& warnings) {
    std::string out;
    out.reserve(text.size());
    int line = 1;
    const auto note = [&](const char* what, const char* remedy) {
        warnings.note(file + ":" + std::to_string(line), what, remedy);
    };
    for (size_t i = 0; i < text.size();) {
        line += text[i] == '\n';
        const size_t length = character_length(text, i);
        const auto byte = static_cast<unsigned char>(text[i]);
        if (length == 0) {
            note("the file is not UTF-8 and is read as Latin-1", "save it as UTF-8");
            out += static_cast<char>(0xc0 | byte >> 6);
            out += static_cast<char>(0x80 | (byte & 0x3f));
        } else if (is_control(text[i]) && text[i] != '\0') {
            note("a control character is read as a space", "remove it");
            out += ' ';
        } else {
            out.append(text, i, length);
        }
        i += std::max<size_t>(length, 1);
    }
    return out;
}

}  // namespace

std::string checked_xml_text(std::string text, const std::string& file, Warnings* warnings) {
    if (text.size() > max_xml_bytes)
        fail_at(text, 0, file,
                "is larger than " + std::to_string(max_xml_bytes >> 20) + " MB; name a robot description");
    const std::string_view start = std::string_view(text).substr(0, 4);
    if (start.starts_with("\xff\xfe") || start.starts_with("\xfe\xff") ||
        start.starts_with(std::string_view("<\0", 2)) || start.starts_with(std::string_view("\0<", 2)))
        fail_at(text, 0, file, "is UTF-16; save it as UTF-8");
    if (const auto end = std::find(text.rbegin(), text.rend(), '>').base();
        end != text.begin() && std::any_of(end, text.end(), is_control) &&
        std::all_of(end, text.end(), is_control_or_white))
        text.erase(end, text.end());
    const std::string_view head = std::string_view(text).substr(0, 200);
    const bool repairs = warnings != nullptr && head.find('<') != head.npos;
    if (repairs) text = repaired(text, file, *warnings);
    bool ascii = true;
    size_t elements = 0;
    for (size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size();) {  // after a byte-order mark
        const char c = text[i];
        if (is_control(c))
            fail_at(text, i, file, "is a binary file; name a robot description, which is text");
        if (c == '<' && ++elements > 2 * max_xml_elements)  // two tags per element
            fail_at(text, i, file,
                    "has more than " + std::to_string(max_xml_elements) + " elements; split it");
        const size_t length = character_length(text, i);
        if (length == 0) fail_at(text, i, file, "is not UTF-8; save it as UTF-8");
        ascii = ascii && length == 1;
        i += length;
    }
    const std::string encoding = declared_encoding(text);
    const bool latin = repairs && encoding == "iso-8859-1";
    if (!latin && encoding != "utf-8" && encoding != "utf8" && encoding != "us-ascii" &&
        encoding != "ascii" && !ascii)
        fail_at(text, 0, file, "declares the encoding " + encoding.substr(0, 40) + "; save it as UTF-8");
    for (const char* kind : {"<!DOCTYPE", "<!ENTITY"})
        if (const size_t at = text.find(kind); at != std::string::npos)
            fail_at(text, at, file,
                    std::string("has a ") + kind + "> declaration, which is not allowed; remove it");
    return text;
}

}  // namespace costate
