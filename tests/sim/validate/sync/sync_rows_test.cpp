// Published rows of synchronisation: how they are read, and what is made of their errors.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "sim/files/input_files.h"
#include "sim/validate/sync/sync_validation.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

std::vector<SyncRow> rows_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("rows.json", text, diagnostics);
  auto rows = read_sync_rows(JsonCursor(document), diagnostics);
  for (const Diagnostic& problem : diagnostics.all()) ADD_FAILURE() << problem.message;
  return rows;
}

TEST(SyncRows, AreAListOrAreNamed) {
  const auto plain = rows_of(R"([{"id": "a", "kind": "dlrm", "set-up": "u", "value": 2}])");
  const auto named = rows_of(
      R"({"set-ups": {"u": "eight nodes"}, "rows": [{"id": "a", "set-up": "u", "value": [1, 2]}]})");
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain.front().kind, "dlrm");
  EXPECT_EQ(plain.front().set_up, "u");
  EXPECT_EQ(value_at(plain.front(), 0), 2.0);
  EXPECT_EQ(value_at(plain.front(), 1), std::nullopt);
  ASSERT_EQ(named.size(), 1U);
  EXPECT_EQ(named.front().set_up, "eight nodes");
  EXPECT_EQ(value_at(named.front(), 1), 2.0);
}

TEST(SyncRows, WithoutAValueAreAProblem) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::parse("rows.json", R"([{"kind": "dlrm"}])", diagnostics);
  static_cast<void>(read_sync_rows(JsonCursor(document), diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 2U);
  EXPECT_EQ(diagnostics.all()[0].message, "a row needs \"id\", a text");
  EXPECT_EQ(diagnostics.all()[1].message, "a row needs \"value\"");
}

TEST(SyncRows, SayNumbersInWords) {
  EXPECT_EQ(number_after("H = 100, FP4", "H ="), 100.0);
  EXPECT_EQ(number_after("H = 100, FP4", "FP"), 4.0);
  EXPECT_EQ(number_after("H = 100", "K ="), std::nullopt);
  EXPECT_EQ(number_before("batch 64k a GPU", "a GPU"), 64'000.0);
  EXPECT_EQ(number_before("GPUs; 40 samples", "samples"), 40.0);
  EXPECT_EQ(number_before("some samples", "samples"), std::nullopt);
  EXPECT_EQ(text_between("layers a stage [7, 9]; x", "[", "]"), "7, 9");
  EXPECT_EQ(parts_of("1+2+3", "+"), (std::vector<std::string>{"1", "2", "3"}));
}

// Every row that ships is of the file it was taken from, with its link, and of a known kind or
// none.
TEST(SyncRows, ShipWithTheirLinks) {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(kBuiltInSyncRows, "scenarios");
  ASSERT_TRUE(root);
  const auto rows = read_sync_rows(*root, diagnostics);
  EXPECT_EQ(rows.size(), 78U);
  std::set<std::string> ids;
  for (const SyncRow& row : rows) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(row.link.starts_with("https://")) << row.id;
    EXPECT_GT(row.set_up.size(), 15U) << row.id;
  }
}

TEST(SyncSummary, CountsErrorsAndOrders) {
  const auto row = [](std::string id, double published, double predicted) {
    PredictedSyncRow made;
    made.row.id = std::move(id);
    made.outcome.values = {
        {.what = "step", .published = published, .predicted = predicted, .ordered_with = "steps"}};
    return made;
  };
  // 1 < 2 < 2.05 < 4 published: 2 and 2.05 are not apart; 4 comes out below 2.05.
  std::vector<PredictedSyncRow> rows = {row("a", 1.0, 1.1), row("b", 2.0, 2.0), row("c", 2.05, 4.1),
                                        row("d", 4.0, 3.0)};
  rows.push_back(row("e", 1.0, 9.0));
  rows.back().outcome.calibrates = true;
  PredictedSyncRow lacking;
  lacking.outcome = refused("for a reason");
  rows.push_back(lacking);
  const SyncSummary all = sync_summaries(rows).front();
  EXPECT_EQ(all.rows, 6U);
  EXPECT_EQ(all.refused, 1U);
  EXPECT_EQ(all.calibrating, 1U);
  // Errors of 10, 0, 100 and 25 %.
  EXPECT_EQ(all.relative.count, 4U);
  EXPECT_NEAR(all.relative.median, 0.175, 1e-12);
  EXPECT_NEAR(all.relative.mean, 0.3375, 1e-12);
  EXPECT_NEAR(all.relative.worst, 1.0, 1e-12);
  EXPECT_EQ(all.pairs, 5U);
  EXPECT_EQ(all.ordered, 4U);
}

