#include "calibrate/suite/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "calibrate/suite/attention_points.h"
#include "calibrate/suite/concurrent_points.h"
#include "calibrate/suite/fake_backend.h"
#include "calibrate/suite/training_points.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names(const std::vector<Section>& plan) {
  std::vector<std::string> all;
  for (const Section& section : plan) all.push_back(section.name);
  return all;
}

TEST(CalibrationPlan, MeasuresWhatIsNeededMostFirst) {
  const FakeBackend backend({}, 1, {2, 4});
  EXPECT_THAT(names(calibration_plan(backend.offer(), {})),
              ElementsAre("gemm", "training", "attention", "memory", "optimizer", "launch",
                          "copies", "concurrent", "collectives"));
}

TEST(CalibrationPlan, LeavesOutWhatIsNotOffered) {
  Offer offer = FakeBackend({}, 1, {}).offer();
  offer.launches = false;
  offer.copies.clear();
  offer.concurrent.clear();
  offer.attention.clear();
  offer.fused_attention.reset();
  offer.block_scaled_fp8 = false;
  offer.accumulated = offer.experts = std::nullopt;
  EXPECT_THAT(names(calibration_plan(offer, {})), ElementsAre("gemm", "memory", "optimizer"));
}

TEST(ConcurrentPoints, AreEachByItselfAndThenEachPairBothWays) {
  const CopyPoint copy{CopyKind::few_blocks, 1024};
  const MemoryPoint pass{MemoryKernel::residual_add, 4096};
  const GemmPoint product{{2, 3, 4}, Precision::bf16, GemmLayout::nn};
  std::vector<std::string> texts;
  for (const auto& point : concurrent_points({product, pass}, {copy})) {
    texts.push_back(point_text(point));
  }
  EXPECT_THAT(texts, ElementsAre("gemm bf16 nn 2 x 3 x 4 by itself",
                                 "residual_add of 4096 elements by itself",
                                 "copy few_blocks of 1 KiB by itself",
                                 "gemm bf16 nn 2 x 3 x 4 beside copy few_blocks of 1 KiB",
                                 "copy few_blocks of 1 KiB beside gemm bf16 nn 2 x 3 x 4",
                                 "residual_add of 4096 elements beside copy few_blocks of 1 KiB",
                                 "copy few_blocks of 1 KiB beside residual_add of 4096 elements"));
}

TEST(TrainingPoints, AreLargeProductsOfTheGridAndExpertsOfFewAndManyRows) {
  Offer offer;
  offer.most_gemm_flops = 1e13;
  EXPECT_THAT(training_points(offer, {{1024}, {2048}}, false), ElementsAre());
  offer.block_scaled_fp8 = true;
  offer.accumulated = Precision::bf16;
  std::vector<std::string> texts;
  for (const Point& point : training_points(offer, {{64, 1024}, {512, 2048, 4096}}, false)) {
    texts.push_back(point_text(point));
  }
  EXPECT_EQ(texts.size(), 8U);  // two widths of 2048 and more, each way
  EXPECT_EQ(texts[2], "gemm mxfp8 nt 1024 x 4096 x 2048");
  EXPECT_EQ(texts[3], "gemm bf16 tn 2048 x 4096 x 1024, added up in fp32");
  offer.block_scaled_fp8 = false;
  offer.accumulated.reset();
  offer.experts = Precision::bf16;
  const auto experts = training_points(offer, {}, true);
  EXPECT_EQ(experts.size(), 18U);  // two models, three numbers of rows, three products
  EXPECT_EQ(point_text(experts[0]), "8 experts of gemm bf16 nt 64 x 7168 x 4096");
  EXPECT_EQ(point_text(experts[2]), "8 experts of gemm bf16 tn 7168 x 4096 x 64");
}

