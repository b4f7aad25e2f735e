#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sim/files/json_reader.h"

namespace headway {

/// The kind that /kind names, or nothing if it names none (which is reported).
template <class Kind>
const Kind* read_kind(ObjectReader& reader, std::span<const Kind> kinds,
                      const Kind* fallback = nullptr) {
  if (!reader.cursor().value().is_object()) return nullptr;
  std::vector<std::pair<std::string_view, const Kind*>> words;
  for (const Kind& kind : kinds) words.emplace_back(kind.name, &kind);
  const std::size_t problems = reader.diagnostics().all().size();
  const Words<const Kind*> table(words);
  const Kind* kind = fallback == nullptr ? reader.choice<const Kind*>("kind", table)
                                         : reader.choice<const Kind*>("kind", table, fallback);
  return reader.diagnostics().all().size() == problems ? kind : nullptr;
}

}  // namespace headway
