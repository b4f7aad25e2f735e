#include "reports/trace/trace.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sim/base/diagnostic.h"
#include "tests/support/sample_workload.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using ThreadId = std::pair<int, int>;

std::string trace_text(const SampleRun& run, const TraceSelection& selection = {}) {
  std::ostringstream stream;
  write_trace(stream, run.workload, run.timeline, selection);
  return stream.str();
}

std::vector<json> events_of(const SampleRun& run, const TraceSelection& selection = {}) {
  return json::parse(trace_text(run, selection))["traceEvents"];
}

ThreadId thread_of(const json& event) { return {event["pid"], event["tid"]}; }

std::map<ThreadId, std::string> thread_names(const std::vector<json>& events) {
  std::map<ThreadId, std::string> names;
  for (const json& event : events) {
    if (event["name"] == "thread_name") names[thread_of(event)] = event["args"]["name"];
  }
  return names;
}

std::vector<json> spans_on(const std::vector<json>& events, int pid, const std::string& thread) {
  const auto names = thread_names(events);
  std::vector<json> spans;
  for (const json& event : events) {
    if (event["ph"] == "X" && event["pid"] == pid && names.at(thread_of(event)) == thread) {
      spans.push_back(event);
    }
  }
  return spans;
}

std::vector<std::string> names_of(const std::vector<json>& events) {
  std::vector<std::string> names;
  for (const json& event : events) names.push_back(event["name"]);
  return names;
}

void expect_disjoint_spans(const std::vector<json>& events) {
  std::map<ThreadId, double> free;
  for (const json& event : events) {
    if (event["ph"] != "X") continue;
    const double start = event["ts"];
    const double duration = event["dur"];
    EXPECT_GT(duration, 0.0) << event;
    EXPECT_GE(start + 1e-6, free[thread_of(event)]) << event;
    free[thread_of(event)] = start + duration;
  }
}

/// Every arrow has one start and one later end, each inside a span of its thread.
void expect_paired_flows(const std::vector<json>& events, std::size_t count) {
  std::map<int, json> starts;
  std::map<int, json> ends;
  for (const json& event : events) {
    if (event["ph"] != "s" && event["ph"] != "f") continue;
    auto& side = event["ph"] == "s" ? starts : ends;
    EXPECT_TRUE(side.emplace(event["id"].get<int>(), event).second) << event;
    EXPECT_TRUE(std::ranges::any_of(events, [&](const json& span) {
      return span["ph"] == "X" && thread_of(span) == thread_of(event) &&
             span["ts"] <= event["ts"] &&
             event["ts"].get<double>() < span["ts"].get<double>() + span["dur"].get<double>();
    })) << event;
  }
  EXPECT_EQ(starts.size(), count);
  EXPECT_EQ(ends.size(), count);
  for (const auto& [id, start] : starts) {
    ASSERT_TRUE(ends.contains(id)) << start;
    EXPECT_LE(start["ts"], ends[id]["ts"]);
  }
}

TEST(Trace, ShowsTheStagesOfTheCriticalReplica) {
  // Both replicas end at 14.5 s; replica 1 waits less for the reduction.
  std::vector<std::string> names;
  for (const json& event : events_of(sample_run())) {
    if (event["name"] == "process_name") names.push_back(event["args"]["name"]);
  }
  EXPECT_THAT(names, ElementsAre("stage 0, replica 1", "stage 1, replica 1"));
}

TEST(Trace, ComputationsCarryTheirPass) {
  const auto spans = spans_on(events_of(sample_run(), {{0}}), 1, "compute");
  EXPECT_THAT(names_of(spans), ElementsAre("forward mb 0", "forward mb 1", "backward mb 0",
                                           "backward mb 1", "optimizer"));
  EXPECT_EQ(spans[2]["ts"], 7e6);
  EXPECT_EQ(spans[2]["dur"], 2e6);
  EXPECT_EQ(spans[2]["args"], json({{"micro_batch", 0}, {"compute_s", 2.0}}));
  EXPECT_EQ(spans[4]["args"], json({{"optimizer_s", 0.5}}));
}

