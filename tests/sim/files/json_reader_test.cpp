#include "sim/files/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

namespace headway {
namespace {

using testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Schedule { gpipe, one_f_one_b, interleaved };
constexpr std::pair<std::string_view, Schedule> kScheduleWords[] = {
    {"gpipe", Schedule::gpipe},
    {"1f1b", Schedule::one_f_one_b},
    {"interleaved", Schedule::interleaved}};
constexpr Words<Schedule> kSchedules = kScheduleWords;

/// What reading a text made of it.
struct Outcome {
  std::string resolved;
  std::string problems;
};

Outcome read(const std::string& text, const std::function<void(ObjectReader&)>& fields) {
  Diagnostics diagnostics;
  ObjectReader reader(JsonCursor(JsonDocument::parse("t.json", text, diagnostics)), diagnostics);
  fields(reader);
  Outcome outcome{reader.finish().dump(), ""};
  for (const Diagnostic& problem : diagnostics.all()) outcome.problems += rendered(problem);
  return outcome;
}

std::string problems(const std::string& text, const std::function<void(ObjectReader&)>& fields) {
  return read(text, fields).problems;
}

/// The drawing of a problem in a text of one line.
std::string drawing(const std::string& message, const std::string& text, const std::string& pointer,
                    int column, const std::string& underline, const std::string& help = "") {
  const std::string blanks(static_cast<std::size_t>(column) - 1, ' ');
  return "error: " + message + "\n  --> t.json:1:" + std::to_string(column) +
         (pointer.empty() ? "" : "   " + pointer) + "\n   |\n 1 | " + text + "\n   | " + blanks +
         underline + "\n" + (help.empty() ? "" : "  help: " + help + "\n");
}

TEST(ObjectReader, ReadsFieldsAndWritesDownDefaults) {
  const Outcome outcome = read(
      R"({"name": "lab", "on": true, "layers": 12, "share": 0.5, "link": "400 Gb/s",
          "schedule": "1f1b", "part": {"x": 1}, "list": [1, 2]})",
      [](ObjectReader& reader) {
        EXPECT_EQ(reader.text("name"), "lab");
        EXPECT_EQ(reader.text("note", "none"), "none");
        EXPECT_TRUE(reader.flag("on", false));
        EXPECT_TRUE(reader.flag("off", true));
        EXPECT_EQ(reader.integer("layers", at_least(1)), 12);
        EXPECT_EQ(reader.integer("heads", at_least(1), 96), 96);
        EXPECT_EQ(reader.number("share", between(0, 1)), 0.5);
        EXPECT_EQ(reader.number("rate", positive(), 2), 2.0);
        EXPECT_EQ(reader.quantity<BytesPerSecond>("link", positive()), 50_GBps);
        EXPECT_EQ(reader.quantity<Seconds>("latency", at_least(0), 1.5_us), 1.5_us);
        EXPECT_EQ(reader.choice("schedule", kSchedules), Schedule::one_f_one_b);
        EXPECT_EQ(reader.choice("other", kSchedules, Schedule::interleaved), Schedule::interleaved);
        EXPECT_EQ(reader.required_part("part")->pointer(), "/part");
        EXPECT_FALSE(reader.part("missing").has_value());
        EXPECT_EQ(reader.elements("list").size(), 2U);
        reader.resolve("part", {{"x", 1}, {"y", 2}});
      });
  EXPECT_EQ(outcome.problems, "");
  EXPECT_EQ(outcome.resolved,
            R"({"heads":96,"latency":"1.5 us","layers":12,"link":"50 GB/s","list":[1,2],)"
            R"("name":"lab","note":"none","off":true,"on":true,"other":"interleaved",)"
            R"("part":{"x":1,"y":2},"rate":2.0,"schedule":"1f1b","share":0.5})");
}

TEST(ObjectReader, AllProblemsAreReportedAtOnce) {
  const std::string text = R"({"layers": 0, "link": 400, "extra": 1})";
  EXPECT_EQ(
      problems(text,
               [](ObjectReader& reader) {
                 EXPECT_EQ(reader.integer("layers", at_least(1)), 1);
                 EXPECT_GT(reader.quantity<BytesPerSecond>("link", positive()).count(), 0.0);
                 EXPECT_EQ(reader.text("name"), "");
               }),
      drawing("layers must be at least 1", text, "/layers", 12, "^ 0",
              "for example \"layers\": 1") +
          drawing("a bandwidth needs a unit", text, "/link", 23, "^^^",
                  "write \"400 Gb/s\" (bits, as NICs are sold) or \"400 GB/s\" (bytes); they "
                  "differ by 8") +
          drawing("missing field \"name\"", text, "", 1, "^", "for example \"name\": \"...\"") +
          "error: unknown field \"extra\"\n  --> t.json:1:28   /extra\n"
          "  help: there are layers, link, name\n");
}

