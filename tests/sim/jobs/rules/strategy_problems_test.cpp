// Problems of degrees and batches, by their full text.
#include <gtest/gtest.h>

#include "tests/sim/jobs/strategy_reading.h"

namespace headway {
namespace {

using testing::kGpt3;
using testing::kLlama3;
using testing::problems;

/// Models that tensor parallelism does not fit in one dimension each.
std::string odd_model(const std::string& dimensions) {
  return R"("model": {
    "name": "Odd", "source": "made up", "layers": 32, "vocabulary": 32000, "mlp": "plain",
    "head_size": 128, )" +
         dimensions + R"(,
    "position_encoding": "rotary", "sequence_length": 2048
  })";
}
const std::string kOddHeads =
    odd_model(R"("attention_heads": 36, "kv_heads": 6, "hidden": 4608, "ffn_hidden": 18432)");
const std::string kOddHidden =
    odd_model(R"("attention_heads": 32, "hidden": 4100, "ffn_hidden": 16384)");
const std::string kOddMlp =
    odd_model(R"("attention_heads": 32, "hidden": 4096, "ffn_hidden": 11004)");
/// A configuration as Hugging Face names its fields.
const std::string kHuggingFace = R"("model": {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 32000,
    "intermediate_size": 11008, "num_attention_heads": 32, "max_position_embeddings": 4096
  })";

TEST(StrategyProblem, TensorParallelDividesTheAttentionHeads) {
  EXPECT_EQ(problems(kGpt3, R"(    "tensor_parallel": 10,
    "global_batch": 64)"),
            R"(error: tensor_parallel must divide the attention heads
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": 10,
   |                        ^^ 10 does not divide 96
   |
  ::: scenario.json:5:24   /model/attention_heads is 96
  help: use 8 or 12
)");
}

TEST(StrategyProblem, TensorParallelSharesTheKeyValueHeads) {
  EXPECT_EQ(problems(kOddHeads, R"(    "tensor_parallel": 4,
    "global_batch": 64)"),
            R"(error: tensor_parallel must divide the key-value heads or be a multiple of them
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": 4,
   |                        ^ 4 and 6 do neither
   |
  ::: scenario.json:4:58   /model/kv_heads is 6
  help: use 3 or 6
)");
}

TEST(StrategyProblem, TensorParallelDividesTheHiddenSize) {
  EXPECT_EQ(problems(kOddHidden, R"(    "tensor_parallel": 8,
    "global_batch": 64)"),
            R"(error: tensor_parallel must divide the hidden size
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": 8,
   |                        ^ 8 does not divide 4100
   |
  ::: scenario.json:4:56   /model/hidden is 4100
  help: use 4
)");
}

TEST(StrategyProblem, TensorParallelDividesTheMlp) {
  EXPECT_EQ(problems(kOddMlp, R"(    "tensor_parallel": 8,
    "global_batch": 64)"),
            R"(error: tensor_parallel must divide the hidden size of the MLP
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": 8,
   |                        ^ 8 does not divide 11004
   |
  ::: scenario.json:4:76   /model/ffn_hidden is 11004
  help: use 4
)");
}

TEST(StrategyProblem, RanksAreTheAccelerators) {
  EXPECT_EQ(
      problems(kGpt3, R"(    "tensor_parallel": 8,
    "pipeline_parallel": 16,
    "data_parallel": 64,
    "global_batch": 1536)",
               16384),
      R"(error: tensor_parallel 8 x pipeline_parallel 16 x data_parallel 64 = 8192 ranks, but the cluster has 16384 accelerators
  --> scenario.json:10:22   /strategy/data_parallel
   |
10 |     "data_parallel": 64,
   |                      ^^
  help: set data_parallel to 128, or leave it out: it is what the other degrees leave of the cluster
)");
}

TEST(StrategyProblem, RanksWithoutDataParallelDivideTheAccelerators) {
  EXPECT_EQ(
      problems(kGpt3, R"(    "tensor_parallel": 8,
    "pipeline_parallel": 3,
    "global_batch": 1536)",
               1024),
      R"(error: tensor_parallel 8 x pipeline_parallel 3 = 24 ranks do not divide the cluster's 1024 accelerators
  --> scenario.json:9:26   /strategy/pipeline_parallel
   |
 9 |     "pipeline_parallel": 3,
   |                          ^
  help: use 2 or 4
)");
}

