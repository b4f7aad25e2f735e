// Hours and bytes of averages in fragments beside steps, against gradients at every step.
#include <fmt/format.h>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// Douillard et al. 2025 (arXiv:2501.18512), section 3: fragments of three layers, of which a model
/// of a billion parameters has 24.
constexpr int kStreamedFragments = 8;
constexpr double kEveryStepBits = 16.0;

SyncOutcome predict_streaming(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto billions = number_before(row.set_up, "B parameters");
  const auto every = number_after(row.set_up, "H =");
  const auto bits = number_after(row.set_up, "FP");
  const auto at_work = value_at(row, 0);
  const auto linked = value_at(row, 1);
  const auto streamed = value_at(row, 3);
  const auto sent = value_at(row, 4);
  const auto streamed_sent = value_at(row, 5);
  if (!billions || !every || !bits || !at_work || !linked || !streamed || !sent || !streamed_sent) {
    return refused("the row does not say parameters, H, bits and the hours of both ways");
  }
  // Any step will do: only what the link makes of it counts. Its rate is the one at which gradients
  // at every step take the hours that the row says.
  const IslandsOfOne gradients{.parameters = *billions * 1e9, .bits = kEveryStepBits};
  const BytesPerSecond link = link_for_step(gradients, *linked / *at_work);
  const IslandsOfOne averages{.parameters = gradients.parameters,
                              .every = static_cast<int>(*every),
                              .bits = *bits,
                              .fragments = kStreamedFragments,
                              .overlap_steps = 1.0};
  SyncOutcome outcome;
  outcome.assumed = {"fragments of 3 of 24 layers, each beside one step (arXiv:2501.18512)",
                     "the link as the row's hours of gradients at every step have it"};
  outcome.values = {{.what = "hours",
                     .published = *streamed,
                     .predicted = *at_work * step_of_islands(averages, link)},
                    {.what = "bytes, times less",
                     .published = *sent / *streamed_sent,
                     .predicted = kEveryStepBits / (*bits / *every)}};
  return outcome;
}

}  // namespace

SyncKind streaming_rows() {
  return {.name = "local steps, streaming",
          .about = "hours and bytes of averages in fragments beside steps",
          .takes = [](const SyncRow& row) { return row.id.starts_with("streaming-"); },
          .predict = predict_streaming};
}

}  // namespace headway
