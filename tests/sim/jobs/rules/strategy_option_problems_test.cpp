// Problems of options and of several fields, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kGpt3;
using testing::kLlama3;
using testing::problems;

TEST(StrategyProblem, SequenceParallelAloneIsAWarning) {
  EXPECT_EQ(problems(kLlama3, R"(    "sequence_parallel": true,
    "global_batch": 64)"),
            R"(warning: sequence_parallel does nothing without tensor_parallel
  --> scenario.json:9:26   /strategy/sequence_parallel
   |
 9 |     "sequence_parallel": true,
   |                          ^^^^ tensor_parallel is 1
  help: leave it out, or raise tensor_parallel
)");
}

TEST(StrategyProblem, RecomputedLayersAndModulesNeedTheirModes) {
  EXPECT_EQ(problems(kLlama3, R"(    "recompute": "selective",
    "recompute_layers": 8,
    "recompute_modules": ["mlp"],
    "global_batch": 64)"),
            R"(error: recompute_layers needs recompute "full"
  --> scenario.json:10:25   /strategy/recompute_layers
   |
10 |     "recompute_layers": 8,
   |                         ^ no whole layers are recomputed
   |
  ::: scenario.json:9:18   /strategy/recompute is "selective"
  help: set recompute to "full", or leave recompute_layers out

error: recompute_modules needs recompute "modules"
  --> scenario.json:11:26   /strategy/recompute_modules
   |
11 |     "recompute_modules": ["mlp"],
   |                          ^ no modules are recomputed
   |
  ::: scenario.json:9:18   /strategy/recompute is "selective"
  help: set recompute to "modules", or leave recompute_modules out
)");
}

TEST(StrategyProblem, AModuleThatTheModelLacksCannotBeRecomputed) {
  EXPECT_EQ(problems(kLlama3, R"(    "recompute": "modules",
    "recompute_modules": ["mla_up_proj", "moe_act"],
    "global_batch": 64)"),
            R"(error: recompute_modules names mla_up_proj, but the model has no latent attention
  --> scenario.json:10:26   /strategy/recompute_modules
   |
10 |     "recompute_modules": ["mla_up_proj", "moe_act"],
   |                          ^
  help: leave mla_up_proj out

error: recompute_modules names moe_act, but the model has no mixture of experts
  --> scenario.json:10:26   /strategy/recompute_modules
   |
10 |     "recompute_modules": ["mla_up_proj", "moe_act"],
   |                          ^
  help: leave moe_act out
)");
}

TEST(StrategyProblem, SharedExpertsThatTheModelLacksCannotBeRecomputed) {
  EXPECT_EQ(problems(kLlama3, R"(    "recompute": "modules",
    "recompute_modules": ["shared_experts"],
    "global_batch": 64)"),
            R"(error: recompute_modules names shared_experts, but the model has no shared experts
  --> scenario.json:10:26   /strategy/recompute_modules
   |
10 |     "recompute_modules": ["shared_experts"],
   |                          ^
  help: leave shared_experts out
)");
}

TEST(StrategyProblem, OffloadingAndRecomputingExcludeEachOther) {
  EXPECT_EQ(problems(kLlama3, R"(    "recompute": "full",
    "offload_layers": 8,
    "global_batch": 64)"),
            R"(error: offload_layers needs recompute "none"
  --> scenario.json:10:23   /strategy/offload_layers
   |
10 |     "offload_layers": 8,
   |                       ^ what is recomputed is not kept anywhere
   |
  ::: scenario.json:9:18   /strategy/recompute is "full"
  help: leave one of them out
)");
}

TEST(StrategyProblem, WhatIsNotOffloadedDoesNotOverlap) {
  EXPECT_EQ(problems(kLlama3, R"(    "overlap_optimizer_offload": true,
    "global_batch": 64)"),
            R"(error: overlap_optimizer_offload needs optimizer_offload above 0
  --> scenario.json:9:34   /strategy/overlap_optimizer_offload
   |
 9 |     "overlap_optimizer_offload": true,
   |                                  ^^^^ the accelerators update all parameters
  help: set optimizer_offload to 1, or leave overlap_optimizer_offload out
)");
}

TEST(StrategyProblem, OnlyLayersThatTheModelHasAreOffloaded) {
  EXPECT_EQ(problems(kLlama3, R"(    "offload_layers": 400,
    "global_batch": 64)"),
            R"(error: offload_layers are more than the layers of the model
  --> scenario.json:9:23   /strategy/offload_layers
   |
 9 |     "offload_layers": 400,
   |                       ^^^ 400 of 32
  help: use at most 32
)");
}

TEST(StrategyProblem, RecomputingModulesNamesThem) {
  EXPECT_EQ(problems(kLlama3, R"(    "recompute": "modules",
    "global_batch": 64)"),
            R"(error: recompute "modules" needs recompute_modules
  --> scenario.json:9:18   /strategy/recompute
   |
 9 |     "recompute": "modules",
   |                  ^^^^^^^^^
  help: for example "recompute_modules": ["mlp"]
)");
}

