#pragma once

#include <functional>
#include <string_view>

#include "sim/files/json_reader.h"

namespace headway {

/// Hands each element of the array member `key` of `parent` to `read`, reports the fields of an
/// element that nobody asked for, and resolves the member to what was understood. An absent member
/// has no elements; anything else than an array is reported.
void read_objects(ObjectReader& parent, std::string_view key,
                  const std::function<void(ObjectReader&)>& read);

}  // namespace headway