TEST(StrategyProblem, TheDegreeThatDoesNotDivideTheAcceleratorsIsBlamed) {
  EXPECT_EQ(
      problems(kLlama3, R"(    "tensor_parallel": 32,
    "pipeline_parallel": 2,
    "global_batch": 64)",
               48),
      R"(error: tensor_parallel 32 x pipeline_parallel 2 = 64 ranks do not divide the cluster's 48 accelerators
  --> scenario.json:9:24   /strategy/tensor_parallel
   |
 9 |     "tensor_parallel": 32,
   |                        ^^
  help: use 8
)");
}

TEST(StrategyProblem, NoDataParallelCompletesTheRanks) {
  EXPECT_EQ(
      problems(kGpt3, R"(    "pipeline_parallel": 3,
    "data_parallel": 7,
    "global_batch": 1536)",
               1024),
      R"(error: pipeline_parallel 3 x data_parallel 7 = 21 ranks, but the cluster has 1024 accelerators
  --> scenario.json:9:22   /strategy/data_parallel
   |
 9 |     "data_parallel": 7,
   |                      ^
  help: use degrees whose product is 1024
)");
}

TEST(StrategyProblem, GlobalBatchIsWholeMicroBatches) {
  EXPECT_EQ(problems(kGpt3, R"(    "micro_batch": 2,
    "data_parallel": 64,
    "global_batch": 1000)"),
            R"(error: global_batch must be a multiple of micro_batch x data_parallel
  --> scenario.json:10:21   /strategy/global_batch
   |
10 |     "global_batch": 1000
   |                     ^^^^ 1000 is not a multiple of 2 x 64 = 128
   |
  ::: scenario.json:8:20   /strategy/micro_batch is 2
  ::: scenario.json:9:22   /strategy/data_parallel is 64
  help: use 896 or 1024
)");
}

TEST(StrategyProblem, GlobalBatchFeedsEveryRank) {
  EXPECT_EQ(problems(kGpt3, R"(    "global_batch": 10)", 64),
            R"(error: global_batch must be a multiple of micro_batch x data_parallel
  --> scenario.json:8:21   /strategy/global_batch
   |
 8 |     "global_batch": 10
   |                     ^^ 10 is not a multiple of 1 x 64 = 64
  help: use 64
)");
}

TEST(StrategyProblem, StagesHaveALayerEach) {
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 64,
    "data_parallel": 1,
    "global_batch": 64)"),
            R"(error: the pipeline has more chunks than the model has layers
  --> scenario.json:9:26   /strategy/pipeline_parallel
   |
 9 |     "pipeline_parallel": 64,
   |                          ^^ 64 stages for 32 layers
   |
  ::: scenario.json:4:15   /model/layers is 32
  help: use a pipeline_parallel of at most 32
)");
}

TEST(StrategyProblem, ChunksHaveALayerEach) {
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 8,
    "virtual_stages": 5,
    "global_batch": 64)"),
            R"(error: the pipeline has more chunks than the model has layers
  --> scenario.json:10:23   /strategy/virtual_stages
   |
10 |     "virtual_stages": 5,
   |                       ^ 8 stages x 5 = 40 chunks for 32 layers
   |
  ::: scenario.json:9:26   /strategy/pipeline_parallel is 8
  ::: scenario.json:4:15   /model/layers is 32
  help: use virtual_stages of at most 4
)");
}

TEST(StrategyProblem, ChunksHaveALayerOrAnEnd) {
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 8,
    "virtual_stages": 5,
    "layer_placement": "embedding_and_loss_as_layers",
    "global_batch": 64)"),
            R"(error: the pipeline has more chunks than the model has layers
  --> scenario.json:10:23   /strategy/virtual_stages
   |
10 |     "virtual_stages": 5,
   |                       ^ 8 stages x 5 = 40 chunks for 32 layers, the embedding and the loss
   |
  ::: scenario.json:9:26   /strategy/pipeline_parallel is 8
  ::: scenario.json:4:15   /model/layers is 32
  help: use virtual_stages of at most 4
)");
}

