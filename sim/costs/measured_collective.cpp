#include "sim/costs/measured_collective.h"

namespace headway {

std::optional<Cost> measured_collective_cost(const std::vector<MeasuredCollective>& measured,
                                             CollectiveKind kind, Bytes message, int ranks) {
  for (const MeasuredCollective& collective : measured) {
    if (collective.kind == kind && collective.ranks == ranks) {
      return curve_cost(collective.curve, message);
    }
  }
  return std::nullopt;
}

}  // namespace headway
