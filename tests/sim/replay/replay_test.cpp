#include "sim/replay/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/replay/tiny_trace.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using testing::HasSubstr;

ReplayResult replayed(const std::string& text) {
  const ScratchFolder scratch;
  return replay(scratch.write("trace.csv", text));
}

std::string problems_of(const std::string& text) {
  return problems_in([&] { static_cast<void>(replayed(text)); });
}

template <class Key>
double slowdown_of(const std::vector<GroupSlowdown<Key>>& groups, const Key& key) {
  for (const GroupSlowdown<Key>& group : groups) {
    if (group.group == key) return group.slowdown;
  }
  return 0.0;
}

constexpr double kExact = 1e-12;
// By hand (tiny_trace.h): without the 0.1 s before the optimizer 7.9 s. Typical forward pass:
// (1 + 1 + 1 + 2) / 4 = 1.25 s; all else is alike. Ideal: 1.25 + 0.1 + 1.25 + 2 + 0.1 + 2 + 0.5 +
// 0.2 = 7.4 s.
constexpr double kIdeal = 7.4;

TEST(Replay, StepTimesAreThoseWorkedOutByHand) {
  const ReplayResult result = replayed(kTinyTrace);
  EXPECT_EQ(result.steps, std::vector<int>{7});
  EXPECT_EQ(result.ranks, 4);
  EXPECT_NEAR(result.measured_s.at(0), 8.0, kExact);
  EXPECT_NEAR(result.replayed_s.at(0), 7.9, kExact);
  EXPECT_NEAR(result.ideal_s.at(0), kIdeal, kExact);
  EXPECT_NEAR(result.launch_slowdown, 8.0 / 7.9, kExact);
  EXPECT_NEAR(result.slowdown, 7.9 / kIdeal, kExact);
}

TEST(Replay, EachReplicaStageAndOperationIsSlowByItself) {
  const ReplayResult result = replayed(kTinyTrace);
  // Replica 1 as it was: 1 + 0.1 + 2 + 2 + 0.1 + 2 + 0.5 + 0.2. Replica 0 would be done at 6.9 and
  // waits for the ideal one.
  EXPECT_NEAR(slowdown_of(result.by_replica, 1), 7.9 / kIdeal, kExact);
  EXPECT_NEAR(slowdown_of(result.by_replica, 0), 1.0, kExact);
  // Stage 1 as it was after an ideal stage 0: 1.25 + 0.1 + 2 + ... = 8.15; the other way round 1 +
  // 0.1 + 1.25 + ... = 7.15.
  EXPECT_NEAR(slowdown_of(result.by_stage, 1), 8.15 / kIdeal, kExact);
  EXPECT_NEAR(slowdown_of(result.by_stage, 0), 7.15 / kIdeal, kExact);
  EXPECT_NEAR(slowdown_of<std::string>(result.by_operation, "forward-compute"), 7.9 / kIdeal,
              kExact);
  EXPECT_NEAR(slowdown_of<std::string>(result.by_operation, "backward-compute"), 1.0, kExact);
  EXPECT_EQ(result.by_replica.front().group, 1);  // slowest first
  EXPECT_NEAR(result.by_replica.front().by_step.at(0), 7.9 / kIdeal, kExact);
}

TEST(Replay, RepairsGiveBackWhatTheyCost) {
  const ReplayResult result = replayed(kTinyTrace);
  // The last stage repaired: 1 + 0.1 + 1.25 + ... = 7.15, 0.75 of the 0.5 s that are lost.
  EXPECT_NEAR(result.last_stage.with_it_repaired_s, 7.15, kExact);
  EXPECT_NEAR(result.last_stage.removed_share, 1.5, 1e-9);
  EXPECT_NEAR(result.last_stage.with_only_it_s, 8.15, kExact);
  EXPECT_NEAR(result.last_stage.added_share, 1.5, 1e-9);
  // One of four ranks is the worst 3 %: stage 1 of replica 1.
  EXPECT_EQ(result.worst, std::vector<int>{3});
  EXPECT_NEAR(result.worst_ranks.with_it_repaired_s, 7.15, kExact);
}

/// The trace of so many replicas, steps and micro-batches: a forward pass takes `seconds`, a
/// backward one twice as long.
std::string passes_of(
    const std::function<double(int replica, int step, int micro_batch)>& seconds) {
  std::string text = "dp_rank,stage,rank,step,optype,start_ts,duration,seq_id,mc,mb_id,gmc\n";
  for (int step = 0; step < 3; ++step) {
    for (int replica = 0; replica < 3; ++replica) {
      double now = 100.0 * step;
      const auto add = [&](const char* type, double time, int micro_batch) {
        text += fmt::format("{0},0,{0},{1},{2},{3},{4},{5},0,0,0\n", replica, step, type, now, time,
                            micro_batch);
        now += time;
      };
      for (int micro_batch = 0; micro_batch < 4; ++micro_batch) {
        add("forward-compute", seconds(replica, step, micro_batch), micro_batch);
        add("backward-compute", 2.0 * seconds(replica, step, micro_batch), micro_batch);
      }
      add("grads-reduce-scatter", 0.5, 0);
      add("optimizer", 0.2, 0);
    }
  }
  return text;
}

