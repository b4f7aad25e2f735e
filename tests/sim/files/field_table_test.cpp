#include "sim/files/field_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

enum class Colour { red, green };

}  // namespace

template <>
inline constexpr Word<Colour> kWords<Colour>[] = {{"red", Colour::red}, {"green", Colour::green}};

namespace {

struct Lamp {
  int bulbs = 2;
  double share = 0.5;
  bool on = false;
  Seconds delay = Seconds(1.5e-6);
  Colour colour = Colour::green;
  std::optional<Colour> other = {};
  std::vector<Colour> seen = {Colour::red};
  std::vector<int> sizes = {};
  std::string label;
  friend bool operator==(const Lamp&, const Lamp&) = default;
};

const FieldTable<Lamp>& lamp_fields() {
  static const FieldTable<Lamp> kFields(
      {{"bulbs", whole(&Lamp::bulbs, between(1, 8)).required(), "How many there are."},
       {"on", flag(&Lamp::on), "Whether it burns."},
       {"share",
        number(&Lamp::share, {.least = 0, .most = 1, .open = true}).where([](const Lamp& lamp) {
          return lamp.on;
        }),
        R"(Of the light. On two
lines.
limits: no more
than all
see: on
default: half)"},
       {"delay", quantity(&Lamp::delay, at_least(0)).settled([](Lamp& lamp) {
          if (lamp.on) lamp.delay = Seconds(2.0);
        }),
        "Until it burns."},
       {"colour", word(&Lamp::colour), "What it looks like."},
       {"other", word(&Lamp::other), "default: none\n"},
       {"seen", words(&Lamp::seen), "By day."},
       {"sizes", wholes(&Lamp::sizes, between(0, 9)), "In mm."},
       {"label", text(&Lamp::label), "Its name."},
       {"kind", elsewhere<Lamp>(constant_type("lamp")), "default: always"}});
  return kFields;
}

struct Reading {
  Lamp lamp;
  nlohmann::json resolved;
  std::string problems;
};

Reading read(const std::string& text) {
  Diagnostics diagnostics;
  ObjectReader reader(JsonCursor(JsonDocument::parse("t.json", text, diagnostics)), diagnostics);
  Reading reading;
  lamp_fields().read(reader, reading.lamp);
  reading.resolved = reader.finish();
  for (const Diagnostic& problem : diagnostics.all()) reading.problems += problem.message + "\n";
  return reading;
}

TEST(FieldTable, WhatIsLeftOutIsWhatTheObjectHas) {
  const Reading reading = read(R"({"bulbs": 3})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(reading.lamp, Lamp{.bulbs = 3});
  EXPECT_EQ(reading.resolved, nlohmann::json::parse(R"({"bulbs": 3, "on": false, "delay": "1.5 us",
      "colour": "green", "seen": ["red"], "sizes": [], "label": ""})"));
}

TEST(FieldTable, ReadsEveryKindAndSettlesDefaults) {
  const Reading reading = read(R"({"bulbs": 1, "on": true, "share": 0.25, "colour": "red",
      "other": "green", "seen": ["green", "red"], "sizes": [3, 1], "label": "a"})");
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(reading.lamp, (Lamp{.bulbs = 1,
                                .share = 0.25,
                                .on = true,
                                .delay = Seconds(2.0),  // settled by `on`
                                .colour = Colour::red,
                                .other = Colour::green,
                                .seen = {Colour::green, Colour::red},
                                .sizes = {3, 1},
                                .label = "a"}));
}

TEST(FieldTable, WritesWhatReadsBackAsTheSame) {
  Lamp lamp{.bulbs = 5, .share = 0.25, .on = true, .other = Colour::red, .sizes = {7}};
  nlohmann::json json;
  lamp_fields().write(lamp, json);
  const Reading reading = read(json.dump());
  EXPECT_EQ(reading.problems, "");
  EXPECT_EQ(reading.lamp, lamp);
}

TEST(FieldTable, WritingTakesAwayWhatSaysNothing) {
  nlohmann::json json = {{"share", 0.25}, {"other", "red"}, {"kind", "lamp"}};
  lamp_fields().write(Lamp{}, json);
  EXPECT_FALSE(json.contains("share"));  // the lamp is off
  EXPECT_FALSE(json.contains("other"));
  EXPECT_EQ(json.at("kind"), "lamp");  // somebody else's
}

TEST(FieldTable, ProblemsAreThoseOfTheReader) {
  EXPECT_EQ(
      read(R"({"share": 2, "colour": "blue", "seen": [], "sizes": [1, -1, "x"], "lable": ""})")
          .problems,
      "missing field \"bulbs\"\n"
      "share must be greater than 0 and at most 1\n"
      "colour cannot be \"blue\"\n"
      "seen has to name at least one\n"
      "sizes has whole numbers, 0 to 9 each\n"
      "sizes has whole numbers, 0 to 9 each\n"
      "unknown field \"lable\"\n");
}

struct Fuse {
  Seconds blows = Seconds(0.0);
};

TEST(FieldTable, AnExampleOfItsOwnHelpsWhereAFieldIsMissing) {
  static const FieldTable<Fuse> kFields(
      {{"blows", quantity(&Fuse::blows, positive()).required_as(R"("2 min")"), "When."}});
  Diagnostics diagnostics;
  ObjectReader reader(JsonCursor(JsonDocument::parse("t.json", "{}", diagnostics)), diagnostics);
  Fuse fuse;
  kFields.read(reader, fuse);
  ASSERT_EQ(diagnostics.all().size(), 1U);  // told once
  EXPECT_EQ(diagnostics.all().front().message, "missing field \"blows\"");
  EXPECT_EQ(diagnostics.all().front().help, "for example \"blows\": \"2 min\"");
  EXPECT_GT(fuse.blows, Seconds(0.0));  // what is read goes on with a time that is allowed
}

TEST(FieldTable, RowsTellTypeDefaultAndNotes) {
  std::string told;
  for (const FieldDescription& field : lamp_fields().described()) {
    told += field.name + ": " + field.type.text + "; " + field.notes.fallback + "\n";
  }
  EXPECT_EQ(told, R"(bulbs: whole number, 1 to 8; required
on: true or false; false
share: number, above 0 up to 1; half
delay: text with a unit: time; "1.5 us"
colour: "red" or "green"; "green"
other: "red" or "green"; none
seen: array of texts; ["red"]
sizes: array of whole numbers; []
label: text; none
kind: "lamp"; always
)");
  const FieldNotes notes = lamp_fields().described()[2].notes;
  EXPECT_EQ(notes.about, "Of the light. On two lines.");
  EXPECT_EQ(notes.limits, "no more than all");
  EXPECT_EQ(notes.see, "on");
}

TEST(FieldTable, TheSchemaHasRangesWordsAndDefaults) {
  const nlohmann::json schema = object_schema(lamp_fields().described());
  EXPECT_EQ(schema.at("required"), nlohmann::json::parse(R"(["bulbs"])"));
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const nlohmann::json& fields = schema.at("properties");
  EXPECT_EQ(fields.size(), 10U);
  EXPECT_EQ(fields.at("bulbs"), nlohmann::json::parse(R"({"type": "integer", "minimum": 1,
      "maximum": 8, "description": "How many there are."})"));
  EXPECT_EQ(fields.at("share").at("exclusiveMinimum"), 0);
  EXPECT_EQ(fields.at("colour"), nlohmann::json::parse(R"({"enum": ["red", "green"],
      "default": "green", "description": "What it looks like."})"));
  EXPECT_EQ(fields.at("seen").at("items").at("enum"), fields.at("colour").at("enum"));
}

}  // namespace
}  // namespace headway
