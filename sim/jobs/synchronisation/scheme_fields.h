#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/files/field_table.h"
#include "sim/jobs/synchronisation/synchronisation.h"

namespace headway {

/// A scheme's row about its `settings` as one about whatever a job has chosen: it says something
/// where that is this scheme.
template <class Scheme, class Settings>
FieldMember<Synchronisation> of_scheme(const FieldMember<Settings>& member) {
  static const Scheme kUntold;
  static const std::string kName = fmt::format("\"{}\"", kUntold.name());
  const auto chosen = [](const Synchronisation& how) {
    return dynamic_cast<const Scheme*>(how.scheme.get());
  };
  FieldMember<Synchronisation> row{
      .type = member.type,
      .read =
          [=, read = member.read](ObjectReader& reader, std::string_view key, bool required,
                                  Synchronisation& how) {
            // Of another scheme it is read all the same: what is wrong with it is told too.
            const Scheme* scheme = chosen(how);
            const auto told = std::make_shared<Scheme>(scheme == nullptr ? kUntold : *scheme);
            read(reader, key, required, told->settings);
            if (scheme != nullptr) how.scheme = told;
          },
      .write =
          [=, write = member.write](const Synchronisation& how) {
            const Scheme* scheme = chosen(how);
            return write(scheme == nullptr ? kUntold.settings : scheme->settings);
          }};
  row.is_used = [=, is_used = member.is_used](const Synchronisation& how) {
    const Scheme* scheme = chosen(how);
    return scheme != nullptr && (!is_used || is_used(scheme->settings));
  };
  row.need =
      member.need.field.empty() ? FieldNeed{"scheme", kName, "it says nothing here"} : member.need;
  return row;
}

template <class Scheme>
std::vector<Field<Synchronisation>> fields_of(
    const FieldTable<decltype(Scheme::settings)>& settings) {
  std::vector<Field<Synchronisation>> rows;
  for (const auto& [name, member, notes] : settings.fields()) {
    rows.push_back({name, of_scheme<Scheme>(member), notes});
  }
  return rows;
}

}  // namespace headway
