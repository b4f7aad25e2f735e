#include "calibrate/output/measured_json.h"

#include <nlohmann/json.hpp>

namespace headway {

std::string measured_json(const std::vector<MeasuredStep>& measured,
                          const std::string& command_line, const std::string& created_utc) {
  nlohmann::ordered_json json = {
      {"schema", "headway/measured/1"},
      {"provenance", {{"command", command_line}, {"created_utc", created_utc}}},
      {"rows", nlohmann::ordered_json::array()}};
  for (const MeasuredStep& row : measured) {
    const TrainingStep& step = row.step;
    json["rows"].push_back({{"id", step.id},
                            {"ranks", row.ranks},
                            {"layers", step.layers},
                            {"width", step.width},
                            {"batch", step.batch},
                            {"pipeline_stages", step.pipeline_stages},
                            {"micro_batches", step.micro_batches},
                            {"overlap", step.overlap},
                            {"slow_rank", step.slow_rank},
                            {"slow_factor", step.slow_factor},
                            {"jitter", step.jitter},
                            {"emulated_flops_per_s", step.emulated_flops_per_s},
                            {"steps", step.steps},
                            {"iteration_time_s", row.time_s},
                            {"spread", row.spread},
                            {"contaminated_share", row.contaminated}});
  }
  return json.dump(2) + "\n";
}

}  // namespace headway
