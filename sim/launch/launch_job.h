#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/files/json_value.h"
#include "sim/launch/launch_files.h"

namespace headway {

/// What every file that starts a job needs to know of it.
struct LaunchJob {
  std::string title;  ///< one line for people
  std::int64_t nodes = 1;
  std::int64_t accelerators = 1;  ///< of a node that the job uses
  FlagList flags;
  std::vector<std::string> remarks;

  [[nodiscard]] std::int64_t ranks() const { return nodes * accelerators; }
};

[[nodiscard]] LaunchJob launch_job(const JsonValue& scenario, LaunchFramework framework);

/// What the file opens with, in lines: what it is for, and the remarks.
[[nodiscard]] std::vector<std::string> launch_comments(const LaunchJob& job,
                                                       LaunchFramework framework);

/// Lines that start the framework's processes on a node, as a shell reads them; what the model is
/// in its words included.
[[nodiscard]] std::string start_commands(const JsonValue& scenario, const LaunchJob& job,
                                         LaunchFramework framework);

// Of one framework each, in a file of its own.

/// What the model is in Megatron-LM's words. What has none is added to the remarks.
[[nodiscard]] std::vector<std::string> megatron_model_flags(const JsonValue& scenario,
                                                            std::vector<std::string>& remarks);
/// Where the layers do not split as Megatron-LM splits them itself, its layout of the pipeline in
/// the place of what else says how many stages there are and what they hold.
void settle_megatron_layout(const JsonValue& scenario, FlagList& flags);
/// It exits at its start where a setting meets another one that it does not go with: such a one is
/// not told, and said instead.
void leave_out_what_megatron_refuses(const JsonValue& scenario, FlagList& flags);
/// The same of torchtitan; what it does by its defaults instead is added to the remarks.
void leave_out_what_torchtitan_refuses(const JsonValue& scenario, FlagList& flags,
                                       std::vector<std::string>& remarks);
/// Variables that Megatron-LM's processes need, each line of a shell.
[[nodiscard]] std::string megatron_environment(const JsonValue& scenario);
/// What accelerate does otherwise under FSDP than without it, said in its settings and remarks: so
/// that weights stay in the format, and gradients are reduced as often, as planned.
void settle_accelerate(const JsonValue& scenario, FlagList& flags,
                       std::vector<std::string>& remarks);
/// "table.key=value" as a TOML file.
[[nodiscard]] std::string torchtitan_config(const std::vector<std::string>& settings);
/// "object.key=value" as DeepSpeed's JSON.
[[nodiscard]] std::string deepspeed_config(const std::vector<std::string>& settings);

}  // namespace headway
