#include "reports/answers/imported.h"

#include <fmt/format.h>

#include "reports/answers/fabric.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/network/node_type.h"
#include "sim/network/read_topology.h"

namespace headway {

std::string imported_summary(const std::string& text, const ImportFormat& format,
                             Diagnostics& diagnostics) {
  InputFiles files({}, data_folders(), diagnostics);
  auto document = JsonDocument::parse("what was imported", text, diagnostics);
  if (document == nullptr) return "";
  const JsonCursor root(std::move(document));
  if (format.makes_node) {
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
