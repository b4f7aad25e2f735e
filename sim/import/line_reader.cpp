#include "sim/import/line_reader.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/kinds/foreign_text.h"

namespace headway {
namespace {

constexpr std::size_t kLongestLine = std::size_t{64} * 1024;
constexpr std::size_t kMostProblems = 20;
constexpr std::size_t kBuffer = std::size_t{1024} * 1024;
constexpr std::int64_t kJudgedFrom = std::int64_t{16} << 20;  ///< unpacked bytes: less harms nobody

gzFile opened(const std::string& path) {
  if (path != "-") return gzopen(path.c_str(), "rb");
  const int input = dup(STDIN_FILENO);
  return input < 0 ? nullptr : gzdopen(input, "rb");
}

}  // namespace

void LineReader::Closing::operator()(void* file) const { gzclose_r(static_cast<gzFile>(file)); }

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::string beginning_of(const std::string& path) {
  std::string text(kTextBeginning, '\0');
  const gzFile file = opened(path);
  const int read =
      file == nullptr ? 0 : gzread(file, text.data(), static_cast<unsigned>(text.size()));
  if (file != nullptr) gzclose_r(file);
  text.resize(static_cast<std::size_t>(std::max(read, 0)));
  return text;
}

LineReader::LineReader(std::string path, Diagnostics& diagnostics, Ends ends)
    : path_(std::move(path)),
      diagnostics_(diagnostics),
      problems_before_(diagnostics.all().size()),
      ends_(ends) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    fail("it is a folder");
    return;
  }
  errno = 0;
  gzFile file = opened(path_);
  if (file == nullptr) {
    fail(errno != 0 ? std::strerror(errno) : "it cannot be opened");
    return;
  }
  gzbuffer(file, 1U << 18);
  file_.reset(file);
  buffer_.resize(kBuffer);
}

bool LineReader::next(std::string_view& line) {
  if (diagnostics_.all().size() - problems_before_ >= kMostProblems) {
    if (!gave_up_)
      diagnostics_.add(problem("the rest of the file was not read, after so many problems"));
    gave_up_ = true;
    return false;
  }
  while (file_ != nullptr || begin_ < end_) {
    const char* const found = end_of_line();
    const char* const start = buffer_.data() + begin_;
    const std::size_t length =
        found == nullptr ? end_ - begin_ : static_cast<std::size_t>(found - start);
    if (length > kLongestLine) {
      refuse_long_line();
      return false;
    }
    if (found == nullptr && fill()) continue;
    if (begin_ == end_) return false;
    line = {buffer_.data() + begin_, end_ - begin_};
    if (found != nullptr) line = line.substr(0, length);
    writes_over_ = std::exchange(is_written_over_, found != nullptr && *found == '\r');
    begin_ += line.size() + (found == nullptr ? 0 : 1);
    if (!writes_over_) ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    current_ = line;
    return true;
  }
  return false;
}

const char* LineReader::end_of_line() const {
  const char* const start = buffer_.data() + begin_;
  const std::size_t size = std::min(end_ - begin_, kLongestLine + 1);
  const auto* const newline = static_cast<const char*>(std::memchr(start, '\n', size));
  if (ends_ == Ends::at_newline) return newline;
  const std::size_t searched =
      newline == nullptr ? size : static_cast<std::size_t>(newline - start);
  const auto* const over = static_cast<const char*>(std::memchr(start, '\r', searched));
  return over == nullptr ? newline : over;
}

void LineReader::refuse_long_line() {
  const char first = buffer_[begin_];
  const bool is_json = first == '{' || first == '[';
  fail("it has a line of more than 64 KiB, so it is neither a dump nor a log",
       is_json ? "it begins as JSON does, and lines of text are read here" : "", line_ + 1);
}

bool LineReader::fill() {
  if (file_ == nullptr) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  auto* file = static_cast<gzFile>(file_.get());
  const int read =
      gzread(file, buffer_.data() + end_, static_cast<unsigned>(buffer_.size() - end_));
  int error = Z_OK;
  const char* reason = gzerror(file, &error);
  if (read < 0 || error != Z_OK) {
    fail(error == Z_BUF_ERROR ? "the archive ends too early" : reason);
    return false;
  }
  if (read == 0) file_.reset();
  end_ += static_cast<std::size_t>(read);
  const bool is_first = unpacked_ == 0;
  unpacked_ += read;
  if (is_first && !has_lines()) return false;
  if (is_first && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
  }
  return read > 0 && !is_too_long();
}

bool LineReader::has_lines() {
  const ForeignText* const foreign = foreign_text({buffer_.data(), end_});
  if (foreign == nullptr || foreign->has_lines) return true;
  fail(fmt::format("it is {}", foreign->what), std::string(foreign->help));
  return false;
}

bool LineReader::is_too_long() {
  if (unpacked_ > limits().text_bytes) {
    fail("it holds more than " + short_text(Bytes(static_cast<double>(limits().text_bytes))) +
             " of text",
         limit_help(&Limits::text_bytes));
    return true;
  }
  auto* file = static_cast<gzFile>(file_.get());
  if (unpacked_ < kJudgedFrom || gzdirect(file) != 0) return false;
  if (unpacked_ / limits().expansion <= gzoffset(file)) return false;
  fail("it unpacks to more than " + std::to_string(limits().expansion) + " times its size",
       limit_help(&Limits::expansion));
  return true;
}

void LineReader::fail(const std::string& message, const std::string& help, int line) {
  Diagnostic problem;
  problem.message = "cannot read " + in_quotes(path_) + ": " + message;
  problem.help = help;
  problem.location = {.file = path_, .line = line, .column = line > 0 ? 1 : 0};
  diagnostics_.add(std::move(problem));
  file_.reset();
  begin_ = end_ = 0;
}

Diagnostic LineReader::too_many(std::string_view what) const {
  return problem(fmt::format("there are more than {} {}", grouped_digits(limits().cables), what),
                 limit_help(&Limits::cables));
}

Diagnostic LineReader::problem(std::string message, std::string help) const {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.help = std::move(help);
  problem.location = {.file = path_,
                      .line = line_,
                      .column = 1,
                      .length = static_cast<int>(character_count(current_)),
                      .line_text = std::string(current_)};
  return problem;
}

}  // namespace headway
