#include "sim/programs/stage_costs/exchange_flow.h"

#include <algorithm>

namespace headway {

ExchangeFlow& ExchangeFlow::operator+=(const ExchangeFlow& other) {
  hidden += other.hidden;
  hidden_time += other.hidden_time;
  window += other.window;
  seen += other.seen;
  seen_time += other.seen_time;
  return *this;
}

ExchangeFlow operator*(double factor, const ExchangeFlow& flow) {
  return {.hidden = factor * flow.hidden,
          .hidden_time = factor * flow.hidden_time,
          .window = factor * flow.window,
          .seen = factor * flow.seen,
          .seen_time = factor * flow.seen_time};
}

PassFlows& PassFlows::operator+=(const PassFlows& other) {
  for (const ExchangeKind kind : kAllExchanges) of[kind] += other.of[kind];
  awaited += other.awaited;
  return *this;
}

PassFlows operator*(double factor, const PassFlows& flows) {
  PassFlows product{.of = {}, .awaited = factor * flows.awaited};
  for (const ExchangeKind kind : kAllExchanges) product.of[kind] = factor * flows.of[kind];
  return product;
}

ExchangeFlow exchange_flow(const ExchangeCharge& charge, Bytes& left_over) {
  constexpr double kRounding = 1e-9;  // of all bytes: sums of shares, not something to send
  ExchangeFlow flow;
  const Bytes all = charge.bytes + charge.left_over;
  flow.seen = charge.share_seen * charge.bytes;
  flow.seen_time = min(flow.seen / charge.rate, charge.seen);
  flow.hidden = min(all - flow.seen, charge.wire * charge.window);
  if (all - flow.seen - flow.hidden > kRounding * all) {
    flow.seen = all - flow.hidden;
    flow.seen_time = charge.seen;
  }
  flow.seen = min(flow.seen, charge.wire * flow.seen_time);
  left_over = max(all - flow.seen - flow.hidden, Bytes(0.0));
  if (left_over <= kRounding * all) left_over = Bytes(0.0);
  if (flow.hidden <= kRounding * all) flow.hidden = Bytes(0.0);
  flow.hidden_time = min(flow.hidden / charge.rate, charge.window);
  return flow;
}

}  // namespace headway
