#include "sim/result/words/evidence_sentence.h"

#include <fmt/format.h>

#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string grade_of(const Evidence& evidence) {
  return evidence.is_measured ? "measured" : published_steps_text(evidence.steps, evidence.sources);
}

}  // namespace

std::string published_steps_text(std::int64_t steps, std::int64_t sources) {
  if (steps == 0) return "no published step";
  return fmt::format("{} published step{} of {} source{}", whole_number(steps),
                     steps == 1 ? "" : "s", sources, sources == 1 ? "" : "s");
}

std::string evidence_sentence(const Confidence& confidence) {
  return fmt::format("{} software: {}; {}: {}", confidence.software.of,
                     grade_of(confidence.software), confidence.accelerator.of,
                     grade_of(confidence.accelerator));
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