TEST(StrategyProblem, TensorParallelOverlapNeedsSequenceParallel) {
  EXPECT_EQ(problems(kLlama3, R"(    "tensor_parallel": 2,
    "sequence_parallel": false,
    "tensor_parallel_overlap": true,
    "global_batch": 64)"),
            R"(error: tensor_parallel_overlap needs sequence_parallel
  --> scenario.json:11:32   /strategy/tensor_parallel_overlap
   |
11 |     "tensor_parallel_overlap": true,
   |                                ^^^^ an all-reduce does not overlap
   |
  ::: scenario.json:10:26   /strategy/sequence_parallel is false
  help: set sequence_parallel to true, whose all-gathers and reduce-scatters do overlap, or tensor_parallel_overlap to false
)");
}

TEST(StrategyProblem, TheBackwardPassOverlapsWhereThereIsSomethingToOverlap) {
  EXPECT_EQ(problems(kLlama3, R"(    "tensor_parallel": 1,
    "overlap_tensor_parallel_backward": true,
    "global_batch": 64)"),
            R"(error: overlap_tensor_parallel_backward needs tensor_parallel above 1
  --> scenario.json:10:41   /strategy/overlap_tensor_parallel_backward
   |
10 |     "overlap_tensor_parallel_backward": true,
   |                                         ^^^^ nothing is exchanged
   |
  ::: scenario.json:9:24   /strategy/tensor_parallel is 1
  help: raise tensor_parallel, or leave it out
)");
  EXPECT_EQ(
      problems(kLlama3, R"(    "tensor_parallel": 2,
    "sequence_parallel": true,
    "tensor_parallel_overlap": true,
    "overlap_tensor_parallel_backward": true,
    "global_batch": 64)"),
      R"(error: overlap_tensor_parallel_backward and tensor_parallel_overlap exclude each other
  --> scenario.json:12:41   /strategy/overlap_tensor_parallel_backward
   |
12 |     "overlap_tensor_parallel_backward": true,
   |                                         ^^^^ tensor_parallel_overlap covers the backward pass too
   |
  ::: scenario.json:11:32   /strategy/tensor_parallel_overlap is true
  help: leave one of them out
)");
  EXPECT_EQ(problems(kLlama3, R"(    "tensor_parallel": 2,
    "pipeline_parallel": 2,
    "schedule": "zb_h1",
    "overlap_tensor_parallel_backward": true,
    "global_batch": 64)"),
            R"(error: overlap_tensor_parallel_backward needs a schedule with whole backward passes
  --> scenario.json:12:41   /strategy/overlap_tensor_parallel_backward
   |
12 |     "overlap_tensor_parallel_backward": true,
   |                                         ^^^^ here gradients of weights wait for later, and hide nothing
   |
  ::: scenario.json:11:17   /strategy/schedule is "zb_h1"
  help: set schedule to "1f1b", or leave it out
)");
}

TEST(StrategyProblem, ParameterGatherNeedsSharding) {
  EXPECT_EQ(problems(kLlama3, R"(    "zero_stage": 0,
    "overlap_parameter_gather": true,
    "global_batch": 64)"),
            R"(error: overlap_parameter_gather needs zero_stage 1, 2 or 3
  --> scenario.json:10:33   /strategy/overlap_parameter_gather
   |
10 |     "overlap_parameter_gather": true,
   |                                 ^^^^ no parameters are gathered
   |
  ::: scenario.json:9:19   /strategy/zero_stage is 0
  help: set zero_stage to 1, or leave overlap_parameter_gather out
)");
}

TEST(StrategyProblem, TensorsAreReducedApartWhereNothingMergesThem) {
  EXPECT_EQ(problems(kLlama3, R"(    "reduce_each_tensor": true,
    "gradient_bucket": "1 MiB",
    "global_batch": 64)"),
            R"(error: reduce_each_tensor needs gradient_bucket 0
  --> scenario.json:9:27   /strategy/reduce_each_tensor
   |
 9 |     "reduce_each_tensor": true,
   |                           ^^^^ what fills a bucket is reduced with it
   |
  ::: scenario.json:10:24   /strategy/gradient_bucket is "1 MiB"
  help: set gradient_bucket to "0 B", or leave it out
)");
  EXPECT_EQ(problems(kLlama3, R"(    "reduce_each_tensor": true,
    "zero_stage": 3,
    "global_batch": 64)"),
            R"(error: reduce_each_tensor needs zero_stage below 3
  --> scenario.json:9:27   /strategy/reduce_each_tensor
   |
 9 |     "reduce_each_tensor": true,
   |                           ^^^^ fully sharded, a layer is scattered as one
   |
  ::: scenario.json:10:19   /strategy/zero_stage is 3
  help: leave one of them out
)");
}

