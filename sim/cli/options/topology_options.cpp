#include "sim/cli/options/topology_options.h"

#include <optional>

#include "sim/cli/options/scenario_options.h"
#include "sim/network/read_topology.h"

namespace headway {
namespace {

constexpr std::int64_t kMostNodes = 1 << 20;

}  // namespace

Option nodes_option() {
  return {.name = "nodes",
          .value = "N",
          .fallback = "the file's",
          .help = "nodes of the fabric",
          .group = OptionGroup::input};
}

std::shared_ptr<const Cluster> cluster_of(const Arguments& arguments, Diagnostics& diagnostics) {
  InputFiles files(overrides_of(arguments, diagnostics), data_folders(), diagnostics);
  std::optional<int> nodes;
  if (const auto wanted = arguments.integer("nodes", 1, kMostNodes)) {
    nodes = static_cast<int>(*wanted);
  }
  const auto root = files.open(arguments.positional().front(), "topologies");
  const auto read = root ? read_topology(*root, files, nodes) : std::nullopt;
  files.report_unused_overrides();
  return read ? read->cluster : nullptr;
}

}  // namespace headway
