#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "sim/base/words.h"

namespace headway {

/// When something that suits people only is shown.
enum class When { automatic, always, never };
template <>
inline constexpr Word<When> kWords<When>[] = {
    {"auto", When::automatic}, {"always", When::always}, {"never", When::never}};

/// The two streams that a command writes to, and whether they bear colour. Nothing else in the
/// program writes to them. Text is not buffered, so that a forked child has none to write again.
class Terminal {
 public:
  /// Colours follow $HEADWAY_COLOR, else $NO_COLOR, $TERM and whether the stream is a terminal.
  /// Throws InputError if $HEADWAY_COLOR is no word of --color.
  Terminal();
  /// Without colours, whatever the environment says.
  [[nodiscard]] static Terminal plain() { return Terminal(When::never); }

  /// What --color says, which wins over the environment.
  void set_colour(When when) { colour_ = when; }
  void set_quiet(bool quiet) { quiet_ = quiet; }
  void set_verbose(bool verbose) { verbose_ = verbose; }

  /// The result, to standard output. Once its reader has gone away (`| head`) nothing more is
  /// written and nobody is told; any other failure is an EnvironmentError.
  void print(std::string_view text);
  /// The same of what is too long to hold: `write` is given a stream.
  void print(const std::function<void(std::ostream&)>& write);

  /// Errors, to standard error.
  void report(std::string_view text);
  /// Warnings and remarks, to standard error unless --quiet.
  void narrate(std::string_view text);
  /// What only --verbose asks for.
  void remark(std::string_view text);

  [[nodiscard]] bool colours_output() const;
  /// Columns of the terminal that the result goes to, or $COLUMNS where that is set; as many as one
  /// likes where neither says.
  [[nodiscard]] std::size_t columns() const;
  [[nodiscard]] bool colours_errors() const;
  [[nodiscard]] bool errors_are_seen() const { return error_is_terminal_; }  ///< it is a terminal
  [[nodiscard]] bool is_quiet() const { return quiet_; }

 private:
  explicit Terminal(When colour);
  [[nodiscard]] bool colours(bool is_terminal) const;

  When colour_ = When::automatic;
  bool output_is_terminal_;
  bool error_is_terminal_;
  bool is_plain_;  ///< $NO_COLOR or a dumb terminal
  bool quiet_ = false;
  bool verbose_ = false;
  bool reader_is_gone_ = false;
};

}  // namespace headway
