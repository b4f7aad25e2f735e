#include <gmock/gmock.h>

#include "reports/answers/answers.h"
#include "tests/support/sample_prediction.h"

namespace headway {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string markdown_report(const Prediction& prediction) {
  return answer_as(".md", prediction_answer(prediction));
}

/// Intervals: 453.2 k * 6.94 / 7.22 = 435.6 k and 453.2 k * 6.94 / 6.70 = 469.4 k; 465 TFLOP/s and
/// an MFU of 47.0 % likewise. The critical path computes 0.2 + 0.2 forward and transfers 0.1 +
/// 0.15.
TEST(MarkdownReport, HasAllSections) {
  EXPECT_EQ(markdown_report(sample_prediction()), R"(# gpt3-175b on 128 x HGX H200, 1024 GPUs

tp 8, pp 8, dp 16, global batch 1536, 1F1B; profile h200-sxm (measured), cluster rail-400g.

## Answer

One iteration takes 6.94 s, the median of 9 simulated runs (their own spread, by the draws alone, 6.90 .. 7.00 s). That is 453 k tokens/s at an MFU of 47.0 %, 465 TFLOP of model work a second on each GPU. Largest gain left: exposed tensor-parallel, 0.61 s of 6.94 s; a smaller tensor-parallel degree or overlap with the matrix products shrinks it.

| number | median | 5th to 95th percentile |
| --- | ---: | ---: |
| iteration | 6.94 s | 6.70 .. 7.22 s |
| throughput | 453 k tokens/s | 436 k .. 469 k tokens/s |
| model work a GPU | 465 TFLOP/s | 447 TFLOP/s .. 482 TFLOP/s |
| MFU | 47.0 % | 45.2 .. 48.7 % |

HFU, which counts recomputed operations too, is 51.2 %; MFU with attention counted over the whole square is 48.1 %. Scaling efficiency is 93.1 % of data_parallel 1 on 64 GPUs, where an iteration takes 6.46 s.

## Where the time goes

The last to finish is stage 7, replica 3. In its replica, of the stage that computes most:

| cause | s | % | remark |
| --- | ---: | ---: | --- |
| compute | 5.51 | 79.4 |  |
| exposed tensor-parallel | 0.61 | 8.8 | collectives inside layers, not hidden |
| pipeline bubble | 0.45 | 6.5 | stages without work |
| exposed data-parallel | 0.25 | 3.6 | gradients and parameters, not hidden |
| optimizer | 0.07 | 1.0 |  |
| host and other | 0.05 | 0.7 | launches and host work |

## Memory

Needed on stage 0: 32 GiB of 128 GiB.

| stage | parameters | gradients | optimizer | activations | buffers | total | % of capacity |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| 0 | 5 GiB | 10 GiB | 2 GiB | 12 GiB | 3 GiB | 32 GiB | 25.0 |
| 1 | 5 GiB | 10 GiB | 2 GiB | 9 GiB | 3 GiB | 29 GiB | 22.7 |

## One iteration and its critical path

What decides how long the iteration takes, by kind:

| what | s | % | operations | longest stretch |
| --- | ---: | ---: | ---: | --- |
| backward | 5.85 | 84.3 | 96 | 5.85 s from 650 ms on stage 7, replica 3 |
| forward | 0.40 | 5.8 | 2 | 200 ms from 0 s on stage 0, replica 3 |
| gradient reduce | 0.37 | 5.3 | 4 | 370 ms from 6.5 s on stage 7, replica 3 |
| transfer | 0.25 | 3.6 | 2 | 150 ms from 500 ms on stage 1, replica 3 |
| optimizer | 0.07 | 1.0 | 1 | 70 ms from 6.87 s on stage 7, replica 3 |

## Fabric: busiest links

Averaged over the iteration:

| from | to | capacity | carried | % used |
| --- | --- | ---: | ---: | ---: |
| leaf-3 | spine-1 | 50 GB/s | 161.6 GiB | 50.0 |
| node-7/nic-2 | leaf-3 | 50 GB/s | 80.8 GiB | 25.0 |

## How far to trust it

What this rests on: fused software: 214 published steps of 9 sources; h200-sxm: measured. The intervals should hold 90 % of measured jobs like this one (5th to 95th percentile). They multiply three independent errors: how far 9 simulated runs differ, how well the costs of kernels are known (2.0 %, one standard deviation), and how far the model was off on published steps of sources that its constants had not seen (10.9 % on dense pre-training). Narrower: one measured step of this software here (`headway anchor`) would leave 6.80 .. 7.10 s.

Not modelled:

- expert parallelism
- checkpoints

## Reproduce

```sh
headway simulate gpt3.json
```

| provenance | value |
| --- | --- |
| files | fingerprint 0123456789abcdef, path gpt3.json |
| files | fingerprint fedcba9876543210, path h200.json |
| headway | 0.1.0 |

<details>
<summary>Resolved scenario</summary>

```json
{
  "model": {
    "layers": 96
  },
  "schema": "headway/scenario/1"
}
```

</details>
)");
}

TEST(MarkdownReport, LongPipelinesShowTheFirstTheFullestAndTheLastStage) {
  Prediction p = sample_prediction();
  p.memory.stages.assign(12, p.memory.stages[1]);
  p.memory.fullest_stage = 3;
  const std::string report = markdown_report(p);
  EXPECT_THAT(report, HasSubstr("\n| 0 | 5 GiB"));
  EXPECT_THAT(report, HasSubstr("\n| 3 | 5 GiB"));
  EXPECT_THAT(report, HasSubstr("\n| 11 | 5 GiB"));
  EXPECT_THAT(report, Not(HasSubstr("\n| 1 | 5 GiB")));
  EXPECT_THAT(report, HasSubstr("\nThe first, the fullest and the last stage; 9 others are left "
                                "out.\n"));
}

TEST(MarkdownReport, OneRunDoesNotSayHowFarRunsDiffer) {
  Prediction p = sample_prediction();
  p.replicas = 1;
  EXPECT_THAT(markdown_report(p), HasSubstr(" They multiply two independent errors: how well the "
                                            "costs of kernels are known ("));
}

TEST(MarkdownReport, ShortageOfMemoryIsSaidInTheAnswerAndAtTheMemory) {
  Prediction p = sample_prediction();
  p.memory.fits = false;
  p.memory.capacity = 24_GiB;
  EXPECT_THAT(markdown_report(p), HasSubstr(" Does not fit: stage 0 needs 32 GiB of 24 GiB;"));
  EXPECT_THAT(markdown_report(p), HasSubstr("\nOne iteration would take 6.94 s,"));
  EXPECT_THAT(markdown_report(p),
              HasSubstr("\nNeeded on stage 0: 32 GiB of 24 GiB; it does not fit.\n"));
}

TEST(MarkdownReport, JobThatWasNotSimulatedHasItsMemoryOnly) {
  Prediction p;
  p.question = sample_prediction().question;
  p.memory = sample_prediction().memory;
  p.memory.capacity = 24_GiB;
  p.memory.fits = false;
  const std::string report = markdown_report(p);
  EXPECT_THAT(report, HasSubstr("\n## Answer\n\nDoes not fit: stage 0 needs 32 GiB of 24 GiB;"));
  EXPECT_THAT(report, HasSubstr(" It was not simulated.\n\n## Memory\n"));
  EXPECT_THAT(report, Not(HasSubstr("Where the time goes")));
  EXPECT_THAT(report, Not(HasSubstr("critical path")));
  EXPECT_THAT(report, Not(HasSubstr("busiest links")));
  EXPECT_THAT(report, HasSubstr("\n## Reproduce\n"));
}

TEST(MarkdownReport, RareKindsOfTheCriticalPathShareARow) {
  Prediction p = sample_prediction();
  p.critical_path.clear();
  for (int i = 0; i < 10; ++i) {
    const Seconds start(0.1 * i);
    p.critical_path.push_back({"stage 0", "kind " + std::to_string(i), start, start + 0.1_s, 2});
  }
  EXPECT_THAT(markdown_report(p), HasSubstr("\n| everything else | 0.20 | 2.9 | 4 |  |\n"));
}

TEST(MarkdownReport, WaitingForInputStandsBesideTheCriticalPath) {
  Prediction prediction = sample_prediction();
  prediction.breakdown[Cause::data_loading] = 1.5_s;
  EXPECT_THAT(
      markdown_report(prediction),
      HasSubstr("What decides how long the iteration takes, by kind, besides 1.5 s that ranks "
                "wait for input:"));
}

TEST(MarkdownReport, WarningsAreListed) {
  Prediction p = sample_prediction();
  p.warnings = {"first\nline", "second"};
  EXPECT_THAT(markdown_report(p),
              HasSubstr("\n\n> first line\n\n> second\n\n## Where the time goes\n"));
}

TEST(MarkdownReport, WithoutPathLinksAndProvenanceItSaysSo) {
  Prediction p = sample_prediction();
  p.critical_path.clear();
  p.busiest_links.clear();
  p.not_modelled.clear();
  p.question.provenance = nlohmann::json();
  const std::string report = markdown_report(p);
  EXPECT_THAT(report, HasSubstr("\n## One iteration and its critical path\n\nNot known.\n"));
  EXPECT_THAT(report, HasSubstr("\n## Fabric: busiest links\n\nNothing crosses the fabric.\n"));
  EXPECT_THAT(report, Not(HasSubstr("Not modelled")));
  EXPECT_THAT(report, HasSubstr("\n## Reproduce\n\n<details>\n"));
}

TEST(MarkdownReport, CostAndEnergyHaveASection) {
  Prediction p = sample_prediction();
  EXPECT_THAT(markdown_report(p), Not(HasSubstr("## Cost and energy")));
  (*p.question.scenario)["cost"] = {
      {"usd_per_gpu_hour", 2.0},
      {"power", {{"computing", "700 W"}, {"exchanging", "400 W"}, {"waiting", "100 W"}}},
      {"power_usage_effectiveness", 1.0}};
  const std::string report = markdown_report(p);
  EXPECT_THAT(report, HasSubstr("\n## Cost and energy\n\n| cost | an iteration |\n"));
  // 1024 GPUs for 6.94 s; 5.58 of them at 700 W are 4.00 MJ of 4.40.
  EXPECT_THAT(report, HasSubstr("\n| GPUs, US\\$ | 3.95 |\n| energy | 1.22 kWh |\n"));
  EXPECT_THAT(report, HasSubstr("\n| computing | 1.11 kWh | 90.8 |\n"));
}

TEST(MarkdownReport, NamesBreakNeitherTablesNorHeadings) {
  Prediction p = sample_prediction();
  p.question.model = "a\n# b <script>";
  p.busiest_links[0].from = "leaf|3 *x*";
  p.critical_path[4].where = "stage | 7";
  (*p.question.provenance)["command_line"] = {"headway", "simulate", "a\n```\nb"};
  const std::string report = markdown_report(p);
  EXPECT_THAT(report, testing::StartsWith("# a # b \\<script\\> on 128 x"));
  EXPECT_THAT(report, HasSubstr("\n| leaf\\|3 \\*x\\* | spine-1 |"));
  EXPECT_THAT(report, HasSubstr("on stage \\| 7 |\n"));
  EXPECT_THAT(report, HasSubstr("\n````sh\nheadway simulate a\n```\nb\n````\n"));
}

}  // namespace
}  // namespace headway