TEST(AttentionPoints, AreTheProductsOfAllHeads) {
  std::vector<std::string> texts;
  for (const auto& point : attention_points(Precision::bf16, 16, 512, 64)) {
    texts.push_back(point_text(point));
  }
  EXPECT_THAT(texts, ElementsAre("16 times gemm bf16 nt 512 x 512 x 64",
                                 "16 times gemm bf16 nn 512 x 64 x 512",
                                 "16 times gemm bf16 tn 512 x 64 x 512"));
}

/// Of fused attention, with what the rules ask for.
std::vector<std::string> fused_texts(const Offer& offer, const PlanRules& rules) {
  std::vector<std::string> texts;
  for (const Section& section : calibration_plan(offer, rules)) {
    for (const Point& point : section.points) {
      if (std::holds_alternative<AttentionPoint>(point)) texts.push_back(point_text(point));
    }
  }
  return texts;
}

TEST(FusedAttentionPoints, AreBothPassesOfEveryShape) {
  const AttentionGrid grid{.query_heads = 8,
                           .key_heads = {8, 2},
                           .sequences = {1, 4},
                           .lengths = {512, 1024},
                           .head_sizes = {64, 128}};
  // Two heads of keys, numbers of sequences, lengths, head sizes, masks and passes.
  EXPECT_EQ(fused_attention_points(grid, 1e18, false).size(), 64U);
  const auto quick = fused_attention_points(grid, 1e18, true);
  EXPECT_EQ(quick.size(), 16U);
  EXPECT_EQ(point_text(quick[1]), "attention backward 1 x 512, 8 heads of 64, 8 of keys, causal");
  // Causal attention of 1024 positions in heads of 128: 4 x 1024^2 x 8 x 128 / 2 = 2.1e9, the
  // shorter or narrower ones at most half of it; twice as much without the mask.
  EXPECT_EQ(fused_attention_points(grid, 2e9, true).size(), 12U);
}

TEST(FusedAttentionPoints, OfAScenarioAreMeasuredBesidesTheGridOnce) {
  Offer offer = FakeBackend({}, 1, {}).offer();
  offer.fused_attention = AttentionGrid{
      .query_heads = 8, .key_heads = {8}, .sequences = {1}, .lengths = {512}, .head_sizes = {128}};
  PlanRules rules;
  rules.quick = true;
  AttentionShape of_grid{.sequences = 1,
                         .query_length = 512,
                         .key_length = 512,
                         .query_heads = 8,
                         .key_heads = 8,
                         .head_size = 128};
  AttentionShape other = of_grid;
  other.sequences = 3;
  AttentionShape large = of_grid;
  large.query_length = large.key_length = 1e6;  // 1e6 x 128 x (12 x 8 + 8 x 8) bytes: 20 GB of 8
  rules.attention = {of_grid, other, large};
  EXPECT_THAT(fused_texts(offer, rules),
              ElementsAre("attention forward 1 x 512, 8 heads of 128, 8 of keys, causal",
                          "attention backward 1 x 512, 8 heads of 128, 8 of keys, causal",
                          "attention forward 3 x 512, 8 heads of 128, 8 of keys, causal",
                          "attention backward 3 x 512, 8 heads of 128, 8 of keys, causal"));
  EXPECT_THAT(left_out_shapes(offer, rules),
              ElementsAre("1 of the shapes of attention asked for: they fill more than half of the "
                          "memory"));
  offer.fused_attention.reset();
  offer.no_fused_attention = "no library";
  EXPECT_THAT(left_out_shapes(offer, rules), ElementsAre("fused attention asked for: no library"));
}

