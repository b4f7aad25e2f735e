#include "sim/result/decision/choice.h"

#include <gtest/gtest.h>

#include <limits>

namespace headway {
namespace {

Candidate at(const std::string& axis, const std::string& value, DecisionNumbers numbers) {
  numbers.accelerators = 64;
  return {{{axis, value}}, numbers};
}

DecisionNumbers with_goodput(double goodput) { return {.throughput = 1000.0, .goodput = goodput}; }

TEST(Choice, OfWhatIsPaidForIsTheFewestThatAreAsGood) {
  const std::string spares = "/reliability/spare_nodes";
  const std::vector<Candidate> candidates = {
      at(spares, "0", with_goodput(0.5)), at(spares, "4", with_goodput(0.899)),
      at(spares, "8", with_goodput(0.9)), at(spares, "12", with_goodput(0.905)),
      at(spares, "16", with_goodput(0.905))};
  const Choice choice = choice_of(candidates).value();
  EXPECT_EQ(choice.objective, Objective::goodput);
  EXPECT_EQ(choice.best, 3U);
  // 0.99 x 0.905 = 0.896.
  EXPECT_EQ(choice.as_good, (std::vector<std::size_t>{1, 2, 3, 4}));
  EXPECT_EQ(choice.taken(), 1U);
  EXPECT_EQ(
      choice_text(choice, candidates),
      "The best goodput has /reliability/spare_nodes 12: 90.5 % on 64 GPUs. The fewest within "
      "1 % of it: 4, with 89.9 %; within 0.1 %: 12, with 90.5 %.");
}

TEST(Choice, OfAnythingElseIsTheBestAndSaysWhatIsAsGood) {
  const std::string interval = "/reliability/checkpoint/interval";
  const std::vector<Candidate> candidates = {at(interval, "1 h", with_goodput(0.5)),
                                             at(interval, "4 min", with_goodput(0.901)),
                                             at(interval, "daly", with_goodput(0.902))};
  const Choice choice = choice_of(candidates).value();
  EXPECT_EQ(choice.taken(), 2U);
  EXPECT_EQ(choice_text(choice, candidates),
            "The best goodput has /reliability/checkpoint/interval daly: 90.2 % on 64 GPUs. Within "
            "1 % of it: 4 min.");
}

TEST(Choice, IsByMoneyWhereEverybodyHasAPrice) {
  DecisionNumbers fast = {.throughput = 2000.0, .run_time = Seconds(86400.0), .run_usd = 300.0};
  DecisionNumbers cheap = {.throughput = 1000.0, .run_time = Seconds(172800.0), .run_usd = 200.0};
  std::vector<Candidate> candidates = {at("schedule", "a", fast), at("schedule", "b", cheap)};
  EXPECT_EQ(choice_of(candidates)->best, 1U);
  EXPECT_EQ(choice_text(*choice_of(candidates), candidates),
            "The cheapest is schedule b: US$ 200 on 64 GPUs.");
  candidates[1].numbers.run_usd.reset();
  EXPECT_EQ(choice_of(candidates)->objective, Objective::run_time);
  EXPECT_EQ(choice_text(*choice_of(candidates), candidates),
            "The soonest through is schedule a: 1 day on 64 GPUs.");
}

TEST(Choice, LeavesOutRunsThatNeverEndAndJobsThatCannotRun) {
  const double never = std::numeric_limits<double>::infinity();
  DecisionNumbers endless = {.throughput = 2000.0, .run_time = Seconds(never)};
  DecisionNumbers slow = {.throughput = 1000.0, .run_time = Seconds(172800.0)};
  const std::vector<Candidate> candidates = {at("a", "1", endless), at("a", "2", slow),
                                             at("a", "3", {})};
  EXPECT_EQ(choice_of(candidates)->best, 1U);
  EXPECT_FALSE(choice_of(std::vector{at("a", "3", {})}).has_value());
  EXPECT_FALSE(choice_of(std::vector<Candidate>()).has_value());
}

TEST(Objective, ARunIsToldInAUnitThatFitsIt) {
  const auto told = [](double seconds) {
    const DecisionNumbers of{.run_time = Seconds(seconds),
                             .run_time_interval = Interval{seconds / 2.0, seconds * 2.0}};
    return objective_text(Objective::run_time, of) + "; " +
           objective_interval_text(Objective::run_time, of);
  };
  EXPECT_EQ(told(40.0 * 86400.0), "40 days; 20 .. 80 days");
  EXPECT_EQ(told(86400.0), "1 day; 0.5 .. 2 days");
  EXPECT_EQ(told(12.0 * 3600.0), "12 hours; 6 .. 24 hours");
  EXPECT_EQ(told(844.0), "14.1 min; 7.03 .. 28.1 min");
  EXPECT_EQ(told(30.0), "30 s; 15 .. 60 s");
}

}  // namespace
}  // namespace headway
