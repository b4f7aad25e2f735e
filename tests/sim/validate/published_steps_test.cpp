#include "sim/validate/published_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/files/input_files.h"

namespace headway {
namespace {

std::vector<PublishedRow> read(const std::string& text, Diagnostics& diagnostics) {
  return read_published_steps(JsonCursor(JsonDocument::parse("rows", text, diagnostics)),
                              diagnostics);
}

TEST(PublishedSteps, EveryRowThatShipsReads) {
  // 798 rows in 238 groups from 20 sources, as the full collection counts them.
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(kBuiltInSteps, "scenarios");
  ASSERT_TRUE(root.has_value());
  const std::vector<PublishedRow> rows = read_published_steps(*root, diagnostics);
  EXPECT_TRUE(diagnostics.all().empty());
  EXPECT_EQ(rows.size(), 798U);
  std::set<std::string> ids;
  std::set<std::string> groups;
  std::set<std::string> sources;
  for (const PublishedRow& row : rows) {
    EXPECT_TRUE(ids.insert(row.head.id).second) << row.head.id;
    groups.insert(row.head.group);
    sources.insert(row.head.source);
    EXPECT_FALSE(row.head.source_title.empty()) << row.head.id;
    EXPECT_TRUE(row.head.source_address.starts_with("https://")) << row.head.id;
  }
  EXPECT_EQ(groups.size(), 238U);
  EXPECT_EQ(sources.size(), 20U);
}

constexpr const char* kObjects = R"({"rows": [{
  "id": "a", "group": "g", "source": {"key": "paper", "title": "A paper", "url": "https://x",
  "line": 7}, "framework": "nemo", "release": "25.04", "gpu": "H100", "gpus": 8,
  "nvlink_domain": 8, "nic_GBps_per_gpu": 50, "defaults_used": ["NIC"],
  "model": {"layers": 2, "hidden": 64, "heads": 2, "kv_heads": 2, "head_dim": 32, "ffn": 256,
            "vocab": 1000, "seq": 128, "moe": null},
  "train": {"task": "pretrain", "precision": "bf16", "tp": 1, "pp": 1, "dp": 8, "micro_batch": 1,
            "global_batch": 8, "fsdp": "none", "recompute": "none", "flash": true},
  "measured": {"iteration_time_s": 0.5}}]})";

constexpr const char* kColumns = R"({
  "train_unless_said": {"task": "pretrain", "fsdp": "none", "recompute": "none", "flash": true},
  "sources": {"p": {"key": "paper", "title": "A paper", "url": "https://x"}},
  "models": {"tiny": {"layers": 2, "hidden": 64, "heads": 2, "kv_heads": 2, "head_dim": 32,
                      "ffn": 256, "vocab": 1000, "seq": 128, "moe": null}},
  "remarks": {"r": "NIC"},
  "columns": ["id", "group", "source", "line", "framework", "release", "gpu", "gpus",
              "nvlink_domain", "nic_GBps_per_gpu", "model", "train", "iteration_time_s",
              "defaults_used"],
  "rows": [["a", "g", "p", "7", "nemo", "25.04", "H100", 8, 8, 50, "tiny",
            {"precision": "bf16", "tp": 1, "pp": 1, "dp": 8, "micro_batch": 1,
             "global_batch": 8}, 0.5, ["r"]]]})";

TEST(PublishedSteps, FieldsThatNothingReadsAreToldOnce) {
  std::string text = kObjects;
  const auto put = [&](const std::string& before, const std::string& added) {
    text.insert(text.find(before), added);
  };
  put("\"micro_batch\"", "\"recomputes\": 2, \"learning_rate\": 1e-4, ");
  put("\"vocab\"", "\"windows\": 9, ");
  const std::string row = text.substr(text.find('[') + 1, text.rfind(']') - text.find('[') - 1);
  text.insert(text.rfind(']'), ", " + row);
  Diagnostics diagnostics;
  EXPECT_EQ(read(text, diagnostics).size(), 2U);
  EXPECT_FALSE(diagnostics.has_errors());
  std::vector<std::string> told;
  for (const Diagnostic& warning : diagnostics.all()) {
    told.push_back(warning.message + "; " + warning.label + "; " + warning.help);
  }
  EXPECT_THAT(told,
              testing::UnorderedElementsAre(
                  "nothing reads \"windows\" of a row's \"model\"; in 2 rows; did you mean "
                  "\"window\"?",
                  "nothing reads \"recomputes\" of a row's \"train\"; in 2 rows; did you mean "
                  "\"recompute\"?",
                  "nothing reads \"learning_rate\" of a row's \"train\"; in 2 rows; leave it "
                  "out, if the steps were no others for it"));
}

TEST(PublishedSteps, BothFormsSayTheSame) {
  Diagnostics diagnostics;
  const auto objects = read(kObjects, diagnostics);
  const auto columns = read(kColumns, diagnostics);
  ASSERT_FALSE(diagnostics.has_errors());
  ASSERT_EQ(objects.size(), 1U);
  ASSERT_EQ(columns.size(), 1U);
  const PublishedRow& a = objects.front();
  const PublishedRow& b = columns.front();
  EXPECT_EQ(a.head.id, b.head.id);
  EXPECT_EQ(a.head.group, "g");
  EXPECT_EQ(b.head.group, "g");
  EXPECT_EQ(a.head.source, b.head.source);
  EXPECT_EQ(a.head.source_title, b.head.source_title);
  EXPECT_EQ(a.head.source_address, b.head.source_address);
  EXPECT_EQ(b.head.source_place, "7");
  EXPECT_EQ(a.head.defaults_used, b.head.defaults_used);
  EXPECT_EQ(a.head.published_s, b.head.published_s);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.train, b.train);
  EXPECT_EQ(a.nic_gigabytes_per_second, b.nic_gigabytes_per_second);
}

