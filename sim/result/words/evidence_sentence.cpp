#include "sim/result/words/evidence_sentence.h"

#include <fmt/format.h>

#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string steps_text(const Evidence& evidence) {
  if (evidence.is_measured) return "measured";
  if (evidence.steps == 0) return "no published step";
  return fmt::format("{} published step{} of {} source{}", whole_number(evidence.steps),
                     evidence.steps == 1 ? "" : "s", evidence.sources,
                     evidence.sources == 1 ? "" : "s");
}

}  // namespace

std::string evidence_sentence(const Confidence& confidence) {
  return fmt::format("{} software: {}; {}: {}", confidence.software.of,
                     steps_text(confidence.software), confidence.accelerator.of,
                     steps_text(confidence.accelerator));
}

std::string narrowing_sentence(const Prediction& prediction) {
  const Interval& now = prediction.iteration_interval;
  const Interval& then = prediction.confidence.with_measured_step;
  if (then.high - then.low >= now.high - now.low) return "";
  const TimeScale scale(prediction.iteration_time);
  return fmt::format(
      "one measured step of this software here (`headway anchor`) would leave {} .. {}",
      scale.number(Seconds(then.low)), scale.with_unit(Seconds(then.high)));
}

}  // namespace headway
