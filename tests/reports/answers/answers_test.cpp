#include "reports/answers/answers.h"

#include <gmock/gmock.h>

#include "sim/network/analysis/fabric_analysis.h"
#include "sim/network/analysis/found_route.h"
#include "sim/network/find_endpoint.h"
#include "sim/predict/collective/collective_table.h"
#include "sim/result/replay.h"
#include "sim/result/study.h"
#include "sim/validate/free_constants.h"
#include "sim/validate/row_pairs.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// In every form: something, with a line end, and in those for people the title.
void expect_every_form(const Answer& answer, const std::string& title) {
  for (const std::string& suffix : answer_suffixes()) {
    const std::string text = answer_as(suffix, answer);
    EXPECT_THAT(text, EndsWith("\n")) << suffix;
    if (suffix != ".md" && suffix != ".html") continue;
    EXPECT_THAT(text, HasSubstr(title)) << suffix;
  }
  EXPECT_THAT(answer_as(".json", answer), StartsWith("{\n"));
  EXPECT_THAT(answer_as(".html", answer), StartsWith("<!doctype html>\n"));
  EXPECT_THAT(answer.text({}), EndsWith("\n"));
}

TEST(Answer, OfAPredictionAndOfManyHasEveryForm) {
  const Prediction prediction = sample_prediction();
  expect_every_form(prediction_answer(prediction), "gpt3-175b on 128 x HGX H200, 1024 GPUs");
  const Study study{.name = "two", .points = {{{}, prediction, ""}}};
  expect_every_form(study_answer(study), "two");
}

TEST(Answer, OfFreeConstantsSaysWhatEachRestsOn) {
  const std::vector<FreeConstant> constants = {{.constant = "memory traffic",
                                                .of = "others'",
                                                .factor = 1.25,
                                                .width = 0.3,
                                                .spread = 0.1,
                                                .rows = 1382,
                                                .configurations = 117,
                                                .sources = 8}};
  const Answer answer = free_constants_answer(constants);
  expect_every_form(answer, "Free constants of the published profiles");
  EXPECT_THAT(answer.text({}), HasSubstr("memory traffic  others'   1.250   0.30  0.10  1,382"));
  EXPECT_EQ(answer_as(".csv", answer),
            "constant,of,factor,width,spread,rows,configurations,sources\n"
            "memory traffic,others',1.25,0.3,0.1,1382,117,8\n");
}

TEST(Answer, OfPairsSaysHowWellEffectsAreTold) {
  const std::vector<RowPair> pairs = {{"a", "b", 1.1, 1.2}};
  const std::vector<KnobPairs> knobs = {{"all", pairs, 1.91, 1, 1, 0.1},
                                        {"micro-batch", pairs, 1.91, 1, 1, 0.1}};
  const Answer answer = row_pairs_answer(knobs);
  expect_every_form(answer, "What changing one thing does");
  EXPECT_THAT(answer.text({}), HasSubstr("micro-batch       1   1.91      1 of 1"));
  EXPECT_THAT(answer.text({}), HasSubstr("1.91 times as large"));
  EXPECT_EQ(answer_as(".csv", answer),
            "knob,first,second,published,predicted\n"
            "micro-batch,a,b,1.1,1.2\n");
  EXPECT_THAT(row_pairs_answer({}).text({}), HasSubstr("No two rows"));
}

/// A second message of twice the bandwidth; the closed form of the first is 80 of its 100 us.
TEST(Answer, OfACollectiveHasEveryForm) {
  CollectiveReport report{.cluster = "lab", .nodes = 1, .ranks = 4};
  report.rows = {{.size = 1_MB,
                  .time = 100_us,
                  .algorithm_bandwidth = 10_GBps,
                  .bus_bandwidth = 15_GBps,
                  .closed_form = 80_us},
                 {.size = 1_GB,
                  .time = 50_ms,
                  .algorithm_bandwidth = 20_GBps,
                  .bus_bandwidth = 30_GBps,
                  .closed_form = 50_ms}};
  const Answer answer = collective_answer(report);
  expect_every_form(answer, "of 4 ranks on 1 node of lab, hardware alone");
  EXPECT_EQ(answer_as(".csv", answer),
            "size_bytes,algorithm,protocol,time_s,algorithm_bandwidth_bytes_per_s,"
            "bus_bandwidth_bytes_per_s,closed_form_s,refused\n"
            "1000000,ring,,0.0001,10000000000,15000000000,8e-05,\n"
            "1000000000,ring,,0.05,20000000000,30000000000,0.05,\n");
  // (15 + 30) / 2
  EXPECT_THAT(answer_as(".md", answer),
              HasSubstr("The bus bandwidth is 22.50 GB/s on average over the sizes, and 30.00 GB/s "
                        "at its best, with messages of 953.7 MiB."));  // 1e9 / 2^20
  EXPECT_THAT(answer_as(".html", answer), HasSubstr("Bus bandwidth against message size"));
}

