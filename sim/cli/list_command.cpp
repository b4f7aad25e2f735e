#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text_table.h"
#include "sim/cli/common_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/json_output.h"
#include "sim/study/catalog.h"

namespace headway {
namespace {

std::string list_text(const std::vector<CatalogEntry>& entries) {
  TextTable table({{"name"}, {"what it is"}});
  for (const CatalogEntry& entry : entries) table.add_row({entry.name, entry.about});
  return table.text();
}

nlohmann::json list_json(const std::string& kind, const std::vector<CatalogEntry>& entries) {
  nlohmann::json list = nlohmann::json::array();
  for (const CatalogEntry& entry : entries) {
    list.push_back({{"name", entry.name},
                    {"about", entry.about},
                    {"path", entry.path.empty() ? nlohmann::json() : nlohmann::json(entry.path)}});
  }
  return {{"schema", "headway/list/1"}, {"kind", kind}, {"entries", list}};
}

int run_list(const Invocation& invocation) {
  const std::string& kind = invocation.arguments.positional().front();
  const std::vector<CatalogEntry> entries = catalog(kind);
  invocation.terminal.print(invocation.arguments.has("json")
                                ? json_document_text(list_json(kind, entries))
                                : list_text(entries));
  return kExitDone;
}

}  // namespace

Command list_command() {
  Command command;
  command.name = "list";
  command.group = "Look up";
  command.arguments = "KIND";
  command.summary = "models, topologies, profiles, scenarios, presets";
  command.about = fmt::format(
      "Lists what ships with Headway and can be named in a scenario. "
      "KIND is one of {}.",
      fmt::join(catalog_kinds(), ", "));
  command.examples = {
      {"headway list models", "the model library, with sizes"},
      {"headway list topologies --json", "for a script: names, descriptions and paths"},
  };
  command.options = with_standard_options({json_option()});
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was listed";
  command.details =
      "A file that cannot be read is listed with the reason. Files in $HEADWAY_DATA_DIR come "
      "before "
      "installed ones of the same name.";
  command.run = run_list;
  return command;
}

}  // namespace headway
