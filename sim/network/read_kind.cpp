#include "sim/network/read_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/join_words.h"

namespace headway {
namespace {

/// A field, and what the kinds that have it say of it.
struct FieldOfKinds {
  FieldDescription field;
  std::vector<std::string_view> kinds;
  std::vector<std::pair<std::string, std::vector<std::string_view>>> defaults;

  void add(const FieldDescription& same, std::string_view kind) {
    if (kinds.empty()) field = same;
    kinds.push_back(kind);
    const FieldNotes& notes = same.notes;
    if (field.notes.about.find(notes.about) == std::string::npos)
      field.notes.about += " " + notes.about;
    if (field.notes.limits.find(notes.limits) == std::string::npos)
      add_limit(field.notes, notes.limits);
    if (field.notes.see.empty()) field.notes.see = notes.see;
    const bool is_known_type = field.type.text.find(same.type.text) != std::string::npos;
    if (!is_known_type) field.type = either(field.type, same.type);
    if (field.value != same.value) field.value = {};
    field.required = field.required && same.required;
    auto known =
        std::ranges::find(defaults, notes.fallback, [](const auto& of) { return of.first; });
    if (known == defaults.end()) known = defaults.insert(known, {notes.fallback, {}});
    known->second.push_back(kind);
  }

  [[nodiscard]] FieldDescription told(std::size_t all_kinds) const {
    FieldDescription told = field;
    const bool is_part_of_another = told.name.find('.') != std::string::npos;
    if (!is_part_of_another) {
      told.required = false;
      if (kinds.size() < all_kinds)
        add_limit(told.notes, fmt::format("of {}", join_words(kinds, ", ")));
    }
    if (defaults.size() == 1) return told;
    told.notes.fallback.clear();
    for (const auto& [words, of] : defaults) {
      told.notes.fallback += fmt::format("{}{} ({})", told.notes.fallback.empty() ? "" : "; ",
                                         words, join_words(of, ", "));
    }
    return told;
  }
};

}  // namespace

std::vector<FieldDescription> told_once(const std::vector<FieldsOfKind>& kinds) {
  std::vector<FieldOfKinds> fields;
  for (const auto& [kind, of_kind] : kinds) {
    for (const FieldDescription& field : of_kind) {
      auto known = std::ranges::find(fields, field.name,
                                     [](const FieldOfKinds& of) { return of.field.name; });
      if (known == fields.end()) known = fields.insert(known, FieldOfKinds{});
      known->add(field, kind);
    }
  }
  std::vector<FieldDescription> all;
  for (const FieldOfKinds& field : fields) all.push_back(field.told(kinds.size()));
  return all;
}

}  // namespace headway
