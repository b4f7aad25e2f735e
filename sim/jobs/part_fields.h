#pragma once

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sim/files/field_table.h"

namespace headway {

/// An object without fields.
[[nodiscard]] JsonCursor empty_part(std::string_view name, Diagnostics& diagnostics);
/// Whether it is an object; if not, says how `name` is written, whose first field is `first`.
[[nodiscard]] bool is_part(const JsonCursor& given, std::string_view name, std::string_view first,
                           Diagnostics& diagnostics);
/// Resolves it, `write` setting what its fields say.
void resolve_part(ObjectReader& strategy, std::string_view name, ObjectReader& part,
                  const std::function<void(nlohmann::json&)>& write);

/// An object `name` inside a strategy, `habits` where it says nothing; resolved only where somebody
/// says something (`are_idle`: the habits do not). A field that another one makes meaningless is a
/// problem; of one without a need its range says all.
template <class Part>
Part read_part(ObjectReader& strategy, std::string_view name, const FieldTable<Part>& fields,
               const Part& habits, bool are_idle) {
  const std::optional<JsonCursor> given = strategy.part(name);
  if (!given && are_idle) return habits;
  Diagnostics& diagnostics = strategy.diagnostics();
  if (given && !is_part(*given, name, fields.fields().front().name, diagnostics)) return habits;
  ObjectReader reader(given ? *given : empty_part(name, diagnostics), diagnostics);
  Part read = habits;
  fields.read(reader, read);
  for (const auto& [field, member, notes] : fields.fields()) {
    if (member.need.field.empty() || member.is_used(read) || !reader.has(field)) continue;
    reader.report(
        field, fmt::format("{} needs {} {}", field, member.need.field, member.need.value),
        std::string(member.need.why),
        fmt::format("leave it out, or set {} to {}", member.need.field, member.need.value));
  }
  resolve_part(strategy, name, reader, [&](nlohmann::json& json) { fields.write(read, json); });
  return read;
}

}  // namespace headway
