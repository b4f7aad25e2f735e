#include "sim/scenario/recovery/recovery.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

/// Replicas that hold a whole copy of the state each go on without the one that broke; its nodes,
/// or those in their place, start beside them and get their part of a copy from a peer each, for
/// which everybody waits:
///
///   state / nodes of a copy / bandwidth
Recovery drop_out() {
  return {
      .name = "drop_out",
      .title = "replicas drop out",
      .what =
          "The other replicas go on from the last step, with fewer samples a step; the one "
          "that broke starts beside them and gets the state from a peer.",
      .source = "TorchFT (github.com/meta-pytorch/torchft)",
      .in_place = true,
      .speed = speed_of_whole_replicas,
      .pause = [](const ReliabilitySettings& job) { return job.reconfigure; },
      .rejoin = [](const ReliabilitySettings& job) { return job.reconfigure + job.node_state(); },
      .obstacle = [](const ReliabilitySettings& job) -> std::string_view {
        return job.replicas > 1 ? "" : "there is one copy of the state, and nobody to go on with";
      }};
}

}  // namespace headway
