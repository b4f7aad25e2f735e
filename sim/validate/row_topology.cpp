#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/validate/row_parts.h"

namespace headway {
const Accelerator* accelerator_of(const PublishedRow& row) {
  const auto found = std::ranges::find_if(accelerators(), [&](const Accelerator& accelerator) {
    return std::ranges::find(accelerator.published_as, row.head.accelerator) !=
           accelerator.published_as.end();
  });
  return found == accelerators().end() ? nullptr : &*found;
}

namespace {

/// Accelerators of a job that reach each other without a NIC. On several NVL72 racks a job takes
/// equally many nodes of each (segments, in Slurm's block topology): 64 accelerators of a rack
/// rather than 72, so that groups of a power of two stay inside.
std::int64_t domain_of_job(const PublishedRow& row, std::int64_t per_node) {
  const std::int64_t domain = std::max<std::int64_t>(per_node, row.nvlink_domain);
  const std::int64_t nodes = row.head.accelerators / per_node;
  const std::int64_t fit = domain / per_node;
  if (domain == per_node || nodes <= fit) return domain;
  std::int64_t segment = fit;
  while (nodes % segment != 0) --segment;
  return segment * per_node;
}

}  // namespace

nlohmann::json row_topology(const PublishedRow& row, const Accelerator& accelerator) {
  // A domain larger than any one machine is made of nodes of four accelerators: a rack of eighteen,
  // or a slice of a torus.
  constexpr std::int64_t kLargestNode = 16;
  constexpr std::int64_t kPartOfDomain = 4;
  const std::int64_t node = row.nvlink_domain > kLargestNode ? kPartOfDomain : row.nvlink_domain;
  const auto per_node = std::min<std::int64_t>(node, row.head.accelerators);
  const std::int64_t domain = domain_of_job(row, per_node);
  const std::int64_t nodes = row.head.accelerators / per_node;
  constexpr std::int64_t kUnit = 32;
  const std::int64_t units = (nodes + kUnit - 1) / kUnit;
  return {
      {"schema", "headway/topology/1"},
      {"name", "published system"},
      {"node",
       {{"schema", "headway/node/1"},
        {"name", "published node"},
        {"accelerator", accelerator.name},
        {"accelerators", per_node},
        {"scale_up",
         {{"bandwidth", exact_text(accelerator.scale_up_bandwidth)},
          {"latency", "500 ns"},
          {"domain", domain}}},
        {"nics",
         {{"count", per_node},
          {"bandwidth", exact_text(BytesPerSecond(row.nic_gigabytes_per_second * 1e9))},
          {"latency", "800 ns"}}}}},
      {"nodes", nodes},
      {"fabric",
       {{"kind", "clos"},
        {"attach", "rail"},
        {"nodes_per_unit", kUnit},
        {"units", units},
        {"leaf", {{"uplinks", kUnit}, {"cable_latency", "10 ns"}, {"switch_latency", "200 ns"}}},
        {"spine",
         {{"switches", kUnit}, {"cable_latency", "150 ns"}, {"switch_latency", "200 ns"}}}}}};
}

}  // namespace headway
