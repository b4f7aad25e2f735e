#pragma once

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

#include "sim/launch/flag_table.h"

namespace headway {

/// A setting with which a framework exits at its start, or which it disregards, beside others.
/// `Settings` are what of a job decides that.
template <class Settings>
struct RefusedSetting {
  std::string_view flag;   ///< that asks for it, or what its settings begin with
  std::string_view field;  ///< of the strategy
  std::string_view beside;
  bool (*is_refused)(const Settings& settings);
};

template <class Settings>
[[nodiscard]] bool refuses(std::span<const RefusedSetting<Settings>> refused,
                           std::string_view field, const Settings& settings) {
  return std::ranges::any_of(refused, [&](const RefusedSetting<Settings>& setting) {
    return setting.field == field && setting.is_refused(settings);
  });
}

/// Where settings begin with that flag, the field is not told but said: "3 beside a pipeline".
void leave_unsaid(std::string_view flag, std::string_view field, std::string_view beside,
                  const nlohmann::json& strategy, FlagList& flags);

/// The same of all that is refused.
template <class Settings>
void leave_out_refused(std::span<const RefusedSetting<Settings>> refused, const Settings& settings,
                       const nlohmann::json& strategy, FlagList& flags) {
  for (const RefusedSetting<Settings>& setting : refused) {
    if (!setting.is_refused(settings)) continue;
    leave_unsaid(setting.flag, setting.field, setting.beside, strategy, flags);
  }
}

}  // namespace headway
