#include "sim/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <streambuf>
#include <string>
#include <system_error>

#include "sim/base/diagnostic.h"
#include "sim/base/utf8.h"
#include "sim/cli/options/arguments.h"

namespace headway {
namespace {

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Writes all of it; what went wrong, or 0.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

/// What is written to a stream, printed in large pieces.
class PrintedPieces : public std::streambuf {
 public:
  explicit PrintedPieces(Terminal& terminal) : terminal_(terminal), piece_(kSize, '\0') { empty(); }

 protected:
  int overflow(int next) override {
    sync();
    if (next != traits_type::eof()) sputc(static_cast<char>(next));
    return traits_type::not_eof(next);
  }
  int sync() override {
    terminal_.print(std::string_view(pbase(), pptr()));
    empty();
    return 0;
  }

 private:
  static constexpr std::size_t kSize = 1 << 16;
  void empty() { setp(piece_.data(), piece_.data() + piece_.size()); }

  Terminal& terminal_;
  std::string piece_;
};

}  // namespace

Terminal::Terminal(When colour)
    : colour_(colour),
      output_is_terminal_(isatty(STDOUT_FILENO) != 0),
      error_is_terminal_(isatty(STDERR_FILENO) != 0),
      is_plain_(!environment("NO_COLOR").empty() || environment("TERM") == "dumb") {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone shows as EPIPE
}

Terminal::Terminal() : Terminal(When::automatic) {
  const std::string_view wanted = environment("HEADWAY_COLOR");
  if (wanted.empty()) return;
  const auto when = value_named<When>(wanted);
  if (when) {
    colour_ = *when;
    return;
  }
  refuse(fmt::format("the environment variable HEADWAY_COLOR cannot be {}", in_quotes(wanted)),
         "use auto, always or never");
}

void Terminal::print(std::string_view text) {
  if (reader_is_gone_) return;
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    reader_is_gone_ = true;
  } else if (error != 0) {
    throw EnvironmentError(fmt::format("cannot write to standard output: {}",
                                       std::error_code(error, std::generic_category()).message()));
  }
}

void Terminal::print(const std::function<void(std::ostream&)>& write) {
  PrintedPieces pieces(*this);
  std::ostream stream(&pieces);
  stream.exceptions(std::ios::badbit);  // what printing throws comes out
  write(stream);
  stream.flush();
}

void Terminal::report(std::string_view text) {
  // Where standard error cannot be written to there is nowhere left to say so.
  static_cast<void>(write_all(STDERR_FILENO, text));
}

void Terminal::narrate(std::string_view text) {
  if (!quiet_) report(text);
}

void Terminal::remark(std::string_view text) {
  if (verbose_) report(text);
}

std::size_t Terminal::columns() const {
  constexpr int kFewest = 40;
  const std::string_view said = environment("COLUMNS");
  int columns = 0;
  std::from_chars(said.data(), said.data() + said.size(), columns);
  winsize size{};
  if (columns <= 0 && output_is_terminal_ && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) {
    columns = size.ws_col;
  }
  return columns <= 0 ? std::numeric_limits<std::size_t>::max()
                      : static_cast<std::size_t>(std::max(columns, kFewest));
}

bool Terminal::colours_output() const { return colours(output_is_terminal_); }
bool Terminal::colours_errors() const { return colours(error_is_terminal_); }

bool Terminal::colours(bool is_terminal) const {
  if (colour_ != When::automatic) return colour_ == When::always;
  return is_terminal && !is_plain_;
}

}  // namespace headway
