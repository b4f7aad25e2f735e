#include "sim/launch/reading/job_place.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/files/input_files.h"
#include "sim/network/read_topology.h"

namespace headway {
namespace {

using nlohmann::json;

/// Of a node of the topology.
std::optional<double> accelerators_of(const std::string& name, Diagnostics& diagnostics) {
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(name, "topologies");
  if (!root) return std::nullopt;
  const auto topology = read_topology(*root, files);
  if (!topology) return std::nullopt;
  return topology->cluster->node_type.accelerators;
}

}  // namespace

json job_cluster(const ImportRequest& request, const JobSize& size, Diagnostics& diagnostics) {
  Diagnostics own;
  const auto missing = [&](const char* option, const char* what, const char* list) {
    own.add({.message =
                 fmt::format("what the job runs on is not in the file: --{} says {}", option, what),
             .location = {.file = request.paths.front()},
             .help = fmt::format("--{} NAME: a file, or one of `headway list {}`", option, list)});
  };
  if (request.topology.empty()) missing("topology", "which fabric", "topologies");
  if (request.profile.empty()) missing("profile", "which accelerators", "profiles");
  json cluster = {{"topology", request.topology}};
  std::optional<double> nodes = request.nodes ? std::optional<double>(*request.nodes) : size.nodes;
  if (!request.nodes && size.ranks && !request.topology.empty()) {
    const auto each = accelerators_of(request.topology, own);
    if (each) nodes = std::ceil(*size.ranks / *each);
  }
  if (!nodes && !own.has_errors()) {
    own.add({.message = "how many nodes the job runs on is not in the file",
             .location = {.file = request.paths.front()},
             .help = "say it: --nodes N"});
  }
  diagnostics.append(own);
  if (nodes && *nodes >= 1.0) cluster["nodes"] = static_cast<std::int64_t>(*nodes);
  return cluster;
}

std::optional<double> job_ranks(const ImportRequest& request, const JobSize& size) {
  if (!request.nodes && size.ranks) return size.ranks;
  const std::optional<double> nodes =
      request.nodes ? std::optional<double>(*request.nodes) : size.nodes;
  if (!nodes || request.topology.empty()) return std::nullopt;
  Diagnostics ignored;
  const auto each = accelerators_of(request.topology, ignored);
  return each ? std::optional<double>(*nodes * *each) : std::nullopt;
}

json job_scenario(const ImportRequest& request, json model, json cluster, json strategy) {
  return {{"schema", "headway/scenario/1"},
          {"name", request.name},
          {"description", "Read from " + printable(request.paths.front())},
          {"model", std::move(model)},
          {"cluster", std::move(cluster)},
          {"profile", request.profile},
          {"strategy", std::move(strategy)}};
}

}  // namespace headway
