#pragma once

#include <span>
#include <string_view>

#include "sim/scenario/scenario.h"

namespace headway {

/// Something of the machine or the job that could be better, and the scenario with it. Changes what
/// the scenario rests on (profile, cluster, strategy); no formula asks whether it is wanted.
struct SensitivityCase {
  std::string_view name;   ///< "nic_bandwidth"
  std::string_view title;  ///< "NICs twice as fast"
  Scenario (*changed)(Scenario scenario);
  bool (*goes_with)(const Scenario& scenario) = nullptr;  ///< with any, if it is nothing
};

[[nodiscard]] std::span<const SensitivityCase> sensitivity_cases();

}  // namespace headway
