#pragma once

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// The fabric's tiers one above the other, the highest on top, and between them how much of their
/// cables was used, up and down.
[[nodiscard]] Figure fabric_figure(const FabricUse& use);

}  // namespace headway
