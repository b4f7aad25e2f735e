#pragma once

#include <string>

#include "sim/files/field_table.h"

namespace headway {

/// The fields of a family: its table, and what every model says of itself.
template <class Fields>
Fields read_family_fields(ObjectReader& reader, const FieldTable<Fields>& table,
                          const std::string& name) {
  Fields fields;
  fields.name = reader.text("name", name);
  fields.source = reader.text("source", "");
  table.read(reader, fields);
  return fields;
}

}  // namespace headway
