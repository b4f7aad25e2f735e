#pragma once

#include <string_view>

#include "sim/base/json_reader.h"

namespace headway {

/// Checks the schema of an object that is either a file of its own, which must name it, or a part
/// written in place inside another document, which may.
inline void read_schema_of_file(ObjectReader& reader, std::string_view expected) {
  const bool is_file = reader.cursor().pointer().empty();
  if (is_file || reader.has("schema")) {
    read_schema(reader, expected);
  } else {
    reader.resolve("schema", std::string(expected));  // what is written out is a file of its own
  }
}

}  // namespace headway
