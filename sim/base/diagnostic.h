#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace headway {

/// Where something stands in an input. `line` and `column` count from 1; line 0 means that the
/// input as a whole is meant (a missing file, say). `length` is how many characters to underline.
struct SourceLocation {
  std::string file = {};  ///< as the user named it; "-" is standard input, "--set ..." an override
  int line = 0;
  int column = 0;
  int length = 0;
  std::string line_text = {};  ///< the source line, for the excerpt; empty if there is none
};

enum class Severity { error, warning };

/// One problem of the input, with all that a reader needs to mend it.
struct Diagnostic {
  /// Another place that explains the problem ("/model/attention_heads is 96").
  struct Related {
    SourceLocation location = {};
    std::string pointer = {};
    std::string message = {};
  };

  Severity severity = Severity::error;
  std::string message = {};  ///< what is wrong, one line, no full stop
  SourceLocation location = {};
  std::string pointer = {};  ///< JSON pointer, empty outside JSON
  std::string label = {};    ///< beside the underline: "10 does not divide 96"; may be empty
  std::vector<Related> related = {};
  std::string help = {};           ///< how to mend it; may be empty
  std::string unknown_field = {};  ///< its name, if the problem is that nobody knows it there
};

/// Collects problems so that all of them are reported at once.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  void append(const Diagnostics& others);

  [[nodiscard]] bool has_errors() const { return errors() > 0; }
  /// How many, warnings not among them.
  [[nodiscard]] std::size_t errors() const;
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }

  /// Throws InputError holding everything collected if there is an error among it.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> all_;
};

/// The input is wrong: every problem found. Exit code 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(std::vector<Diagnostic> diagnostics);
  explicit InputError(Diagnostic diagnostic);
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The machine did not do what was asked of it (no such device, disk full). Exit code 3.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A bug of ours: an invariant that valid input cannot break was broken. Exit code 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// The form that people read (colour marks are added only when `colour` is set):
///
///     error: tensor_parallel must divide the attention heads
///       --> scenarios/gpt3.json:14:24   /strategy/tensor_parallel
///        |
///     14 |     "tensor_parallel": 10,
///        |                        ^^ 10 does not divide 96
///        |
///       ::: scenarios/gpt3.json:6:24   /model/attention_heads is 96
///       help: use 8 or 12
[[nodiscard]] std::string rendered(const Diagnostic& diagnostic, bool colour = false);

/// One diagnostic in braces is not a list: rendered({d}, "nothing was simulated.") would otherwise
/// take its text for the colour switch.
std::string rendered(const Diagnostic& diagnostic, const char* outcome) = delete;

/// All of them, a blank line between two, closed by "3 problems in 2 files; nothing was
/// simulated." where `outcome` is the part after the semicolon. Warnings alone have no closing.
[[nodiscard]] std::string rendered(const std::vector<Diagnostic>& diagnostics,
                                   const std::string& outcome, bool colour = false);

namespace internal {
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               const std::string& message);
}

/// Throws InternalError, naming the place, unless `condition` holds.
#define HEADWAY_CHECK(condition, message)                                           \
  do {                                                                              \
    if (!(condition)) {                                                             \
      ::headway::internal::check_failed(#condition, __FILE__, __LINE__, (message)); \
    }                                                                               \
  } while (false)

}  // namespace headway
