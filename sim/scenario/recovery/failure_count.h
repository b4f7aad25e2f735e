#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

/// How many lifetimes a question may draw: seconds of work.
inline constexpr std::int64_t kMostLifetimes = 50'000'000;

/// That a question draws more than these.
[[nodiscard]] Diagnostic too_many_failures();

/// The same of the cause that breaks most often, if `runs` histories of `length` or more are sure
/// to need more lifetimes than a question may draw.
[[nodiscard]] std::optional<Diagnostic> too_many_failures(const std::vector<FailureCause>& causes,
                                                          Seconds length, int runs);

}  // namespace headway
