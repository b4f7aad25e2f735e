#include "sim/predict/shared_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const ErrorTraits kJob{.model = "a model",
                       .kernels = "fused",
                       .release = "",
                       .pipeline = "8 x 2",
                       .micro_batch = 1,
                       .exchange = "8 x 1"};

ErrorTraits with(std::string ErrorTraits::*trait, const std::string& value) {
  ErrorTraits other = kJob;
  other.*trait = value;
  return other;
}

TEST(SharedError, EachDifferenceLeavesLess) {
  EXPECT_DOUBLE_EQ(shared_error(kJob, kJob), 0.88);
  EXPECT_DOUBLE_EQ(shared_error(kJob, with(&ErrorTraits::model, "another")), 0.88 * 0.56);
  EXPECT_DOUBLE_EQ(shared_error(kJob, with(&ErrorTraits::release, "26")), 0.88 * 0.84);
  EXPECT_DOUBLE_EQ(shared_error(kJob, with(&ErrorTraits::exchange, "")), 0.88 * 0.08);
  ErrorTraits other = with(&ErrorTraits::kernels, "torch-eager");
  other.pipeline = "1 x 1";
  other.micro_batch = 2;
  EXPECT_DOUBLE_EQ(shared_error(kJob, other), 0.88 * 0.28 * 0.66 * 0.64);
  EXPECT_DOUBLE_EQ(shared_error(other, kJob), shared_error(kJob, other));
  EXPECT_THAT(error_differences(kJob, other), ElementsAre("kernels", "pipeline", "micro-batch"));
  EXPECT_THAT(error_differences(kJob, kJob), IsEmpty());
}

TEST(SharedError, OneMeasuredJobTakesItsShareOff) {
  // A normal error of variance 1 that correlates by s with a known one has the mean s times that
  // and the variance 1 - s^2.
  const ErrorByOthers alike = error_by_others(kJob, {kJob});
  EXPECT_THAT(alike.weights, ElementsAre(testing::DoubleEq(0.88)));
  EXPECT_NEAR(alike.variance_left, 1.0 - 0.88 * 0.88, 1e-12);
}

TEST(SharedError, OfSeveralWhatIsTheirOwnAveragesOut) {
  // K = (1 s; s 1), k = (s, s): both weigh s / (1 + s), and 1 - 2 s^2 / (1 + s) is left.
  const ErrorByOthers alike = error_by_others(kJob, {kJob, kJob});
  EXPECT_NEAR(alike.weights[0], 0.88 / 1.88, 1e-12);
  EXPECT_NEAR(alike.weights[1], 0.88 / 1.88, 1e-12);
  EXPECT_NEAR(alike.variance_left, 1.0 - 2.0 * 0.88 * 0.88 / 1.88, 1e-12);
}

TEST(SharedError, AJobThatIsMoreAlikeWeighsMore) {
  // One alike (s = 0.88) and one of another pipeline (t = 0.88 x 0.66 = 0.5808, with both): K = (1
  // t; t 1), k = (s, t). Its inverse is (1 -t; -t 1) / (1 - t^2), so the weights are (s - t^2, t -
  // s t) / (1 - t^2).
  const double s = 0.88;
  const double t = 0.88 * 0.66;
  const ErrorByOthers both = error_by_others(kJob, {kJob, with(&ErrorTraits::pipeline, "1 x 1")});
  EXPECT_NEAR(both.weights[0], (s - t * t) / (1.0 - t * t), 1e-12);
  EXPECT_NEAR(both.weights[1], (t - s * t) / (1.0 - t * t), 1e-12);
  EXPECT_GT(both.weights[0], both.weights[1]);
}

TEST(SharedError, JobsAreToldApartByWhatTheirSoftwareDoes) {
  nlohmann::json unfused = small_scenario(2);
  const Scenario one = scenario_of(unfused);
  const ErrorTraits traits = error_traits(one.model, *one.strategy);
  EXPECT_EQ(traits.exchange, "");
  unfused["strategy"]["attention"] = "unfused";
  const Scenario other = scenario_of(unfused);
  EXPECT_THAT(error_differences(traits, error_traits(other.model, *other.strategy)),
              ElementsAre("kernels"));
  // More replicas are the same software.
  const Scenario larger = scenario_of(small_scenario(4));
  EXPECT_EQ(error_traits(larger.model, *larger.strategy), traits);
}

}  // namespace
}  // namespace headway
