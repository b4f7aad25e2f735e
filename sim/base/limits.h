#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headway {

/// What an input may ask for before it is refused, so that a slip, or a file made for it, costs a
/// message and not the machine. Each is far beyond inputs that exist.
struct Limits {
  std::int64_t file_bytes = std::int64_t{256} << 20;  ///< of a file that is read whole
  std::int64_t values = 10'000'000;                   ///< of a JSON document, each about 100 bytes
  std::int64_t text_bytes = std::int64_t{2} << 30;    ///< of a dump or a trace, unpacked
  std::int64_t expansion = 100;                       ///< unpacked bytes for a packed one
  std::int64_t rows = 10'000'000;                     ///< of a trace
  std::int64_t hosts = 1 << 20;                       ///< that host lists of a file stand for
  std::int64_t cables = 4'000'000;                    ///< of a generated fabric
  std::int64_t passes = 4'000'000;      ///< of micro-batches through chunks of a model
  std::int64_t messages = 100'000'000;  ///< of all-to-alls that run at once
  std::int64_t problems = 100;          ///< that are shown; the others are counted
};

/// Those of this process. The command line sets them before anything is read.
[[nodiscard]] Limits& limits();

/// One of them as `--limit NAME=NUMBER` names it.
struct NamedLimit {
  std::string_view name;
  std::int64_t Limits::*value;
  std::string_view about;  ///< a clause, no full stop
};
[[nodiscard]] std::span<const NamedLimit> named_limits();

/// "--limit hosts=NUMBER allows more": how a message says what to do about a limit.
[[nodiscard]] std::string limit_help(std::int64_t Limits::*value);

}  // namespace headway
