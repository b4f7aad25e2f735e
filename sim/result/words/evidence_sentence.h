#pragma once

#include <cstdint>
#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// "263 published steps of 10 sources"; "no published step".
[[nodiscard]] std::string published_steps_text(std::int64_t steps, std::int64_t sources);

/// What a prediction rests on: "fused software: 214 published steps of 9 sources; h100-sxm: 310 of
/// 14". Of what the user calibrated: "toy: measured"; of what nobody knows: "no published step".
[[nodiscard]] std::string evidence_sentence(const Confidence& confidence);

/// What would make its interval narrower, and how narrow: "one measured step of this software
/// (`headway anchor`) would leave 6.6 .. 7.2 s". Empty if no measured step would.
[[nodiscard]] std::string narrowing_sentence(const Prediction& prediction);

}  // namespace headway
