#pragma once

#include <string_view>
#include <utility>

#include "sim/files/json_reader.h"
#include "sim/network/fabrics/clos_shape.h"

namespace headway {

/// How many cables lead up from a switch, and to how many switches: the numbers that users give in
/// one of several ways, of which the others follow. A number that cannot be told because what it
/// follows from was wrong is 0; then fields are read but not compared with it.

/// /attach: by rail, or by rack.
inline constexpr std::pair<std::string_view, bool> kAttachWords[] = {{"rail", true},
                                                                     {"rack", false}};

/// Of `number`, not above `most`; both at least 1.
[[nodiscard]] int largest_divisor(int number, int most);

struct DownwardPorts {
  int ports = 1;         ///< may be 0, not known
  BytesPerSecond below;  ///< of each of them
  BytesPerSecond above;  ///< of each uplink
};

/// Uplinks of a switch: /uplinks, or from /oversubscription, the bandwidth below over the bandwidth
/// above, 1 by default. Both may be given if they agree.
[[nodiscard]] int read_uplinks(ObjectReader& tier, const DownwardPorts& down);

/// Parallel cables between a switch of this tier and one below that has `uplinks`:
/// /cables_per_pair, or from /switches (those that one below leads to), or 1. Both may be given if
/// they agree.
[[nodiscard]] int read_cables_per_pair(ObjectReader& tier, int uplinks, std::string_view below);

/// Sets planes, cores and core_cables; false if they cannot be told. /switches counts the cores of
/// all planes; by default each spine of a group has a plane of its own.
[[nodiscard]] bool read_planes(ObjectReader& core, int spine_uplinks, ClosShape& shape);

}  // namespace headway
