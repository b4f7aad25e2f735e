// Problems of who updates parameters with what, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kGpt3;
using testing::problems;

TEST(StrategyProblem, TheHostUpdatesByAdam) {
  EXPECT_EQ(problems(kGpt3, R"(    "optimizer": "lion", "optimizer_offload": 0.5,
    "global_batch": 64)"),
            R"(error: what the host updates needs optimizer "adam"
  --> scenario.json:8:18   /strategy/optimizer
   |
 8 |     "optimizer": "lion", "optimizer_offload": 0.5,
   |                  ^^^^^^ lion updates them here
   |
  ::: scenario.json:8:47   /strategy/optimizer_offload is 0.5
  help: set optimizer to "adam", or leave it out
)");
}

TEST(StrategyProblem, ServersUpdateByAdam) {
  EXPECT_EQ(problems(kGpt3, R"(    "optimizer": "sgd", "preset": "byteps",
    "global_batch": 64)"),
            R"(error: what servers update needs optimizer "adam"
  --> scenario.json:8:18   /strategy/optimizer
   |
 8 |     "optimizer": "sgd", "preset": "byteps",
   |                  ^^^^^ sgd updates them here
  help: set optimizer to "adam", or leave it out
)");
}

TEST(StrategyProblem, MuonIsForMatricesThatAreTrained) {
  EXPECT_EQ(problems(kGpt3, R"(    "optimizer": "muon", "task": "lora",
    "global_batch": 64)"),
            R"(error: optimizer "muon" does not go with adapters
  --> scenario.json:8:18   /strategy/optimizer
   |
 8 |     "optimizer": "muon", "task": "lora",
   |                  ^^^^^^ it updates the matrices of layers, which stay as they are
   |
  ::: scenario.json:8:34   /strategy/task is "lora"
  help: set optimizer to "adam", or leave it out
)");
}

TEST(StrategyProblem, AnOptimizerIsOneOfTheList) {
  EXPECT_EQ(problems(kGpt3, R"(    "optimizer": "adamw",
    "global_batch": 64)"),
            R"(error: optimizer cannot be "adamw"
  --> scenario.json:8:18   /strategy/optimizer
   |
 8 |     "optimizer": "adamw",
   |                  ^^^^^^^
  help: did you mean "adam"? It is one of "adam", "adam_8bit", "adafactor", "lion", "muon", "momentum", "sgd", "lars", "adagrad"
)");
}

}  // namespace
}  // namespace headway
