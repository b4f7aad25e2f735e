#include "sim/scenario/recovery/recovery.h"

namespace headway {

/// As a restart, but with the replicas for which there are nodes; and once more when there are
/// nodes for another, after a checkpoint of where it is.
Recovery shrink() {
  return {.name = "shrink",
          .title = "elastic restart with fewer replicas",
          .what =
              "The job starts anew from the last checkpoint with the data-parallel replicas "
              "for which there are nodes, and again, from a new one, when there are more.",
          .source = "PyTorch, torchrun (elastic)",
          .speed = speed_of_whole_replicas};
}

}  // namespace headway
