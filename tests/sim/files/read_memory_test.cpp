#include "sim/files/read_memory.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/files/input_files.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// A scenario that names a model, and how often that was really read.
class ReadMemoryTest : public testing::Test {
 protected:
  ReadMemoryTest() {
    folder_.write("model.json", R"({"layers": 3})");
    scenario_ = folder_.write("run.json", R"({"model": "model.json", "batch": 8})");
  }

  /// "layers" of the model; 0 if it is none. A model of no layers is read with a warning.
  int layers(std::initializer_list<std::string> overrides = {}) {
    std::vector<Override> parsed;
    for (const std::string& override : overrides) parsed.push_back(parse_override(override));
    diagnostics_ = {};
    InputFiles files(parsed, {}, diagnostics_, memory_);
    const JsonCursor root = files.open(scenario_, "scenarios").value();
    const JsonCursor part = root.member("model").value();
    const auto made = files.once<int>(part, "", [&]() -> std::optional<int> {
      ++readings_;
      const auto model = files.follow(part, "models");
      if (!model) return std::nullopt;
      const int count = model->value().at("layers");
      if (count == 0) diagnostics_.add(model->member("layers")->problem("no layers"));
      return count;
    });
    files.report_unused_overrides();
    paths_ = files.read_paths();
    return made.value_or(0);
  }

  ScratchFolder folder_;
  std::string scenario_;
  std::shared_ptr<ReadMemory> memory_ = std::make_shared<ReadMemory>();
  Diagnostics diagnostics_;
  std::vector<std::filesystem::path> paths_;
  int readings_ = 0;
};

TEST_F(ReadMemoryTest, WhatNoOverrideConcernsIsReadOnce) {
  EXPECT_EQ(layers(), 3);
  const std::vector<std::filesystem::path> paths = paths_;
  EXPECT_EQ(layers({"/batch=16"}), 3);
  EXPECT_EQ(readings_, 1);
  EXPECT_EQ(paths_, paths);  // what it rests on is told all the same
  EXPECT_EQ(paths_.size(), 2u);
}

TEST_F(ReadMemoryTest, AnOverrideInAPartOrOfItCounts) {
  EXPECT_EQ(layers(), 3);
  EXPECT_EQ(layers({"/model/layers=5"}), 5);
  folder_.write("other.json", R"({"layers": 7})");
  EXPECT_EQ(layers({"/model=" + (folder_.path() / "other.json").string()}), 7);
  EXPECT_EQ(readings_, 3);
  EXPECT_EQ(layers({"/batch=2", "/model/layers=5"}), 5);  // known, and its override is no idle one
  EXPECT_EQ(readings_, 3);
  EXPECT_TRUE(diagnostics_.all().empty());
}

TEST_F(ReadMemoryTest, WhatHadSomethingToTellTellsItAgain) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(layers({"/model/layers=0"}), 0);
    ASSERT_EQ(diagnostics_.all().size(), 1u);
    EXPECT_EQ(diagnostics_.all().front().location.file, "--set /model/layers=0");
  }
  EXPECT_EQ(readings_, 2);
}

TEST_F(ReadMemoryTest, AFileIsAsItWasReadFirst) {
  EXPECT_EQ(layers({"/model/depth=1"}), 3);
  const std::string before = memory_->file_fingerprint(folder_.path() / "model.json");
  folder_.write("model.json", R"({"layers": 4})");
  EXPECT_EQ(layers({"/model/depth=2"}), 3);
  EXPECT_EQ(memory_->file_fingerprint(folder_.path() / "model.json"), before);
  memory_ = std::make_shared<ReadMemory>();
  EXPECT_EQ(layers({"/model/depth=2"}), 4);
}

TEST_F(ReadMemoryTest, FewOfEachPartAreHeld) {
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(layers({"/model/layers=" + std::to_string(i)}), i);
  }
  EXPECT_EQ(readings_, 20);
  EXPECT_EQ(layers({"/model/layers=20"}), 20);
  EXPECT_EQ(readings_, 20);
  EXPECT_EQ(layers({"/model/layers=1"}), 1);
  EXPECT_EQ(readings_, 21);
}

}  // namespace
}  // namespace headway
