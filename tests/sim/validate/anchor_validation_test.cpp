#include "sim/validate/anchor_validation.h"

#include <gtest/gtest.h>

#include <memory>
#include <variant>

#include "sim/predict/simulate.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/row_job.h"

namespace headway {
namespace {

/// Three steps of one model on one accelerator.
constexpr const char* kSource = "narayanan2021_table2";

ValidateOptions of_source() {
  ValidateOptions options;
  options.filter.words["source"] = {kSource};
  return options;
}

const AnchorValidation& validation() {
  static const AnchorValidation kValidation = [] {
    Diagnostics diagnostics;
    AnchorValidation result = validate_anchors("", of_source(), diagnostics);
    diagnostics.throw_if_errors();
    return result;
  }();
  return kValidation;
}

TEST(AnchorValidation, EachRowIsAskedForByEachOther) {
  ASSERT_EQ(validation().rows.size(), 3U);
  for (const AnchoredRow& row : validation().rows) {
    EXPECT_EQ(row.by_anchor.size(), 2U) << row.head.id;
    EXPECT_TRUE(row.software_factor) << row.head.id;
  }
  const AnchorSummary& all = validation().summary.front();
  EXPECT_EQ(all.pairs, 6);
  EXPECT_EQ(all.with.count, 3);
  EXPECT_EQ(all.without.count, 3);
}

TEST(AnchorValidation, AnAnchorIsAppliedAsUsersApplyIt) {
  Diagnostics diagnostics;
  const auto published = asked_rows({kBuiltInSteps}, of_source().filter, diagnostics);
  const auto job = [&](std::size_t row) {
    std::vector<std::string> assumed;
    Scenario scenario = std::get<Scenario>(
        job_of_row(published[row], {.knowledge = SourceKnowledge::shared}, assumed));
    scenario.run.replicas = static_cast<int>(run_row_job(scenario).times.size());
    return scenario;
  };
  const AnchoredRow& row = validation().rows.front();
  for (const PredictionByAnchor& one : row.by_anchor) {
    Scenario asked = job(0);
    asked.anchors = {{Seconds(published[one.measured].head.published_s),
                      std::make_shared<const Scenario>(job(one.measured))}};
    SimulateOptions options;
    options.scaling = false;
    options.even_if_it_does_not_fit = true;
    const Prediction prediction = simulate(asked, options).prediction;
    EXPECT_DOUBLE_EQ(one.predicted_s, prediction.iteration_time.count());
    EXPECT_DOUBLE_EQ(one.interval_s.low, prediction.iteration_interval.low);
    EXPECT_DOUBLE_EQ(one.interval_s.high, prediction.iteration_interval.high);
  }
}

TEST(AnchorValidation, RowsOfOneModelOnlyAnchorNothing) {
  ValidateOptions options;
  options.filter.id_prefixes = {validation().rows.front().head.id};
  Diagnostics diagnostics;
  const AnchorValidation alone = validate_anchors("", options, diagnostics);
  ASSERT_EQ(alone.rows.size(), 1U);
  EXPECT_TRUE(alone.rows.front().head.predicted_s);
  EXPECT_TRUE(alone.rows.front().by_anchor.empty());
  EXPECT_EQ(alone.summary.front().pairs, 0);
}

}  // namespace
}  // namespace headway