TEST(StrategyProblem, InterleavingNeedsAPipeline) {
  EXPECT_EQ(problems(kLlama3, R"(    "virtual_stages": 2,
    "global_batch": 64)"),
            R"(error: virtual_stages needs a pipeline
  --> scenario.json:9:23   /strategy/virtual_stages
   |
 9 |     "virtual_stages": 2,
   |                       ^ 2 chunks on the only stage
  help: set pipeline_parallel to 2 or more, or virtual_stages to 1
)");
}

TEST(StrategyProblem, InterleavingNeedsWholeGroups) {
  EXPECT_EQ(problems(kLlama3, R"(    "pipeline_parallel": 8,
    "virtual_stages": 2,
    "data_parallel": 4,
    "global_batch": 48)"),
            R"(error: interleaving needs the micro-batches to be a multiple of pipeline_parallel
  --> scenario.json:10:23   /strategy/virtual_stages
   |
10 |     "virtual_stages": 2,
   |                       ^ 12 micro-batches over 8 stages
   |
  ::: scenario.json:12:21   /strategy/global_batch is 48
  ::: scenario.json:9:26   /strategy/pipeline_parallel is 8
  help: use a global_batch of 32 or 64, or set virtual_stages to 1
)");
}

TEST(StrategyProblem, GpipeDoesNotInterleave) {
  EXPECT_EQ(problems(kLlama3, R"(    "schedule": "gpipe",
    "pipeline_parallel": 8,
    "virtual_stages": 2,
    "global_batch": 64)"),
            R"(error: the gpipe schedule does not interleave
  --> scenario.json:11:23   /strategy/virtual_stages
   |
11 |     "virtual_stages": 2,
   |                       ^ 2 chunks a stage
   |
  ::: scenario.json:9:17   /strategy/schedule is "gpipe"
  help: set virtual_stages to 1, or schedule to "1f1b"
)");
}

TEST(StrategyProblem, ContextParallelHalvesItsParts) {
  EXPECT_EQ(problems(kLlama3, R"(    "context_parallel": 3,
    "global_batch": 64)"),
            R"(error: twice context_parallel must divide the sequence length
  --> scenario.json:9:25   /strategy/context_parallel
   |
 9 |     "context_parallel": 3,
   |                         ^ 2 x 3 = 6 does not divide 8192
   |
  ::: scenario.json:6:55   /model/sequence_length is 8192
  help: use 2 or 4
)");
}

TEST(StrategyProblem, TheModelIsShownWhereItNamesAValueOtherwise) {
  EXPECT_EQ(problems(kHuggingFace, R"(    "tensor_parallel": 3,
    "global_batch": 64)"),
            R"(error: tensor_parallel must divide the attention heads
  --> scenario.json:8:24   /strategy/tensor_parallel
   |
 8 |     "tensor_parallel": 3,
   |                        ^ 3 does not divide 32
   |
  ::: scenario.json:2:12   /model has attention_heads 32
  help: use 2 or 4
)");
}

TEST(StrategyProblem, SequenceParallelSplitsEvenly) {
  EXPECT_EQ(problems(kLlama3, R"(    "tensor_parallel": 8,
    "sequence_length": 1004,
    "sequence_parallel": true,
    "global_batch": 64)"),
            R"(error: sequence_parallel must split the sequence evenly
  --> scenario.json:11:26   /strategy/sequence_parallel
   |
11 |     "sequence_parallel": true,
   |                          ^^^^ 1004 tokens over tensor_parallel 8 x context_parallel 1
   |
  ::: scenario.json:10:24   /strategy/sequence_length is 1004
  help: use a sequence length that is a multiple, or set sequence_parallel to false
)");
}

TEST(StrategyProblem, SequenceFitsTheLearnedPositions) {
  EXPECT_EQ(problems(kGpt3, R"(    "sequence_length": 4096,
    "global_batch": 64)"),
            R"(error: the sequence is longer than the model's learned positions
  --> scenario.json:8:24   /strategy/sequence_length
   |
 8 |     "sequence_length": 4096,
   |                        ^^^^ 4096 tokens, 2048 positions
   |
  ::: scenario.json:5:63   /model/sequence_length is 2048
  help: use at most 2048, or raise the model's sequence_length with it
)");
}

}  // namespace
}  // namespace headway
