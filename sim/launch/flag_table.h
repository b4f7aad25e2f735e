#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/words.h"
#include "sim/files/json_value.h"

namespace headway {

/// Software that starts training jobs, and what its settings are called.
enum class LaunchFramework { megatron, torchtitan, deepspeed, horovod, accelerate };
inline constexpr std::size_t kLaunchFrameworks = 5;
template <>
inline constexpr Word<LaunchFramework> kWords<LaunchFramework>[] = {
    {"megatron-lm", LaunchFramework::megatron},
    {"torchtitan", LaunchFramework::torchtitan},
    {"deepspeed", LaunchFramework::deepspeed},
    {"horovod", LaunchFramework::horovod},
    {"accelerate", LaunchFramework::accelerate}};

/// What the settings of accelerate begin with that are its own; the others are the Trainer's.
inline constexpr std::string_view kOfLauncher = "launch ";

/// "Megatron-LM"
[[nodiscard]] std::string_view framework_title(LaunchFramework framework);

/// What a framework has no setting for, and what is the training script's own business.
inline constexpr std::string_view kNoFlag = "-";
inline constexpr std::string_view kOfScript = "~";

/// How a value of a field of the strategy is said to each framework.
struct FlagRow {
  std::string_view field;
  std::string_view value;  ///< as JSON has it; "*" any other
  /// By framework. A flag (Megatron-LM, Horovod, accelerate), `table.key=value` (torchtitan) or
  /// `object.key=value` (DeepSpeed), several with a line break between; empty where the framework
  /// does so unasked, `kNoFlag`, `kOfScript`. {} is the value, {field} that of another one.
  std::array<std::string_view, kLaunchFrameworks> flags;
};

/// The table: of every field of a strategy what says it. Rows of a field stand together, the first
/// that has the value holds. Fields that describe what software does, not what it is told, have
/// none: `describes_software`.
[[nodiscard]] std::span<const FlagRow> flag_table();
[[nodiscard]] bool describes_software(std::string_view field);

/// Whether a framework does as that value of a field says: by a setting, unasked, or in the
/// training script.
[[nodiscard]] bool can_be_told(LaunchFramework framework, std::string_view field,
                               std::string_view value);

/// A field that a framework cannot be told.
struct UnsaidField {
  std::string field;
  std::string value;
};

/// What a strategy is in the words of a framework.
struct FlagList {
  std::vector<std::string> settings;  ///< in the order of the table
  std::vector<UnsaidField> unsaid;    ///< no setting for it
  std::vector<UnsaidField> of_script;
};

/// `scenario` is resolved: every default written out. Fields that the rest of the strategy leaves
/// without effect are left out.
[[nodiscard]] FlagList flags_of(const JsonValue& scenario, LaunchFramework framework);

}  // namespace headway
