#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/validate/row_parts.h"

namespace headway {
namespace {

constexpr std::array kAccelerators{
    RowAccelerator{"V100", "v100_sxm", "150 GB/s"},
    RowAccelerator{"A100-40", "a100_sxm_40gb", "300 GB/s"},
    RowAccelerator{"A100-80", "a100_sxm_80gb", "300 GB/s"},
    RowAccelerator{"H100", "h100_sxm", "450 GB/s"},
    RowAccelerator{"H200", "h200_sxm", "450 GB/s"},
    RowAccelerator{"B200", "b200_sxm", "900 GB/s"},
    RowAccelerator{"B300", "b300_sxm", "900 GB/s"},
    RowAccelerator{"GB200", "gb200", "900 GB/s"},
    RowAccelerator{"GB300", "gb300", "900 GB/s"},
};

}  // namespace

const RowAccelerator* accelerator_of(const PublishedRow& row) {
  const auto* const found =
      std::ranges::find(kAccelerators, row.head.accelerator, &RowAccelerator::row);
  return found == kAccelerators.end() ? nullptr : found;
}

nlohmann::json row_topology(const PublishedRow& row, const RowAccelerator& accelerator,
                            std::string_view profile_accelerator) {
  // An NVL72 rack is eighteen nodes of four accelerators in one scale-up domain.
  constexpr std::int64_t kRackDomain = 72;
  constexpr std::int64_t kRackNode = 4;
  const std::int64_t node = row.nvlink_domain == kRackDomain ? kRackNode : row.nvlink_domain;
  const auto per_node = std::min<std::int64_t>(node, row.head.accelerators);
  const std::int64_t domain = std::max<std::int64_t>(per_node, row.nvlink_domain);
  const std::int64_t nodes = row.head.accelerators / per_node;
  constexpr std::int64_t kUnit = 32;
  const std::int64_t units = (nodes + kUnit - 1) / kUnit;
  return {
      {"schema", "headway/topology/1"},
      {"name", "published system"},
      {"node",
       {{"schema", "headway/node/1"},
        {"name", "published node"},
        {"accelerator", profile_accelerator},
        {"accelerators", per_node},
        {"scale_up",
         {{"bandwidth", accelerator.scale_up_bandwidth},
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
