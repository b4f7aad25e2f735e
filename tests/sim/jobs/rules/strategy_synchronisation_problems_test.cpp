// Problems of parameter servers, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kLlama3;
using testing::problems;
using testing::read_strategy_text;

TEST(Synchronisation, IsByCollectivesWhereNobodySaysMore) {
  const auto reading = read_strategy_text(kLlama3, R"(    "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  EXPECT_EQ(reading.read->strategy.synchronisation->servers(), nullptr);
  EXPECT_TRUE(reading.read->strategy.synchronisation->reduces_gradients());
}

TEST(Synchronisation, HasTheServersThatItNames) {
  const auto reading = read_strategy_text(kLlama3, R"(    "synchronisation": {
      "scheme": "parameter_server", "servers": 4, "hosts": "apart", "updates": "asynchronous",
      "staleness_bound": 2, "local_reduction": true},
    "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  ASSERT_NE(reading.read->strategy.synchronisation->servers(), nullptr);
  const ServerPlan& how = *reading.read->strategy.synchronisation->servers();
  EXPECT_EQ(how.servers, 4);
  EXPECT_EQ(how.hosts, ServerHosts::apart);
  EXPECT_TRUE(how.asynchronous);
  EXPECT_EQ(how.staleness_bound, 2);
  EXPECT_TRUE(how.local_reduction);
  EXPECT_EQ(how.backup_workers, 0);
}

TEST(Synchronisation, OfFederatedRoundsHasEachWayApart) {
  const auto reading = read_strategy_text(kLlama3, R"(    "synchronisation": {
      "scheme": "parameter_server", "hosts": "apart", "push_every": 100, "backup_workers": 2,
      "push_bits": 27.68, "pull_bits": 16, "uplink": "20 Mb/s", "downlink": "100 Mb/s"},
    "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  ASSERT_NE(reading.read->strategy.synchronisation->servers(), nullptr);
  const ServerPlan& how = *reading.read->strategy.synchronisation->servers();
  EXPECT_FALSE(how.asynchronous);
  EXPECT_TRUE(how.has_local_updates());
  EXPECT_EQ(how.push_bits, 27.68);
  EXPECT_EQ(how.pull_bits, 16.0);
  EXPECT_EQ(how.uplink, BytesPerSecond(2.5e6));
  EXPECT_EQ(how.downlink, BytesPerSecond(12.5e6));
}

TEST(Synchronisation, OfAPresetMayBeChanged) {
  const auto reading = read_strategy_text(kLlama3, R"(    "preset": "tf-parameter-server",
    "synchronisation": {"servers": 8},
    "global_batch": 64)");
  ASSERT_TRUE(reading.read) << reading.problems;
  ASSERT_NE(reading.read->strategy.synchronisation->servers(), nullptr);
  EXPECT_TRUE(reading.read->strategy.synchronisation->servers()->asynchronous);
  EXPECT_EQ(reading.read->strategy.synchronisation->servers()->servers, 8);
}

TEST(StrategyProblem, ServersNeedTheWholeModelOnAWorker) {
  EXPECT_EQ(problems(kLlama3, R"(    "tensor_parallel": 2,
    "synchronisation": {"scheme": "parameter_server"},
    "global_batch": 64)"),
            R"(error: tensor_parallel does not go with parameter servers
  --> scenario.json:9:24   /strategy/tensor_parallel
   |
 9 |     "tensor_parallel": 2,
   |                        ^ a worker of parameter servers holds the whole model
   |
  ::: scenario.json:10:24   /strategy/synchronisation is {"scheme":"parameter_server"}
  help: set tensor_parallel to 1, or synchronisation.scheme to "all_reduce"
)");
}

/// Every other choice that servers exclude is one problem.
TEST(StrategyProblem, ServersExcludeWhatElseSharesOutTheModel) {
  for (const std::string field :
       {R"("context_parallel": 2)", R"("pipeline_parallel": 2)", R"("zero_stage": 1)",
        R"("zero_stage": 3)", R"("optimizer_offload": 0.5)", R"("task": "lora")"}) {
    const std::string name = field.substr(1, field.find('"', 1) - 1);
    const std::string found = problems(kLlama3, "    " + field + R"(,
    "synchronisation": {"scheme": "parameter_server"},
    "global_batch": 64)");
    EXPECT_TRUE(found.starts_with("error: " + name + " does not go with parameter servers\n"))
        << found;
  }
}

TEST(StrategyProblem, BackupsLeaveAWorkerToWaitFor) {
  EXPECT_EQ(problems(kLlama3,
                     R"(    "synchronisation": {"scheme": "parameter_server", "backup_workers": 8},
    "global_batch": 64)",
                     8),
            R"(error: backup_workers have to leave a worker to wait for
  --> scenario.json:9:24   /strategy/synchronisation
   |
 9 |     "synchronisation": {"scheme": "parameter_server", "backup_workers": 8},
   |                        ^ 8 of 8
  help: use 7 at most
)");
}

TEST(StrategyProblem, ConnectionsToServersAreBounded) {
  EXPECT_EQ(
      problems(kLlama3, R"(    "synchronisation": {"scheme": "parameter_server", "servers": 4096},
    "global_batch": 128)",
               128),
      R"(error: workers x servers must be at most 262,144
  --> scenario.json:9:24   /strategy/synchronisation
   |
 9 |     "synchronisation": {"scheme": "parameter_server", "servers": 4096},
   |                        ^ 4,096 servers and 128 data-parallel ranks
  help: use 2,048 servers at most
)");
}

TEST(StrategyProblem, FieldsOfOtherSchemesSayNothing) {
  EXPECT_EQ(problems(kLlama3, R"(    "synchronisation": {"servers": 8},
    "global_batch": 64)"),
            R"(error: servers needs scheme "parameter_server"
  --> scenario.json:9:36   /strategy/synchronisation/servers
   |
 9 |     "synchronisation": {"servers": 8},
   |                                    ^ it says nothing here
  help: leave it out, or set scheme to "parameter_server"
)");
  const std::string bound = problems(kLlama3, R"(    "synchronisation": {
      "scheme": "parameter_server", "staleness_bound": 2},
    "global_batch": 64)");
  EXPECT_TRUE(bound.starts_with("error: staleness_bound needs updates \"asynchronous\"\n"))
      << bound;
  const std::string backups = problems(kLlama3, R"(    "synchronisation": {
      "scheme": "parameter_server", "updates": "asynchronous", "backup_workers": 2},
    "global_batch": 64)");
  EXPECT_TRUE(backups.starts_with("error: backup_workers needs updates \"synchronous\"\n"))
      << backups;
  const std::string uplink = problems(kLlama3, R"(    "synchronisation": {
      "scheme": "local_steps", "uplink": "20 Mb/s"},
    "global_batch": 64)");
  EXPECT_TRUE(uplink.starts_with("error: uplink needs scheme \"parameter_server\"\n")) << uplink;
}

}  // namespace
}  // namespace headway
