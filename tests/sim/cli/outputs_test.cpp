#include "sim/cli/outputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> messages(const Diagnostics& diagnostics) {
  std::vector<std::string> all;
  for (const Diagnostic& problem : diagnostics.all()) all.push_back(problem.message);
  return all;
}

std::vector<std::string> problems_of(const std::vector<OutputFile>& outputs) {
  Diagnostics diagnostics;
  check_outputs(outputs, diagnostics);
  return messages(diagnostics);
}

TEST(Outputs, NewAndExistingFilesAreFine) {
  const ScratchFolder scratch;
  const std::string old = scratch.write("old.md", "old");
  EXPECT_THAT(problems_of({{"-o", (scratch.path() / "new.json").string()}, {"-o", old}}),
              IsEmpty());
}

TEST(Outputs, OneFileUnderTwoNamesIsRefused) {
  const ScratchFolder scratch;
  const std::string a = scratch.write("a.json", "");
  const std::string hard = (scratch.path() / "hard.json").string();
  fs::create_hard_link(a, hard);
  const std::string around = (scratch.path() / "." / "b.json").string();
  const std::string b = (scratch.path() / "b.json").string();
  EXPECT_THAT(problems_of({{"-o", a}, {"--trace", hard}}),
              ElementsAre("-o " + a + " and --trace " + hard + " are the same file"));
  EXPECT_THAT(problems_of({{"-o", b}, {"-o", around}}),
              ElementsAre("-o " + b + " and -o " + around + " are the same file"));
}

TEST(Outputs, ADeviceTakesSeveral) {
  EXPECT_THAT(problems_of({{"-o", "/dev/null"}, {"--trace", "/dev/null"}}), IsEmpty());
}

TEST(Outputs, PlacesThatCannotBeWrittenAreNamed) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  const std::string file = scratch.write("file", "");
  EXPECT_THAT(
      problems_of({{"-o", ""}, {"-o", folder}, {"-o", folder + "/no/x"}, {"-o", file + "/x"}}),
      ElementsAre("-o needs the name of a file", "-o " + folder + " is a folder",
                  "-o " + folder + "/no/x: there is no folder \"" + folder + "/no\"",
                  "-o " + file + "/x: \"" + file + "\" is no folder"));
}

TEST(Outputs, InputsAreSpared) {
  const ScratchFolder scratch;
  const std::string input = scratch.write("in.json", "{}");
  const std::string link = (scratch.path() / "link.json").string();
  fs::create_symlink("in.json", link);
  Diagnostics diagnostics;
  check_outputs_spare({{"-o", link}, {"-o", "-"}}, {"-", input}, diagnostics);
  EXPECT_THAT(messages(diagnostics), ElementsAre("-o " + link + " would overwrite an input"));
}

TEST(Outputs, SuffixesAreKnownInEitherCase) {
  Diagnostics diagnostics;
  const auto files = report_files({"A.JSON"}, {".json", ".md"}, diagnostics);
  EXPECT_THAT(messages(diagnostics), IsEmpty());
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files.front().path, "A.JSON");
  EXPECT_EQ(report_files({"a.yaml"}, {".json", ".md"}, diagnostics).size(), 1U);
  EXPECT_THAT(messages(diagnostics), ElementsAre("-o a.yaml: no report is written as \".yaml\""));
  EXPECT_EQ(diagnostics.all().front().help, "use .json or .md");
}

TEST(Outputs, TheAnswerIsPrintedThoughItCannotBeWritten) {
  std::string said;
  const auto write = [&] {
    said += "write ";
    throw EnvironmentError("no space left");
  };
  EXPECT_THROW(write_then_print(write, [&] { said += "print"; }), EnvironmentError);
  EXPECT_EQ(said, "write print");
}

}  // namespace
}  // namespace headway