TEST(ObjectReader, UnknownFieldsGetASuggestion) {
  EXPECT_EQ(
      problems("{\n  \"nodes_per_rak\": 4\n}",
               [](ObjectReader& reader) { reader.integer("nodes_per_rack", at_least(1), 4); }),
      "error: unknown field \"nodes_per_rak\"\n"
      "  --> t.json:2:3   /nodes_per_rak\n"
      "  help: did you mean \"nodes_per_rack\"?\n");
  EXPECT_EQ(problems(R"({"$schema": "../topology.schema.json"})", [](ObjectReader&) {}), "");
}

TEST(ObjectReader, UnknownFieldsLikeNoOtherListAFewThereAre) {
  EXPECT_EQ(problems(R"({"fabric": {}})",
                     [](ObjectReader& reader) {
                       reader.part("topology");
                       reader.integer("nodes", at_least(1), 4);
                     }),
            "error: unknown field \"fabric\"\n"
            "  --> t.json:1:2   /fabric\n"
            "  help: there are topology, nodes\n");
}

TEST(ObjectReader, MissingFieldsComeWithAnExample) {
  const auto missing = [](const std::string& name, const std::string& help) {
    return drawing("missing field \"" + name + "\"", "{}", "", 1, "^", help);
  };
  EXPECT_EQ(problems("{}",
                     [](ObjectReader& reader) {
                       reader.integer("a", at_least(4));
                       reader.number("b", between(0, 0.5));
                       reader.quantity<Bytes>("c", positive());
                       reader.choice("d", kSchedules);
                       reader.required_part("e");
                     }),
            missing("a", "for example \"a\": 4") + missing("b", "for example \"b\": 0.5") +
                missing("c", "for example \"c\": \"80 GiB\"") +
                missing("d", "for example \"d\": \"gpipe\"") + missing("e", ""));
}

TEST(ObjectReader, WrongTypesAreNamed) {
  const std::string text =
      R"({"a": 1, "b": "x", "c": null, "d": [], "e": {}, "f": true, "g": 2, "h": 3, "i": 4})";
  EXPECT_EQ(problems(text,
                     [](ObjectReader& reader) {
                       reader.text("a", "");
                       reader.flag("b", true);
                       reader.integer("c", {}, 1);
                       reader.number("d", {}, 1);
                       reader.quantity<Seconds>("e", {}, 1_s);
                       reader.quantity<Seconds>("f", {});
                       reader.choice("g", kSchedules);
                       reader.elements("h");
                       reader.members("i");
                     }),
            drawing("\"a\" must be a text", text, "/a", 7, "^ a number",
                    "write it in quotes, with its unit if it has one") +
                drawing("\"b\" must be true or false", text, "/b", 15, "^^^ a text",
                        "leave it out for true") +
                drawing("\"c\" must be a whole number", text, "/c", 25, "^^^^ null",
                        "write a whole number, or leave it out for 1") +
                drawing("\"d\" must be a number", text, "/d", 36, "^ an array",
                        "write a number, or leave it out for 1.0") +
                drawing("\"e\" must be a text with a unit", text, "/e", 45, "^ an object",
                        "for example \"e\": \"1.5 us\"") +
                drawing("\"f\" must be a text with a unit", text, "/f", 54, "^^^^ true",
                        "for example \"f\": \"1.5 us\"") +
                drawing("\"g\" must be a text", text, "/g", 65, "^ a number",
                        "it is one of \"gpipe\", \"1f1b\", \"interleaved\"") +
                drawing("\"h\" must be an array", text, "/h", 73, "^ a number",
                        "write it in brackets: [...], a single one too") +
                drawing("\"i\" must be an object", text, "/i", 81, "^ a number",
                        "write its fields in braces: {\"field\": value, ...}"));
}

