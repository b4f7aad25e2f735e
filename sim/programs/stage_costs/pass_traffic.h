#pragma once

#include "sim/base/units.h"

namespace headway {

/// Bytes of one kind of exchange in the passes of one micro-batch through a layer.
struct PassTraffic {
  Bytes forward;
  Bytes backward;
};

}  // namespace headway
