#pragma once

#include "sim/base/units.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"

namespace headway {

/// A link that a rank sends by: it lets through `burst` at once where it stood idle (LinkCredit).
struct MessageLink {
  BytesPerSecond rate;  ///< that lasts
  Bytes burst;
};

/// Has messages between stages pass one after the other, as those of one socket do: each rank group
/// hands its own over to a second one that sends them in order, and goes on. The bytes that pass at
/// once are left out of the messages; how much a link has saved up follows from the compute between
/// messages, slowed down as `perturbation` says, and from messages not reaching a stage faster than
/// the rate that lasts.
void order_messages(Workload& workload, const MessageLink& link, const Perturbation& perturbation);

}  // namespace headway