TEST(Trace, WaitsAreNamedByWhatTheyWaitFor) {
  const auto events = events_of(sample_run(), {{0, 1}});
  const auto spans = spans_on(events, 1, "waiting");
  EXPECT_THAT(names_of(spans),
              ElementsAre("wait for backward mb 0 from stage 1",
                          "wait for backward mb 1 from stage 1", "wait for gradient reduce 1/1"));
  // From 2 s on; sent at 5.5 s, there at 7 s.
  EXPECT_EQ(spans[0]["ts"], 2e6);
  EXPECT_EQ(spans[0]["args"],
            json({{"micro_batch", 0}, {"before_it_was_sent_s", 3.5}, {"under_way_s", 1.5}}));
  EXPECT_EQ(spans[2]["args"], json({{"before_the_last_joined_s", 1.0}, {"exposed_s", 1.0}}));
  EXPECT_THAT(names_of(spans_on(events, 2, "waiting")),
              ElementsAre("wait for forward mb 0 from stage 0", "wait for gradient reduce 1/1",
                          "wait for the end of the step"));
}

TEST(Trace, TransfersThatOverlapStandOnTracksOfTheirOwn) {
  const auto events = events_of(sample_run(), {{0, 1}});
  const auto first = spans_on(events, 1, "send");
  EXPECT_THAT(names_of(first), ElementsAre("forward mb 0 to stage 1"));
  EXPECT_THAT(names_of(spans_on(events, 1, "send 2")), ElementsAre("forward mb 1 to stage 1"));
  // 3 MB in 1.5 s.
  EXPECT_EQ(first[0]["args"],
            json({{"micro_batch", 0}, {"bytes", 3e6}, {"bandwidth_bytes_per_s", 2e6}}));
  EXPECT_THAT(names_of(spans_on(events, 1, "receive")),
              ElementsAre("backward mb 0 from stage 1", "backward mb 1 from stage 1"));
}

TEST(Trace, CollectivesLastFromTheOwnJoinToTheEnd) {
  const auto spans = spans_on(events_of(sample_run(), {{0}}), 1, "gradient reduce");
  ASSERT_EQ(spans.size(), 1U);
  EXPECT_EQ(spans[0]["ts"], 12e6);
  EXPECT_EQ(spans[0]["dur"], 2e6);
  // 1 GB in the second from the last join to the end.
  EXPECT_EQ(spans[0]["args"], json({{"collective", "reduce_scatter"},
                                    {"bytes", 1e9},
                                    {"bandwidth_bytes_per_s", 1e9},
                                    {"members", 2},
                                    {"last_to_join", "stage 0, replica 1"}}));
}

TEST(Trace, CollectivesOfACommunicatorFollowEachOther) {
  SampleRun run = sample_run();
  for (Program& program : run.workload.programs) {
    program.collective_slots = 2;
    program.operations.insert(
        program.operations.begin(),
        {.kind = OperationKind::join, .path = 0, .slot = 1, .amount = Bytes(1e9)});
  }
  for (std::size_t group = 0; group < 4; ++group) {
    run.timeline.operation_end.insert(
        run.timeline.operation_end.begin() + run.timeline.first_operation[group], 0.0);
    for (std::size_t next = group + 1; next < 5; ++next) ++run.timeline.first_operation[next];
  }
  // The first one of stage 0 starts at 0 and is done at 12.5, when the second has been joined.
  run.timeline.collectives[0].insert(run.timeline.collectives[0].begin(), {.end = 12.5});
  run.timeline.collectives[1].insert(run.timeline.collectives[1].begin(), {.end = 1.0});
  const auto events = events_of(run, {{0, 1}});
  expect_disjoint_spans(events);
  const auto spans = spans_on(events, 1, "gradient reduce");
  EXPECT_THAT(names_of(spans), ElementsAre("gradient reduce 1/2", "gradient reduce 2/2"));
  EXPECT_EQ(spans[1]["ts"], 12.5e6);
}