SyncOutcome outcome_of_shipped(const std::string& id) {
  Diagnostics diagnostics;
  const SyncValidation validation = validate_sync({.id_prefixes = {id}}, diagnostics);
  EXPECT_EQ(validation.rows.size(), 1U) << id;
  EXPECT_EQ(validation.rows.front().outcome.refused, "") << id;
  return validation.rows.front().outcome;
}

// 38 min / (38 min + 103 s) = 95.68 %, and of the baseline's MFU as much.
TEST(SyncKinds, VolunteersWorkForWhatAveragesLeave) {
  const SyncOutcome outcome = outcome_of_shipped("intellect1-usa");
  EXPECT_NEAR(outcome.values.front().predicted, 2280.0 / 2383.0, 2e-4);
  EXPECT_NEAR(outcome.values.back().predicted, 0.433 * 2280.0 / 2383.0, 2e-4);
}

TEST(SyncKinds, StreamingSendsFourHundredTimesLess) {
  const SyncOutcome outcome = outcome_of_shipped("streaming-diloco-25b");
  EXPECT_DOUBLE_EQ(outcome.values.back().predicted, 400.0);
  EXPECT_LT(std::abs(outcome.values.front().error()), 0.1);
}

// Links were tried at 10^(-1 + 4 k / 49) Gbit/s, from 0.1 on.
TEST(SyncKinds, LinksThatWereTriedAreOfTheirGrid) {
  for (const ComparedValue& value : outcome_of_shipped("diloco-cu-llama-h50").values) {
    const double place = (std::log10(value.predicted) + 1.0) * 49.0 / 4.0;
    EXPECT_NEAR(place, std::round(place), 1e-9) << value.what;
  }
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  nlohmann::json rows = files.open(kBuiltInSyncRows, "scenarios")->value();
  std::erase_if(rows["rows"].get_ref<nlohmann::json::array_t&>(), [](const nlohmann::json& row) {
    return row.at("id") != "diloco-cu-chinchilla-h300";
  });
  rows["rows"].front()["id"] = "diloco-cu-chinchilla-h9000";  // half of the time: 0.015 Gbit/s
  const ScratchFolder folder;
  const SyncValidation seldom =
      validate_sync({.path = folder.write("rows.json", rows.dump())}, diagnostics);
  ASSERT_EQ(seldom.rows.size(), 1U);
  EXPECT_NEAR(seldom.rows.front().outcome.values.front().predicted, 0.1, 1e-12);
}

TEST(SyncKinds, InputIsArithmetic) {
  for (const ComparedValue& value : outcome_of_shipped("mlperf-storage-unet3d_h100").values) {
    EXPECT_NEAR(value.error(), 0.0, 1e-9);
  }
}

// Two and three kinds of accelerators in one pipeline, whose slowest stage and slow network decide.
TEST(SyncKinds, PipelinesRunOnSeveralKinds) {
  for (const char* id : {"sailor-mit-n2-n2_d1", "sailor-mit-n4-n4_d1", "sailor-mit-n6-n6_d3"}) {
    const SyncOutcome outcome = outcome_of_shipped(id);
    EXPECT_LT(std::abs(outcome.values.front().error()), 0.3) << id;
  }
}

/// The rows that ship with `change` done to each, and how they come out.
std::vector<PredictedSyncRow> predicted_after(const std::function<void(nlohmann::json&)>& change) {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  nlohmann::json rows = files.open(kBuiltInSyncRows, "scenarios")->value();
  change(rows);
  const ScratchFolder folder;
  // Of each kind but the one that takes seconds a row.
  return validate_sync({.path = folder.write("rows.json", rows.dump()),
                        .id_prefixes = {"bamboo", "ps-", "mlperf-", "pollux-", "onebit", "fsdp",
                                        "stall", "sailor", "gavel", "streaming", "intellect",
                                        "ddp-", "nv-", "recovery"}},
                       diagnostics)
      .rows;
}