TEST(PublishedSteps, WhatATableDoesNotHaveIsReportedWithWhatWasMeant) {
  std::string text = kColumns;
  text.replace(text.find("\"tiny\",\n"), 6, "\"tinny\"");
  Diagnostics diagnostics;
  static_cast<void>(read(text, diagnostics));
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().front().message, R"("models" has no entry "tinny")");
  EXPECT_EQ(diagnostics.all().front().help, R"(did you mean "tiny"?)");
}

TEST(PublishedSteps, ARowHasAsManyValuesAsColumns) {
  Diagnostics diagnostics;
  static_cast<void>(read(R"({"columns": ["id", "gpu"], "rows": [["a"]]})", diagnostics));
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().front().message, "a row of 1 values for 2 columns");
}

/// The message and the label of the only problem of the objects above with one text replaced.
std::string problem_with(const std::string& from, const std::string& to) {
  std::string text = kObjects;
  text.replace(text.find(from), from.size(), to);
  Diagnostics diagnostics;
  static_cast<void>(read(text, diagnostics));
  if (diagnostics.all().size() != 1) return std::to_string(diagnostics.all().size()) + " problems";
  const Diagnostic& problem = diagnostics.all().front();
  return problem.pointer + ": " + problem.message +
         (problem.label.empty() ? "" : " (" + problem.label + ")");
}

TEST(PublishedSteps, RefuseNumbersThatCannotBeReckonedWith) {
  EXPECT_EQ(problem_with("\"flash\"", "\"vpp\": 0, \"flash\""),
            "/rows/0/train/vpp: \"vpp\" of a row is a whole number from 1 to 1,000,000,000 (0)");
  EXPECT_EQ(problem_with("\"tp\": 1", "\"tp\": 1.5"),
            "/rows/0/train/tp: \"tp\" of a row is a whole number from 1 to 1,000,000,000 (1.5)");
  EXPECT_EQ(problem_with("\"layers\": 2", "\"layers\": 1e300"),
            "/rows/0/model/layers: \"layers\" of a row is a whole number from 1 to 1,000,000,000 "
            "(1e+300)");
  EXPECT_EQ(problem_with("\"moe\": null", "\"moe\": {\"shared_ffn\": -1}"),
            "/rows/0/model/moe/shared_ffn: \"shared_ffn\" of a row is a whole number from 0 to "
            "1,000,000,000 (-1)");
  EXPECT_EQ(problem_with("\"gpus\": 8", "\"gpus\": 1e300"),
            "/rows/0/gpus: a row needs \"gpus\", a whole number up to 100,000,000");
  EXPECT_EQ(
      problem_with("\"nvlink_domain\": 8", "\"nvlink_domain\": 2.5"),
      "/rows/0/nvlink_domain: a row needs \"nvlink_domain\", a whole number up to 100,000,000");
  // What a row leaves out may be wrong too.
  Diagnostics diagnostics;
  std::string text = kObjects;
  text.insert(1, "\"train_unless_said\": {\"vpp\": 0},");
  static_cast<void>(read(text, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all().front().pointer, "/rows/0/train");
}

TEST(PublishedSteps, WhatARowLacksSaysHowItIsWritten) {
  struct LackingRow {
    const char* part;
    const char* instead;
    const char* message;
    const char* help;
  };
  constexpr const char* kInFull = "has rows in full";
  constexpr LackingRow kCases[] = {
      {"0.5}", "\"5 s\"}", "a row needs \"iteration_time_s\"", "times are in seconds"},
      {"\"gpus\": 8", "\"gpus\": 8.5", "a whole number", "how many there were"},
      {"\"id\": \"a\", ", "", "a row needs \"id\", a text", kInFull},
      {"\"measured\"", "\"mesured\"", "a row needs \"measured\", an object", kInFull},
      {"\"fsdp\": \"none\", ", "", "a row needs \"fsdp\", a text", kInFull},
  };
  for (const LackingRow& each : kCases) {
    std::string text = kObjects;
    const std::size_t place = text.find(each.part);
    ASSERT_NE(place, std::string::npos) << each.part;
    text.replace(place, std::string(each.part).size(), each.instead);
    Diagnostics diagnostics;
    static_cast<void>(read(text, diagnostics));
    ASSERT_EQ(diagnostics.errors(), 1U) << each.message;
    EXPECT_NE(diagnostics.all()[0].message.find(each.message), std::string::npos) << each.message;
    EXPECT_NE(diagnostics.all()[0].help.find(each.help), std::string::npos) << each.message;
  }
  Diagnostics diagnostics;
  EXPECT_TRUE(read(R"({"rows": []})", diagnostics).empty());
  ASSERT_EQ(diagnostics.errors(), 1U);
  EXPECT_EQ(diagnostics.all()[0].message, "the file has no rows");
}

}  // namespace
}  // namespace headway
