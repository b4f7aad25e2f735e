#include "sim/files/input_files.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/base/file_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

/// A folder of the user's files and a data folder, as installed.
class InputFilesTest : public testing::Test {
 protected:
  InputFilesTest() {
    folder_.write("data/scenarios/models/llama3_405b.json", R"({"layers": 126})");
    folder_.write("data/scenarios/models/gpt3_175b.json", R"({"layers": 96})");
    folder_.write("data/topologies/clos/hgx_h200.json", R"({"nodes": 128})");
  }

  InputFiles files(std::initializer_list<std::string> overrides = {}) {
    std::vector<Override> parsed;
    for (const std::string& override : overrides) parsed.push_back(parse_override(override));
    return InputFiles(parsed, {folder_.path() / "data"}, diagnostics_);
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  /// The diagnostics, with the scratch folder left out of the paths.
  std::string problems() const {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics_.all()) text += rendered(diagnostic);
    const std::string scratch = folder_.path().string() + "/";
    for (std::size_t at = text.find(scratch); at != std::string::npos; at = text.find(scratch)) {
      text.erase(at, scratch.size());
    }
    return text;
  }

  ScratchFolder folder_;
  Diagnostics diagnostics_;
};

TEST_F(InputFilesTest, ReferencesAreLookedForBesideTheirFileFirst) {
  folder_.write("mine/model.json", R"({"layers": 3})");
  const std::string scenario = folder_.write(
      "mine/run.json", R"({"a": "model.json", "b": "llama3_405b", "c": {"layers": 5}})");
  InputFiles inputs = files();
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_EQ(inputs.follow(*root.member("a"), "scenarios/models")->value()["layers"], 3);
  EXPECT_EQ(inputs.follow(*root.member("b"), "scenarios/models")->value()["layers"], 126);
  EXPECT_EQ(inputs.follow(*root.member("c"), "scenarios/models")->value()["layers"], 5);
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(inputs.read_paths(),
            (std::vector<std::filesystem::path>{path("mine/run.json"), path("mine/model.json"),
                                                path("data/scenarios/models/llama3_405b.json")}));
}

TEST_F(InputFilesTest, ATextThatIsHeldIsReadAsAFileOfTheWorkingDirectory) {
  const HeldFile held("<scenario>", R"({"a": "llama3_405b",
 "b": "no_such_file"})");
  InputFiles inputs = files({"/a/layers=7"});
  for (int time = 0; time < 2; ++time) {  // as often as one likes
    const JsonCursor root = inputs.open("<scenario>", "scenarios").value();
    EXPECT_EQ(inputs.follow(*root.member("a"), "scenarios/models")->value()["layers"], 7);
  }
  const JsonCursor root = inputs.open("<scenario>", "scenarios").value();
  EXPECT_FALSE(inputs.follow(*root.member("b"), "scenarios/models"));
  EXPECT_EQ(problems(),
            "error: cannot find \"no_such_file\"\n"
            "  --> <scenario>:2:7   /b\n"
            "   |\n"
            " 2 |  \"b\": \"no_such_file\"}\n"
            "   |       ^^^^^^^^^^^^^^\n"
            "  help: there are gpt3_175b, llama3_405b\n");
}

TEST_F(InputFilesTest, ATextIsHeldAsLongAsItsObjectLives) {
  { const HeldFile held("<scenario>", "{}"); }
  EXPECT_FALSE(HeldFile::is_held("<scenario>"));
  EXPECT_FALSE(files().open("<scenario>", "scenarios"));
}

/// What ships comes first: a scenario may bear the name of the model that it names.
TEST_F(InputFilesTest, TheEndingOfAFileBesideMayBeLeftOut) {
  folder_.write("mine/model.json", R"({"layers": 3})");
  folder_.write("mine/llama3_405b.json", R"({"schema": "headway/scenario/1"})");
  const std::string scenario =
      folder_.write("mine/run.json", R"({"a": "model", "b": "llama3_405b"})");
  InputFiles inputs = files();
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_EQ(inputs.follow(*root.member("a"), "scenarios/models")->value()["layers"], 3);
  EXPECT_EQ(inputs.follow(*root.member("b"), "scenarios/models")->value()["layers"], 126);
  EXPECT_EQ(problems(), "");
}

TEST_F(InputFilesTest, DataFilesAreFoundByNameOrPath) {
  const std::string scenario = folder_.write(
      "run.json", R"(["clos/hgx_h200", "clos/hgx_h200.json", "topologies/clos/hgx_h200.json"])");
  InputFiles inputs = files();
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(inputs.follow(root.element(i), "topologies")->value()["nodes"], 128) << i;
  }
  EXPECT_EQ(inputs.open("llama3_405b", "scenarios/models")->value()["layers"], 126);
}

