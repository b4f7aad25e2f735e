#include "sim/reference/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "sim/base/file_text.h"
#include "sim/base/refuse.h"
#include "sim/base/utf8.h"
#include "sim/costs/accelerators.h"
#include "sim/files/input_files.h"
#include "sim/jobs/frameworks.h"
#include "sim/jobs/optimizers.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/launch/flag_table.h"
#include "sim/models/families.h"
#include "sim/models/listed/layer_operators.h"
#include "sim/reference/explain_file.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// A kind that stands in files.
struct FileKind {
  std::string name;
  std::vector<std::string> folders;  ///< in a data folder
  std::string schema;
};

const std::vector<FileKind>& file_kinds() {
  static const std::vector<FileKind> kKinds = {
      {"models", {"scenarios/models"}, "headway/model/1"},
      {"topologies", {"topologies"}, "headway/topology/1"},
      {"profiles", profile_folders(), "headway/profile/1"},
      {"scenarios", {"scenarios"}, "headway/scenario/1"},
  };
  return kKinds;
}

/// Whether the name leads into a folder within this one that has files of its own: models stand
/// below scenarios.
bool is_of_another_folder(const std::string& folder, const std::string& name) {
  return std::ranges::any_of(file_kinds(), [&](const FileKind& other) {
    return std::ranges::any_of(other.folders, [&](const std::string& within) {
      return within.starts_with(folder + "/") && (folder + "/" + name).starts_with(within + "/");
    });
  });
}

/// Whether the file says that it is something else (a node type, a schema for editors).
bool is_of_another_kind(const JsonDocument& document, const std::string& schema) {
  const nlohmann::json& root = document.root();
  if (!root.is_object()) return false;
  const auto found = root.find("schema");
  if (found == root.end()) return root.contains("$schema");
  return found->is_string() && *found != schema;
}

std::string first_problem(const Diagnostics& diagnostics) {
  for (const Diagnostic& problem : diagnostics.all()) {
    if (problem.severity != Severity::error) continue;
    const int line = problem.location.line;
    return printable(fmt::format("cannot be read: {}{}",
                                 line > 0 ? fmt::format("line {}: ", line) : "", problem.message));
  }
  return "cannot be read";
}

/// What the catalog says of a file: nothing if it is of another kind, the reason if it is broken.
std::optional<std::string> about_file(const FileKind& kind, const std::string& path) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::read(path, diagnostics);
  if (document == nullptr) return first_problem(diagnostics);
  if (is_of_another_kind(*document, kind.schema)) return std::nullopt;
  const auto explained = explained_file(path, {}, diagnostics);
  return explained ? explained->about : first_problem(diagnostics);
}

std::vector<CatalogEntry> files_of(const FileKind& kind) {
  std::vector<CatalogEntry> entries;
  std::set<std::string> names;
  for (const fs::path& data : data_folders()) {
    for (const std::string& folder : kind.folders) {
      for (const std::string& name : json_files_below(data / folder)) {
        // A name is looked up in the folders in turn: the first one that has it hides the others.
        if (is_of_another_folder(folder, name) || !names.insert(name).second) continue;
        const std::string path = (data / folder / (name + ".json")).lexically_normal().string();
        if (auto about = about_file(kind, path)) entries.push_back({name, std::move(*about), path});
      }
    }
  }
  std::ranges::sort(entries, {}, &CatalogEntry::name);
  return entries;
}

std::vector<CatalogEntry> preset_entries() {
  std::vector<CatalogEntry> entries;
  for (const Framework& framework : frameworks()) {
    entries.push_back({framework.name, framework.about, ""});
  }
  std::ranges::sort(entries, {}, &CatalogEntry::name);
  return entries;
}

std::vector<CatalogEntry> family_entries() {
  std::vector<CatalogEntry> entries;
  for (const ModelFamily& family : model_families()) {
    entries.push_back({std::string(family.name), std::string(family.what), ""});
  }
  return entries;
}

std::vector<CatalogEntry> operator_entries() {
  std::vector<CatalogEntry> entries;
  for (const LayerOperator& one : layer_operators()) {
    entries.push_back(
        {std::string(one.name), fmt::format("{}; takes {}", one.what, one.takes), ""});
  }
  return entries;
}

std::vector<CatalogEntry> schedule_entries() {
  std::vector<CatalogEntry> entries;
  for (const Schedule& schedule : schedules()) {
    entries.push_back({std::string(schedule.name), std::string(schedule.what), ""});
  }
  return entries;
}

std::vector<CatalogEntry> optimizer_entries() {
  std::vector<CatalogEntry> entries;
  for (const Optimizer& optimizer : optimizers()) {
    entries.push_back({std::string(optimizer.name),
                       fmt::format("{}; {:.4g} bytes a parameter beside its weight ({})",
                                   optimizer.what, optimizer.state_bytes, optimizer.source),
                       ""});
  }
  return entries;
}

/// What says a field to each framework: "Megatron-LM: --flag; DeepSpeed: none".
std::vector<CatalogEntry> flag_entries() {
  const auto said = [](std::string_view flags) {
    if (flags == kNoFlag) return std::string("none");
    if (flags == kOfScript) return std::string("the script");
    std::string text(flags);
    std::ranges::replace(text, '\n', ' ');
    return text.empty() ? "unasked" : text;
  };
  std::vector<CatalogEntry> entries;
  for (const FlagRow& row : flag_table()) {
    std::string about;
    for (const auto& [unused, framework] : kWords<LaunchFramework>) {
      about += fmt::format("{}{}: {}", about.empty() ? "" : "; ", framework_title(framework),
                           said(row.flags[static_cast<std::size_t>(framework)]));
    }
    entries.push_back({fmt::format("{}={}", row.field, row.value), std::move(about), ""});
  }
  return entries;
}

/// What is listed and no file of its own folder.
struct BuiltInKind {
  std::string_view name;
  std::vector<CatalogEntry> (*entries)();
};
constexpr std::array<BuiltInKind, 6> kBuiltIn = {{{"presets", preset_entries},
                                                  {"families", family_entries},
                                                  {"operators", operator_entries},
                                                  {"schedules", schedule_entries},
                                                  {"optimizers", optimizer_entries},
                                                  {"flags", flag_entries}}};

}  // namespace

const std::vector<std::string>& catalog_kinds() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const FileKind& kind : file_kinds()) names.push_back(kind.name);
    for (const BuiltInKind& kind : kBuiltIn) names.emplace_back(kind.name);
    return names;
  }();
  return kNames;
}

std::vector<CatalogEntry> catalog(const std::string& kind) {
  for (const BuiltInKind& built_in : kBuiltIn) {
    if (kind == built_in.name) return built_in.entries();
  }
  const auto found = std::ranges::find(file_kinds(), kind, &FileKind::name);
  if (found != file_kinds().end()) return files_of(*found);
  refuse(fmt::format("there is no list of {}", in_quotes(kind)), name_help(kind, catalog_kinds()));
}

}  // namespace headway
