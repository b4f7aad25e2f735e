#pragma once

#include <string>

#include "reports/answers/answer.h"
#include "sim/result/prediction.h"

namespace headway {

/// What `simulate` prints: the question on two lines, speed and memory, where the time goes,
/// warnings, and the answer in words as the last line. With colour, terminal codes make the numbers
/// that answer bold, warnings yellow and a shortage of memory red. Sentences that are longer than
/// the screen is wide go on below where they begin.
[[nodiscard]] std::string text_report(const Prediction& prediction, const Screen& screen);

}  // namespace headway
