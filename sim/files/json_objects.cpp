#include "sim/files/json_objects.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace headway {

void read_objects(ObjectReader& parent, std::string_view key,
                  const std::function<void(ObjectReader&)>& read) {
  nlohmann::json resolved = nlohmann::json::array();
  for (const JsonCursor& element : parent.elements(key)) {
    ObjectReader object(element, parent.diagnostics());
    read(object);
    resolved.push_back(object.finish());
  }
  parent.resolve(key, std::move(resolved));
}

}  // namespace headway
