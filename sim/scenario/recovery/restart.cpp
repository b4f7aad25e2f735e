#include "sim/scenario/recovery/recovery.h"

namespace headway {

/// Everybody stops, waits for as many nodes as before, loads the last checkpoint and does again
/// what came after it.
Recovery restart() {
  return {.name = "restart",
          .title = "restart from a checkpoint",
          .what =
              "All processes stop and start anew from the last checkpoint, with as many nodes "
              "as before.",
          .source = "Daly 2006",
          .speed = speed_with_all};
}

}  // namespace headway
