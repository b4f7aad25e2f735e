#include "sim/result/words/anchor_sentence.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "sim/base/join_words.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string step_text(const AnchorStep& step) {
  const double change = step.measured / step.predicted - 1.0;
  return fmt::format("{} took {}, {} % {} than predicted", step.of,
                     TimeScale(step.measured).with_unit(step.measured), percent(std::abs(change)),
                     change < 0.0 ? "less" : "more");
}

}  // namespace

std::string anchor_sentence(const AnchorEffect& anchor) {
  const TimeScale here(anchor.time_without);
  std::vector<std::string> steps;
  for (const AnchorStep& step : anchor.steps) steps.push_back(step_text(step));
  return fmt::format("{}: software times x {:.3f}; without {} {} ({} .. {})",
                     join_words(steps, ", "), anchor.software_factor,
                     steps.size() == 1 ? "it" : "them", here.with_unit(anchor.time_without),
                     here.number(Seconds(anchor.interval_without.low)),
                     here.number(Seconds(anchor.interval_without.high)));
}

}  // namespace headway
