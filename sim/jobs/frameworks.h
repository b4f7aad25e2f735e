#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/json_document.h"
#include "sim/files/json_value.h"
#include "sim/jobs/strategy.h"

namespace headway {

/// How published rows name a framework: those that say all of what is not empty here.
struct PublishedAs {
  std::string framework;
  std::string release;
  std::string model;     ///< what the model's name holds
  bool experts = false;  ///< mixtures of experts only
};

/// What the published recipe of some releases sets for a model on an accelerator.
struct FrameworkRecipe {
  std::vector<std::string> releases;
  std::string accelerator;  ///< as rows name it: "H100"
  std::string model;        ///< what its name begins with
  std::string task;         ///< as rows name it: "lora"; empty: any
  JsonValue strategy;       ///< fields of a strategy
};

/// What a framework does where a job does not say otherwise: a file of scenarios/frameworks, a
/// value of `strategy.preset`, and the software of published rows. The parallel degrees, batches
/// and sequence length of `strategy` mean nothing: they are the job's.
struct Framework {
  std::string name;
  std::string about;  ///< what it is and where that is written
  std::vector<std::string> links;
  Strategy strategy;
  Strategy in_fp16;       ///< the same for jobs of that precision
  Strategy with_experts;  ///< the same for mixtures of experts
  Strategy with_experts_in_fp16;
  /// What starts its jobs, as launch files know it ("megatron-lm"); empty: something else.
  std::string launched_by = {};
  std::vector<PublishedAs> published_as;
  std::vector<FrameworkRecipe> recipes;

  /// What it does by itself for a job in this precision, of a mixture of experts or of another
  /// model.
  [[nodiscard]] const Strategy& habits(Precision precision, bool has_experts) const {
    if (precision == Precision::fp16) return has_experts ? with_experts_in_fp16 : in_fp16;
    return has_experts ? with_experts : strategy;
  }
};

/// Reads a "headway/framework/1" object; nothing, and diagnostics, if it is none.
[[nodiscard]] std::optional<Framework> read_framework(const JsonCursor& root,
                                                      Diagnostics& diagnostics);

/// Those of the data folders, by name, read once; the first is "none", the defaults of Strategy.
/// Throws InputError with the problems of all files that are none.
[[nodiscard]] const std::vector<Framework>& frameworks();

/// nullptr if there is none of that name.
[[nodiscard]] const Framework* framework_named(std::string_view name);

}  // namespace headway
