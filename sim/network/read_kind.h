#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/files/field_type.h"
#include "sim/files/json_reader.h"

namespace headway {

/// The kind that /kind names, or nothing if it names none (which is reported).
template <class Kind>
const Kind* read_kind(ObjectReader& reader, std::span<const Kind> kinds,
                      const Kind* fallback = nullptr) {
  if (!reader.cursor().is_object()) return nullptr;  // reported by the reader
  std::vector<std::pair<std::string_view, const Kind*>> words;
  for (const Kind& kind : kinds) words.emplace_back(kind.name, &kind);
  const std::size_t problems = reader.diagnostics().all().size();
  const Words<const Kind*> table(words);
  const Kind* kind = fallback == nullptr ? reader.choice<const Kind*>("kind", table)
                                         : reader.choice<const Kind*>("kind", table, fallback);
  return reader.diagnostics().all().size() == problems ? kind : nullptr;
}

template <class Kind>
std::vector<std::string_view> names_of_kinds(std::span<const Kind> kinds) {
  std::vector<std::string_view> names;
  for (const Kind& kind : kinds) names.push_back(kind.name);
  return names;
}

/// The fields that objects of one kind have.
struct FieldsOfKind {
  std::string_view kind;
  std::vector<FieldDescription> fields;
};
/// Those of all kinds. What several have is told once, with whose it is and where they differ.
[[nodiscard]] std::vector<FieldDescription> told_once(const std::vector<FieldsOfKind>& kinds);

/// The same of a table of kinds, of which some have no fields.
template <class Kind>
std::vector<FieldDescription> fields_of_kinds(std::span<const Kind> kinds) {
  std::vector<FieldsOfKind> all;
  for (const Kind& kind : kinds) {
    all.push_back({kind.name, kind.fields ? kind.fields() : std::vector<FieldDescription>()});
  }
  return told_once(all);
}

}  // namespace headway
