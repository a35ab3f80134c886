#include "scenes/import/xml/xml.hpp"

#include <tinyxml2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "scenes/format/files.hpp"
#include "scenes/format/names.hpp"
#include "scenes/import/xml/xml_text.hpp"

namespace costate {
namespace {

constexpr std::string_view white = " \t\r\n\f\v";

std::string_view trimmed(std::string_view text) {
    const size_t begin = text.find_first_not_of(white);
    return begin == std::string_view::npos ? ""
                                           : text.substr(begin, text.find_last_not_of(white) - begin + 1);
}

// True if no comma of a list can be a decimal one, as in "0,5".
bool commas_separate(const std::string& text) {
    if (text.find('.') != std::string::npos) return true;
    for (size_t i = 0; i + 1 < text.size(); ++i)
        if (text[i] == ',' && white.find(text[i + 1]) == std::string_view::npos) return false;
    return true;
}

// A text shortened for a message.
std::string shortened(std::string_view text) {
    std::string out = "\"";
    out.append(text.substr(0, 40)).append(text.size() > 40 ? "...\"" : "\"");
    return out;
}

std::string in_brackets(std::string_view name) { return std::string(1, '<').append(name).append(">"); }

[[noreturn]] void fail_at(const std::string& file, int line, const std::string& message) {
    throw SceneError(one_line(file + ":" + std::to_string(std::max(line, 1)) + ": " + message));
}

// The fault that the parser found, and the remedy.
const char* parsing_error(tinyxml2::XMLError error) {
    switch (error) {
        case tinyxml2::XML_ERROR_EMPTY_DOCUMENT: return "the file has no element; name a robot description";
        case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
            return "the closing tag does not match its element; use the same name";
        case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
            return "an attribute is given twice or is not of the form name=\"value\"; check the quotes "
                   "before it";
        case tinyxml2::XML_ERROR_PARSING_COMMENT: return "unclosed comment; close it with -->";
        case tinyxml2::XML_ERROR_PARSING_CDATA: return "unclosed CDATA section; close it with ]]>";
        case tinyxml2::XML_ERROR_PARSING_DECLARATION:
            return "a declaration is not closed or not at the start; close it with ?>";
        case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED: return "elements are nested deeper than 98; flatten them";
        default: return "the text ends too early or a tag is not closed; check the open tags";
    }
}

}  // namespace

void Warnings::enter(Entry entry) {
    const auto same = [&](const Entry& e) { return e.what == entry.what && e.remedy == entry.remedy; };
    if (const auto it = std::find_if(entries_.begin(), entries_.end(), same); it != entries_.end())
        return void(entry.place == it->place || !it->more.insert(entry.place).second);
    entries_.push_back(std::move(entry));
}

void Warnings::note(const std::string& place, const std::string& what, const std::string& remedy,
                    const std::string& example) {
    enter({place, what, remedy, example});
}

void Warnings::add(const std::string& place, const std::string& what, const std::string& remedy,
                   const std::string& example) {
    enter({place, what, remedy, example});
    if (strict_) throw SceneError(lines().back());
}

std::vector<std::string> Warnings::lines() const {
    std::vector<std::string> out;
    for (const Entry& e : entries_) {
        std::string line = e.place + ": " + e.what;
        if (!e.example.empty()) line.append(" ").append(shortened(e.example));
        line.append("; ").append(e.remedy);
        if (!e.more.empty()) line.append(" (and at ").append(std::to_string(e.more.size())).append(" more)");
        out.push_back(one_line(line));
    }
    return out;
}

void XmlAttribute::fail(const std::string& what, const std::string& remedy) const {
    fail_at(source_->file, line_,
            name_ + "=" + shortened(text_) + " of <" + element_ + "> " + what + "; " + remedy);
}

std::string XmlAttribute::word() const {
    const std::string_view text = trimmed(text_);
    if (text.empty()) fail("is empty", "fill it in or remove it");
    return std::string(text);
}

std::vector<double> XmlAttribute::all_numbers(size_t most, bool commas) const {
    std::vector<double> out;
    std::string spaced = text_;
    if (commas) std::replace(spaced.begin(), spaced.end(), ',', ' ');
    std::string_view rest = trimmed(spaced);
    while (!rest.empty() && out.size() <= most) {
        const std::string_view token = rest.substr(0, rest.find_first_of(white));
        const std::string_view digits =
            token.substr(token.size() > 1 && token[0] == '+' && token[1] != '-' ? 1 : 0);
        double x = 0;
        auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
        if (error == std::errc::result_out_of_range || (error == std::errc() && !std::isfinite(x)))
            fail("is beyond the range of numbers", "use finite numbers");
        const bool full_stop =
            std::string_view(end, digits.data() + digits.size()) == "." && source_->warnings != nullptr;
        if (error == std::errc() && full_stop) {
            source_->warnings->note(place(), "the full stop after a number is ignored in", "remove it",
                                    name_ + "=\"" + text_ + "\"");
            ++end;
        }
        if (error != std::errc() || end != digits.data() + digits.size())
            fail("is not a list of numbers", "write numbers with spaces between them");
        out.push_back(x);
        rest = trimmed(rest.substr(token.size()));
    }
    return out;
}

std::vector<double> XmlAttribute::numbers(size_t least, size_t most) const {
    const bool commas = source_->warnings != nullptr && text_.find(',') != std::string::npos &&
                        (least > 1 || (most > 1 && commas_separate(text_)));
    const std::vector<double> out = all_numbers(most, commas);
    if (out.size() >= least && out.size() <= most) {
        if (commas)
            source_->warnings->note(place(), "commas between numbers are read as spaces in", "write spaces",
                                    name_ + "=\"" + text_ + "\"");
        return out;
    }
    std::string remedy = "write ";
    remedy += std::to_string(least);
    if (most > least) remedy.append(" to ").append(std::to_string(most));
    fail(out.size() < least ? "has too few numbers" : "has too many numbers", remedy);
}

double XmlAttribute::number() const { return numbers(1)[0]; }

double XmlAttribute::positive() const {
    const double x = number();
    if (!(x > 0)) fail("must be positive", "use a number above 0");
    return x;
}

double XmlAttribute::nonnegative() const {
    const double x = number();
    if (x < 0) fail("must not be negative", "use 0 or more");
    return x;
}

std::int64_t XmlAttribute::integer(std::int64_t lower, std::int64_t upper) const {
    const double x = number();
    std::string range = "use a whole number from ";
    range.append(std::to_string(lower)).append(" to ").append(std::to_string(upper));
    if (x != std::floor(x) || x < static_cast<double>(lower) || x > static_cast<double>(upper))
        fail("is out of range", range);
    return static_cast<std::int64_t>(x);
}

bool XmlAttribute::boolean() const { return choice({"false", "true", "0", "1"}) % 2 == 1; }

std::vector<double> XmlAttribute::colour() const {
    std::vector<double> rgba = numbers(4);
    for (double& part : rgba)
        part = std::clamp(part, 0., 1.);
    return rgba;
}

Vec3<double> XmlAttribute::vec3() const {
    const bool forgiving = source_->warnings != nullptr && text_.find(',') == std::string::npos;
    const std::vector<double> x = numbers(3, forgiving ? 4 : 3);
    if (x.size() > 3)
        source_->warnings->add(place(), "only the first three numbers are read of", "write three",
                               name_ + "=\"" + text_ + "\"");
    return {x[0], x[1], x[2]};
}

int XmlAttribute::choice(std::initializer_list<const char*> names) const {
    const std::vector<std::string> all(names.begin(), names.end());
    const std::string_view text = trimmed(text_);
    const auto it = std::find(all.begin(), all.end(), text);
    if (it == all.end()) fail("is not known" + suggestion(text, all), "correct it");
    return static_cast<int>(it - all.begin());
}

std::string XmlElement::name() const { return element_->Name(); }
int XmlElement::line() const { return element_->GetLineNum(); }

std::string XmlElement::text() const {
    const char* text = element_->GetText();
    return text == nullptr ? "" : std::string(trimmed(text));
}

void XmlElement::fail(const std::string& what, const std::string& remedy) const {
    fail_at(source_->file, line(), in_brackets(name()) + " " + what + "; " + remedy);
}

void XmlElement::warn(Warnings& warnings, const std::string& what, const std::string& remedy) const {
    warnings.add(place(), in_brackets(name()) + " " + what, remedy);
}

void XmlElement::note(Warnings& warnings, const std::string& what, const std::string& remedy) const {
    warnings.note(place(), in_brackets(name()) + " " + what, remedy);
}

std::optional<XmlAttribute> XmlElement::find(const char* attribute) const {
    const tinyxml2::XMLAttribute* a = element_->FindAttribute(attribute);
    if (a == nullptr || trimmed(a->Value()).empty()) return {};
    return XmlAttribute(a->Name(), a->Value(), name(), *source_, a->GetLineNum());
}

XmlAttribute XmlElement::operator[](const char* attribute) const {
    if (auto a = find(attribute)) return *a;
    if (const tinyxml2::XMLAttribute* a = element_->FindAttribute(attribute))
        XmlAttribute(a->Name(), a->Value(), name(), *source_, a->GetLineNum())
            .fail("is empty", "fill it in or remove it");
    fail(std::string("has no \"") + attribute + "\"", "add it");
}

std::vector<XmlAttribute> XmlElement::attributes() const {
    std::vector<XmlAttribute> out;
    for (const tinyxml2::XMLAttribute* a = element_->FirstAttribute(); a != nullptr; a = a->Next())
        out.emplace_back(a->Name(), a->Value(), name(), *source_, a->GetLineNum());
    return out;
}

std::string XmlElement::text_or(const char* attribute, const std::string& otherwise) const {
    const auto a = find(attribute);
    return a ? a->text() : otherwise;
}

double XmlElement::number_or(const char* attribute, double otherwise) const {
    const auto a = find(attribute);
    return a ? a->number() : otherwise;
}

double XmlElement::nonnegative_or(const char* attribute, double otherwise) const {
    const auto a = find(attribute);
    return a ? a->nonnegative() : otherwise;
}

Vec3<double> XmlElement::vec3_or(const char* attribute, const Vec3<double>& otherwise) const {
    const auto a = find(attribute);
    return a ? a->vec3() : otherwise;
}

XmlAttribute XmlElement::value() const {
    if (const auto given = find("value")) return *given;
    return {"value", text(), name(), *source_, element_->GetLineNum()};
}

std::vector<XmlElement> XmlElement::children() const {
    std::vector<XmlElement> out;
    for (const auto* e = element_->FirstChildElement(); e != nullptr; e = e->NextSiblingElement())
        out.emplace_back(*e, *source_);
    return out;
}

std::vector<XmlElement> XmlElement::children(std::string_view name) const {
    std::vector<XmlElement> out;
    for (const XmlElement& e : children())
        if (e.name() == name) out.push_back(e);
    return out;
}

std::optional<XmlElement> XmlElement::child(std::string_view name) const {
    const std::vector<XmlElement> found = children(name);
    return found.empty() ? std::nullopt : std::optional(found[0]);
}

XmlElement XmlElement::only(std::string_view name) const {
    if (auto e = child(name)) return *e;
    fail("has no <" + std::string(name) + ">", "add it");
}

namespace {

bool among(std::initializer_list<const char*> known, std::string_view name) {
    return std::find(known.begin(), known.end(), name) != known.end();
}
void warn_of_ignored(Warnings& warnings, const std::string& place, const std::string& what) {
    warnings.add(place, what + " is not supported and is ignored", "remove it to silence this");
}

}  // namespace

void XmlElement::warn_other_attributes(Warnings& warnings,
                                       std::initializer_list<const char*> attributes) const {
    for (const XmlAttribute& a : this->attributes())
        if (!among(attributes, a.name()) && !a.name().starts_with("xmlns") && !a.name().starts_with("xsi:"))
            warn_of_ignored(warnings, a.place(), "attribute \"" + a.name() + "\" of " + in_brackets(name()));
}

void XmlElement::warn_others(Warnings& warnings, std::initializer_list<const char*> attributes,
                             std::initializer_list<const char*> children) const {
    warn_other_attributes(warnings, attributes);
    for (const XmlElement& e : this->children())
        if (!among(children, e.name()))
            warn_of_ignored(warnings, e.place(), in_brackets(e.name()) + " in " + in_brackets(name()));
}

XmlDocument::XmlDocument(const std::string& given, const std::string& file, Warnings* warnings)
    : source_(new XmlSource{file, warnings}),
      document_(std::make_unique<tinyxml2::XMLDocument>()) {
    const std::string text = checked_xml_text(given, file, warnings);
    if (const tinyxml2::XMLError error = document_->Parse(text.data(), text.size());
        error != tinyxml2::XML_SUCCESS)
        fail_at(file, document_->ErrorLineNum(), std::string("broken XML: ") + parsing_error(error));
    const tinyxml2::XMLElement* root = document_->RootElement();
    if (root == nullptr) fail_at(file, 1, "the file has no element; name a robot description");
    if (const auto* second = root->NextSiblingElement())
        fail_at(file, second->GetLineNum(),
                in_brackets(second->Name()) + " is a second root element; put all elements into one");
}
XmlDocument::~XmlDocument() = default;
XmlDocument::XmlDocument(XmlDocument&&) noexcept = default;

XmlElement XmlDocument::root() const { return {*document_->RootElement(), *source_}; }

std::string read_xml_text(const std::filesystem::path& file) {
    std::error_code error;
    expect_file(file);
    if (std::filesystem::file_size(file, error) > max_xml_bytes)
        fail_at(file.string(), 1,
                "is larger than " + std::to_string(max_xml_bytes >> 20) + " MB; name a robot description");
    return read_file(file);
}

XmlDocument read_xml(const std::filesystem::path& file, Warnings* warnings) {
    return {read_xml_text(file), file.string(), warnings};
}

}  // namespace costate
