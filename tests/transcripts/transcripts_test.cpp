#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/scratch_folder.h"
#include "tests/transcripts/transcript.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(HEADWAY_TEST_SOURCE_DIR) / "tests/transcripts";

std::vector<std::string> transcript_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".transcript") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string content_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

class Transcript : public testing::TestWithParam<std::string> {};

/// All commands of a transcript run one after the other in a folder with what stands in files/.
/// HEADWAY_UPDATE_TRANSCRIPTS=1 writes down what they print instead of comparing it.
TEST_P(Transcript, IsWhatHeadwayPrints) {
  const fs::path file = kFolder / (GetParam() + ".transcript");
  const std::string expected = content_of(file);
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "work";
  fs::copy(kFolder / "files", folder);

  std::vector<TranscriptStep> steps = parse_transcript(expected);
  ASSERT_FALSE(steps.empty());
  for (TranscriptStep& step : steps) {
    std::string comment = std::move(step.comment);
    step = run_step(step.command, folder);
    step.comment = std::move(comment);
  }
  const std::string printed = transcript_text(steps);
  if (const char* update = std::getenv("HEADWAY_UPDATE_TRANSCRIPTS");
      update != nullptr && std::string_view(update) == "1") {
    std::ofstream(file, std::ios::binary) << printed;
    return;
  }
  EXPECT_EQ(printed, expected) << "HEADWAY_UPDATE_TRANSCRIPTS=1 rewrites " << file;
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::ValuesIn(transcript_names()),
                         [](const auto& transcript) { return transcript.param; });

}  // namespace
}  // namespace headway
