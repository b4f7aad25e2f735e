#include "reports/text_report.h"

#include <gmock/gmock.h>

#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(TextReport, HasQuestionSpeedMemoryTimeAndAnswer) {
  Prediction p = sample_prediction();
  p.warnings = {
      "reduce-scatter over 16 nodes is beyond the calibrated range (2).\n"
      "`headway-calibrate --nodes 16` would narrow the interval."};
  EXPECT_EQ(
      text_report(p, {}),
      "gpt3-175b on 128 x HGX H200, 1024 GPUs      tp 8, pp 8, dp 16, global batch 1536, 1F1B\n"
      "profile h200-sxm (measured), cluster rail-400g\n"
      "\n"
      "  iteration     6.94 s   (6.70 .. 7.22)      throughput   453 k tokens/s      MFU 47.0 %\n"
      "  rests on      fused software: 214 published steps of 9 sources; h200-sxm: measured\n"
      "  narrower      one measured step of this software here (`headway anchor`) would leave 6.80 "
      ".. 7.10 s\n"
      "  scaling       93.1 % of data_parallel 1 on 64 GPUs (6.46 s)\n"
      "  memory        32 GiB of 128 GiB on the fullest rank (stage 0)\n"
      "\n"
      "  where the time goes              s       %\n"
      "  compute                       5.51    79.4\n"
      "  exposed tensor-parallel       0.61     8.8   collectives inside layers, not hidden\n"
      "  pipeline bubble               0.45     6.5   stages without work\n"
      "  exposed data-parallel         0.25     3.6   gradients and parameters, not hidden\n"
      "  optimizer                     0.07     1.0\n"
      "  host and other                0.05     0.7   launches and host work\n"
      "\n"
      "warning: reduce-scatter over 16 nodes is beyond the calibrated range (2).\n"
      "         `headway-calibrate --nodes 16` would narrow the interval.\n"
      "Largest gain left: exposed tensor-parallel, 0.61 s of 6.94 s; a smaller tensor-parallel "
      "degree or overlap with the matrix products shrinks it.\n");
}

TEST(TextReport, ShortIterationsAreInMilliseconds) {
  Prediction p = sample_prediction();
  p.scaling.reset();
  p.iteration_time = 345.4_ms;
  p.iteration_interval = {0.3454, 0.3454};
  p.breakdown = {};
  p.breakdown[Cause::compute] = 300.0_ms;
  p.breakdown[Cause::pipeline_bubble] = 45.4_ms;
  p.memory.stages.resize(1);
  EXPECT_EQ(
      text_report(p, {}),
      "gpt3-175b on 128 x HGX H200, 1024 GPUs      tp 8, pp 8, dp 16, global batch 1536, 1F1B\n"
      "profile h200-sxm (measured), cluster rail-400g\n"
      "\n"
      "  iteration     345 ms      throughput   453 k tokens/s      MFU 47.0 %\n"
      "  rests on      fused software: 214 published steps of 9 sources; h200-sxm: measured\n"
      "  memory        32 GiB of 128 GiB on every rank\n"
      "\n"
      "  where the time goes             ms       %\n"
      "  compute                      300.0    86.9\n"
      "  pipeline bubble               45.4    13.1   stages without work\n"
      "\n"
      "Largest gain left: pipeline bubble, 45.4 ms of 345 ms; more micro-batches or virtual "
      "stages shrink it.\n");
}

TEST(TextReport, ShortageOfMemoryIsTheAnswer) {
  Prediction p = sample_prediction();
  p.memory.fits = false;
  p.memory.capacity = 24_GiB;
  EXPECT_THAT(text_report(p, {}),
              EndsWith("\nDoes not fit: stage 0 needs 32 GiB of 24 GiB; 8 GiB too much. The "
                       "largest part is activations, 12 GiB; recomputing (selective or full), a "
                       "smaller micro-batch, or more tensor parallelism with sequence_parallel "
                       "shrinks them.\n"));
  p.memory.stages[0].optimizer = 60_GiB;
  p.memory.stages.resize(1);
  EXPECT_THAT(text_report(p, {}),
              EndsWith("\nDoes not fit: every rank needs 90 GiB of 24 GiB; 66 GiB too much. The "
                       "largest part is optimizer states, 60 GiB; sharding them over the "
                       "data-parallel ranks (zero_stage 1), or more tensor or pipeline "
                       "parallelism, shrinks them.\n"));
}