ReplayResult sample_replay(std::vector<int> steps) {
  ReplayResult result{.trace = "run.csv", .replicas = 2, .stages = 1};
  const std::vector<double> each(steps.size(), 2.0);
  result.steps = std::move(steps);
  result.measured_s = result.replayed_s = result.ideal_s = each;
  result.slowdown = 1.25;
  result.by_replica = {{.group = 1, .slowdown = 1.2, .by_step = each},
                       {.group = 0, .slowdown = 1.0, .by_step = each}};
  result.by_operation = {{.group = "optimizer", .slowdown = 1.05, .by_step = each}};
  result.worst = {1};
  return result;
}

TEST(Answer, OfAReplayHasEveryForm) {
  const ReplayResult result = sample_replay({7, 8});
  const Answer answer = replay_answer(result);
  expect_every_form(answer, "run.csv: 2 steps, 2 data-parallel replicas of 1 stages");
  EXPECT_EQ(answer_as(".csv", answer),
            "kind,group,slowdown\nreplica,1,1.2\nreplica,0,1\noperation,optimizer,1.05\n");
  // 1 - 1 / 1.25
  EXPECT_THAT(answer_as(".md", answer),
              HasSubstr("- slowdown: S = 1.250: 20.0 % of the GPU-hours lost to stragglers\n"));
}

/// On a terminal the steps would be too many; of one there is nothing to compare.
TEST(Answer, OfAReplayShowsStepsOnPagesWhereThereAreSeveral) {
  const ReplayResult two = sample_replay({7, 8});
  EXPECT_THAT(answer_as(".md", replay_answer(two)), HasSubstr("\n## Step by step\n"));
  EXPECT_THAT(replay_answer(two).text({}), Not(HasSubstr("measured s")));
  const ReplayResult one = sample_replay({7});
  EXPECT_THAT(answer_as(".md", replay_answer(one)), Not(HasSubstr("Step by step")));
}

/// Four nodes in a ring: the farthest two are two cables apart.
TEST(Answer, OfAFabricAndOfARouteHasEveryForm) {
  const auto cluster = cluster_of(topology_text(4, 1, R"({"kind": "torus", "dims": [4]})"));
  const FabricAnalysis analysis = analysed(*cluster);
  const Answer fabric = fabric_answer(*cluster, analysis);
  expect_every_form(fabric, "4 hosts with 4 ports, 0 switches, 4 cables");
  EXPECT_THAT(answer_as(".csv", fabric), HasSubstr("\nt,4,4,4,0,4,2,"));

  Diagnostics diagnostics;
  const VertexId from = find_endpoint(*cluster, "node0/nic0", diagnostics);
  const FoundRoute route =
      found_route(*cluster, from, find_endpoint(*cluster, "node2/nic0", diagnostics));
  ASSERT_FALSE(diagnostics.has_errors());
  const Answer hops = route_answer(*cluster, route);
  expect_every_form(hops, "node0/nic0 to node2/nic0: 2 links");
  EXPECT_THAT(answer_as(".csv", hops),
              StartsWith("node,guid,out_port,capacity_bytes_per_s,latency_s,share\nnode0/nic0,,"));

  const FoundRoute nowhere = found_route(*cluster, from, from);
  EXPECT_EQ(route_answer(*cluster, nowhere).text({}), "node0/nic0 is its own destination\n");
}

}  // namespace
}  // namespace headway
