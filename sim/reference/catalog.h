#pragma once

#include <string>
#include <vector>

namespace headway {

/// Something that ships with the program and can be named in a scenario.
struct CatalogEntry {
  std::string name;   ///< as a scenario names it: "llama3_405b"
  std::string about;  ///< "405.9 B parameters, 126 layers, ..."
  std::string path;
};

/// `kind` is "models", "topologies", "profiles", "scenarios", "presets", "families" (of
/// models), "schedules" (of pipelines) or "flags" (what says fields of a strategy to frameworks).
/// Files and presets in order of names.
[[nodiscard]] std::vector<CatalogEntry> catalog(const std::string& kind);

/// The kinds, for messages and completion.
[[nodiscard]] const std::vector<std::string>& catalog_kinds();

}  // namespace headway
