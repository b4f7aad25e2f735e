#include "reports/write_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "sim/base/diagnostic.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw EnvironmentError(fmt::format("cannot write {}: {}", printable(path.string()), reason));
}

[[noreturn]] void fail(const fs::path& path, int error) {
  fail(path, error == 0 ? "the file could not be completed"
                        : std::error_code(error, std::generic_category()).message());
}

/// A new empty file beside `target`, with the rights that any new file gets.
class NewFile {
 public:
  NewFile(const fs::path& asked, const fs::path& target) {
    constexpr int kAttempts = 100;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      path_ = target.parent_path() /
              fmt::format(".headway-{}-{}.tmp", static_cast<long>(getpid()), attempt);
      const int file = open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
      if (file >= 0) {
        close(file);
        return;
      }
      if (errno != EEXIST) fail(asked, errno);
    }
    fail(asked, "too many unfinished files of earlier runs stand in its folder");
  }
  ~NewFile() {
    if (!kept_) unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

  void rename_to(const fs::path& asked, const fs::path& target) {
    if (rename(path_.c_str(), target.c_str()) != 0) fail(asked, errno);
    kept_ = true;
  }

 private:
  fs::path path_;
  bool kept_ = false;
};

void fill(const fs::path& asked, const fs::path& file,
          const std::function<void(std::ostream&)>& write) {
  errno = 0;
  std::ofstream stream(file, std::ios::binary);
  if (!stream) fail(asked, errno);
  errno = 0;
  write(stream);
  stream.close();
  if (!stream) fail(asked, errno);
}

/// In a folder that others can write into, a link may lead to a file that only its planter means to
/// be overwritten. Linux refuses the same of folders with the sticky bit (proc(5),
/// fs.protected_symlinks), where that is switched on.
void refuse_planted_link(const fs::path& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return;
  if (status.st_uid == geteuid() || status.st_uid == 0) return;
  fail(path, "it is a link that another user made; remove it, or name the file that is meant");
}

/// The same text for the same file, whether it exists or not.
fs::path canonical_of(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(fs::absolute(path, error), error);
  return error ? fs::path(path) : canonical;
}

}  // namespace

void write_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) throw EnvironmentError("cannot write a file without a name");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);  // an error here shows again below
  if (fs::is_directory(status)) fail(path, "it is a folder");
  refuse_planted_link(path);
  if (fs::exists(status) && !fs::is_regular_file(status)) return fill(path, path, write);

  const fs::path target = fs::is_regular_file(status) ? fs::canonical(path) : path;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (fs::status(folder, error).type() == fs::file_type::not_found) {
    fail(path, fmt::format("there is no folder {}", printable(folder.string())));
  }
  NewFile file(path, target);
  fill(path, file.path(), write);
  file.rename_to(path, target);
}

void write_file(const fs::path& path, const std::string& content) {
  write_file(path, [&](std::ostream& stream) { stream << content; });
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error) && !fs::is_regular_file(a, error)) return false;
  if (fs::equivalent(a, b, error)) return true;  // hard links have different names
  return canonical_of(a) == canonical_of(b);
}

}  // namespace headway
