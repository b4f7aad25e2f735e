#include "sim/jobs/part_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headway {

JsonCursor empty_part(std::string_view name, Diagnostics& diagnostics) {
  return JsonCursor(JsonDocument::parse(std::string(name), "{}", diagnostics));
}

void resolve_part(ObjectReader& strategy, std::string_view name, ObjectReader& part,
                  const std::function<void(nlohmann::json&)>& write) {
  nlohmann::json resolved = part.finish();
  write(resolved);
  strategy.resolve(name, std::move(resolved));
}

}  // namespace headway
