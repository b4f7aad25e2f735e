#pragma once

#include <string_view>
#include <utility>

#include "sim/files/field_table.h"
#include "sim/network/fabrics/clos_topology.h"

namespace headway {

/// How many cables lead up from a switch, and to how many switches: the numbers that users give in
/// one of several ways, of which the others follow. A number that cannot be told because what it
/// follows from was wrong is 0; then nothing is compared with it.

/// /attach: by rail, or by rack.
inline constexpr std::pair<std::string_view, bool> kAttachWords[] = {{"rail", true},
                                                                     {"rack", false}};
inline constexpr std::string_view kAttachNotes =
    R"(How nodes attach to leaf switches. By rail, NIC i of every node of a unit goes to the
unit's leaf i; by rack, all NICs of a unit go to one leaf.
see: NVIDIA DGX SuperPOD reference architectures (rail-optimised))";

/// A tier as a file has it.
struct ClosTierFields {
  ClosTier tier;
  bool spines_by_rail = false;
  std::optional<int> switches;  ///< that one of the tier below leads to; cores: of all planes
  int cables_per_pair = 1;
  std::optional<int> uplinks;
  double oversubscription = 1.0;
  std::optional<int> ports;
};
enum class ClosLevel { leaf, spine, core };
[[nodiscard]] const FieldTable<ClosTierFields>& clos_tier_fields(ClosLevel level);
/// The same, for help and schema.
[[nodiscard]] std::vector<FieldDescription> clos_tier_descriptions(ClosLevel level);

/// The largest divisor of `number` that is not above `most`; both at least 1.
[[nodiscard]] int largest_divisor(int number, int most);

struct DownwardPorts {
  int ports = 1;         ///< may be 0, not known
  BytesPerSecond below;  ///< of each of them
  BytesPerSecond above;  ///< of each uplink
};

/// Uplinks of a switch, or what they are by its oversubscription. Both may be given if they agree.
[[nodiscard]] int settled_uplinks(ObjectReader& tier, const ClosTierFields& given,
                                  const DownwardPorts& down);

/// Parallel cables between a spine and a leaf that has `uplinks`, or what they are by the number of
/// spines. Both may be given if they agree.
[[nodiscard]] int settled_cables_per_pair(ObjectReader& spine, const ClosTierFields& given,
                                          int uplinks);

/// Sets planes, cores and core_cables; false if they cannot be told. By default each spine of a
/// group has a plane of its own.
[[nodiscard]] bool settle_planes(ObjectReader& core, const ClosTierFields& given, int spine_uplinks,
                                 ClosShape& shape);

}  // namespace headway
