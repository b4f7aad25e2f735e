#pragma once

#include "sim/base/units.h"
#include "sim/programs/cause.h"
#include "sim/programs/stage_costs/exchange_kind.h"

namespace headway {

/// What an exchange of a pass puts on the fabric, in bytes of the flow that carries it
/// (`exchange_plan`): a part while its ranks compute, and a part that they wait for.
struct ExchangeFlow {
  Bytes hidden;
  Seconds hidden_time;  ///< that the hidden part takes at least
  Seconds window;       ///< of compute it hides behind, where that is not the whole pass
  Bytes seen;
  Seconds seen_time;  ///< that the seen part takes on an idle fabric

  ExchangeFlow& operator+=(const ExchangeFlow& other);
};
[[nodiscard]] ExchangeFlow operator*(double factor, const ExchangeFlow& flow);

/// All exchanges of a pass.
struct PassFlows {
  ByExchange<ExchangeFlow> of;
  /// The time of the seen parts on an idle fabric, as the pass is charged for it.
  TimeByCause awaited;

  PassFlows& operator+=(const PassFlows& other);
};
[[nodiscard]] PassFlows operator*(double factor, const PassFlows& flows);

/// What is known of an exchange before it is a flow.
struct ExchangeCharge {
  Bytes bytes;                   ///< of the flow, all of them
  double share_seen = 1.0;       ///< of its time that its ranks wait for
  Seconds seen;                  ///< what they wait on an idle fabric, latencies included
  BytesPerSecond rate;           ///< of the flow, at which software sends
  BytesPerSecond wire;           ///< at which NICs could
  Seconds window;                ///< of compute that the rest hides behind
  Bytes left_over = Bytes(0.0);  ///< bytes of another pass that did not fit behind its compute
};

/// Shares the bytes out: what is seen of the time is seen of the bytes, latencies apart, and the
/// rest is under way while the ranks compute. Where compute is too short for that, the wire is what
/// they wait for, and more of the bytes are seen. The flow then takes what the exchange is charged
/// for on an idle fabric; with a share x < 1 of the rate it takes
///   max(compute, hidden / (x rate)) + seen / (x rate),
/// as layers one after the other do. `left_over` is set to what fits nowhere.
[[nodiscard]] ExchangeFlow exchange_flow(const ExchangeCharge& charge, Bytes& left_over);

}  // namespace headway
