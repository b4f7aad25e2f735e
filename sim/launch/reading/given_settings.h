#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// A flag that a job was started with: "--num-layers", and the words behind it.
struct GivenSetting {
  std::string flag;
  std::vector<std::string> values;
  SourceLocation place;  ///< no file where another flag brings it along
};

/// What a job was started with. Of a flag that is given twice the last one counts, as argparse has
/// it.
class GivenSettings {
 public:
  void give(GivenSetting setting);
  /// Brings along what another flag implies, unless it was said.
  void imply(const std::string& flag, std::vector<std::string> values);
  void forget(const std::string& flag) { settings_.erase(flag); }

  [[nodiscard]] const GivenSetting* find(std::string_view flag) const;
  [[nodiscard]] bool has(std::string_view flag) const { return find(flag) != nullptr; }
  /// The words behind it, joined by blanks; empty without them or the flag.
  [[nodiscard]] std::string value(std::string_view flag) const;
  [[nodiscard]] std::optional<double> number(std::string_view flag) const;
  [[nodiscard]] const std::map<std::string, GivenSetting, std::less<>>& all() const {
    return settings_;
  }

 private:
  std::map<std::string, GivenSetting, std::less<>> settings_;
};

/// How to mend a value that is a variable which nobody set; empty for another one.
[[nodiscard]] std::string help_for_variable(const std::string& value);

/// What a script or a log says of the job that it starts, or was.
struct StartedJob {
  GivenSettings settings;
  GivenSettings launcher = {};                        ///< what stands before the program
  std::optional<double> ranks;                        ///< of the whole job
  std::optional<double> nodes;                        ///< as the launcher was told
  std::optional<double> per_node;                     ///< ranks, as the launcher was told
  std::optional<double> vocabulary;                   ///< padded, as the log says
  std::map<std::string, std::string> variables = {};  ///< of the script
  bool is_log = false;
};

/// The flags of a shell script, those of its command that has the most of them. Branches are
/// warnings.
[[nodiscard]] StartedJob job_of_script(const std::string& path, const std::string& text,
                                       Diagnostics& diagnostics);

/// Reads the flags of a script of Megatron-LM (`job_of_script`), or the arguments that it prints as
/// a run begins, found anywhere in its log. What is no file, and what has neither, is an error.
[[nodiscard]] StartedJob read_started_job(const std::string& path, Diagnostics& diagnostics);

}  // namespace headway
