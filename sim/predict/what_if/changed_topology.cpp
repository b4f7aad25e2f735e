#include "sim/predict/what_if/changed_topology.h"

#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/files/json_text.h"
#include "sim/network/read_topology.h"

namespace headway {

std::shared_ptr<const Cluster> cluster_with(
    const Scenario& scenario, const std::function<void(nlohmann::json& topology)>& change) {
  nlohmann::json topology = scenario.resolved->at("cluster").at("topology");
  change(topology);
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const JsonCursor part(
      JsonDocument::parse("resolved topology", compact_json(topology), diagnostics));
  auto read = read_topology(part, files, scenario.cluster->nodes);
  HEADWAY_CHECK(read.has_value(), "a resolved topology reads back");
  return read->cluster;
}

}  // namespace headway