void make_zero(nlohmann::json& value) {
  if (value.is_number()) value = 0;
  if (!value.is_structured()) return;
  for (nlohmann::json& part : value) make_zero(part);
}

void expect_sense(const std::vector<PredictedSyncRow>& rows) {
  EXPECT_GT(rows.size(), 50U);
  for (const PredictedSyncRow& row : rows) {
    for (const ComparedValue& value : row.outcome.values) {
      EXPECT_TRUE(std::isfinite(value.error())) << row.row.id << ", " << value.what;
    }
  }
}

TEST(SyncKinds, RefuseWhatMakesNoSense) {
  expect_sense(predicted_after([](nlohmann::json& file) {
    for (nlohmann::json& row : file.at("rows")) make_zero(row.at("value"));
  }));
  expect_sense(predicted_after([](nlohmann::json& file) {
    for (nlohmann::json& row : file.at("rows")) row["value"] = "text";
  }));
  for (const char* digits : {"0", "99999999999"}) {
    expect_sense(predicted_after([&](nlohmann::json& file) {
      for (nlohmann::json& set_up : file.at("set-ups")) {
        set_up = std::regex_replace(set_up.get<std::string>(), std::regex("[0-9]+"), digits);
      }
    }));
  }
}

// One accelerator is as published by construction; eight are no faster than eight of it, and rows
// of another machine tell nothing.
TEST(SyncKinds, ThroughputScalesFromOneAccelerator) {
  const auto rows = rows_of(R"([
    {"id": "tfbench-m-1", "hardware": "8x K80", "conditions": "batch 64; ResNet-50; 1 GPUs",
     "unit": "images/s", "value": 50},
    {"id": "tfbench-m-8", "hardware": "8x K80", "conditions": "batch 64; ResNet-50; 8 GPUs",
     "unit": "images/s", "value": 380},
    {"id": "tfbench-n-8", "hardware": "8x K80", "conditions": "batch 64; ResNet-50; 8 GPUs",
     "unit": "images/s", "value": 380}])");
  const auto outcome = [&](const SyncRow& row) {
    return sync_kind_of(row)->predict({.row = row, .known = rows});
  };
  EXPECT_TRUE(outcome(rows[0]).calibrates);
  EXPECT_NEAR(outcome(rows[0]).values.front().predicted, 50.0, 0.05);
  EXPECT_GT(outcome(rows[1]).values.front().predicted, 300.0);
  EXPECT_LT(outcome(rows[1]).values.front().predicted, 400.0);
  EXPECT_EQ(outcome(rows[2]).refused, "no row tells what one accelerator reaches");
}

SyncOutcome outcome_of_dlrm(const std::string& set_up) {
  const auto rows = rows_of(R"([{"id": "a", "kind": "dlrm", "metric": "throughput", "set-up": ")" +
                            set_up + R"(", "value": [1e6]}])");
  return sync_kind_of(rows[0])->predict({.row = rows[0], .known = rows});
}

// Twice the accelerators, each with as many samples, train at most twice as many of them; and 64k
// samples are 65,536.
TEST(SyncKinds, RecommendationScalesWithItsAccelerators) {
  const auto samples = [](const std::string& set_up) {
    const SyncOutcome outcome = outcome_of_dlrm(set_up);
    EXPECT_EQ(outcome.refused, "") << set_up;
    return outcome.refused.empty() ? outcome.values.front().predicted : 0.0;
  };
  const double four = samples("4 x H100 SXM; DLRM-DCNv2; 8192 per GPU; HugeCTR");
  const double eight = samples("8 x H100 SXM; DLRM-DCNv2; 8192 per GPU; HugeCTR");
  EXPECT_GT(eight, 1.5 * four);
  EXPECT_LT(eight, 2.0 * four);
  EXPECT_EQ(samples("4 x H100 SXM; DLRM-DCNv2; global batch 32768; HugeCTR"), four);
  EXPECT_EQ(samples("8 x A100; DLRM large; batch 64k a GPU; PyTorch"),
            samples("8 x A100; DLRM large; batch 65536 a GPU; PyTorch"));
}

