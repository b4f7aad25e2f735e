#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// A scenario in a folder of its own whose topology names node types in the folder above it: a
/// warning each, and read all the same.
TEST(OutsideFiles, AreWarnedOfAndRead) {
  const ScratchFolder scratch;
  nlohmann::json text = small_scenario(4);
  nlohmann::json& topology = text["cluster"]["topology"];
  scratch.write("first.json", topology["node"].dump());
  nlohmann::json other = topology["node"];
  other["name"] = "second";
  scratch.write("second.json", other.dump());
  topology["node"] = "../first.json";
  topology["other_nodes"] = {{{"first", 2}, {"count", 2}, {"node", "../second.json"}}};
  Diagnostics diagnostics;
  const Scenario scenario =
      read_scenario(scratch.write("inner/scenario.json", text.dump(2)), {}, diagnostics);
  EXPECT_EQ(scenario.cluster->kinds(), 2);
  EXPECT_EQ(diagnostics.errors(), 0U);
  EXPECT_FALSE(diagnostics.has_errors());
  int warnings = 0;
  for (const Diagnostic& told : diagnostics.all()) {
    if (told.message.find("outside of the folder") != std::string::npos) ++warnings;
  }
  EXPECT_EQ(warnings, 2);
}

}  // namespace
}  // namespace headway