TEST(ObjectReader, WholeNumbersMayBeWrittenWithAPointOrExponent) {
  const Outcome outcome = read(R"({"a": 12.0, "b": 1e3, "c": -0.0})", [](ObjectReader& reader) {
    EXPECT_EQ(reader.integer("a", {}), 12);
    EXPECT_EQ(reader.integer("b", {}), 1000);
    EXPECT_EQ(reader.integer("c", {}), 0);
  });
  EXPECT_EQ(outcome.problems, "");
  EXPECT_EQ(outcome.resolved, R"({"a":12,"b":1000,"c":0})");
}

TEST(ObjectReader, FractionsAndHugeNumbersAreNoIntegers) {
  constexpr const char* kMost = "write at most 9,007,199,254,740,992";
  const std::string text = R"({"a": 12.5, "b": 1e30, "c": 18446744073709551615, "d": 1e30})";
  EXPECT_EQ(problems(text,
                     [](ObjectReader& reader) {
                       reader.integer("a", {}, 1);
                       reader.integer("b", at_least(1), 1);
                       reader.integer("c", at_least(1), 1);
                       reader.integer("d", between(1, 1024), 1);
                     }),
            drawing("\"a\" must be a whole number", text, "/a", 7, "^^^^ 12.5",
                    "write a whole number, or leave it out for 1") +
                drawing("b is too large", text, "/b", 18, "^^^^ 1e+30", kMost) +
                drawing("c is too large", text, "/c", 29,
                        "^^^^^^^^^^^^^^^^^^^^ 18446744073709551615", kMost) +
                drawing("d must be between 1 and 1024", text, "/d", 56, "^^^^ 1e+30",
                        "leave it out for 1"));
}

TEST(ObjectReader, RangesAreSaidInWords) {
  const std::string text = R"({"a": 0, "b": 1.5, "c": -1, "d": 9, "e": "-5 GB/s", "f": "9 s"})";
  EXPECT_EQ(
      problems(text,
               [](ObjectReader& reader) {
                 EXPECT_GT(reader.number("a", positive()), 0.0);
                 reader.number("b", between(0, 1));
                 reader.number("c", {.least = 0, .most = 0.5, .open = true});
                 EXPECT_LE(reader.integer("d", {.most = 8}), 8);
                 reader.quantity<BytesPerSecond>("e", positive());
                 reader.quantity<Seconds>("f", {.least = 0, .most = 1.5});
               }),
      drawing("a must be greater than 0", text, "/a", 7, "^ 0", "for example \"a\": 1") +
          drawing("b must be between 0 and 1", text, "/b", 15, "^^^ 1.5", "for example \"b\": 1") +
          drawing("c must be greater than 0 and at most 0.5", text, "/c", 25, "^^ -1",
                  "for example \"c\": 0.5") +
          drawing("d must be at most 8", text, "/d", 34, "^ 9", "for example \"d\": 1") +
          drawing("e must be greater than 0", text, "/e", 42, "^^^^^^^^^ -5 GB/s",
                  "for example \"e\": \"400 Gb/s\"") +
          drawing("f must be between 0 and 1.5 s", text, "/f", 58, "^^^^^ 9 s",
                  "for example \"f\": \"1.5 us\""));
}

TEST(ObjectReader, ADefaultWithoutLimitStaysUnwritten) {
  const Outcome outcome = read("{}", [](ObjectReader& reader) {
    EXPECT_EQ(reader.number("a", {}, kInfinity), kInfinity);
    EXPECT_FALSE(is_finite(reader.quantity<Seconds>("b", {}, Seconds(kInfinity))));
  });
  EXPECT_EQ(outcome.resolved, "{}");
}

TEST(ObjectReader, ChoicesListTheirWords) {
  const std::string text = R"({"a": "1f1bb", "b": "random"})";
  EXPECT_EQ(problems(text,
                     [](ObjectReader& reader) {
                       reader.choice("a", kSchedules);
                       reader.choice("b", kSchedules, Schedule::gpipe);
                     }),
            drawing("a cannot be \"1f1bb\"", text, "/a", 7, "^^^^^^^",
                    "did you mean \"1f1b\"? It is one of \"gpipe\", \"1f1b\", \"interleaved\"") +
                drawing("b cannot be \"random\"", text, "/b", 21, "^^^^^^^^",
                        "it is one of \"gpipe\", \"1f1b\", \"interleaved\""));
}

TEST(ObjectReader, WhatIsNoObjectIsReportedOnce) {
  const auto fields = [](ObjectReader& reader) {
    reader.integer("a", at_least(1));
    reader.required_part("b");
    (void)read_schema(reader, "headway/topology/1");
  };
  EXPECT_EQ(problems("[1]", fields),
            drawing("the document must be an object", "[1]", "", 1, "^ an array",
                    "write its fields in braces: {\"field\": value, ...}"));
}

