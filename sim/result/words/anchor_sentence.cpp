#include "sim/result/words/anchor_sentence.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/result/number_text.h"

namespace headway {

std::string anchor_sentence(const AnchorEffect& anchor) {
  const TimeScale measured(anchor.measured);
  const TimeScale here(anchor.time_without);
  const double change = anchor.measured / anchor.predicted_of_it - 1.0;
  return fmt::format(
      "{} took {}, {} % {} than predicted: software times x {:.3f}; without it {} ({} .. {})",
      anchor.of, measured.with_unit(anchor.measured), percent(std::abs(change)),
      change < 0.0 ? "less" : "more", anchor.software_factor, here.with_unit(anchor.time_without),
      here.number(Seconds(anchor.interval_without.low)),
      here.number(Seconds(anchor.interval_without.high)));
}

}  // namespace headway