TEST(Replay, ARankThatIsAlwaysSlowSaysNothingOfTheWork) {
  const auto correlation = [](const auto& seconds) {
    return replayed(passes_of(seconds)).forward_backward_correlation;
  };
  EXPECT_EQ(correlation([](int replica, int, int) { return replica == 1 ? 0.3 : 0.1; }), 0.0);
  EXPECT_EQ(correlation([](int, int, int) { return 0.1; }), 0.0);
  EXPECT_NEAR(correlation([](int replica, int step, int micro_batch) {
                return (replica == 1 ? 0.3 : 0.1) + 0.01 * ((step + micro_batch) % 3);
              }),
              1.0, 1e-9);
}

TEST(Replay, TheOrderOfRowsDoesNotMatter) {
  const std::string text = kTinyTrace;
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at + 1));
    at = end + 1;
  }
  std::string turned = lines.front();
  for (std::size_t i = lines.size(); i-- > 1;) turned += lines[i];
  EXPECT_EQ(replayed(turned).replayed_s, replayed(text).replayed_s);
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kTinyTrace;
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos);
  return text.replace(place, from.size(), to);
}

TEST(Replay, WrongValuesAreAllReportedWhereTheyStand) {
  std::string text = changed("0,0,0,7,forward-compute,0,1", "0,0,0,7,forward-compte,zero,-1");
  const std::string problems = problems_of(text);
  EXPECT_THAT(problems, HasSubstr("start_ts is a number of seconds"));
  EXPECT_THAT(problems, HasSubstr("trace.csv:2:24"));
  EXPECT_THAT(problems, HasSubstr("an operation does not end before it starts"));
  EXPECT_THAT(problems, HasSubstr("no operation is called \"forward-compte\""));
  EXPECT_THAT(problems, HasSubstr("did you mean \"forward-compute\"?"));
}

TEST(Replay, MissingColumnsAndOperationsAreNamed) {
  EXPECT_THAT(problems_of(changed("start_ts", "start_t")),
              HasSubstr("the trace has no column \"start_ts\""));
  EXPECT_THAT(problems_of(changed("1,1,3,7,optimizer,5.6,0.2,0,-1,0,-1\n", "")),
              HasSubstr("optimizer 0 on stage 1 of replica 1 is missing in step 7"));
  EXPECT_THAT(problems_of(changed("1,1,3,7,optimizer,5.6,0.2,0,", "1,1,3,7,optimizer,5.6,0.2,4,")),
              HasSubstr("optimizer 4 on stage 1 of replica 1 in step 7 is not in the first step"));
  EXPECT_THAT(problems_of(changed("0,1,1,7,forward-recv,0,1.1,0,-1,0,-1\n", "")),
              HasSubstr("stage 0 has 1 forward-send and stage 1 has 0 forward-recv"));
  EXPECT_THAT(problems_of("dp_rank\n"), HasSubstr("the trace has no column \"optype\""));
  EXPECT_THAT(problems_of(""), HasSubstr("the trace is empty"));
  EXPECT_THAT(problems_of(""), HasSubstr("help: a trace is a table with commas between"));
}

TEST(Replay, CellsThatAreWrongSayWhatToWrite) {
  struct Case {
    const char* cell;
    const char* instead;
    const char* help;
  };
  const std::string row = "1,1,3,7,optimizer,5.6,0.2,0,-1,0,-1\n";
  constexpr Case kCases[] = {
      {"1,1,3,7", "1.0,1,3,7", "help: write it without a point"},
      {"5.6", "1.7e18", "help: divide micro- or nanoseconds by 1e6 or 1e9"},
      {"5.6", "soon", "help: write a number, such as 12.25"},
      {"0.2", "-0.2", "help: leave out operations that were cut off"},
      {"optimizer", "checkpoint", "help: `headway replay --help` lists the types"},
  };
  for (const Case& each : kCases) {
    std::string changed_row = row;
    changed_row.replace(row.find(each.cell), std::string(each.cell).size(), each.instead);
    EXPECT_THAT(problems_of(changed(row, changed_row)), HasSubstr(each.help)) << each.instead;
  }
}