TEST(TextReport, JobThatWasNotSimulatedHasItsMemoryOnly) {
  Prediction p;
  p.question = sample_prediction().question;
  p.memory = sample_prediction().memory;
  p.memory.capacity = 24_GiB;
  p.memory.fits = false;
  EXPECT_EQ(
      text_report(p, {}),
      "gpt3-175b on 128 x HGX H200, 1024 GPUs      tp 8, pp 8, dp 16, global batch 1536, 1F1B\n"
      "profile h200-sxm (measured), cluster rail-400g\n"
      "\n"
      "  iteration     not simulated\n"
      "  memory        32 GiB of 24 GiB on the fullest rank (stage 0)\n"
      "\n"
      "Does not fit: stage 0 needs 32 GiB of 24 GiB; 8 GiB too much. The largest part is "
      "activations, 12 GiB; recomputing (selective or full), a smaller micro-batch, or more "
      "tensor parallelism with sequence_parallel shrinks them.\n");
}

TEST(TextReport, ComputeAloneLeavesNothingElseToGain) {
  Prediction p = sample_prediction();
  p.breakdown = {};
  p.breakdown[Cause::compute] = p.iteration_time;
  EXPECT_THAT(text_report(p, {}),
              EndsWith("\nCompute is all of 6.94 s; faster kernels or more GPUs shrink it.\n"));
}

TEST(TextReport, ShareOfAtMostATwoThousandthHasNoLine) {
  Prediction p = sample_prediction();
  p.iteration_time = 10.0_s;
  p.breakdown[Cause::data_loading] = 0.0049_s;
  EXPECT_THAT(text_report(p, {}), Not(HasSubstr("data loading")));
  p.breakdown[Cause::data_loading] = 0.0051_s;
  EXPECT_THAT(text_report(p, {}), HasSubstr("data loading"));
}

TEST(TextReport, ColourMarksNumbersWarningsAndShortage) {
  Prediction p = sample_prediction();
  p.warnings = {"w"};
  EXPECT_THAT(text_report(p, {.colour = true}),
              HasSubstr("iteration     \x1b[1m6.94 s\x1b[0m   (6.70"));
  EXPECT_THAT(text_report(p, {.colour = true}), HasSubstr("\x1b[1m453 k\x1b[0m tokens/s"));
  EXPECT_THAT(text_report(p, {.colour = true}), HasSubstr("\x1b[1;33mwarning:\x1b[0m w\n"));
  EXPECT_THAT(text_report(p, {.colour = true}), Not(HasSubstr("\x1b[1;31m")));
  p.memory.fits = false;
  EXPECT_THAT(text_report(p, {.colour = true}),
              HasSubstr("\n\x1b[1;31mDoes not fit:\x1b[0m stage 0"));
  EXPECT_THAT(text_report(p, {}), Not(HasSubstr("\x1b")));
}

TEST(TextReport, JobWithoutTokensCountsSamples) {
  Prediction p = sample_prediction();
  p.tokens_per_second = 0.0;
  EXPECT_THAT(text_report(p, {}), HasSubstr("throughput   221 samples/s"));
}

TEST(TextReport, ControlCharactersOfNamesDoNotReachTheTerminal) {
  Prediction p = sample_prediction();
  p.question.model = "a\x1b[2Jb\nc";
  EXPECT_THAT(text_report(p, {}), testing::StartsWith("a\uFFFD[2Jb\uFFFDc on 128 x"));
}

TEST(TextReport, AJobThatLeavesLittleMemorySaysWhatBecameOfSuch) {
  // The fullest of the sample needs 32 GiB: 95 % of 33.68 GiB.
  Prediction p = sample_prediction();
  for (const auto& [gib, says] : {std::pair(34.0, false), {33.6, true}, {32.0, true}}) {
    p.memory.capacity = Bytes(gib * 1073741824.0);
    EXPECT_EQ(
        text_report(p, {}).find("of 48 published jobs as full 12 ran out") != std::string::npos,
        says)
        << gib;
  }
  p.memory.fits = false;
  EXPECT_THAT(text_report(p, {}), Not(HasSubstr("published jobs as full")));
}

}  // namespace
}  // namespace headway
