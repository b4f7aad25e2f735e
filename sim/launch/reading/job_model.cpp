#include "sim/launch/reading/job_model.h"

#include <nlohmann/json.hpp>

#include "sim/files/input_files.h"
#include "sim/models/read_model.h"

namespace headway {

using nlohmann::json;

JobModel job_model(const json& model) {
  Diagnostics ignored;
  InputFiles files({}, data_folders(), ignored);
  const auto document = JsonDocument::parse("the job", json{{"model", model}}.dump(), ignored);
  if (document == nullptr) return {};
  const auto read = read_model(*JsonCursor(document).member("model"), files);
  if (!read || !read->transformer) return {};
  const TransformerModel& fields = *read->transformer;
  return {.layers = static_cast<double>(fields.layers),
          .hidden = static_cast<double>(fields.hidden),
          .sequence_length = static_cast<double>(fields.sequence_length),
          .has_experts = fields.mixture_of_experts.has_value()};
}

json fields_of_model(const std::string& name) {
  Diagnostics ignored;
  InputFiles files({}, data_folders(), ignored);
  const auto root = files.open(name, "scenarios/models");
  return root ? root->value() : json();
}

}  // namespace headway
