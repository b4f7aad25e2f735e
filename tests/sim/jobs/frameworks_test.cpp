#include "sim/jobs/frameworks.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/jobs/rank_shape_of.h"

namespace headway {
namespace {

struct FrameworkReading {
  std::optional<Framework> framework;
  std::string problems;
};
FrameworkReading read(const std::string& members) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse(
      "f.json",
      R"({"schema": "headway/framework/1", "name": "f", "about": "a", "links": ["l"], )" + members +
          "}",
      diagnostics);
  FrameworkReading reading{read_framework(JsonCursor(document), diagnostics), ""};
  for (const Diagnostic& problem : diagnostics.all()) reading.problems += problem.message + "\n";
  return reading;
}

TEST(Frameworks, SayOnlyWhatTheyDecide) {
  const auto reading = read(R"("strategy": {"zero_stage": 1, "kernel_family": "jax"})");
  ASSERT_TRUE(reading.framework) << reading.problems;
  const Strategy& strategy = reading.framework->strategy;
  EXPECT_EQ(strategy.sharding, Sharding::optimizer);
  EXPECT_EQ(strategy.kernel_family, "jax");
  // What is unsaid is a strategy's default, whether a job of one rank had a use for it or not.
  EXPECT_TRUE(strategy.overlap_gradient_reduce);
  EXPECT_TRUE(strategy.overlap_parameter_gather);
  EXPECT_TRUE(strategy.overlap_pipeline_transfers);
}

TEST(Frameworks, MayDoOtherwiseInFp16) {
  const auto reading = read(R"("strategy": {"gradient_precision": "fp32", "zero_stage": 2},
                               "when_fp16": {"gradient_precision": "fp16"})");
  ASSERT_TRUE(reading.framework) << reading.problems;
  const Framework& framework = *reading.framework;
  EXPECT_EQ(framework.habits(Precision::bf16, false).gradient_precision, Precision::fp32);
  EXPECT_EQ(framework.habits(Precision::fp16, false).gradient_precision, Precision::fp16);
  EXPECT_EQ(framework.habits(Precision::fp16, false).sharding, Sharding::gradients);
}

TEST(Frameworks, MayDoOtherwiseWithExperts) {
  const auto reading = read(R"("strategy": {"zero_stage": 2},
                               "when_fp16": {"gradient_precision": "fp16"},
                               "when_experts": {"cuda_graph": "layer"})");
  ASSERT_TRUE(reading.framework) << reading.problems;
  const Framework& framework = *reading.framework;
  EXPECT_EQ(framework.habits(Precision::bf16, false).cuda_graph, CudaGraph::none);
  EXPECT_EQ(framework.habits(Precision::bf16, true).cuda_graph, CudaGraph::layer);
  EXPECT_EQ(framework.habits(Precision::bf16, true).sharding, Sharding::gradients);
  const Strategy& both = framework.habits(Precision::fp16, true);
  EXPECT_EQ(both.cuda_graph, CudaGraph::layer);
  EXPECT_EQ(both.gradient_precision, Precision::fp16);
}

TEST(Frameworks, DegreesAreTheJobs) {
  EXPECT_EQ(read(R"("strategy": {"tensor_parallel": 2})").problems,
            "unknown field \"tensor_parallel\"\n");
}

TEST(Frameworks, AFileOfAnotherKindIsNone) {
  Diagnostics diagnostics;
  const auto document =
      JsonDocument::parse("m.json", R"({"schema": "headway/model/1"})", diagnostics);
  EXPECT_FALSE(read_framework(JsonCursor(document), diagnostics));
  EXPECT_EQ(diagnostics.all().size(), 1U);
}

TEST(Frameworks, NoTwoArePublishedAlike) {
  std::set<std::string> names;
  for (const Framework& framework : frameworks()) {
    for (const PublishedAs& as : framework.published_as) {
      const std::string name =
          as.framework + "|" + as.release + "|" + as.model + (as.experts ? "|experts" : "");
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
  EXPECT_GT(names.size(), 20U);
}

TEST(Frameworks, HaveTheNameOfTheirFile) {
  for (const Framework& framework : frameworks()) {
    EXPECT_EQ(framework_named(framework.name), &framework);
  }
  EXPECT_EQ(frameworks().front().name, "none");
  EXPECT_EQ(framework_named("megatorn"), nullptr);
}

// PyTorch's SHARD_GRAD_OP leaves parameters gathered between the passes, FULL_SHARD does not.
TEST(Frameworks, GradOpKeepsWhatItGathered) {
  const auto reshards = [&](const char* name) {
    const Framework* framework = framework_named(name);
    EXPECT_NE(framework, nullptr) << name;
    EXPECT_EQ(framework->strategy.sharding, Sharding::full) << name;
    return framework->strategy.reshard_after_forward;
  };
  EXPECT_FALSE(reshards("pytorch-fsdp-grad-op"));
  EXPECT_TRUE(reshards("pytorch-fsdp"));
}

// Megatron-LM scattered messages until it became Megatron-Core; DeepSpeed partitions them. With
// sequence parallelism there is nothing to share out.
TEST(Frameworks, MegatronCoreSendsWholeActivations) {
  const auto splits = [](const char* name, bool sequence_parallel) {
    Strategy strategy = framework_named(name)->strategy;
    strategy.sequence_parallel = sequence_parallel;
    return rank_shape_of(strategy).split_messages;
  };
  for (const char* name : {"megatron", "megatron-bridge", "nemo", "nemo-mlperf", "primus",
                           "mlperf-rocm", "aleph-alpha-fa2"}) {
    EXPECT_FALSE(splits(name, false)) << name;
    EXPECT_TRUE(splits(name, true)) << name;
  }
  for (const char* name : {"none", "megatron-2021", "megatron-deepspeed", "gpt-neox"}) {
    EXPECT_TRUE(splits(name, false)) << name;
  }
}

}  // namespace
}  // namespace headway