TEST(StrategyProblem, UnknownPresetsAreGuessed) {
  EXPECT_EQ(problems(kLlama3, R"(    "preset": "megatorn",
    "global_batch": 64)"),
            R"(error: preset cannot be "megatorn"
  --> scenario.json:9:15   /strategy/preset
   |
 9 |     "preset": "megatorn",
   |               ^^^^^^^^^^
  help: did you mean "megatron"? It is one of "none", "aleph-alpha", "aleph-alpha-fa1", "aleph-alpha-fa2", "aleph-alpha-rms", "aleph-alpha-torch", "automodel", "automodel-experts", "byteps", "composer-fsdp", "deepspeed-zero-1", "deepspeed-zero-2", "deepspeed-zero-3", "federated-averaging", "fms-fsdp", "gpipe", "gpt-neox", "horovod", "hugectr", "internevo", "maxtext", "megatron", "megatron-2021", "megatron-2022", "megatron-2023", "megatron-bridge", "megatron-deepspeed", "mlperf-rocm", "mxnet-mlperf", "nemo", "nemo-mlperf", "primus", "pytorch-ddp", "pytorch-diloco", "pytorch-dlrm", "pytorch-fsdp", "pytorch-fsdp-grad-op", "pytorch-fsdp1", "te-ddp", "tf-parameter-server", "tf2-dlrm", "tinyllama", "torch-eager", "torchprime", "torchtitan", "torchtitan-2025", "torchtitan-2025-eager", "torchtitan-eager", "transformers", "transformers-bf16"
)");
}

TEST(StrategyProblem, GlobalBatchHasNoDefault) {
  EXPECT_EQ(problems(kLlama3, R"(    "micro_batch": 3,
    "global_bach": 64)"),
            R"(error: missing field "global_batch"
  --> scenario.json:8:15   /strategy
   |
 8 |   "strategy": {
   |               ^
  help: for example "global_batch": 1

error: unknown field "global_bach"
  --> scenario.json:10:5   /strategy/global_bach
  help: did you mean "global_batch"?
)");
}

TEST(StrategyProblem, AllAreReportedAtOnce) {
  EXPECT_EQ(problems(kGpt3, R"(    "tensor_parallel": 10,
    "pipeline_parallel": 200,
    "virtual_stages": 2,
    "data_parallel": 3,
    "global_batch": 64,
    "recompute": "some",
    "zero_stage": 3)"),
            R"(error: recompute cannot be "some"
  --> scenario.json:13:18   /strategy/recompute
   |
13 |     "recompute": "some",
   |                  ^^^^^^
  help: it is one of "none", "activation", "selective", "every_second_product", "modules", "full"

error: tensor_parallel must divide the attention heads
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": 10,
   |                        ^^ 10 does not divide 96
   |
  ::: scenario.json:5:24   /model/attention_heads is 96
  help: use 8 or 12

error: global_batch must be a multiple of micro_batch x data_parallel
  --> scenario.json:12:21   /strategy/global_batch
   |
12 |     "global_batch": 64,
   |                     ^^ 64 is not a multiple of 1 x 3 = 3
   |
  ::: scenario.json:11:22   /strategy/data_parallel is 3
  help: use 63 or 66

error: the pipeline has more chunks than the model has layers
  --> scenario.json:10:23   /strategy/virtual_stages
   |
10 |     "virtual_stages": 2,
   |                       ^ 200 stages x 2 = 400 chunks for 96 layers
   |
  ::: scenario.json:9:26   /strategy/pipeline_parallel is 200
  ::: scenario.json:4:15   /model/layers is 96
  help: use a pipeline_parallel of at most 48

error: zero_stage 3 does not go with a pipeline where layers give their parameters up
  --> scenario.json:14:19   /strategy/zero_stage
   |
14 |     "zero_stage": 3
   |                   ^ a pipeline of 200 stages
   |
  ::: scenario.json:9:26   /strategy/pipeline_parallel is 200
  help: set reshard_after_forward to false: each micro-batch would gather every layer of its stage anew; or use zero_stage 1
)");
}

TEST(StrategyProblem, BadFieldsRaiseNoFalseAlarms) {
  EXPECT_EQ(problems(kGpt3, R"(    "tensor_parallel": "eight",
    "data_parallel": 64,
    "micro_batch": 0,
    "sequence_parallel": true,
    "global_batch": 100)",
                     512),
            R"(error: "tensor_parallel" must be a whole number
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": "eight",
   |                        ^^^^^^^ a text
  help: write a whole number between 1 and 1000000, or leave it out for 1

error: micro_batch must be between 1 and 10000000
  --> scenario.json:10:20   /strategy/micro_batch
   |
10 |     "micro_batch": 0,
   |                    ^ 0
  help: leave it out for 1
)");
}

}  // namespace
}  // namespace headway
