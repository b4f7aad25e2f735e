#include "sim/costs/nccl_constants.h"

#include <algorithm>
#include <array>
#include <bit>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Overheads and steps are as the script prints them; rates over the data sheet's bandwidth.
/// V100 has no such table: A100's times, and the bandwidth of a published sweep over twelve of a
/// DGX-2 (123 of 150 GB/s).
constexpr NcclNodeCosts kFamilies[] = {
    {"v100", 10.04_us, 0.79_us, 26.8_us, 123.0 / 150.0, 0.0_us, 0.0},
    {"a100", 10.04_us, 0.79_us, 26.8_us, 189.5 / 300.0, 0.0_us, 0.0},
    {"h100", 5.43_us, 0.75_us, 12.6_us, 311.6 / 450.0, 49.6_us, 249.0 / 450.0},
    {"h200", 4.94_us, 0.84_us, 12.3_us, 309.7 / 450.0, 49.6_us, 249.8 / 450.0},
    {"b200", 8.10_us, 1.34_us, 16.6_us, 568.6 / 900.0, 92.6_us, 450.0 / 900.0},
    {"b300", 7.43_us, 1.28_us, 15.6_us, 570.4 / 900.0, 94.1_us, 461.6 / 900.0},
    {"gb200", 8.63_us, 1.22_us, 15.5_us, 556.1 / 900.0, 36.1_us, 434.6 / 900.0},
    {"gb300", 8.05_us, 1.20_us, 15.2_us, 566.8 / 900.0, 34.8_us, 438.7 / 900.0},
};

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

}  // namespace

std::string_view protocol_name(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::ll:
      return "LL";
    case NcclProtocol::ll128:
      return "LL128";
    case NcclProtocol::simple:
      return "Simple";
  }
  HEADWAY_CHECK(false, "unknown protocol");
}

std::span<const NcclNodeCosts> nccl_families() { return kFamilies; }

const NcclNodeCosts* nccl_node_costs(std::string_view accelerator) {
  const std::string_view family = accelerator.substr(0, accelerator.find('-'));
  const auto found = std::ranges::find(kFamilies, family, &NcclNodeCosts::family);
  return found == std::end(kFamilies) ? nullptr : found;
}

NcclNetworkCosts nccl_network_costs(NcclProtocol protocol) {
  switch (protocol) {
    case NcclProtocol::ll:
      return {.ring_step = 2.7_us, .tree_step = 5.0_us, .efficiency = 0.5};
    case NcclProtocol::ll128:
      return {.ring_step = 4.0_us,
              .tree_step = 8.5_us,
              .overhead = 7.4_us,  // 14.0 less 6.6
              .efficiency = 120.0 / 128.0};
    case NcclProtocol::simple:
      return {.ring_step = 14.0_us, .tree_step = 14.0_us};
  }
  HEADWAY_CHECK(false, "unknown protocol");
}

BytesPerSecond nccl_ll_bandwidth(int domains, bool is_amd) {
  if (domains <= 2) return is_amd ? 22.5_GBps : 39.0_GBps;
  return is_amd ? 19.0_GBps : 20.4_GBps;
}

Seconds nccl_message_overhead(bool is_amd) { return is_amd ? 2.0_us : 1.0_us; }

double nccl_ring_plateau(std::string_view accelerator) {
  return accelerator.starts_with("v100") ? 1.9 : 1.4;
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
