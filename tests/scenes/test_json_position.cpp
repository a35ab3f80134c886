#include <doctest/doctest.h>

#include "scenes/format/json.hpp"
#include "scenes/format/json_position.hpp"
#include "tests/support/scene_text.hpp"
#include "tests/support/scratch_folder.hpp"

namespace costate::test {
namespace {

std::string place(const std::string& text, const std::vector<std::string>& tokens) {
    const auto p = json_position(text, tokens);
    return p ? std::to_string(p->line) + ":" + std::to_string(p->column) : "none";
}

TEST_CASE("json: the position of a value, past comments, nested values and escapes") {
    const std::string text = R"({  // "b": 0
  "a": [1, {"x": "}\"]"}, [2,
    3]], /* "b": */
  "c/d": {"\u0062": -1.5e3, "e": null},
  "b"
    : true
})";
    REQUIRE_NOTHROW(parse_json(text, "a.json"));
    CHECK(place(text, {}) == "1:1");
    CHECK(place(text, {"a"}) == "2:3");
    CHECK(place(text, {"a", "0"}) == "2:9");
    CHECK(place(text, {"a", "1", "x"}) == "2:13");
    CHECK(place(text, {"a", "2", "1"}) == "3:5");
    CHECK(place(text, {"c/d", "b"}) == "4:11");
    CHECK(place(text, {"c/d", "e"}) == "4:29");
    CHECK(place(text, {"b"}) == "5:3");
    for (const std::vector<std::string>& nowhere :
         {std::vector<std::string>{"z"}, {"a", "3"}, {"a", "x"}, {"b", "x"}, {"c/d", "b", "0"}})
        CHECK(place(text, nowhere) == "none");
    // what is no JSON does no harm
    for (const std::string broken : {"", "{", "[/", "{\"a", "{\"a\":", "[1 /*", "{\"a\" /", "\"\\"})
        CHECK(place(broken, {"a", "0"}) == "none");
}

TEST_CASE("json: faults of a file name line and column, those of texts in memory the pointer only") {
    const ScratchFolder folder("json_position");
    const std::filesystem::path file =
        folder.write("s.json", "{\"steps\": 5,\n \"name\": \"n\",\n  \"mdels\": []\n}\n");
    const std::string shown = file.string();
    const Json document = read_json(file);
    const auto complaint_of = [&](const Json& json) {
        return complaint([&] { Node(json, shown).expect_keys("scene"); });
    };
    check_complaint(complaint_of(document), shown + ":3:3#/mdels: ", "unknown key", "correct");
    Json changed = document;  // not as in the file
    changed["mdels"] = 1;
    check_complaint(complaint_of(changed), shown + "#/mdels: ", "unknown key", "correct");
    check_complaint(complaint([&] { Node(document, "text").expect_keys("scene"); }),
                    "text#/mdels: ", "unknown key", "correct");
}

}  // namespace
}  // namespace costate::test
