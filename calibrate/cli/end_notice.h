#pragma once

#include <filesystem>
#include <optional>

namespace headway {

/// A file by which a rank tells who launched it that all is over, and with which exit code: the
/// launcher between them (mpirun) may not.
class EndNotice {
 public:
  static constexpr const char* kVariable = "HEADWAY_END_NOTICE";

  /// Makes the file and names it in the environment of processes started from now on.
  EndNotice();
  ~EndNotice();
  EndNotice(const EndNotice&) = delete;
  EndNotice& operator=(const EndNotice&) = delete;

  /// Nothing until a rank gave one.
  [[nodiscard]] std::optional<int> code() const;

  /// A rank's part. Does nothing where nobody waits for it.
  static void give(int code);

 private:
  std::filesystem::path path_;
};

}  // namespace headway
