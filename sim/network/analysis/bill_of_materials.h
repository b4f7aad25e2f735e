#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/network/cluster.h"

namespace headway {

/// What a cable of a certain length is made of.
enum class CableKind { copper, active_copper, multimode, single_mode };

/// Of ports with 100 Gb/s a lane (400 Gb/s InfiniBand and Ethernet): the longest that NVIDIA sells
/// as passive copper, as active copper, and as multi-mode fibre; whatever is longer is single-mode
/// fibre. NVIDIA, "LinkX 100G-PAM4 product line overview" (docs.nvidia.com/networking).
struct CableReach {
  CableKind kind;
  std::string_view name;
  double metres;
};
inline constexpr std::array<CableReach, 4> kCableReaches{
    {{CableKind::copper, "copper", 3.0},
     {CableKind::active_copper, "active copper", 5.0},
     {CableKind::multimode, "multi-mode fibre", 50.0},
     {CableKind::single_mode, "single-mode fibre", 1e9}}};
[[nodiscard]] CableKind cable_kind(double metres);
[[nodiscard]] std::string_view cable_name(CableKind kind);

/// The parts of a cluster.
struct BillOfMaterials {
  /// Cables between the same two tiers that are alike.
  struct Cables {
    int lower_tier = -1;  ///< -1: the nodes
    int upper_tier = -1;
    CableKind kind = CableKind::copper;
    double metres = 0.0;  ///< of one
    BytesPerSecond bandwidth;
    std::int64_t count = 0;
  };
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;
  std::int64_t nics = 0;
  std::vector<std::int64_t> switches;  ///< by tier, bottom-up
  std::vector<Cables> cables;          ///< by tiers, then by length

  [[nodiscard]] std::int64_t all_switches() const;
  [[nodiscard]] std::int64_t all_cables() const;
  /// Two for each optical cable.
  [[nodiscard]] std::int64_t transceivers() const;
};

/// Counts them. The length of a cable is its latency at 5 ns a metre. Scale-up links and their
/// switches come with the nodes.
[[nodiscard]] BillOfMaterials bill_of_materials(const Cluster& cluster);

}  // namespace headway
