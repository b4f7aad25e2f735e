#pragma once

#include "sim/base/units.h"

namespace headway {

struct Model;
struct Prediction;
struct Strategy;

/// Fills in everything of the prediction that follows from its iteration time: samples and tokens a
/// second, model FLOP/s, MFU and HFU against `peak` FLOP/s of one accelerator.
void set_speed(Prediction& prediction, const Model& model, const Strategy& strategy,
               FlopsPerSecond peak);

}  // namespace headway
