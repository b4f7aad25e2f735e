#include "sim/base/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr std::array<NamedLimit, 10> kNamedLimits{{
    {"file_bytes", &Limits::file_bytes, "bytes of a file that is read whole"},
    {"values", &Limits::values, "values of a JSON document"},
    {"text_bytes", &Limits::text_bytes, "bytes of a dump or a trace, unpacked"},
    {"expansion", &Limits::expansion, "unpacked bytes of a dump or a trace for each packed one"},
    {"rows", &Limits::rows, "rows of a trace"},
    {"hosts", &Limits::hosts, "hosts that the host lists of a file stand for"},
    {"cables", &Limits::cables, "cables of a generated fabric"},
    {"passes", &Limits::passes, "passes of micro-batches through the chunks of a model"},
    {"messages", &Limits::messages, "messages of all-to-alls that run at once"},
    {"problems", &Limits::problems, "problems that are shown; the others are counted"},
}};

}  // namespace

Limits& limits() {
  static Limits of_process;
  return of_process;
}

std::span<const NamedLimit> named_limits() { return kNamedLimits; }

std::string limit_help(std::int64_t Limits::*value) {
  const auto* const named = std::ranges::find(kNamedLimits, value, &NamedLimit::value);
  HEADWAY_CHECK(named != kNamedLimits.end(), "a limit without a name");
  return fmt::format("--limit {}=NUMBER allows more", named->name);
}

}  // namespace headway
