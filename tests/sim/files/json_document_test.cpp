#include "sim/files/json_document.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

std::shared_ptr<const JsonDocument> document_of(std::string text) {
  Diagnostics diagnostics;
  auto document = JsonDocument::parse("t.json", std::move(text), diagnostics);
  EXPECT_TRUE(diagnostics.all().empty()) << rendered(diagnostics.all(), "");
  return document;
}

/// "line:column+length"
std::string place(const SourceLocation& location) {
  return std::to_string(location.line) + ":" + std::to_string(location.column) + "+" +
         std::to_string(location.length);
}

TEST(JsonDocument, HoldsTheValues) {
  const auto document = document_of(R"({"a": [1, -2, 3.5, true, null], "b": {"c": "x"}})");
  EXPECT_EQ(document->root(),
            nlohmann::json::parse(R"({"a": [1, -2, 3.5, true, null], "b": {"c": "x"}})"));
  EXPECT_EQ(document->name(), "t.json");
}

TEST(JsonPosition, ValuesAndKeysAreFoundByPointer) {
  const auto document = document_of(
      "{\n"
      "  \"a\": 12.5,\n"
      "  \"list\": [ true, \"two\" , {\"x\":null} ],\n"
      "  \"b\" : {\"c\": \"text\"}\n"
      "}\n");
  EXPECT_EQ(place(document->value_location("/a")), "2:8+4");
  EXPECT_EQ(place(document->key_location("/a")), "2:3+3");
  EXPECT_EQ(place(document->value_location("/list")), "3:11+1");  // the bracket alone
  EXPECT_EQ(place(document->value_location("/list/0")), "3:13+4");
  EXPECT_EQ(place(document->value_location("/list/1")), "3:19+5");
  EXPECT_EQ(place(document->value_location("/list/2/x")), "3:32+4");
  EXPECT_EQ(place(document->value_location("/b/c")), "4:15+6");
  EXPECT_EQ(place(document->value_location("")), "1:1+1");
  EXPECT_EQ(document->value_location("/a").line_text, "  \"a\": 12.5,");
  EXPECT_EQ(document->value_location("/a").file, "t.json");
}

TEST(JsonPosition, AnElementHasNoKeySoItsValueIsMeant) {
  EXPECT_EQ(place(document_of("[10, 200]")->key_location("/1")), "1:6+3");
}

TEST(JsonPosition, AnUnknownPointerMeansTheDocument) {
  const SourceLocation location = document_of("{}")->value_location("/nothing");
  EXPECT_EQ(location.file, "t.json");
  EXPECT_EQ(location.line, 0);
}

TEST(JsonPosition, ColumnsCountCharactersNotBytes) {
  const auto document = document_of("{\"Zürich\": \"é\", \"b\": 7}");
  EXPECT_EQ(place(document->key_location("/Zürich")), "1:2+8");
  EXPECT_EQ(place(document->value_location("/Zürich")), "1:12+3");
  EXPECT_EQ(place(document->value_location("/b")), "1:22+1");
}

TEST(JsonPosition, CarriageReturnsAndTabsAreNotInTheWay) {
  const auto document = document_of("{\r\n\t\"a\":\t1,\r\n\t\"b\":\t22\r\n}\r\n");
  EXPECT_EQ(place(document->value_location("/a")), "2:7+1");
  EXPECT_EQ(place(document->value_location("/b")), "3:7+2");
  EXPECT_EQ(document->value_location("/b").line_text, "\t\"b\":\t22");
}

TEST(JsonPosition, AByteOrderMarkTakesNoColumn) {
  EXPECT_EQ(place(document_of("\xEF\xBB\xBF{\"a\": 1}")->value_location("/a")), "1:7+1");
}

TEST(JsonPosition, AnEndlessLineIsNotCopiedIntoEachProblem) {
  const SourceLocation location =
      document_of("[" + std::string(10'000, ' ') + "7]")->value_location("/0");
  EXPECT_EQ(place(location), "1:10002+1");
  EXPECT_EQ(location.line_text, "");
}

TEST(JsonPosition, PointersEscapeSlashesAndTildes) {
  const auto document = document_of(R"({"a/b": {"c~d": 1}, "\u0065\"": 2})");
  EXPECT_EQ(place(document->value_location("/a~1b/c~0d")), "1:17+1");
  EXPECT_EQ(place(document->value_location("/e\"")), "1:33+1");
}

TEST(JsonCursor, StepsIntoMembersAndElements) {
  const JsonCursor root(document_of(R"({"a/b": [{"c": 1}, 2], "d": 3})"));
  const JsonCursor list = root.member("a/b").value();
  EXPECT_EQ(list.pointer(), "/a~1b");
  EXPECT_EQ(list.element(0).member("c")->pointer(), "/a~1b/0/c");
  EXPECT_EQ(list.element(0).member("c")->value(), 1);
  EXPECT_FALSE(root.member("x").has_value());
  EXPECT_FALSE(list.member("x").has_value());
  EXPECT_THROW((void)list.element(2), InternalError);
}

TEST(JsonCursor, StartsAnywhereInTheDocument) {
  const auto document = document_of(R"({"a/b": [{"c": 1}, 2]})");
  EXPECT_EQ(JsonCursor(document, "/a~1b/0/c").value(), 1);
  EXPECT_THROW(JsonCursor(document, "/a~1b/2"), InternalError);
  EXPECT_THROW(JsonCursor(document, "/x"), InternalError);
}

TEST(JsonCursor, ProblemsPointAtTheValueOrTheKey) {
  const JsonCursor cursor = JsonCursor(document_of("{\"gpus\": 7}")).member("gpus").value();
  EXPECT_EQ(rendered(cursor.problem("gpus must be even", "7", "use 8")),
            "error: gpus must be even\n"
            "  --> t.json:1:10   /gpus\n"
            "   |\n"
            " 1 | {\"gpus\": 7}\n"
            "   |          ^ 7\n"
            "  help: use 8\n");
  EXPECT_EQ(rendered(cursor.key_problem("gpus is not used here")),
            "error: gpus is not used here\n"
            "  --> t.json:1:2   /gpus\n"
            "   |\n"
            " 1 | {\"gpus\": 7}\n"
            "   |  ^^^^^^\n");
}

}  // namespace
}  // namespace headway
