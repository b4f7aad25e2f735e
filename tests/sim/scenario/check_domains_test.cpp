// Groups of ranks that lie in two scale-up domains are told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/scenario/scenario.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string told(const std::string& topology, int nodes, const json& fields) {
  json scenario = {{"schema", "headway/scenario/1"},
                   {"name", "domains"},
                   {"model", "qwen3_30b_a3b"},
                   {"cluster", {{"topology", topology}, {"nodes", nodes}}},
                   {"profile", "gb200"},
                   {"strategy", {{"preset", "megatron"}, {"global_batch", 4096}}}};
  scenario["strategy"].update(fields);
  const ScratchFolder scratch;
  Diagnostics diagnostics;
  static_cast<void>(read_scenario(scratch.write("s.json", scenario.dump(2)), {}, diagnostics));
  return rendered(diagnostics.all(), "");
}

constexpr const char* kSplit = "some groups of 64 ranks lie in two scale-up domains";

TEST(CheckDomains, TellsOfGroupsThatRacksSplit) {
  // 128 of 144 accelerators: the second group of 64 begins in the first rack of 72.
  EXPECT_THAT(told("gb200_nvl72_fat_tree", 32, {{"expert_parallel", 64}}), HasSubstr(kSplit));
  EXPECT_THAT(told("gb200_nvl72_fat_tree", 32, {{"expert_parallel", 64}}),
              HasSubstr("scale_up.domain is 64"));
  EXPECT_THAT(told("gb200_nvl72_fat_tree", 32, {{"tensor_parallel", 2}, {"context_parallel", 32}}),
              HasSubstr(kSplit));
}

TEST(CheckDomains, IsQuietWhereTheyStayTogether) {
  EXPECT_EQ(told("gb200_nvl72_16_trays", 32, {{"expert_parallel", 64}}), "");
  EXPECT_EQ(told("gb200_nvl72_fat_tree", 16, {{"expert_parallel", 64}}), "");  // in one rack
  EXPECT_EQ(told("gb200_nvl72_fat_tree", 36, {{"expert_parallel", 8}, {"global_batch", 1440}}), "");
  EXPECT_EQ(told("gb200_nvl72_fat_tree", 32, {{"expert_parallel", 128}}), "");  // of no one rack
}

TEST(CheckDomains, LeavesAnOrderThatIsNoneToItsReader) {
  json scenario = {{"schema", "headway/scenario/1"},
                   {"name", "domains"},
                   {"model", "qwen3_30b_a3b"},
                   {"cluster", {{"topology", "gb200_nvl72_fat_tree"}, {"nodes", 32}}},
                   {"profile", "gb200"},
                   {"strategy", {{"global_batch", 4096}, {"expert_parallel", 64}}}};
  scenario["cluster"]["rank_order"] = {"data"};
  EXPECT_THAT(problems_in([&] { static_cast<void>(scenario_of(scenario)); }),
              HasSubstr("rank_order has to name all four dimensions"));
}

}  // namespace
}  // namespace headway
