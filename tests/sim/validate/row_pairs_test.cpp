#include "sim/validate/row_pairs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace headway {
namespace {

struct PairRows {
  std::vector<PublishedRow> published;
  std::vector<ValidationRow> predicted;

  /// `train` and `gpus` over a job of 8 accelerators and a batch of 16.
  void add(const std::string& id, const nlohmann::json& train, int gpus, double published_s,
           double predicted_s, const std::string& source = "lab") {
    PublishedRow row;
    row.head.id = id;
    row.head.source = source;
    row.head.accelerators = gpus;
    row.head.published_s = published_s;
    row.model = nlohmann::json{{"seq", 100}, {"layers", 2}};
    nlohmann::json with = {{"tp", 1}, {"pp", 1}, {"micro_batch", 1}, {"global_batch", 16}};
    if (!train.empty()) with.update(train);
    with["dp"] = gpus;
    row.train = with;
    published.push_back(row);
    predicted.push_back(row.head);
    predicted.back().predicted_s = predicted_s;
  }

  [[nodiscard]] std::vector<KnobPairs> pairs() const { return pairs_by_knob(published, predicted); }
};

const KnobPairs* knob_named(const std::vector<KnobPairs>& knobs, const std::string& name) {
  for (const KnobPairs& knob : knobs) {
    if (knob.knob == name) return &knob;
  }
  return nullptr;
}

TEST(RowPairs, AreOfOneDifference) {
  PairRows rows;
  rows.add("base", {}, 8, 10.0, 10.0);
  rows.add("micro", {{"micro_batch", 2}}, 8, 8.0, 9.0);
  rows.add("two differences", {{"micro_batch", 4}, {"tp", 2}}, 8, 5.0, 5.0);
  rows.add("elsewhere", {{"micro_batch", 2}}, 8, 1.0, 1.0, "another");
  const auto knobs = rows.pairs();
  ASSERT_EQ(knobs.size(), 2u);
  EXPECT_EQ(knobs[0].knob, "all");
  EXPECT_EQ(knobs[1].knob, "micro-batch");
  ASSERT_EQ(knobs[1].pairs.size(), 1u);
  const RowPair& pair = knobs[1].pairs.front();
  EXPECT_EQ(pair.first, "base");
  EXPECT_EQ(pair.second, "micro");
  // The same tokens in 8 s for 10 s, predicted in 9.
  EXPECT_NEAR(pair.published, 1.25, 1e-12);
  EXPECT_NEAR(pair.predicted, 10.0 / 9.0, 1e-12);
  EXPECT_NEAR(knobs[1].slope, std::log(10.0 / 9.0) / std::log(1.25), 1e-12);
  EXPECT_NEAR(knobs[1].median_error, 1.25 - 10.0 / 9.0, 1e-12);
  EXPECT_EQ(knobs[1].telling, 1);
  EXPECT_EQ(knobs[1].right_sign, 1);
}

TEST(RowPairs, OrderRowsByWhatDiffers) {
  PairRows rows;
  rows.add("four", {{"pp", 4}}, 8, 12.0, 9.0);
  rows.add("one", {{"pp", 1}}, 8, 10.0, 10.0);
  const auto knobs = rows.pairs();
  const KnobPairs* knob = knob_named(knobs, "pipeline against data parallel");
  ASSERT_NE(knob, nullptr);
  EXPECT_EQ(knob->pairs.front().first, "one");
  EXPECT_NEAR(knob->pairs.front().published, 10.0 / 12.0, 1e-12);
  EXPECT_EQ(knob->right_sign, 0);  // predicted to be faster, and was slower
  EXPECT_EQ(knob->telling, 1);
  EXPECT_LT(knob->slope, 0.0);
}

TEST(RowPairs, ABatchThatGrowsWithTheAcceleratorsIsWeakScaling) {
  PairRows rows;
  rows.add("small", {}, 8, 10.0, 10.0);
  rows.add("weak", {{"global_batch", 64}}, 32, 10.5, 10.2);
  rows.add("strong", {}, 16, 6.0, 5.5);
  const auto knobs = rows.pairs();
  const KnobPairs* weak = knob_named(knobs, "weak scaling");
  ASSERT_NE(weak, nullptr);
  ASSERT_EQ(weak->pairs.size(), 1u);
  EXPECT_NEAR(weak->pairs.front().published, 10.0 / 10.5, 1e-12);
  const KnobPairs* strong = knob_named(knobs, "strong scaling");
  ASSERT_NE(strong, nullptr);
  // Twice the accelerators: 10 / (2 x 6) of the rate of each.
  EXPECT_NEAR(strong->pairs.front().published, 10.0 / 12.0, 1e-12);
}

TEST(RowPairs, EffectsThatRepeatedStepsHaveTellNoSign) {
  PairRows rows;
  rows.add("a", {}, 8, 10.0, 10.0);
  rows.add("b", {{"micro_batch", 2}}, 8, 9.9, 10.1);
  const auto knobs = rows.pairs();
  EXPECT_EQ(knobs.front().telling, 0);
}

TEST(RowPairs, RowsWithoutAPredictionAreLeftOut) {
  PairRows rows;
  rows.add("a", {}, 8, 10.0, 10.0);
  rows.add("b", {{"micro_batch", 2}}, 8, 9.0, 9.0);
  rows.predicted.back().predicted_s.reset();
  EXPECT_TRUE(rows.pairs().empty());
}

}  // namespace
}  // namespace headway