TEST_F(InputFilesTest, OverridesReachThroughReferences) {
  const std::string scenario = folder_.write("run.json", R"({"cluster": {"model": "gpt3_175b"}})");
  InputFiles inputs = files({"/cluster/model/layers=8", "/cluster/gpus=4"});
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_EQ(root.value().dump(), R"({"cluster":{"gpus":4,"model":"gpt3_175b"}})");
  const JsonCursor model =
      inputs.follow(*root.member("cluster")->member("model"), "scenarios/models").value();
  EXPECT_EQ(model.value().dump(), R"({"layers":8})");
  inputs.report_unused_overrides();
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(model.document().value_location("/layers").file, "--set /cluster/model/layers=8");
}

TEST_F(InputFilesTest, OverridesReachThroughReferencesInFollowedFiles) {
  folder_.write("cluster.json", R"({"topology": "topology.json"})");
  folder_.write("topology.json", R"({"nodes": 2})");
  const std::string scenario = folder_.write("run.json", R"({"cluster": "cluster.json"})");
  InputFiles inputs = files({"/cluster/topology/nodes=16"});
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  const JsonCursor cluster = inputs.follow(*root.member("cluster"), "clusters").value();
  EXPECT_EQ(inputs.follow(*cluster.member("topology"), "topologies")->value()["nodes"], 16);
  inputs.report_unused_overrides();
  EXPECT_EQ(problems(), "");
}

TEST_F(InputFilesTest, AnOverrideMayReplaceTheReference) {
  const std::string scenario = folder_.write("run.json", R"({"model": "gpt3_175b"})");
  InputFiles inputs = files({"/model=llama3_405b", "/model/heads=128"});
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_EQ(inputs.follow(*root.member("model"), "scenarios/models")->value().dump(),
            R"({"heads":128,"layers":126})");
}

TEST_F(InputFilesTest, AnOverrideIntoATextThatIsNoReferenceIsReported) {
  const std::string scenario = folder_.write("run.json", R"({"name": "a run"})");
  InputFiles inputs = files({"/name/layers=8"});
  EXPECT_TRUE(inputs.open(scenario, "scenarios").has_value());
  inputs.report_unused_overrides();
  EXPECT_EQ(problems(),
            "error: the override leads into a text that names no file\n"
            "  --> --set /name/layers=8\n");
}

TEST_F(InputFilesTest, UnknownReferencesGetASuggestion) {
  const std::string scenario =
      folder_.write("run.json", R"({"model": "llama3-405b", "other": "opt", "none": 5})");
  InputFiles inputs = files();
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_FALSE(inputs.follow(*root.member("model"), "scenarios/models").has_value());
  EXPECT_FALSE(inputs.follow(*root.member("other"), "scenarios/models").has_value());
  EXPECT_FALSE(inputs.follow(*root.member("none"), "scenarios/models").has_value());
  EXPECT_EQ(problems(),
            "error: cannot find \"llama3-405b\"\n"
            "  --> run.json:1:11   /model\n"
            "   |\n"
            " 1 | {\"model\": \"llama3-405b\", \"other\": \"opt\", \"none\": 5}\n"
            "   |           ^^^^^^^^^^^^^\n"
            "  help: did you mean \"llama3_405b\"?\n"
            "error: cannot find \"opt\"\n"
            "  --> run.json:1:35   /other\n"
            "   |\n"
            " 1 | {\"model\": \"llama3-405b\", \"other\": \"opt\", \"none\": 5}\n"
            "   |                                   ^^^^^\n"
            "  help: there are gpt3_175b, llama3_405b\n"
            "error: \"none\" must be an object or the name of a file\n"
            "  --> run.json:1:50   /none\n"
            "   |\n"
            " 1 | {\"model\": \"llama3-405b\", \"other\": \"opt\", \"none\": 5}\n"
            "   |                                                  ^ a number\n"
            "  help: write it in place, in braces, or the path of a file in quotes, or a name that "
            "`headway list` shows\n");
}

/// Four edits of eleven characters, five of which are the ending.
TEST_F(InputFilesTest, FilesAreNotAlikeByTheirEnding) {
  folder_.write("unusual.json", "{}");
  EXPECT_FALSE(files().open(path("nosuch.json"), "topologies").has_value());
  EXPECT_EQ(problems(),
            "error: there is no file \"nosuch.json\"\n"
            "  --> nosuch.json\n"
            "  help: no name there is like it; `headway list` shows what comes with Headway\n");
}

