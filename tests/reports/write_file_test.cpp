#include "reports/write_file.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "sim/base/diagnostic.h"
#include "tests/support/file_content.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

std::string failure_of(const fs::path& path) {
  try {
    write_file(path, "text");
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "written";
}

TEST(WriteFile, WritesANewFileAndNothingElse) {
  const ScratchFolder scratch;
  write_file(scratch.path() / "a.json", "{}\n");
  EXPECT_EQ(content_of(scratch.path() / "a.json"), "{}\n");
  EXPECT_EQ(entries_in(scratch.path()), 1U);
}

TEST(WriteFile, ReplacesTheOldContentAsAWhole) {
  const ScratchFolder scratch;
  scratch.write("a.json", "a much longer text than the new one");
  write_file(scratch.path() / "a.json", "short");
  EXPECT_EQ(content_of(scratch.path() / "a.json"), "short");
}

TEST(WriteFile, NameWithoutAFolderIsInTheCurrentOne) {
  const ScratchFolder scratch;
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  write_file("a.json", "{}");
  fs::current_path(before);
  EXPECT_EQ(content_of(scratch.path() / "a.json"), "{}");
}

TEST(WriteFile, ALinkOfAnotherUserIsNotFollowed) {
  const ScratchFolder scratch;
  const std::string victim = scratch.write("victim", "precious");
  const fs::path link = scratch.path() / "report.html";
  fs::create_symlink(victim, link);
  constexpr uid_t kNobody = 65534;
  if (lchown(link.c_str(), kNobody, kNobody) != 0) GTEST_SKIP() << "only root gives links away";
  EXPECT_THROW(write_file(link, "new"), EnvironmentError);
  EXPECT_EQ(content_of(victim), "precious");
}

TEST(WriteFile, SymbolicLinkStaysOne) {
  const ScratchFolder scratch;
  scratch.write("runs/1.json", "old");
  fs::create_symlink("runs/1.json", scratch.path() / "latest.json");
  write_file(scratch.path() / "latest.json", "new");
  EXPECT_TRUE(fs::is_symlink(scratch.path() / "latest.json"));
  EXPECT_EQ(content_of(scratch.path() / "runs/1.json"), "new");
}

TEST(WriteFile, FailureLeavesTheOldContent) {
  const ScratchFolder scratch;
  scratch.write("a.json", "old");
  EXPECT_THROW(write_file(scratch.path() / "a.json",
                          [](std::ostream& stream) {
                            stream << "half of the n";
                            throw std::runtime_error("stop");
                          }),
               std::runtime_error);
  EXPECT_EQ(content_of(scratch.path() / "a.json"), "old");
  EXPECT_EQ(entries_in(scratch.path()), 1U);
}

TEST(WriteFile, MissingFolderIsNamed) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() / "missing";
  EXPECT_EQ(failure_of(folder + "/a.json"),
            "cannot write " + folder + "/a.json: there is no folder " + folder);
}

TEST(WriteFile, FolderIsNoTarget) {
  const ScratchFolder scratch;
  EXPECT_EQ(failure_of(scratch.path()),
            "cannot write " + scratch.path().string() + ": it is a folder");
}

TEST(WriteFile, FileIsNoFolder) {
  const ScratchFolder scratch;
  const std::string file = scratch.write("file", "text");
  EXPECT_EQ(failure_of(file + "/a.json"), "cannot write " + file + "/a.json: Not a directory");
}

TEST(WriteFile, FullDiskIsReported) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  EXPECT_EQ(failure_of("/dev/full"), "cannot write /dev/full: No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST(WriteFile, ForbiddenFolderIsReported) {
  if (geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  const ScratchFolder scratch;
  fs::permissions(scratch.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const std::string file = scratch.path() / "a.json";
  EXPECT_EQ(failure_of(file), "cannot write " + file + ": Permission denied");
  fs::permissions(scratch.path(), fs::perms::owner_all);
}

TEST(WriteFile, EmptyNameIsRefused) {
  EXPECT_EQ(failure_of(""), "cannot write a file without a name");
}

}  // namespace
}  // namespace headway
