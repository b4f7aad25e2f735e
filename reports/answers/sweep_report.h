#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/sweep/sweep.h"

namespace headway {

/// What a run of a sweep did, and the points of the store: all where they are few, else the fastest
/// for their size.
[[nodiscard]] std::string sweep_text(const SweepSummary& summary, const SweepContent& content,
                                     const std::filesystem::path& store);
/// The counts, and every point with its main metrics.
[[nodiscard]] nlohmann::json sweep_json(const SweepSummary& summary, const SweepContent& content,
                                        const std::filesystem::path& store);

/// What a run would do with the points that the store lacks, of `all` that the axes span.
[[nodiscard]] std::string sweep_plan_text(const std::vector<SweepPoint>& points, std::int64_t all);
[[nodiscard]] nlohmann::json sweep_plan_json(const std::vector<SweepPoint>& points,
                                             std::int64_t all);

}  // namespace headway
