#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "sim/base/json_reader.h"

namespace headway {

/// Hands each element of the array member `key` of `parent` to `read(ObjectReader&)`, reports the
/// fields of an element that nobody asked for, and resolves the member to what was understood.
/// An absent member has no elements; anything else than an array is reported.
template <class Read>
void read_objects(ObjectReader& parent, std::string_view key, Read&& read) {
  nlohmann::json resolved = nlohmann::json::array();
  for (const JsonCursor& element : parent.elements(key)) {
    ObjectReader object(element, parent.diagnostics());
    read(object);
    resolved.push_back(object.finish());
  }
  parent.resolve(key, std::move(resolved));
}

}  // namespace headway
