#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/files/json_document.h"

namespace headway {
namespace {

using testing::HasSubstr;

std::string problem_of(const std::string& text) {
  Diagnostics diagnostics;
  if (JsonDocument::parse("t.json", text, diagnostics)) return "accepted";
  std::string problems;
  for (const Diagnostic& diagnostic : diagnostics.all()) problems += rendered(diagnostic);
  return problems;
}

/// The problem of a text of one line: message, excerpt and help in full.
struct Case {
  std::string text;
  std::string message;
  int column;
  std::string underline;
  std::string help = "";
};

void expect(const Case& expected) {
  const std::string column = std::to_string(expected.column);
  const std::string blanks(static_cast<std::size_t>(expected.column) - 1, ' ');
  EXPECT_EQ(problem_of(expected.text),
            "error: " + expected.message + "\n  --> t.json:1:" + column + "\n   |\n 1 | " +
                expected.text + "\n   | " + blanks + expected.underline + "\n" +
                (expected.help.empty() ? "" : "  help: " + expected.help + "\n"));
}

constexpr const char* kFields = "fields are written \"name\": value, with commas between";
constexpr const char* kNumbers =
    "write numbers such as 12, -0.5 or 1e9; a number with a unit goes in quotes";
constexpr const char* kEscapes =
    "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits";

TEST(JsonSyntax, TheEndComesTooEarly) {
  EXPECT_EQ(problem_of("{\n  \"a\": [1,\n\n"),
            "error: the input ends too early\n"
            "  --> t.json:2:10\n"
            "   |\n"
            " 2 |   \"a\": [1,\n"
            "   |          ^\n"
            "   |\n"
            "  ::: t.json:2:8   the [ that stands here is not closed\n"
            "  help: perhaps the file was cut off\n");
  expect({"{\"a\": \"xy", "the input ends inside a text", 9, "^",
          "close it with a double quote, then close every { and ["});
  EXPECT_THAT(problem_of("{\"a\": \"x\\"), HasSubstr("the input ends inside a text"));
  for (const char* text : {"{", "[", "{\"a\"", "{\"a\":", "{\"a\": 1", "{\"a\": 1,", "[1, "}) {
    EXPECT_THAT(problem_of(text), HasSubstr("the input ends too early")) << text;
  }
}

TEST(JsonSyntax, AnEmptyInputIsNamed) {
  constexpr const char* kProblem =
      "error: the input is empty\n"
      "  --> t.json\n"
      "  help: did the command that was to write it fail?\n";
  EXPECT_EQ(problem_of(""), kProblem);
  EXPECT_EQ(problem_of(" \r\n\t"), kProblem);
}

TEST(JsonSyntax, CommasAndColons) {
  expect({"{\"a\": 1,}", "a comma before the closing }", 8, "^", "remove the comma"});
  expect({"[1, 2, ]", "a comma before the closing ]", 6, "^", "remove the comma"});
  expect({"{\"a\": 1 \"b\": 2}", "a comma is missing before this", 9, "^", kFields});
  expect({"[1 2]", "a comma is missing before this", 4, "^"});
  expect({"[1,, 2]", "a value is missing before \",\"", 4, "^"});
  expect({"{\"a\": }", "a value is missing before \"}\"", 7, "^"});
  expect({"{\"a\" 1}", "a colon and a value are missing after this name", 2, "^^^", kFields});
  expect({"{\"a\":: 1}", "unexpected \":\"", 6, "^"});
  expect({"{,}", "unexpected \",\"", 2, "^", kFields});
}

TEST(JsonSyntax, BracketsThatDoNotMatch) {
  EXPECT_EQ(problem_of("{\n  \"a\": [1}\n"),
            "error: } where ] is due\n"
            "  --> t.json:2:10\n"
            "   |\n"
            " 2 |   \"a\": [1}\n"
            "   |          ^\n"
            "   |\n"
            "  ::: t.json:2:8   the [ that stands here is not closed\n");
  expect({"{} {}", "text after the end of the document", 4, "^", "an input holds one JSON value"});
  expect({"[{]", "unexpected \"]\"", 3, "^", kFields});
}

TEST(JsonSyntax, Comments) {
  const char* kHelp = "remove it; a \"description\" field can hold the text";
  expect({"{} // done", "JSON has no comments", 4, "^^", kHelp});
  expect({"{\"a\": /* b */ 1}", "JSON has no comments", 7, "^^", kHelp});
  expect({"# scenario", "JSON has no comments", 1, "^", kHelp});
}

TEST(JsonSyntax, NumbersOfOtherForms) {
  const char* kFinite = "leave the field out, or write a finite number";
  expect({"[NaN]", "\"NaN\" is not a JSON number", 2, "^^^", kFinite});
  expect({"[-Infinity]", "\"-Infinity\" is not a JSON number", 2, "^^^^^^^^^", kFinite});
  expect({"[1e999]", "the number is too large", 2, "^^^^^", "numbers go up to about 1.8e308"});
  expect({"[-1e999, 1]", "the number is too large", 2, "^^^^^^", "numbers go up to about 1.8e308"});
  for (const std::string number : {"01", "+1", ".5", "1.", "1e", "0x10", "1_000", "-", "1.2.3"}) {
    expect({"[" + number + "]", "\"" + number + "\" is not a number in JSON's form", 2,
            std::string(number.size(), '^'), kNumbers});
  }
  EXPECT_EQ(problem_of("[1e-999, 0, -0.5, 1E+9, 123456789012345678901234567890]"), "accepted");
}

TEST(JsonSyntax, TextsWithoutQuotes) {
  expect(
      {"{\"b\": 400 Gb/s , \"c\": 1}", "a text needs quotes", 7, "^^^^^^^^", "write \"400 Gb/s\""});
  expect({"{name: 1}", "a field name needs quotes", 2, "^^^^", "write \"name\""});
  expect({"{'a': 1}", "a text in single quotes", 2, "^", "use double quotes"});
  expect({"[clos]", "JSON does not know the word \"clos\"", 2, "^^^^",
          "texts go in double quotes: \"clos\""});
  expect({"[True]", "JSON does not know the word \"True\"", 2, "^^^^", "write true"});
  expect({"[flase]", "JSON does not know the word \"flase\"", 2, "^^^^^", "write false"});
  expect({"[None]", "JSON does not know the word \"None\"", 2, "^^^^", "write null"});
  expect({"[é]", "unexpected \"é\"", 2, "^"});
}

TEST(JsonSyntax, InsideTexts) {
  EXPECT_EQ(problem_of("{\n  \"a\": \"x,\n  \"b\": 1}"),
            "error: a text is not closed before its line ends\n"
            "  --> t.json:2:10\n"
            "   |\n"
            " 2 |   \"a\": \"x,\n"
            "   |          ^\n"
            "  help: close it with a double quote; a line break is written \\n\n");
  expect({"[\"C:\\data\"]", "an escape that JSON does not know", 5, "^^", kEscapes});
  expect({"[\"\\u12\"]", "an escape that JSON does not know", 3, "^^", kEscapes});
  expect({"[\"\\ud800 \"]", "an escape that JSON does not know", 3, "^^", kEscapes});
  EXPECT_EQ(problem_of("[\"a\tb\"]"),
            "error: a control character in a text\n"
            "  --> t.json:1:4\n"
            "   |\n"
            " 1 | [\"a b\"]\n"
            "   |    ^\n"
            "  help: a tab is written \\t, others as in \\u001b\n");
}

TEST(JsonSyntax, BytesThatAreNotUtf8) {
  EXPECT_EQ(problem_of("[\"Z\xFCrich\"]"),
            "error: the text is not UTF-8\n"
            "  --> t.json:1:4\n"
            "   |\n"
            " 1 | [\"Z\xEF\xBF\xBDrich\"]\n"
            "   |    ^ byte 0xFC\n"
            "  help: JSON files are UTF-8; convert it, for example with iconv\n");
}

TEST(JsonSyntax, DuplicateKeysPointAtBothPlaces) {
  EXPECT_EQ(problem_of("{\"a\": 1,\n \"b\": {\"c\": 1, \"c\": 2},\n \"\\u0061\": 2}"),
            "error: field \"c\" is set twice\n"
            "  --> t.json:2:16   /b/c\n"
            "   |\n"
            " 2 |  \"b\": {\"c\": 1, \"c\": 2},\n"
            "   |                ^^^\n"
            "   |\n"
            "  ::: t.json:2:8   is set here first\n"
            "  help: keep one of the two\n"
            "error: field \"a\" is set twice\n"
            "  --> t.json:3:2   /a\n"
            "   |\n"
            " 3 |  \"\\u0061\": 2}\n"
            "   |  ^^^^^^^^\n"
            "   |\n"
            "  ::: t.json:1:2   is set here first\n"
            "  help: keep one of the two\n");
}

TEST(JsonSyntax, DepthBombsAreRefused) {
  for (const char bracket : {'[', '{'}) {
    const std::string bomb(100'000, bracket);
    EXPECT_THAT(problem_of(bomb), HasSubstr("error: values are nested more than 200 deep\n"
                                            "  --> t.json:1:201\n"));
  }
  EXPECT_EQ(problem_of(std::string(200, '[') + std::string(200, ']')), "accepted");
  EXPECT_EQ(problem_of("[\"" + std::string(1000, '[') + "\"]"), "accepted");
}

}  // namespace
}  // namespace headway
