#include "sim/jobs/part_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_value_text.h"

namespace headway {

JsonCursor empty_part(std::string_view name, Diagnostics& diagnostics) {
  return JsonCursor(JsonDocument::parse(std::string(name), "{}", diagnostics));
}

bool is_part(const JsonCursor& given, std::string_view name, std::string_view first,
             Diagnostics& diagnostics) {
  if (given.is_object()) return true;
  diagnostics.add(given.problem(
      fmt::format("\"{}\" must be an object", name), kind_text(given.value()),
      fmt::format("write \"{}\": {{\"{}\": ...}}; `headway explain strategy.{}` lists its fields",
                  name, first, name)));
  return false;
}

void resolve_part(ObjectReader& strategy, std::string_view name, ObjectReader& part,
                  const std::function<void(nlohmann::json&)>& write) {
  nlohmann::json resolved = part.finish();
  write(resolved);
  strategy.resolve(name, std::move(resolved));
}

}  // namespace headway
