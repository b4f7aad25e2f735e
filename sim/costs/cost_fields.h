#pragma once

#include "sim/costs/profile.h"
#include "sim/costs/read_estimate.h"
#include "sim/files/field_table.h"

namespace headway {

/// A number with its spread and its source that a profile may have; `unit` in words where it has
/// one. A std::optional is not known without it.
template <class Object, class Held>
FieldMember<Object> known_estimate(Held Object::*member, Range range, std::string_view unit = {}) {
  FieldType type = number_type(range);
  if (!unit.empty()) type.text = unit;
  return {.type = std::move(type),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                if (!required && !reader.has(key)) return;
                object.*member = read_estimate(reader, key, range);
              },
          .write =
              [=](const Object& object) {
                if constexpr (kMayBeMissing<Held>) {
                  return object.*member ? json_of((object.*member)->value) : JsonValue();
                } else {
                  return json_of((object.*member).value);
                }
              }};
}

/// One that it has to have.
template <class Object>
FieldMember<Object> estimate(Estimate Object::*member, Range range, std::string_view unit = {}) {
  return known_estimate(member, range, unit).required();
}

// Of "device", of each of "kernel_families", and the other objects of a profile.
[[nodiscard]] const FieldTable<DeviceCosts>& device_fields();
[[nodiscard]] const FieldTable<AttentionKernel>& attention_kernel_fields();  // each of a device's
[[nodiscard]] const FieldTable<KernelFamily>& family_fields();
[[nodiscard]] const FieldTable<Profile>& cost_fields();

}  // namespace headway
