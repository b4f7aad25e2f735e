#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// How to mend a line that no tool writes.
inline constexpr const char* kHelpOfBrokenLine =
    "dump it again if it was cut off or edited, and keep out of it what the tool prints on "
    "standard "
    "error: 2> errors.txt";

/// Part of a line, without blanks at its ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

/// The first bytes of a text file that may be gzipped, as many as tell what it is
/// (sim/files/kinds/foreign_text.h); fewer, or none, of one that cannot be read.
[[nodiscard]] std::string beginning_of(const std::string& path);

/// The lines of a text file that may be gzipped, one after the other, in memory that does not grow
/// with the file. "-" is standard input.
class LineReader {
 public:
  /// Where a line ends: progress bars go back to its start and write over it, so that a whole
  /// training may be one line.
  enum class Ends { at_newline, where_written_over };

  /// A file that cannot be opened is reported and has no lines.
  LineReader(std::string path, Diagnostics& diagnostics, Ends ends = Ends::at_newline);

  /// The next line, without its end; false after the last. `line` is valid until the next call. A
  /// broken archive, one that unpacks to more than limits() allow, or a line of more than 64 KiB is
  /// reported and ends the file. So do 20 problems since the file was opened, whoever reported
  /// them: a file of another kind need not be judged line by line.
  [[nodiscard]] bool next(std::string_view& line);

  /// Whether it ended for its many problems.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

  /// Whether the line last read writes over the one before it.
  [[nodiscard]] bool writes_over() const { return writes_over_; }
  /// The number of the line last read, from 1; 0 before the first. One that writes over another has
  /// its number.
  [[nodiscard]] int line_number() const { return line_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Says that the file has more `what` than there may be cables.
  [[nodiscard]] Diagnostic too_many(std::string_view what) const;
  /// A problem of the line last read.
  [[nodiscard]] Diagnostic problem(std::string message, std::string help = "") const;

 private:
  struct Closing {
    void operator()(void* file) const;
  };
  /// Moves what is left to the front of the buffer and reads more behind it; false at the end.
  [[nodiscard]] bool fill();
  /// Where the line that begins here ends; nullptr if that is not read yet.
  [[nodiscard]] const char* end_of_line() const;
  /// Reports what begins like something else than lines of text.
  [[nodiscard]] bool has_lines();
  void refuse_long_line();
  void fail(const std::string& message, const std::string& help = "", int line = 0);
  /// Reports text that is too long, as it is or for what it was packed from.
  [[nodiscard]] bool is_too_long();

  std::string path_;
  Diagnostics& diagnostics_;
  std::size_t problems_before_;
  bool gave_up_ = false;
  Ends ends_;
  bool writes_over_ = false;
  bool is_written_over_ = false;  ///< the line last read, by the next
  std::unique_ptr<void, Closing> file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::int64_t unpacked_ = 0;  ///< bytes so far
  int line_ = 0;
  std::string_view current_;
};

}  // namespace headway