TEST(FusedAttentionPoints, ThatTheBackendRefusesAreLeftOutWithTheReason) {
  FakeBackend backend({}, 1, {});
  PlanRules rules;
  rules.only = {"attention"};
  rules.quick = true;
  AttentionShape wide{.sequences = 1,
                      .query_length = 512,
                      .key_length = 512,
                      .query_heads = 8,
                      .key_heads = 8,
                      .head_size = 512};
  rules.attention = {wide};
  auto plan = calibration_plan(backend.offer(), rules);
  auto& points = plan.back().points;
  points.erase(points.begin(), points.end() - 4);  // the two refused ones, and two others
  SingleRendezvous alone;
  std::vector<MeasuredPoint> measured;
  std::vector<RefusedPoint> refused;
  measure_section(
      plan.back(), backend, alone, {},
      [](const std::string&, std::size_t, std::size_t, const Point&) {}, measured, refused);
  EXPECT_EQ(measured.size(), 2U);
  ASSERT_EQ(refused.size(), 2U);  // once each, whatever the number of passes
  EXPECT_EQ(refused[0].reason, "the fake device has no heads of more than 256");
}

TEST(CalibrationPlan, HoldsNoPointTwiceAndNoneThatIsTooLarge) {
  Offer offer = FakeBackend({}, 1, {2}).offer();
  offer.gemm_batch = {64, 512};
  offer.gemm_width = {64, 512};  // so that batch and width overlap
  offer.most_gemm_flops = 2.0 * 512 * 512 * 64;
  std::set<std::string> seen;
  for (const Section& section : calibration_plan(offer, {})) {
    for (const Point& point : section.points) {
      EXPECT_TRUE(seen.insert(point_text(point)).second) << point_text(point);
      if (const auto* attention = std::get_if<AttentionPoint>(&point)) {
        EXPECT_LE(attention->shape.forward_flops(), offer.most_gemm_flops);
      }
      const auto* gemm = std::get_if<GemmPoint>(&point);
      if (gemm == nullptr) continue;
      EXPECT_LE(gemm->shape.flops(), offer.most_gemm_flops);
    }
  }
  EXPECT_TRUE(seen.contains("gemm bf16 tn 64 x 512 x 512"));
}

TEST(CalibrationPlan, AsksNoImplementationForGroupsThatItDoesNotHave) {
  Offer offer = FakeBackend({}, 1, {2, 4}).offer();
  offer.collective_implementations = {"nccl", "nccl, all groups at once"};
  offer.most_ranks = {{"nccl, all groups at once", 2}};
  std::set<std::pair<std::string, int>> seen;
  for (const Section& section : calibration_plan(offer, {})) {
    for (const Point& point : section.points) {
      if (const auto* collective = std::get_if<CollectivePoint>(&point)) {
        seen.emplace(collective->implementation, collective->ranks);
      }
    }
  }
  EXPECT_THAT(seen, UnorderedElementsAre(Pair("nccl", 2), Pair("nccl", 4),
                                         Pair("nccl, all groups at once", 2)));
}

TEST(CalibrationPlan, AddsTheShapesOfAScenarioInEveryLayout) {
  const Offer offer = FakeBackend({}, 1, {}).offer();
  const GemmPoint shape{{100, 200, 300}, Precision::bf16, GemmLayout::nn};
  const auto with = calibration_plan(offer, {.quick = true, .shapes = {shape}});
  const auto without = calibration_plan(offer, {.quick = true});
  EXPECT_EQ(with[0].points.size(), without[0].points.size() + 3);
}

TEST(Shapes, AreReadByLineWithCommentsAndBlanks) {
  std::istringstream text(
      "bf16 4096 12288 4096  # projections\n\nfp32 1 2 3\nattention 2 4096 32 8 128 full  # "
      "long\n");
  const Shapes shapes = read_shapes(text, "shapes.txt");
  ASSERT_EQ(shapes.products.size(), 2U);
  EXPECT_EQ(shapes.products[0].shape, (GemmShape{4096, 12288, 4096}));
  EXPECT_EQ(shapes.products[1].precision, Precision::fp32);
  EXPECT_THAT(shapes.attention, ElementsAre(AttentionShape{.sequences = 2,
                                                           .query_length = 4096,
                                                           .key_length = 4096,
                                                           .query_heads = 32,
                                                           .key_heads = 8,
                                                           .head_size = 128,
                                                           .causal = false}));
}

