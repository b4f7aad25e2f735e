#include "reports/answers/imported.h"

#include <fmt/format.h>

#include "reports/answers/fabric.h"
#include "sim/base/file_text.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/network/node_type.h"
#include "sim/network/read_topology.h"
#include "sim/predict/question.h"

namespace headway {
namespace {

/// It was read before, with all its problems told.
std::string scenario_summary(const std::string& text) {
  const HeldFile held("what was imported", text);
  Diagnostics told_before;
  const Scenario scenario = read_scenario("what was imported", {}, told_before);
  const Question question = question_of(scenario, "");
  return fmt::format("{} on {} x {}, {}\n", printable(question.model), question.nodes,
                     printable(question.node_type), question.strategy);
}

}  // namespace

std::string imported_summary(const std::string& text, const ImportFormat& format,
                             Diagnostics& diagnostics) {
  if (format.makes == ImportedKind::scenario) return scenario_summary(text);
  InputFiles files({}, data_folders(), diagnostics);
  auto document = JsonDocument::parse("what was imported", text, diagnostics);
  if (document == nullptr) return "";
  const JsonCursor root(std::move(document));
  if (format.makes == ImportedKind::node) {
    const auto read = read_node_type(root, files);
    if (!read) return "";
    return fmt::format("{}: {} ({}), {} of {}\n", printable(read->type.name),
                       counted(read->type.accelerators, "accelerator"),
                       printable(read->type.accelerator), counted(read->type.nics, "NIC"),
                       short_text(read->type.nic_bandwidth));
  }
  const auto read = read_topology(root, files);
  if (!read) return "";
  return fabric_counts(*read->cluster) + "\n";
}

}  // namespace headway
