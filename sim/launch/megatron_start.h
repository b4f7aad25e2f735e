#pragma once

#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"

namespace headway {

/// Makes of a strategy one that Megatron-LM starts with: without what it would exit for
/// (megatron_refusals.h).
void leave_out_what_megatron_refuses(const Model& model, Strategy& strategy);

}  // namespace headway