TEST(ObjectReader, PartsThatAreNoObjectsAreNamedByTheirPlace) {
  const std::string text = R"({"ranks": [5], "fabric": "x"})";
  EXPECT_EQ(problems(text,
                     [](ObjectReader& reader) {
                       for (const JsonCursor& rank : reader.elements("ranks")) {
                         ObjectReader(rank, reader.diagnostics()).report_unknown();
                       }
                       ObjectReader(*reader.part("fabric"), reader.diagnostics()).report_unknown();
                     }),
            drawing("element 0 of \"ranks\" must be an object", text, "/ranks/0", 12, "^ a number",
                    "write its fields in braces: {\"field\": value, ...}") +
                drawing("\"fabric\" must be an object", text, "/fabric", 26, "^^^ a text",
                        "write its fields in braces: {\"field\": value, ...}"));
}

TEST(ObjectReader, MembersAreSortedByName) {
  read(R"({"stages": {"b": 2, "a": 1}})", [](ObjectReader& reader) {
    const auto members = reader.members("stages");
    ASSERT_EQ(members.size(), 2U);
    EXPECT_EQ(members[0].first, "a");
    EXPECT_EQ(members[1].second.pointer(), "/stages/b");
  });
}

TEST(ObjectReader, ReportsPointAtTheFieldOrTheObject) {
  const std::string text = R"({"a": 10})";
  EXPECT_EQ(problems(text,
                     [](ObjectReader& reader) {
                       reader.integer("a", {});
                       reader.report("a", "a must divide 96", "10 does not divide 96", "use 8");
                       reader.report("b", "b is needed when a is 10");
                     }),
            drawing("a must divide 96", text, "/a", 7, "^^ 10 does not divide 96", "use 8") +
                drawing("b is needed when a is 10", text, "", 1, "^"));
}

TEST(Schema, MustBeTheExpectedOne) {
  const auto schema = [](const std::string& text) {
    return problems(text,
                    [](ObjectReader& reader) { (void)read_schema(reader, "headway/topology/1"); });
  };
  EXPECT_EQ(schema(R"({"schema": "headway/topology/1"})"), "");
  EXPECT_EQ(schema("{}"), drawing("missing field \"schema\"", "{}", "", 1, "^",
                                  "for example \"schema\": \"headway/topology/1\""));
  std::string text = R"({"schema": "headway/topology/2"})";
  EXPECT_EQ(schema(text),
            drawing("schema must be \"headway/topology/1\"", text, "/schema", 12,
                    "^^^^^^^^^^^^^^^^^^^^", "the file is of another version of the format"));
  text = R"({"schema": "headway/scenario/1"})";
  EXPECT_EQ(schema(text),
            drawing("schema must be \"headway/topology/1\"", text, "/schema", 12,
                    "^^^^^^^^^^^^^^^^^^^^", "the file is a scenario, where a topology is needed; `headway simulate` reads it"));
  text = R"({"schema": "https://example.org"})";
  EXPECT_EQ(schema(text), drawing("schema must be \"headway/topology/1\"", text, "/schema", 12,
                                  "^^^^^^^^^^^^^^^^^^^^^", "the file is of another kind"));
  text = R"({"schema": 1})";
  EXPECT_EQ(schema(text), drawing("\"schema\" must be a text", text, "/schema", 12, "^ a number",
                                  "write it in quotes, with its unit if it has one"));
}

TEST(ObjectReader, OverriddenValuesPointAtTheOverride) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("t.json", "{\"a\": 4}", diagnostics)
                            ->with({parse_override("/a=0"), parse_override("/nme=x")}, diagnostics);
  ObjectReader reader(JsonCursor(document), diagnostics);
  reader.integer("a", at_least(1));
  reader.text("name", "none");
  reader.report_unknown();
  EXPECT_EQ(rendered(diagnostics.all(), "nothing was simulated."),
            "error: a must be at least 1\n"
            "  --> --set /a=0   /a: 0\n"
            "  help: for example \"a\": 1\n"
            "\n"
            "error: unknown field \"nme\"\n"
            "  --> --set /nme=x   /nme\n"
            "  help: did you mean \"name\"?\n"
            "\n"
            "2 problems; nothing was simulated.\n");
}

}  // namespace
}  // namespace headway
