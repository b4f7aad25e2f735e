#pragma once

#include <string_view>

#include "sim/files/json_reader.h"

namespace headway {

/// Checks the schema of an object that is either a file of its own, which must name it, or a part
/// written in place inside another document, which may. False for one of another kind.
inline bool read_schema_of_file(ObjectReader& reader, std::string_view expected) {
  const bool is_file = reader.cursor().pointer().empty();
  if (is_file || reader.has("schema")) return read_schema(reader, expected);
  reader.resolve("schema", std::string(expected));  // what is written out is a file of its own
  return true;
}

}  // namespace headway
