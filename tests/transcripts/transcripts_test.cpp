#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/support/file_content.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/transcripts/transcript.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(source_folder()) / "tests/transcripts";

std::vector<std::string> transcript_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".transcript") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

class Transcript : public testing::TestWithParam<std::string> {};

/// All commands of a transcript run one after the other in a folder with what stands in files/.
/// HEADWAY_UPDATE_TRANSCRIPTS=1 writes down what they print instead of comparing it.
TEST_P(Transcript, IsWhatHeadwayPrints) {
  const fs::path file = kFolder / (GetParam() + ".transcript");
  const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "work";
  fs::copy(kFolder / "files", folder);

  const std::vector<TranscriptStep> expected = parse_transcript(content_of(file));
  ASSERT_FALSE(expected.empty());
  std::vector<TranscriptStep> printed;
  for (const TranscriptStep& step : expected) {
    printed.push_back(run_step(step.command, folder));
    printed.back().comment = step.comment;
  }
  if (const char* update = std::getenv("HEADWAY_UPDATE_TRANSCRIPTS");
      update != nullptr && std::string_view(update) == "1") {
    std::ofstream(file, std::ios::binary) << transcript_text(printed);
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(transcript_text({printed[i]}), transcript_text({expected[i]}))
        << "HEADWAY_UPDATE_TRANSCRIPTS=1 rewrites " << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, Transcript, testing::ValuesIn(transcript_names()),
                         [](const auto& transcript) { return transcript.param; });

}  // namespace
}  // namespace headway
