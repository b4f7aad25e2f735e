#include "sim/scenario/read_cluster.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/files/json_reader.h"

namespace headway {
namespace {

constexpr int kMostNodes = 1'000'000;

std::vector<ParallelDimension> read_order(ObjectReader& reader) {
  if (!reader.has("rank_order")) return Placement{}.order;
  std::vector<ParallelDimension> order;
  for (const JsonCursor& element : reader.elements("rank_order")) {
    const auto named = value_named<ParallelDimension>(element.text().value_or(""));
    if (!named) {
      reader.diagnostics().add(
          element.problem("rank_order names the parallel dimensions, innermost first",
                          "not one of them", "use tensor, context, data and pipeline"));
    } else if (std::ranges::find(order, *named) != order.end()) {
      reader.diagnostics().add(element.problem("rank_order names a dimension twice", "named before",
                                               "leave one of the two out"));
    } else {
      order.push_back(*named);
    }
  }
  const bool names_all = order.size() == std::size(kWords<ParallelDimension>);
  if (!names_all && !reader.diagnostics().has_errors()) {
    reader.report("rank_order", "rank_order has to name all four dimensions", "",
                  R"(the default is ["tensor", "context", "data", "pipeline"])");
  }
  return order;
}

nlohmann::json order_json(const std::vector<ParallelDimension>& order) {
  nlohmann::json names = nlohmann::json::array();
  for (const ParallelDimension dimension : order) names.push_back(word_of(dimension));
  return names;
}

std::optional<ReadTopology> read_topology_once(const JsonCursor& part, std::optional<int> nodes,
                                               InputFiles& files) {
  return files.once<ReadTopology>(part, nodes ? std::to_string(*nodes) : "",
                                  [&] { return read_topology(part, files, nodes); });
}

}  // namespace

std::optional<ReadCluster> read_cluster(const JsonCursor& part, InputFiles& files) {
  const bool has_details = part.is_object() && part.member("topology").has_value();
  if (!has_details) {
    auto topology = read_topology_once(part, std::nullopt, files);
    if (!topology) return std::nullopt;
    std::vector<ParallelDimension> order = Placement{}.order;
    nlohmann::json resolved = {{"rank_order", order_json(order)}};
    resolved["topology"] = topology->resolved;
    return ReadCluster{std::move(*topology), std::move(order), std::nullopt, std::move(resolved)};
  }
  ObjectReader reader(part, files.diagnostics());
  const std::optional<JsonCursor> topology_part =
      reader.required_part("topology", "\"dgx_h100_superpod\"");
  std::optional<int> nodes;
  if (reader.has("nodes")) {
    nodes = static_cast<int>(reader.integer("nodes", between(1, kMostNodes)));
  }
  std::optional<int> job_nodes;
  std::vector<ParallelDimension> order = read_order(reader);
  std::optional<ReadTopology> topology;
  if (topology_part) topology = read_topology_once(*topology_part, nodes, files);
  if (reader.has("job_nodes")) {
    const double most = topology ? topology->cluster->nodes : kMostNodes;
    job_nodes = static_cast<int>(reader.integer("job_nodes", between(1.0, most)));
  }
  reader.resolve("rank_order", order_json(order));
  if (topology) reader.resolve("topology", topology->resolved);
  nlohmann::json resolved = reader.finish();
  if (!topology) return std::nullopt;
  return ReadCluster{std::move(*topology), std::move(order), job_nodes, std::move(resolved)};
}

}  // namespace headway
