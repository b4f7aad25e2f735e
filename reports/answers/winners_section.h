#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/study.h"

namespace headway {

/// Who wins a study over alternatives (axes below /choose/) and something else: for each
/// combination of the other axes the best entry of the last such list, the one behind it, and where
/// the time of the two goes beside computing. Without a block where there is nothing of the kind.
[[nodiscard]] DocumentSection winners_section(const Study& study);

/// How often each entry is the best, for studies of several models, whose costs and times say
/// nothing of each other: "By cost of the run, DDP is best in 3 of 4 combinations of model and
/// network, FSDP in 1." Empty for others.
[[nodiscard]] std::string winners_sentence(const Study& study);

}  // namespace headway
