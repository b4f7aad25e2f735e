#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>

#include "sim/import/import_format.h"
#include "sim/launch/reading/given_settings.h"

namespace headway {

/// What the importers of jobs ask of a model that a scenario names.
struct JobModel {
  double layers = 0.0;  ///< 0 of one that is no decoder, or none
  double hidden = 0.0;
  double sequence_length = 0.0;
  bool has_experts = false;
};

/// `model` is the scenario's: a name, or fields in place. What is wrong with it is told by who
/// reads the scenario.
[[nodiscard]] JobModel job_model(const nlohmann::json& model);

/// The model that the request names, or a flag of a script of transformers that names one of the
/// library. What is missing is an error at `place`, and comes back empty.
[[nodiscard]] std::string named_model(const ImportRequest& request, const GivenSettings& flags,
                                      const SourceLocation& place, Diagnostics& diagnostics);

/// Tokens of a sequence into a strategy: those that the request asks for, else a flag of a common
/// training script (`used` gains its name), else the model's own, which is a warning.
void settle_sequence_length(const ImportRequest& request, const GivenSettings& flags,
                            const JobModel& model, nlohmann::json& strategy,
                            std::set<std::string>& used, Diagnostics& diagnostics);

/// The model of the library whose configuration is that of a repository of Hugging Face
/// ("meta-llama/Llama-2-7b-hf", or of its variants that are trained further); empty for another.
[[nodiscard]] std::string model_of_repository(const std::string& repository);

/// The fields of a model of the library, as its file has them.
[[nodiscard]] nlohmann::json fields_of_model(const std::string& name);

}  // namespace headway
