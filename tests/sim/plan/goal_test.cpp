#include "sim/plan/goal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/scenario_reading.h"

namespace headway {
namespace {

TrainingGoal training(const std::string& text) { return std::get<TrainingGoal>(parse_goal(text)); }

std::string problem_of(const std::string& text) {
  return problems_in([&] { static_cast<void>(parse_goal(text)); });
}

TEST(Goal, HasItsWordsInAnyOrder) {
  const TrainingGoal goal =
      training("deadline=30d  tokens=1.5T,probability=50% minimize=cost batch_within=0.05");
  EXPECT_EQ(goal.tokens, 1.5e12);
  EXPECT_EQ(goal.deadline, Seconds(30.0 * 86400.0));
  EXPECT_EQ(goal.probability, 0.5);
  EXPECT_EQ(goal.batch_within, 0.05);
  EXPECT_EQ(goal.minimize, TrainingGoal::Minimize::cost);
}

TEST(Goal, MostOfItCanBeLeftOut) {
  const TrainingGoal goal = training("tokens=500B deadline=12h");
  EXPECT_EQ(goal.tokens, 5e11);
  EXPECT_EQ(goal.probability, 0.95);
  EXPECT_EQ(goal.batch_within, 0.0);
  EXPECT_EQ(goal.minimize, TrainingGoal::Minimize::gpus);
  EXPECT_EQ(training("tokens=1000 deadline=12h probability=0.8").probability, 0.8);
}

TEST(Goal, EveryProblemIsToldAtOnce) {
  EXPECT_EQ(problem_of("tokens=2X deadlin=1 probability=100%"),
            R"(error: "tokens=2X" cannot be understood
  --> --goal tokens=2X deadlin=1 probability=100%
  help: write tokens=2T

error: a goal has no "deadlin"
  --> --goal tokens=2X deadlin=1 probability=100%
  help: did you mean "deadline"? goals are like "tokens=2T deadline=30d probability=95%" (and budget, power, batch_within, minimize) or "largest=context"

error: "probability=100%" cannot be understood
  --> --goal tokens=2X deadlin=1 probability=100%
  help: write probability=95%: above 0 % and below 100 %

3 problems; nothing was done.
)");
}

TEST(Goal, NeedsTokensAndADeadline) {
  EXPECT_EQ(problem_of("tokens=2T tokens=3T"),
            R"(error: "tokens" stands twice
  --> --goal tokens=2T tokens=3T

error: a goal needs a deadline
  --> --goal tokens=2T tokens=3T
  help: add deadline=30d

2 problems; nothing was done.
)");
}

TEST(Goal, TheLargestStandsAlone) {
  EXPECT_EQ(std::get<LargestGoal>(parse_goal("largest=context")).of, LargestGoal::Of::context);
  EXPECT_EQ(std::get<LargestGoal>(parse_goal("largest=width")).of, LargestGoal::Of::width);
  EXPECT_EQ(std::get<LargestGoal>(parse_goal("largest=layers")).of, LargestGoal::Of::layers);
  EXPECT_EQ(problem_of("largest=model deadline=3d"),
            R"(error: largest stands alone
  --> --goal largest=model deadline=3d
  help: what fits does not depend on tokens or a deadline

1 problem; nothing was done.
)");
}

TEST(Goal, ValuesThatCannotBeAreRefused) {
  for (const char* const text :
       {"tokens=0 deadline=1d", "tokens=-1T deadline=1d", "tokens=2TT deadline=1d",
        "tokens=1e30 deadline=1d", "tokens=2T deadline=0s", "tokens=2T deadline=1e9d", "tokens=2T deadline=30",
        "tokens=2T deadline=1d probability=0", "tokens=2T deadline=1d batch_within=60%",
        "tokens=2T deadline=1d minimize=time", "tokens deadline=1d", "largest=hidden"}) {
    EXPECT_NE(problem_of(text).find("cannot be understood"), std::string::npos) << text;
  }
}

TEST(Goal, HasABudgetAndAPower) {
  const TrainingGoal goal =
      training("tokens=15T deadline=90d budget=50M power=2MW minimize=energy");
  EXPECT_EQ(goal.budget, 5e7);
  EXPECT_EQ(training("tokens=15T deadline=90d budget=150k").budget, 1.5e5);
  EXPECT_EQ(goal.power, Watts(2e6));
  EXPECT_EQ(goal.minimize, TrainingGoal::Minimize::energy);
}

TEST(Goal, AUnitMayStandApartAndMoneyHaveItsSign) {
  const TrainingGoal goal = training("tokens=2 T deadline=60 days, budget=$3M probability=90 %");
  EXPECT_EQ(goal.tokens, 2e12);
  EXPECT_EQ(goal.deadline, Seconds(60.0 * 86400.0));
  EXPECT_EQ(goal.budget, 3e6);
  EXPECT_EQ(goal.probability, 0.9);
  EXPECT_EQ(training("tokens=2T deadline=60d budget=$3 M").budget, 3e6);
  // A number is no unit.
  EXPECT_NE(problem_of("tokens=2T deadline=60d probability=0.9 5").find("a goal has no \"5\""),
            std::string::npos);
  EXPECT_EQ(problem_of("tokens=2T deadline=60 parsecs"),
            R"(error: "deadline=60parsecs" cannot be understood
  --> --goal tokens=2T deadline=60 parsecs
  help: write deadline=30d: above 0 and up to 30,000 years

1 problem; nothing was done.
)");
}

TEST(Goal, TheSoonestNeedsACeilingInsteadOfADeadline) {
  const TrainingGoal goal = training("tokens=1T power=500kW minimize=days");
  EXPECT_FALSE(std::isfinite(goal.deadline.count()));
  EXPECT_EQ(problem_of("tokens=1T minimize=days"),
            R"(error: minimize=days needs a ceiling
  --> --goal tokens=1T minimize=days
  help: add budget=50M or power=2MW

1 problem; nothing was done.
)");
}

}  // namespace
}  // namespace headway
