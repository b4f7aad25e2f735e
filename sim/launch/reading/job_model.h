#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

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

/// The fields of a model of the library, as its file has them.
[[nodiscard]] nlohmann::json fields_of_model(const std::string& name);

}  // namespace headway