TEST(Trace, SpansOfAThreadNeverOverlap) {
  expect_disjoint_spans(events_of(sample_run(), {{0, 1, 2, 3}}));
}

TEST(Trace, ArrowsJoinTransfersWithTheComputationsTheyFeed) {
  const auto events = events_of(sample_run(), {{0, 1}});
  expect_paired_flows(events, 4);
  expect_paired_flows(events_of(sample_run(), {{0, 1, 2, 3}}), 8);
  // The activation of micro-batch 1 arrives at 3.5 s and is used from 5.5 s on.
  std::set<double> ends;
  for (const json& event : events) {
    if (event["ph"] == "f") ends.insert(event["ts"].get<double>());
  }
  EXPECT_THAT(ends, ElementsAre(2.5e6, 5.5e6, 7e6, 10e6));
}

TEST(Trace, NoArrowLeadsToAGroupThatIsNotShown) {
  expect_paired_flows(events_of(sample_run(), {{0}}), 0);
  expect_paired_flows(events_of(sample_run(), {{0, 3}}), 0);
}

TEST(Trace, ChunksAreNamedWhereThereAreSeveral) {
  SampleRun run = sample_run();
  for (Operation& operation : run.workload.programs[0].operations) {
    if (operation.micro_batch >= 0) operation.chunk = operation.micro_batch;
  }
  EXPECT_THAT(names_of(spans_on(events_of(run, {{0}}), 1, "compute")),
              ElementsAre("forward mb 0 chunk 0", "forward mb 1 chunk 1", "backward mb 0 chunk 0",
                          "backward mb 1 chunk 1", "optimizer"));
}

TEST(Trace, CountOfEventsIsKnownBeforehand) {
  const SampleRun run = sample_run();
  for (const TraceSelection& selection :
       {TraceSelection{}, TraceSelection{{0}}, TraceSelection{{3, 0, 1, 2, 0}}}) {
    EXPECT_EQ(trace_event_count(run.workload, run.timeline, selection),
              std::ssize(events_of(run, selection)));
  }
}

TEST(Trace, SizeOfAnEventIsAboutWhatIsSaid) {
  const auto size = static_cast<double>(trace_text(sample_run()).size());
  const auto events = static_cast<double>(events_of(sample_run()).size());
  EXPECT_GT(size / events, 0.5 * static_cast<double>(kTraceBytesPerEvent));
  EXPECT_LT(size / events, 2.0 * static_cast<double>(kTraceBytesPerEvent));
}

TEST(Trace, AnyNameIsEscaped) {
  SampleRun run = sample_run();
  run.workload.programs[0].blocks[0].name = "a \"quoted\"\nname \\ \xFF";
  const auto spans = spans_on(events_of(run, {{0}}), 1, "compute");
  EXPECT_EQ(spans[0]["name"], "a \"quoted\"\nname \\ \uFFFD mb 0");
}

TEST(Trace, TimesAreExactToTheNanosecond) {
  SampleRun run = sample_run();
  run.timeline.operation_end[0] = run.timeline.operation_end[1] = 1.0000000014;
  EXPECT_THAT(trace_text(run, {{0}}), testing::HasSubstr("\"ts\":0.000,\"dur\":1000000.001,"));
}

TEST(Trace, JobThatWasNotSimulatedHasNoEvents) {
  EXPECT_THAT(events_of({}), IsEmpty());
  EXPECT_EQ(trace_event_count({}, {}), 0);
}

TEST(Trace, UnknownGroupIsABug) {
  const SampleRun run = sample_run();
  EXPECT_THROW((void)trace_event_count(run.workload, run.timeline, {{4}}), InternalError);
}

}  // namespace
}  // namespace headway