TEST_F(InputFilesTest, FilesThatCannotBeReadAreExplained) {
  folder_.write("runs/small.json", "{}");
  folder_.write("empty.json", "");
  EXPECT_FALSE(files().open(path("runs/smal.json"), "scenarios").has_value());
  EXPECT_FALSE(files().open(path("nowhere/x.json"), "scenarios").has_value());
  EXPECT_FALSE(files().open(path("runs"), "scenarios").has_value());
  EXPECT_FALSE(files().open(path("empty.json"), "scenarios").has_value());
  EXPECT_FALSE(files().open("gpt3-175b", "scenarios/models").has_value());
  EXPECT_EQ(problems(),
            "error: there is no file \"runs/smal.json\"\n"
            "  --> runs/smal.json\n"
            "  help: did you mean \"runs/small.json\"?\n"
            "error: there is no file \"nowhere/x.json\"\n"
            "  --> nowhere/x.json\n"
            "  help: there is no folder \"nowhere\"\n"
            "error: \"runs\" is a folder, not a file\n"
            "  --> runs\n"
            "  help: name one of the .json files in it\n"
            "error: the input is empty\n"
            "  --> empty.json\n"
            "  help: did the command that was to write it fail?\n"
            "error: there is no file \"gpt3-175b\"\n"
            "  --> gpt3-175b\n"
            "  help: did you mean \"gpt3_175b\"?\n");
}

TEST_F(InputFilesTest, DataFoldersStartWithTheEnvironment) {
  ASSERT_EQ(setenv("HEADWAY_DATA_DIR", path("data").c_str(), 1), 0);
  const auto folders = data_folders();
  ASSERT_EQ(setenv("HEADWAY_DATA_DIR", path("nowhere").c_str(), 1), 0);
  const auto others = data_folders();
  unsetenv("HEADWAY_DATA_DIR");
  EXPECT_EQ(folders.front(), path("data"));
  EXPECT_EQ(others, data_folders());
  EXPECT_EQ(data_folders().back(), source_folder());
}

TEST_F(InputFilesTest, AFileOutsideOfTheFolderIsReadWithAWarning) {
  folder_.write("model.json", R"({"layers": 3})");
  folder_.write("mine/parts/model.json", R"({"layers": 4})");
  const std::string scenario = folder_.write(
      "mine/run.json", R"({"a": "parts/model.json", "b": "llama3_405b", "c": "../model.json"})");
  InputFiles inputs = files();
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_TRUE(inputs.follow(*root.member("a"), "scenarios/models"));
  EXPECT_TRUE(inputs.follow(*root.member("b"), "scenarios/models"));
  EXPECT_EQ(problems(), "");
  EXPECT_EQ(inputs.follow(*root.member("c"), "scenarios/models")->value()["layers"], 3);
  EXPECT_TRUE(inputs.follow(*root.member("c"), "scenarios/models"));  // told once
  EXPECT_EQ(problems(),
            "warning: this file stands outside of the folder of the one that names it\n"
            "  --> mine/run.json:1:52   /c\n"
            "   |\n"
            " 1 | {\"a\": \"parts/model.json\", \"b\": \"llama3_405b\", \"c\": \"../model.json\"}\n"
            "   |                                                    ^^^^^^^^^^^^^^^\n"
            "  help: if you did not write this yourself, look at what it names\n");
}

TEST_F(InputFilesTest, AFileOfTheWorkingDirectoryHasItsFolderToo) {
  folder_.write("model.json", R"({"layers": 3})");
  folder_.write("run.json", R"({"a": "model.json"})");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  InputFiles inputs = files();
  const JsonCursor root = inputs.open("run.json", "scenarios").value();
  EXPECT_TRUE(inputs.follow(*root.member("a"), "scenarios/models"));
  std::filesystem::current_path(before);
  EXPECT_EQ(problems(), "");
}

TEST_F(InputFilesTest, WhatTheCommandLineNamesMayStandAnywhere) {
  const std::string elsewhere = folder_.write("model.json", R"({"layers": 3})");
  const std::string scenario = folder_.write("mine/run.json", R"({"a": "model.json"})");
  InputFiles inputs = files({"/a=" + elsewhere});
  const JsonCursor root = inputs.open(scenario, "scenarios").value();
  EXPECT_TRUE(inputs.follow(*root.member("a"), "scenarios/models"));
  EXPECT_EQ(problems(), "");
}

}  // namespace
}  // namespace headway