TEST(Replay, AFileThatIsNoTraceIsOneProblem) {
  EXPECT_THAT(problems_of("a,b\n1,2\n"), HasSubstr("the first line names no column of a trace"));
  const std::string problems = problems_of("{\"traceEvents\":[\n");
  EXPECT_THAT(problems,
              HasSubstr("this is a trace of PyTorch's profiler, not a trace of operations"));
  EXPECT_THAT(problems, HasSubstr("its columns are dp_rank, stage, rank, step, optype, start_ts, "
                                  "duration, seq_id, mc, gmc"));
  EXPECT_THAT(problems, HasSubstr("1 problem in 1 file"));
}

/// Traces of third parties with their published analysis, which do not stand in this repository.
class PublishedTrace : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* const named = std::getenv("HEADWAY_SAMPLES");
    if (named == nullptr || *named == '\0') {
      GTEST_SKIP() << "$HEADWAY_SAMPLES does not name the folder of third-party traces";
    }
    folder_ = std::string(named) + "/straggler_traces/";
    result_ = replay(folder_ + "trace-" + GetParam() + ".csv.gz");
  }
  [[nodiscard]] nlohmann::json read(const std::string& kind) const {
    return nlohmann::json::parse(std::ifstream(folder_ + kind + "-" + GetParam() + ".json"));
  }

  std::string folder_;
  ReplayResult result_;
};

// The published analysis kept times in single precision: steps agree to 1e-5, and so do ratios.
constexpr double kTolerance = 2e-5;

TEST_P(PublishedTrace, StepTimesAreAsPublished) {
  const nlohmann::json expected = read("result");
  ASSERT_EQ(expected.at("step_t_base").size(), result_.steps.size());
  for (std::size_t i = 0; i < result_.steps.size(); ++i) {
    const std::string step = std::to_string(result_.steps[i]);
    const auto time = [&](const char* kind) { return expected.at(kind).at(step).get<double>(); };
    EXPECT_NEAR(result_.measured_s[i] / time("step_t_base"), 1.0, kTolerance) << step;
    EXPECT_NEAR(result_.replayed_s[i] / time("step_t_nodelay"), 1.0, kTolerance) << step;
    EXPECT_NEAR(result_.ideal_s[i] / time("step_t_noblk"), 1.0, kTolerance) << step;
  }
  EXPECT_NEAR(result_.launch_slowdown, expected.at("launch_slowdown").get<double>(), kTolerance);
  EXPECT_NEAR(result_.slowdown, expected.at("blocking_slowdown").get<double>(), kTolerance);
}

template <class Key>
void expect_groups(const std::vector<GroupSlowdown<Key>>& groups, const std::vector<int>& steps,
                   const nlohmann::json& whole, const nlohmann::json& by_step) {
  ASSERT_EQ(groups.size(), whole.size());
  for (const GroupSlowdown<Key>& group : groups) {
    std::string name;
    if constexpr (std::is_same_v<Key, int>) {
      name = std::to_string(group.group);
    } else {
      name = group.group;
    }
    EXPECT_NEAR(group.slowdown, whole.at(name).template get<double>(), kTolerance) << name;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const nlohmann::json& expected = by_step.at(std::to_string(steps[i])).at(name);
      EXPECT_NEAR(group.by_step[i], expected.get<double>(), kTolerance) << name << " " << steps[i];
    }
  }
}

TEST_P(PublishedTrace, SlowdownsByReplicaStageAndOperationAreAsPublished) {
  const nlohmann::json expected = read("result");
  const auto check = [&](const auto& groups, const std::string& kind) {
    const std::string key = "blocking_decompose_by_" + kind;
    expect_groups(groups, result_.steps, expected.at(key), expected.at(key + "_per_step"));
  };
  check(result_.by_replica, "dp_rank");
  check(result_.by_stage, "stage");
  check(result_.by_operation, "optype");
}

TEST_P(PublishedTrace, RepairsOfTheLastStageAndTheWorstRanksAreAsPublished) {
  const auto check = [&](const RepairEffect& effect, const nlohmann::json& expected) {
    EXPECT_NEAR(effect.with_it_repaired_s / expected.at("trem").get<double>(), 1.0, kTolerance);
    EXPECT_NEAR(effect.with_only_it_s / expected.at("tadd").get<double>(), 1.0, kTolerance);
    // Differences of step times over a small loss: errors are that much larger.
    EXPECT_NEAR(effect.removed_share, expected.at("rem").get<double>(), 1e-3);
    EXPECT_NEAR(effect.added_share, expected.at("add").get<double>(), 1e-3);
  };
  check(result_.last_stage, read("ms"));
  check(result_.worst_ranks, read("mw"));
}

INSTANTIATE_TEST_SUITE_P(Samples, PublishedTrace, testing::Values("ST", "SE"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace headway
