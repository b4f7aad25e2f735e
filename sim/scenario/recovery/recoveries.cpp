#include <algorithm>
#include <array>
#include <cmath>

#include "sim/scenario/recovery/recovery.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

// Each is defined in the file that bears its name.
Recovery restart();
Recovery shrink();
Recovery drop_out();
Recovery redundant_pipeline();
Recovery live_migration();

std::span<const Recovery> recoveries() {
  static const std::array kRecoveries{restart(), shrink(), drop_out(), redundant_pipeline(),
                                      live_migration()};
  return kRecoveries;
}

double speed_with_all(const ReliabilitySettings& /*job*/, int missing) {
  return missing == 0 ? 1.0 : 0.0;
}

double speed_of_whole_replicas(const ReliabilitySettings& job, int missing) {
  const double lost = std::ceil(missing / job.nodes_per_replica);
  return std::max(0.0, 1.0 - lost / job.replicas);
}

}  // namespace headway