TEST(SyncKinds, RecommendationSaysWhatARowLacks) {
  EXPECT_TRUE(outcome_of_dlrm("2 x Xeon; DLRM-DCNv2; batch 8192; HugeCTR")
                  .refused.starts_with("it names no accelerator with a profile that ships"));
  EXPECT_EQ(outcome_of_dlrm("8 x H100; a model; batch 8192; HugeCTR").refused,
            "its tables are not in the library: those of DLRM-DCNv2, and of DLRM on Criteo small, "
            "large and xlarge, are");
  EXPECT_EQ(outcome_of_dlrm("8 x H100; DLRM-DCNv2; batch 8192; a program").refused,
            "its software is not described: HugeCTR, TF2 and PyTorch are");
  EXPECT_EQ(outcome_of_dlrm("8 x H100; DLRM-DCNv2; batch 8193; HugeCTR").refused,
            "the row does not say a batch that its accelerators divide");
}

// A network of fewer operations takes more images a second, so more cores to prepare them: 1.8 for
// 4.1 GMAC an image are at most 2.3 times as many cores.
TEST(SyncKinds, CoresFollowImages) {
  const auto rows = rows_of(R"([
    {"id": "a", "kind": "data_stall", "metric": "cores a GPU that ResNet-50 needs",
     "set-up": "V100, 512 images a GPU", "value": [3, 4]},
    {"id": "b", "kind": "data_stall", "metric": "cores a GPU that ResNet-18 needs",
     "set-up": "V100, 512 images a GPU", "value": [12, 24]}])");
  const auto outcome = [&](const SyncRow& row) {
    return sync_kind_of(row)->predict({.row = row, .known = rows});
  };
  EXPECT_TRUE(outcome(rows[0]).calibrates);
  const SyncOutcome other = outcome(rows[1]);
  ASSERT_EQ(other.refused, "");
  EXPECT_FALSE(other.calibrates);
  EXPECT_EQ(other.values.front().published, 18.0);
  EXPECT_GT(other.values.front().predicted, 1.5 * 3.5);
  EXPECT_LT(other.values.front().predicted, 4.089 / 1.814 * 3.5 * 1.3);
}

// 3 x 2 x 4.09 GFLOP an image at 4.37 TFLOP/s allow 178 of them a second, whatever a row says, and
// 401 if 16 of 36 multiplications do.
TEST(SyncKinds, NothingIsPredictedFasterThanPhysics) {
  const auto rows = rows_of(R"([
    {"id": "tfbench-m-1", "hardware": "8x K80", "conditions": "batch 64; ResNet-50; 1 GPUs",
     "unit": "images/s", "value": 402}])");
  const SyncOutcome outcome = sync_kind_of(rows[0])->predict({.row = rows[0], .known = rows});
  EXPECT_TRUE(
      outcome.refused.starts_with("one accelerator is faster than its fewest multiplications"));
}

// Nothing breaks in 3,000 steps of 10 s: a restart is as good as a migration. A copy of 16 bytes
// for each of 100 G parameters takes two nodes of 8 x 141 GB filled by four fifths, so that four
// copies exchange 2 x 3/4 x 4 x 100 G / 16 bytes an accelerator at 5 GB/s, 7.5 s a step.
TEST(SyncKinds, RecoveriesDifferByWhatTheyTake) {
  const auto rows = rows_of(R"([
    {"id": "r", "kind": "recovery", "set-up": "any, 100B MoE, 8 nodes x 8 H200, checkpoint every 100 steps, one failure every 1000000-1000001 s, 3,000 steps",
     "value": [500, 500, 800]}])");
  const SyncOutcome outcome = sync_kind_of(rows[0])->predict({.row = rows[0], .known = rows});
  ASSERT_EQ(outcome.refused, "");
  ASSERT_EQ(outcome.values.size(), 2U);
  EXPECT_NEAR(outcome.values[0].predicted, 1.0, 0.01);
  EXPECT_NEAR(outcome.values[1].predicted, 1.75, 0.02);
  EXPECT_EQ(outcome.values[1].published, 1.6);
}

TEST(SyncValidation, RefusesFilesWithoutARow) {
  Diagnostics diagnostics;
  EXPECT_THROW(static_cast<void>(validate_sync({.id_prefixes = {"nobody"}}, diagnostics)),
               InputError);
}

}  // namespace
}  // namespace headway