TEST(Shapes, ReportEveryLineThatIsNone) {
  std::istringstream text("bf16 1 2 3\nbf17 1 2 3\nbf16 0 2 3\nbf16 1 2\nbf16 1 2 3 4\n");
  try {
    (void)read_shapes(text, "shapes.txt");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 4U);
    EXPECT_EQ(rendered(error.diagnostics()[0]),
              "error: a line is not a matrix product\n"
              "  --> shapes.txt:2:1\n"
              "   |\n"
              " 2 | bf17 1 2 3\n"
              "   | ^^^^^^^^^^\n"
              "  help: write a precision (fp32, tf32, fp16, bf16, fp8) and three whole sizes: "
              "\"bf16 4096 12288 4096\"\n");
  }
}

TEST(Shapes, ReportEveryLineThatIsNoAttention) {
  std::istringstream text(
      "attention 2 4096 32 8 128 causal\nattention 2 4096 32 8 128\nattention 2 4096 32 5 128 "
      "full\n"
      "attention 2 4096 32 8 128 casual\nattention 2 4096 32 8 0 full\n");
  try {
    (void)read_shapes(text, "shapes.txt");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    ASSERT_EQ(error.diagnostics().size(), 4U);
    EXPECT_EQ(rendered(error.diagnostics()[1]),
              "error: a line is not attention\n"
              "  --> shapes.txt:3:1\n"
              "   |\n"
              " 3 | attention 2 4096 32 5 128 full\n"
              "   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
              "  help: write five whole sizes, the heads of queries a multiple of those of keys, "
              "and causal or full: \"attention 2 4096 32 8 128 causal\"\n");
  }
}

TEST(CalibrationPlan, OnlyLimitsItToProductsAndWhatIsNamed) {
  const FakeBackend backend({}, 1, {2, 4});
  PlanRules rules;
  rules.only = {"copies", "all_reduce"};
  const auto plan = calibration_plan(backend.offer(), rules);
  EXPECT_THAT(names(plan), ElementsAre("gemm", "copies", "collectives"));
  for (const Point& point : plan.back().points) {
    EXPECT_EQ(std::get<CollectivePoint>(point).kind, CollectiveKind::all_reduce);
  }
  rules.only = {"collectives"};
  // All six kinds have as many sizes and groups.
  EXPECT_EQ(calibration_plan(backend.offer(), rules).back().points.size(),
            6 * plan.back().points.size());
}

TEST(CalibrationPlan, LeavesOutProductsThatTheDeviceCannotRunAndSaysWhy) {
  const FakeBackend backend({}, 1, {});  // bf16 and fp8, 8 GiB
  PlanRules rules;
  rules.shapes = {{{64, 64, 64}, Precision::fp16, GemmLayout::nn},
                  {{100, 100, 100}, Precision::bf16, GemmLayout::nn},
                  // 2 bytes * 3 * 30000^2 = 5.4 GB, more than 4 GiB
                  {{30000, 30000, 30000}, Precision::bf16, GemmLayout::nn}};
  EXPECT_THAT(left_out_shapes(backend.offer(), rules),
              ElementsAre("1 of the products asked for: fake device does not compute in fp16",
                          "1 of the products asked for: they fill more than half of the memory"));
  int extra = 0;
  const auto plan = calibration_plan(backend.offer(), rules);
  for (const Point& point : plan.front().points) {
    const auto& gemm = std::get<GemmPoint>(point);
    EXPECT_NE(gemm.precision, Precision::fp16);
    EXPECT_LT(gemm.shape.m, 30000);
    extra += gemm.shape.m == 100 ? 1 : 0;
  }
  EXPECT_EQ(extra, 3);  // one a layout
}

}  // namespace
}  // namespace headway
