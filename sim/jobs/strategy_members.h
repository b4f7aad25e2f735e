#pragma once

#include "sim/files/field_table.h"
#include "sim/jobs/strategy.h"

namespace headway {

// Beyond any machine or training run, and small enough that products of two do not overflow.
inline constexpr Range kDegree = between(1, 1'000'000);
inline constexpr Range kTokens = between(1, 1'000'000'000);
inline constexpr double kMostLayers = 100'000;

inline constexpr FieldNeed kQuantisedInputs = {
    "precision", "below 16 bits that has no scale for each row",
    "products take what is gathered in 16 bits", "one below 16 bits, such as \"fp8_current\""};

// How fields of a strategy are read and written whose words stand in other tables.

[[nodiscard]] FieldMember<Strategy> number_format();  ///< "bf16", "mxfp8", ...
[[nodiscard]] FieldMember<Strategy> pipeline_schedule();
[[nodiscard]] FieldMember<Strategy> software_memory();
[[nodiscard]] FieldMember<Strategy> update_rule();

/// An object that has a table of fields of its own.
template <class Part>
FieldMember<Strategy> part(Part Strategy::*member, Part (*read)(ObjectReader&, const Part&),
                           const FieldTable<Part>& fields) {
  return {.type = object_type(),
          .read = [=](ObjectReader& reader, std::string_view, bool,
                      Strategy& strategy) { strategy.*member = read(reader, strategy.*member); },
          .children = fields.described()};
}

}  // namespace headway
