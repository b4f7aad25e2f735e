#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "sim/files/field_table.h"

namespace headway {

/// Hands each element of the array member `key` of `parent` to `read`, reports the fields of an
/// element that nobody asked for, and resolves the member to what was understood. An absent member
/// has no elements; anything else than an array is reported.
void read_objects(ObjectReader& parent, std::string_view key,
                  const std::function<void(ObjectReader&)>& read);

/// A list of objects with a table of their own: `take(reader, entry, object)` gets each.
template <class Object, class Entry, class Take>
FieldMember<Object> entries(FieldTable<Entry> fields, Take take) {
  std::vector<FieldDescription> children = fields.described();
  return {.type = array_type(object_type(), "objects"),
          .read =
              [fields = std::move(fields), take = std::move(take)](
                  ObjectReader& reader, std::string_view key, bool, Object& object) {
                read_objects(reader, key, [&](ObjectReader& element) {
                  Entry entry{};
                  fields.read(element, entry);
                  take(element, entry, object);
                });
              },
          .children = std::move(children)};
}

}  // namespace headway
