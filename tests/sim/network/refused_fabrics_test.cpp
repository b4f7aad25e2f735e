// Fabrics and routings that are none: one wrong thing each, and what is told of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "read_text.h"
#include "tests/support/file_content.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct RefusedPart {
  json part;
  std::string told;
};

json torus(const json& wrap) {
  return {{"kind", "torus"},
          {"dims", {2, 2}},
          {"bandwidth", "50 GB/s"},
          {"hop_latency", "500 ns"},
          {"wrap", wrap}};
}

class RefusedTori : public testing::TestWithParam<RefusedPart> {};

TEST_P(RefusedTori, AreTold) {
  EXPECT_THAT(problem_of(topology_text(4, 1, torus(GetParam().part).dump())),
              HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    Wraps, RefusedTori,
    testing::Values(RefusedPart{json::array({true, 3}), "\"wrap\" is made of true and false"},
                    RefusedPart{json::array({true}), "1 flags for 2 dimensions"},
                    RefusedPart{json::array({true, false, true}), "3 flags for 2 dimensions"}));

class RefusedTables : public testing::TestWithParam<RefusedPart> {};

/// Two switches and four endpoints.
TEST_P(RefusedTables, AreTold) {
  json graph = json::parse(content_of(source_folder() + "/topologies/tiny_graph.json"));
  graph["routing"] = GetParam().part;
  graph["routing"]["kind"] = "table";
  EXPECT_THAT(problem_of(graph.dump()), HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedTables,
    testing::Values(RefusedPart{{{"digits", 2}, {"rows", {"01022323"}}}, "1 rows for 2 switches"},
                    RefusedPart{{{"digits", 2}, {"rows", {"01022323", "2323010"}}},
                                "one hexadecimal port for each endpoint"},
                    RefusedPart{{{"digits", 2}, {"rows", {"01022323", "2323010x"}}},
                                "4 endpoints of 2 digits each"},
                    RefusedPart{{{"digits", 2}, {"rows", {"01022323", 7}}},
                                "one hexadecimal port for each endpoint"},
                    RefusedPart{{{"digits", 3}, {"rows", {"001002023023", "023023001002"}}},
                                "ports have 2 or 4 digits"},
                    RefusedPart{{{"digits", 2}}, "missing field \"rows\""}));

TEST(Tables, AreReadInDigitsOfBothCases) {
  json graph = json::parse(content_of(source_folder() + "/topologies/tiny_graph.json"));
  graph["routing"] = {
      {"kind", "table"}, {"digits", 4}, {"rows", {"0001000200230023", "0024002400010002"}}};
  EXPECT_NE(cluster_of(graph.dump()), nullptr);
  graph["routing"]["rows"][0] = "000100020023002F";  // a port without a cable
  EXPECT_NE(cluster_of(graph.dump()), nullptr);
}

TEST(Tables, AreOfGraphsAlone) {
  EXPECT_THAT(problem_of(topology_text(4, 1, R"({"kind": "single_switch"})",
                                       R"(, "routing": {"kind": "table", "rows": []})")),
              HasSubstr("graph"));
}

}  // namespace
}  // namespace headway
