#include "sim/scenario/recovery/recovery.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

/// What a lost node held moves to a spare one while the others stand still: state / nodes of a copy
/// / bandwidth. That it can still be had (in the node's own memory, or with a peer) is assumed.
Recovery live_migration() {
  return {
      .name = "live_migration",
      .title = "live migration",
      .what =
          "What the lost nodes held moves to spare ones, and the job goes on from the last "
          "step with as many nodes as before.",
      .source = "Wang et al. 2008 (SC, proactive process-level live migration)",
      .in_place = true,
      .moves = true,
      .speed = speed_with_all,
      .pause = [](const ReliabilitySettings& job) { return job.reconfigure + job.node_state(); },
      .rejoin = [](const ReliabilitySettings&) { return Seconds(0.0); }};
}

}  // namespace headway
