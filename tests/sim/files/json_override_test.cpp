#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/files/json_document.h"

namespace headway {
namespace {

std::shared_ptr<const JsonDocument> overridden(const std::string& text,
                                               std::initializer_list<std::string> overrides,
                                               Diagnostics& diagnostics) {
  std::vector<Override> parsed;
  for (const std::string& override : overrides) parsed.push_back(parse_override(override));
  return JsonDocument::parse("t.json", text, diagnostics)->with(parsed, diagnostics);
}

std::string result_of(const std::string& text, std::initializer_list<std::string> overrides) {
  Diagnostics diagnostics;
  const auto document = overridden(text, overrides, diagnostics);
  return diagnostics.all().empty() ? document->root().dump() : rendered(diagnostics.all(), "stop.");
}

std::string refusal(const std::string& text) {
  try {
    (void)parse_override(text);
    return "accepted";
  } catch (const InputError& error) {
    return rendered(error.diagnostics().front());
  }
}

TEST(Override, SetsValuesInTheirOrder) {
  EXPECT_EQ(result_of(R"({"a": {"b": 1}, "c": [1, 2]})", {"/a/b=7", "/c/1=true", "/a/b=8"}),
            R"({"a":{"b":8},"c":[1,true]})");
}

TEST(Override, MakesTheObjectsOnTheWay) {
  EXPECT_EQ(result_of("{}", {"/a/b/c=1", "/a/b/d=2"}), R"({"a":{"b":{"c":1,"d":2}}})");
}

TEST(Override, ValueIsJsonWhereItParsesElseAText) {
  EXPECT_EQ(result_of("{}", {"/a=[1,2]", "/b=\"400 Gb/s\"", "/c=400 Gb/s", "/d=", "/e=x=y",
                             "/f=null", "/g=NaN"}),
            R"({"a":[1,2],"b":"400 Gb/s","c":"400 Gb/s","d":"","e":"x=y","f":null,"g":"NaN"})");
}

TEST(Override, NullTakesAFieldAway) {
  EXPECT_EQ(result_of(R"({"a": {"b": 1, "c": {"d": 2}}})", {"/a/c=null"}), R"({"a":{"b":1}})");
  EXPECT_EQ(result_of(R"({"a": {"b": 1}})", {"/a/b=null", "/a/b=2"}), R"({"a":{"b":2}})");
  // What is not there is not forgiven, as its name may be wrong; nor do elements move up.
  EXPECT_EQ(result_of(R"({"a": [1, 2]})", {"/b=null", "/a/0=null"}), R"({"a":[null,2],"b":null})");
}

TEST(Override, NamesAreUnescaped) { EXPECT_EQ(result_of("{}", {"/a~1b~0c=1"}), R"({"a/b~c":1})"); }

TEST(Override, LeavesTheOriginalAlone) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("t.json", R"({"a": 1})", diagnostics);
  const auto changed = document->with({parse_override("/a=2")}, diagnostics);
  EXPECT_EQ(document->root()["a"], 1);
  EXPECT_EQ(changed->root()["a"], 2);
}

TEST(Override, PlacesOfNewValuesAreTheOverride) {
  Diagnostics diagnostics;
  const auto document =
      overridden("{\"a\": 1, \"b\": 2}", {"/a={\"x\": 1}", "/n/m=3"}, diagnostics);
  EXPECT_EQ(document->value_location("/a").file, "--set /a={\"x\": 1}");
  EXPECT_EQ(document->value_location("/a/x").file, "--set /a={\"x\": 1}");
  EXPECT_EQ(document->value_location("/n").file, "--set /n/m=3");
  EXPECT_EQ(document->key_location("/n/m").file, "--set /n/m=3");
  EXPECT_EQ(document->key_location("/a").file, "t.json");
  EXPECT_EQ(document->value_location("/b").line, 1);
  EXPECT_EQ(document->value_location("").line, 1);
}

TEST(Override, PrefixKeepsWhatLiesBelowIt) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("m.json", "{\"layers\": 4}", diagnostics);
  const auto changed = document->with({parse_override("/model/layers=8"),
                                       parse_override("/modelling=1"), parse_override("/model=x")},
                                      diagnostics, "/model");
  EXPECT_EQ(changed->root().dump(), R"({"layers":8})");
  EXPECT_EQ(changed->value_location("/layers").file, "--set /model/layers=8");
  EXPECT_EQ(changed->pointer_prefix(), "/model");
}

TEST(Override, APathThroughAScalarIsAProblem) {
  EXPECT_EQ(result_of(R"({"a": {"b": 5}})", {"/a/b/c=1"}),
            "error: /a/b is a number, which has no fields\n"
            "  --> --set /a/b/c=1   /a/b/c\n"
            "\n"
            "1 problem; stop.\n");
}

TEST(Override, AnElementBeyondTheArrayIsAProblem) {
  EXPECT_EQ(result_of(R"({"a": [1, 2]})", {"/a/2=1"}),
            "error: /a has elements 0 to 1, no \"2\"\n"
            "  --> --set /a/2=1   /a/2\n"
            "\n"
            "1 problem; stop.\n");
  EXPECT_EQ(result_of(R"({"a": []})", {"/a/first=1"}),
            "error: /a is empty\n"
            "  --> --set /a/first=1   /a/first\n"
            "\n"
            "1 problem; stop.\n");
}

TEST(Override, BrokenStructuresAreProblemsNotTexts) {
  EXPECT_EQ(result_of("{}", {"/a=[1,"}),
            "error: the input ends too early\n"
            "  --> --set /a=[1,\n"
            "  help: perhaps the file was cut off\n"
            "\n"
            "1 problem; stop.\n");
  EXPECT_EQ(result_of("{}", {"/a=" + std::string(100'000, '[')}),
            "error: values are nested more than 200 deep\n"
            "  --> --set /a=" +
                std::string(77, '[') +
                "...\n"
                "\n"
                "1 problem; stop.\n");
}

TEST(Override, FormIsExplained) {
  EXPECT_EQ(refusal("layers"),
            "error: an override has the form /field=value\n"
            "  --> --set layers\n"
            "  help: write --set /strategy/tensor_parallel=8\n");
  EXPECT_EQ(refusal("=8"),
            "error: an override has the form /field=value\n"
            "  --> --set =8\n"
            "  help: write --set /strategy/tensor_parallel=8\n");
  EXPECT_EQ(refusal("strategy.tensor_parallel=8"),
            "error: the field of an override starts with a slash\n"
            "  --> --set strategy.tensor_parallel=8\n"
            "  help: write --set /strategy/tensor_parallel=8\n");
  EXPECT_EQ(refusal("model/layers=8"),
            "error: the field of an override starts with a slash\n"
            "  --> --set model/layers=8\n"
            "  help: write --set /model/layers=8\n");
  EXPECT_EQ(refusal("/model//layers=8"),
            "error: an override names a field between slashes\n"
            "  --> --set /model//layers=8\n"
            "  help: write --set /strategy/tensor_parallel=8\n");
  EXPECT_EQ(refusal("/a~2=8"),
            "error: ~ stands only before 0 or 1 in a JSON pointer\n"
            "  --> --set /a~2=8\n"
            "  help: a ~ in a name is written ~0 and a / is written ~1\n");
  EXPECT_EQ(refusal("/a=\xFF"),
            "error: the text is not UTF-8\n"
            "  --> --set /a=\xEF\xBF\xBD\n");
}

}  // namespace
}  // namespace headway
