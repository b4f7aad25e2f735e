#pragma once

#include <span>
#include <vector>

#include "calibrate/cpu/transport.h"

namespace headway {

/// Collectives whose algorithm is known, since we write it: what a library chooses by size and
/// version is a black box to a model. The first `ranks` ranks of the transport call them together.
class Collectives {
 public:
  Collectives(Transport& transport, int ranks) : transport_(transport), ranks_(ranks) {}

  /// Sum of everybody's `data`, in place. A reduce-scatter and an all-gather of ranks - 1 steps
  /// each (Thakur, Rabenseifner, Gropp 2005).
  void ring_all_reduce(std::span<float> data);
  /// log2(ranks) exchanges of everything. Requires a power of two of ranks.
  void recursive_doubling_all_reduce(std::span<float> data);
  /// Up a binomial tree and down again.
  void tree_all_reduce(std::span<float> data);

  /// Afterwards rank r's part r of `data` holds the sum of everybody's part r.
  void ring_reduce_scatter(std::span<float> data);
  /// Rank r brings part r of `data`; afterwards everybody has all parts.
  void ring_all_gather(std::span<float> data);
  /// Rank 0's data along the chain 0, 1, 2, ... in pieces, so that all links work at once.
  void chain_broadcast(std::span<float> data);
  /// Part p of `out` goes to rank p, in ranks - 1 exchanges at growing distance.
  void pairwise_all_to_all(std::span<const float> out, std::span<float> in);
  /// Everybody sends `out` to the next rank and receives `in` from the one before.
  void ring_send_receive(std::span<const float> out, std::span<float> in);

  /// Part `index` of as many nearly equal parts as there are ranks.
  [[nodiscard]] std::span<float> part(std::span<float> data, int index) const;

 private:
  [[nodiscard]] int next() const { return (transport_.rank() + 1) % ranks_; }
  [[nodiscard]] int previous() const { return (transport_.rank() + ranks_ - 1) % ranks_; }
  void add_received(std::span<float> sum);
  [[nodiscard]] std::span<float> scratch(std::size_t count);

  Transport& transport_;
  int ranks_;
  std::vector<float> scratch_;
};

}  // namespace headway
