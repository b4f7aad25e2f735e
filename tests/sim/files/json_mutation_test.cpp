#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "sim/files/json_document.h"

namespace headway {
namespace {

constexpr unsigned kSeed = 7;

const std::string kText = R"({
  "schema": "headway/topology/1",
  "nodes": [{"name": "Zürich", "gpus": 8, "nic": "400 Gb/s"}, {"gpus": 1.5e3, "on": true}],
  "fabric": {"kind": "clos", "tiers": [2, -3, 0.25], "note": "tab \t, \u00e9, \ud83d\ude00", "x": null}
})";

/// One to four edits: a byte replaced, removed, doubled or a piece moved.
std::string mutated(std::mt19937& random) {
  const std::string kInteresting = "{}[]\",:\\/eE+-.0129 \n\t\x01\xC3\xFFuntfd#'";
  std::string text = kText;
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random()) % bound; };
  for (std::size_t edit = 0, edits = 1 + below(4); edit < edits && !text.empty(); ++edit) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:
        text[at] = kInteresting[below(kInteresting.size())];
        break;
      case 1:
        text.erase(at, 1 + below(3));
        break;
      case 2:
        text.insert(at, 1, kInteresting[below(kInteresting.size())]);
        break;
      case 3:
        text.insert(below(text.size()), text.substr(at, below(40)));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

/// Asks for the place of every value.
void visit(const JsonCursor& cursor) {
  ASSERT_GT(cursor.document().value_location(cursor.pointer()).line, 0) << cursor.pointer();
  ASSERT_GT(cursor.document().key_location(cursor.pointer()).line, 0) << cursor.pointer();
  if (cursor.value().is_array()) {
    for (std::size_t i = 0; i < cursor.value().size(); ++i) visit(cursor.element(i));
  } else if (cursor.value().is_object()) {
    for (const auto& item : cursor.value().items()) visit(cursor.member(item.key()).value());
  }
}

TEST(JsonMutation, EveryTextIsReadOrExplained) {
  std::mt19937 random(kSeed);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = mutated(random);
    Diagnostics diagnostics;
    const auto document = JsonDocument::parse("t.json", text, diagnostics);
    if (document) {
      ASSERT_TRUE(nlohmann::json::accept(text)) << text;
      visit(JsonCursor(document));
      continue;
    }
    ++refused;
    ASSERT_TRUE(diagnostics.has_errors()) << "seed " << kSeed << ", text " << i << ":\n" << text;
    for (const Diagnostic& problem : diagnostics.all()) {
      ASSERT_FALSE(problem.message.empty());
      // The explanation must agree with the parser that there is something to explain.
      ASSERT_NE(problem.message, "the text is not JSON") << text;
      ASSERT_FALSE(rendered(problem).empty());
    }
  }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace headway
