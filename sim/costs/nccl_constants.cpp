#include "sim/costs/nccl_constants.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/base/diagnostic.h"
#include "sim/costs/accelerators.h"

namespace headway {
namespace {

/// By the logarithm of the message over 64 bytes.
constexpr int kCorrections = 23;
constexpr std::array<std::array<double, kCorrections>, 3> kTreeCorrection = {{
    {1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5,
     0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6,
     0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0},
    {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5,
     0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9},
}};

std::string_view family_of(std::string_view accelerator) {
  return accelerator.substr(0, accelerator.find('-'));
}

}  // namespace

const NcclNodeCosts* nccl_node_costs(std::string_view accelerator) {
  const NcclNodeCosts* of_family = nullptr;
  for (const Accelerator& known : accelerators()) {
    if (!known.nccl) continue;
    if (known.name == accelerator) return &*known.nccl;
    const bool is_kin = family_of(known.name) == family_of(accelerator);
    if (of_family == nullptr && is_kin) of_family = &*known.nccl;
  }
  return of_family;
}

std::vector<std::string> nccl_families() {
  std::vector<std::string> families;
  for (const Accelerator& known : accelerators()) {
    const std::string_view family = family_of(known.name);
    const bool is_new = std::ranges::find(families, family) == families.end();
    if (known.nccl && is_new) families.emplace_back(family);
  }
  return families;
}

NcclNetworkCosts nccl_network_costs(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::ll:
      return {.ring_step = 2.7_us, .tree_step = 5.0_us, .efficiency = 0.5};
    case NcclProtocol::ll128:
      return {.ring_step = 4.0_us,
              .tree_step = 8.5_us,
              .overhead = 7.4_us,           // 14.0 less 6.6
              .ring_step_inside = 1.3_us,   // 1.9 less 0.6
              .tree_step_inside = 0.65_us,  // 1.25 less 0.6
              .efficiency = 120.0 / 128.0};
    case NcclProtocol::simple:
      // The overhead of tables of one node holds that of trees.
      return {
          .ring_step = 14.0_us, .tree_step = 14.0_us, .ring_step_inside = 2.8_us};  // 3.4 less 0.6
  }
  HEADWAY_CHECK(false, "unknown protocol");
}

BytesPerSecond nccl_ll_bandwidth(int domains, bool is_amd) {
  if (domains <= 2) return is_amd ? 22.5_GBps : 39.0_GBps;
  return is_amd ? 19.0_GBps : 20.4_GBps;
}

Seconds nccl_message_overhead(bool is_amd) { return is_amd ? 2.0_us : 1.0_us; }

Seconds nccl_step_overhead(bool is_amd) { return is_amd ? 1.5_us : 1.0_us; }

BytesPerSecond nccl_tree_channel(std::string_view accelerator, int domains) {
  const std::string_view family = family_of(accelerator);
  const bool is_pair = domains <= 2;
  if (family == "v100") return is_pair ? 18.5_GBps : 10.0_GBps;
  if (family == "a100") return is_pair ? 23.6_GBps : 17.8_GBps;
  if (family.starts_with("h")) return is_pair ? 41.4_GBps : 36.0_GBps;
  return is_pair ? 42.8_GBps : 24.0_GBps;
}

double nccl_tree_filling(NcclProtocol protocol, Bytes message) {
  constexpr double kLeast = 64.0;  // bytes
  if (message.count() < kLeast) return 1.0;
  const auto ratio = static_cast<unsigned long long>(message.count() / kLeast);
  const int index = static_cast<int>(std::bit_width(ratio)) - 1;
  if (index >= kCorrections) return 1.0;
  return kTreeCorrection[static_cast<std::size_t>(protocol)][static_cast<std::size_t>(index)];
}

}  // namespace headway
