// XML that is broken or means harm, before anybody asks what it describes.
#include <doctest/doctest.h>

#include <chrono>

#include "scenes/import/xml/xml.hpp"
#include "tests/support/scene_text.hpp"

namespace costate::test {
namespace {

// The complaint about a text, which has the form "f.xml:<line>: what; remedy".
void refuse_xml(const std::string& text, int line, const std::string& what, const std::string& remedy) {
    const std::string message = complaint([&] { XmlDocument document(text, "f.xml"); });
    check_complaint(message, "f.xml:" + std::to_string(line) + ": ", what, remedy);
}

std::string nested(int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i)
        text += "<a>\n";
    for (int i = 0; i < depth; ++i)
        text += "</a>\n";
    return text;
}

TEST_CASE("truncated and malformed XML") {
    refuse_xml("", 1, "no element", "name a robot");
    refuse_xml("   \n ", 1, "no element", "name a robot");
    refuse_xml("just prose", 1, "", "");
    refuse_xml("<robot>\n<link name='a'>\n", 2, "broken XML", "check the open tags");
    refuse_xml("<robot>\n<link name='a'\n", 2, "broken XML", "");
    refuse_xml("<robot>\n<link name=>\n</robot>", 2, "attribute", "check the quotes");
    refuse_xml("<robot>\n<link name=\"a>\n</robot>", 2, "attribute", "check the quotes");
    refuse_xml("<robot>\n</link>\n</robot>", 1, "closing tag does not match", "use the same name");
    refuse_xml("<robot>\n<!-- for ever\n</robot>", 2, "comment", "close it");
    refuse_xml("<robot>\n<![CDATA[ for ever\n</robot>", 2, "CDATA", "close it");
    refuse_xml("<robot/>\n<robot/>", 2, "second root element", "put all elements into one");
    refuse_xml("<robot>\n<link name='a'\n name='b'/>\n</robot>", 3, "given twice", "check");
}

TEST_CASE("entity bombs and other document types") {
    std::string bomb = "<?xml version=\"1.0\"?>\n<!DOCTYPE lolz [\n <!ENTITY lol0 \"lol\">\n";
    for (int i = 1; i < 10; ++i) {
        const std::string now = std::to_string(i), before = "&lol" + std::to_string(i - 1) + ";";
        bomb += " <!ENTITY lol" + now + " \"";
        for (int k = 0; k < 10; ++k)
            bomb += before;
        bomb += "\">\n";
    }
    refuse_xml(bomb + "]>\n<robot name=\"&lol9;\"/>", 2, "DOCTYPE", "remove it");
    refuse_xml("<robot>\n<!ENTITY x SYSTEM \"file:///etc/passwd\">\n</robot>", 2, "ENTITY", "remove it");
    // A reference to an entity that nobody declares stays a text
    const XmlDocument document("<robot name='&lol9;'/>", "f.xml");
    CHECK(document.root()["name"].text() == "&lol9;");
}

TEST_CASE("deep nesting and huge counts") {
    CHECK_NOTHROW(XmlDocument(nested(98), "f.xml"));
    refuse_xml(nested(99), 99, "nested deeper than 98", "flatten");
    CHECK(complaint([] { XmlDocument(nested(200'000), "f.xml"); }).find("nested deeper") !=
          std::string::npos);
    std::string many = "<a>";
    for (size_t i = 0; i < 2 * max_xml_elements; ++i)
        many += "<b/>";
    refuse_xml(many + "\n</a>", 1, "more than 1000000 elements", "split");
    refuse_xml(std::string(max_xml_bytes + 1, ' '), 1, "larger than 64 MB", "name a robot");
}

TEST_CASE("binary files and other encodings") {
    refuse_xml(std::string("solid\n\0\0\x12", 9), 2, "binary", "name a robot");
    refuse_xml(
        "\x7f"
        "ELF",
        1, "binary", "name a robot");
    refuse_xml(std::string("\xff\xfe<\0r\0", 6), 1, "UTF-16", "save it as UTF-8");
    refuse_xml(std::string("\xfe\xff\0<\0r", 6), 1, "UTF-16", "save it as UTF-8");
    refuse_xml(std::string("<\0r\0o\0", 6), 1, "UTF-16", "save it as UTF-8");
    refuse_xml("<robot>\n<link name='\xe4'/>\n</robot>", 2, "not UTF-8", "save it as UTF-8");
    // a slash in two bytes
    refuse_xml("<robot name='\xc0\xaf'/>", 1, "not UTF-8", "save it as UTF-8");
    // half a surrogate pair
    refuse_xml("<robot name='\xed\xa0\x80'/>", 1, "not UTF-8", "save it as UTF-8");
    refuse_xml("<robot name='\xf5\x80\x80\x80'/>", 1, "not UTF-8", "save it as UTF-8");  // beyond U+10FFFF
    refuse_xml("<robot name='\xc3", 1, "not UTF-8", "save it as UTF-8");
    refuse_xml("<?xml version='1.0' encoding='KOI8-R'?>\n<robot name='\xc3\xa4'/>", 1, "encoding koi8-r",
               "save it as UTF-8");
    const XmlDocument latin("\xef\xbb\xbf<?xml version='1.0' encoding='ISO-8859-1'?>\n<robot name='plain'/>",
                            "f.xml");
    CHECK(latin.root()["name"].text() == "plain");
    CHECK(XmlDocument("<robot name='\xc3\xa4\xe2\x82\xac\xf0\x9f\xa4\x96'/>", "f.xml")
              .root()["name"]
              .text()
              .size() == 9);
}

TEST_CASE("files that are none") {
    CHECK(complaint([] { read_xml("missing.urdf"); }) ==
          "missing.urdf: there is no such file; check the path");
    CHECK(complaint([] { read_xml("/"); }).find("is a folder") != std::string::npos);
}

TEST_CASE("attributes as numbers, vectors, choices") {
    const XmlDocument document(
        "<a n=' +1.5e-3 ' v='1\t2\n 3' nan='nan' inf='-inf' big='1e999' two='1 2' word='1.5x' empty='' "
        "comma='1,5'\n"
        "   yes='true' no='0' type='revolut' minus='-2' half='2.5' hex='0x10' plus='+-1'/>",
        "f.xml");
    const XmlElement a = document.root();
    CHECK(a["n"].number() == 1.5e-3);
    CHECK(a["v"].vec3() == Vec3<double>(1, 2, 3));
    CHECK(a["two"].numbers(1, 3) == std::vector<double>{1, 2});
    CHECK_FALSE(a.has("empty"));
    CHECK((a["yes"].boolean() && !a["no"].boolean()));
    CHECK(a["minus"].integer(-2, 5) == -2);
    const auto refuse = [&](const char* name, auto read, const std::string& what) {
        const std::string message = complaint([&] { read(a[name]); });
        check_complaint(message, "f.xml:", what, "");
        CHECK(message.find(name) != std::string::npos);
    };
    const auto number = [](const XmlAttribute& x) { x.number(); };
    for (const char* name : {"nan", "inf", "big"})
        refuse(name, number, "beyond the range");
    for (const char* name : {"word", "comma", "hex", "plus"})
        refuse(name, number, "is not a list of numbers");
    refuse("two", number, "too many");
    refuse("empty", number, "is empty");
    refuse(
        "two", [](const XmlAttribute& x) { x.vec3(); }, "too few");
    refuse(
        "empty", [](const XmlAttribute& x) { x.word(); }, "is empty");
    refuse(
        "minus", [](const XmlAttribute& x) { x.positive(); }, "must be positive");
    refuse(
        "minus", [](const XmlAttribute& x) { x.nonnegative(); }, "must not be negative");
    refuse(
        "half", [](const XmlAttribute& x) { x.integer(0, 9); }, "out of range");
    refuse(
        "type",
        [](const XmlAttribute& x) {
            x.choice({"fixed", "revolute"});
        },
        "the nearest is \"revolute\"");
    CHECK(complaint([&] { a["mass"]; }) == "f.xml:1: <a> has no \"mass\"; add it");
}

TEST_CASE("warnings name the first of several places, and are errors if strict") {
    const XmlDocument document("<a>\n<b x='1' y='2'/>\n<b y='3'/>\n<c/>\n</a>", "f.xml");
    Warnings warnings;
    for (const XmlElement& b : document.root().children("b"))
        b.warn_others(warnings, {"x"}, {});
    document.root().warn_others(warnings, {}, {"b"});
    const std::string remedy = " is not supported and is ignored; remove it to silence this";
    REQUIRE(warnings.lines().size() == 2);
    CHECK(warnings.lines()[0] == "f.xml:2: attribute \"y\" of <b>" + remedy + " (and at 1 more)");
    CHECK(warnings.lines()[1] == "f.xml:4: <c> in <a>" + remedy);
    Warnings strict(true);
    CHECK(complaint([&] { document.root().warn_others(strict, {}, {"b"}); }) ==
          "f.xml:4: <c> in <a>" + remedy);
}

}  // namespace
}  // namespace costate::test
