#pragma once

#include <cstdint>
#include <optional>

#include "sim/costs/profile.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/programs/flows/collective_price.h"
#include "sim/scenario/read_post_training.h"

namespace headway {

/// Accelerators that hold the model once and generate for some sequences at a time, token by token
/// (Pope et al. 2022, arXiv:2211.05102, section 2):
///
///   token(b, c) = max(weights / bandwidth, b r) + b c cached / bandwidth + sums + gaps + overhead
///
/// for b sequences with c positions before the next: weights are those of a rank that any of the
/// tokens goes to, of the E experts of a layer E (1 - (1 - k / E)^b); r is what products take a
/// token of a long prompt; cached the keys and values of a position on a rank; sums those over the
/// engine's ranks, two a layer, as NCCL runs them where its model knows the accelerator; gaps what
/// stands between kernels of a captured graph. States of layers that are no attention are not
/// counted, and everything is in 16 bits but products, which are in the job's precision.
class GenerationEngine {
 public:
  /// `job` says in which numbers and software; what is referred to has to outlive it.
  GenerationEngine(const Model& model, const Strategy& job, const Profile& profile,
                   const Cluster& cluster, const GenerationSettings& settings);

  /// One token of each of `sequences`, with `context` positions before it on average.
  [[nodiscard]] Seconds token_time(double sequences, double context) const;
  /// Reading a token of a prompt, beside many others.
  [[nodiscard]] Seconds prompt_token_time() const { return prompt_token_; }
  /// Sequences of that many positions that it works on at a time: by its memory and its settings,
  /// at least one.
  [[nodiscard]] double most_sequences(double context) const;

 private:
  /// Of an accelerator, where so many tokens choose experts.
  [[nodiscard]] Bytes weights(double tokens) const;
  /// Of an accelerator, for that many positions of a sequence.
  [[nodiscard]] Bytes cached(double context) const;
  [[nodiscard]] Seconds sums(double tokens) const;

  const Model& model_;
  const Profile& profile_;
  GenerationSettings settings_;
  Strategy strategy_;  ///< of an engine
  Seconds prompt_token_;
  Seconds gaps_;
  std::optional<PricedCollective> sum_;  ///< nothing where an engine is one accelerator
};

/// Lengths of responses between none and `longest`, of which a share 1 - (t / longest)^k is longer
/// than t: those with that mean.
class ResponseLengths {
 public:
  /// 0 < mean <= longest.
  ResponseLengths(double mean, double longest);

  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double longest() const { return longest_; }
  /// 1 where all are equally long, until they end.
  [[nodiscard]] double longer_than(double length) const;
  /// Tokens that a response at work has on average, where new ones begin as others end: half of the
  /// mean of the squares over the mean.
  [[nodiscard]] double mean_age() const;

 private:
  double mean_;
  double longest_;
  double power_;  ///< k; infinite where all are equally long
};

/// What an engine takes for `sequences` that are there at once. As many as it can work on begin
/// together, each that ends makes room for one that waits, and when none waits any more they run
/// out, the longest last.
[[nodiscard]] Seconds generation_time(const GenerationEngine& engine, double sequences,
                                      double prompt_tokens, const ResponseLengths& lengths);

}  // namespace headway
