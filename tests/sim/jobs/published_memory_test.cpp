// Memory that others published. Korthikanti et al. 2022 (arXiv:2205.05198), figures 1 and 7, as
// recorded in Calculon's validation (calculon-ai/calculon, calculon/llm/validation.py, commit
// caa4b11); layouts that ran or ran out of memory: arXiv:2311.05610, raw sheets
// (Aleph-Alpha/NeurIPS-WANT-submission-efficient-parallelization-layouts, commit e13c2cb).
#include <gtest/gtest.h>

#include "sim/jobs/memory.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/stage_parameters.h"
#include "tests/sim/jobs/sample_models.h"

namespace headway {
namespace {

using testing::gpt;
using testing::llama;

struct PublishedModel {
  const char* name;
  Model model;
  int pipeline_parallel;
  int virtual_stages;
  int micro_batch;
  int global_batch;
  double states_gib;  ///< parameters, gradients and optimizer of the layers, without embeddings
  double activations_gib;            ///< no recomputation, no sequence parallelism
  double selective_activations_gib;  ///< selective recomputation and sequence parallelism
  // Figure 7, in percent of no recomputation and no sequence parallelism:
  double sequence_percent;
  double selective_percent;
  double both_percent;
  double full_percent;
};

/// Table 3 of the paper: tensor parallel 8, the batch without data parallelism.
const PublishedModel kPublished[] = {
    {"22B", gpt(48, 6144, 64), 1, 1, 4, 4, 45.5625, 59.25, 9.5625, 66.84, 49.42, 16.18, 7.64},
    {"175B", gpt(96, 12'288, 96), 8, 3, 1, 64, 45.5625, 66.84375, 12.3515625, 62.04, 56.53, 18.49,
     8.71},
    {"530B", gpt(105, 20'480, 128), 35, 3, 1, 280, 31.640625, 114.0234375, 23.076171875, 58.31,
     62.04, 20.27, 9.42},
    {"1T", gpt(128, 25'600, 160), 64, 1, 1, 512, 32.958984375, 131.25, 26.5625, 58.31, 62.04, 20.27,
     9.42},
};

Strategy strategy_of(const PublishedModel& published, bool sequence_parallel, Recompute recompute) {
  return {.tensor_parallel = 8,
          .pipeline_parallel = published.pipeline_parallel,
          .virtual_stages = published.virtual_stages,
          .micro_batch = published.micro_batch,
          .global_batch = published.global_batch,
          .sequence_length = 2048,
          .sequence_parallel = sequence_parallel,
          .fused_attention = false,
          .recompute = recompute};
}

/// What the layers of the first stage keep at its fullest.
double first_stage_layers_gib(const PublishedModel& published, const Strategy& strategy) {
  const int passes = peak_chunks_in_flight(*strategy.schedule, strategy.pipeline(), 0);
  const double layers = static_cast<double>(published.model.layer_count()) / strategy.chunks();
  return passes * layers * (testing::layer_activations(published.model, strategy) / 1_GiB);
}

TEST(PublishedMemory, ActivationsOfFigureOne) {
  for (const PublishedModel& published : kPublished) {
    SCOPED_TRACE(published.name);
    const Strategy none = strategy_of(published, false, Recompute::none);
    const Strategy selective = strategy_of(published, true, Recompute::selective);
    EXPECT_NEAR(first_stage_layers_gib(published, none), published.activations_gib, 1e-9);
    EXPECT_NEAR(first_stage_layers_gib(published, selective), published.selective_activations_gib,
                1e-9);
  }
}

// The figure leaves out embeddings and the loss, which the paper finds to be small beside the
// layers (section 4.3).
TEST(PublishedMemory, TheFirstStageHoldsLittleBesideItsLayers) {
  for (const PublishedModel& published : kPublished) {
    SCOPED_TRACE(published.name);
    const Strategy strategy = strategy_of(published, false, Recompute::none);
    const double stage = stage_memory(published.model, strategy)[0].activations / 1_GiB;
    EXPECT_GT(stage, published.activations_gib);
    EXPECT_LT(stage, 1.025 * published.activations_gib);
  }
}

// The figure counts 18 bytes for each of the 12 h^2 weights of a layer; biases and norms add
// 13/(12 h) to that.
TEST(PublishedMemory, ModelStatesOfFigureOne) {
  for (const PublishedModel& published : kPublished) {
    SCOPED_TRACE(published.name);
    const Strategy strategy = strategy_of(published, false, Recompute::none);
    const double layers = stage_parameters(published.model, strategy, 0).layers;
    EXPECT_NEAR(Bytes(18.0 * layers) / 1_GiB, published.states_gib, 2e-3 * published.states_gib);
    if (strategy.pipeline_parallel == 1) continue;
    const StageMemory middle = stage_memory(published.model, strategy)[1];
    EXPECT_NEAR((middle.parameters + middle.gradients + middle.optimizer) / 1_GiB,
                published.states_gib, 2e-3 * published.states_gib);
  }
}

TEST(PublishedMemory, SavingsOfFigureSeven) {
  constexpr double kReadFromPlot = 0.2;  // percentage points
  for (const PublishedModel& published : kPublished) {
    SCOPED_TRACE(published.name);
    const auto percent = [&](bool sequence_parallel, Recompute recompute) {
      const Bytes none = testing::layer_activations(published.model,
                                                    strategy_of(published, false, Recompute::none));
      const Strategy strategy = strategy_of(published, sequence_parallel, recompute);
      return 100.0 * (testing::layer_activations(published.model, strategy) / none);
    };
    EXPECT_NEAR(percent(true, Recompute::none), published.sequence_percent, kReadFromPlot);
    EXPECT_NEAR(percent(false, Recompute::selective), published.selective_percent, kReadFromPlot);
    EXPECT_NEAR(percent(true, Recompute::selective), published.both_percent, kReadFromPlot);
    EXPECT_NEAR(percent(false, Recompute::full), published.full_percent, kReadFromPlot);
  }
}

struct Layout {
  const char* trials;  ///< that ran, and that did not
  Model model;
  int tensor_parallel;
  int pipeline_parallel;
  int data_parallel;
  int micro_batch;  ///< ran; twice as much ran out of memory
};

// LLaMA 30B and 65B at 2048 tokens on A100 of 80 GB, ZeRO-1, flash attention 2, a fused RMS norm
// but SwiGLU of elementary operations; the authors' framework gathers the logits before the loss
// and keeps gradients in bf16 (Aleph-Alpha/scaling, src/scaling).
TEST(PublishedMemory, TellsLayoutsThatRanFromThoseThatDidNot) {
  const Layout layouts[] = {
      {"132167, 132160", llama(60, 6656, 52, 52, 17'920), 2, 4, 32, 2},
      {"132159, 132161", llama(60, 6656, 52, 52, 17'920), 4, 1, 64, 2},
      {"132285, 132263", llama(80, 8192, 64, 64, 22'016), 4, 4, 8, 2},
  };
  constexpr Bytes kUsable = 77_GiB;
  for (const Layout& layout : layouts) {
    SCOPED_TRACE(layout.trials);
    Strategy strategy{.tensor_parallel = layout.tensor_parallel,
                      .pipeline_parallel = layout.pipeline_parallel,
                      .data_parallel = layout.data_parallel,
                      .micro_batch = layout.micro_batch,
                      .global_batch = 2048,
                      .sequence_length = 2048,
                      .fused_activation = false,
                      .vocabulary_parallel_loss = false,
                      .sharding = Sharding::optimizer,
                      .gradient_bucket = 1_GB,
                      .gradient_precision = Precision::bf16};
    const auto fullest = [&] {
      Bytes most;
      for (const StageMemory& stage : stage_memory(layout.model, strategy)) {
        most = max(most, stage.total());
      }
      return most;
    };
    EXPECT_LT(fullest(), kUsable);
    strategy.micro_batch *= 2;
    EXPECT_GT(fullest(), kUsable);
  }
}

}  // namespace
}  // namespace headway
