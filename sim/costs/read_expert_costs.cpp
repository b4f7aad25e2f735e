#include "sim/costs/read_expert_costs.h"

#include <nlohmann/json.hpp>

#include "sim/costs/read_estimate.h"

namespace headway {

std::optional<ExpertCosts> read_expert_costs(ObjectReader& profile) {
  const auto part = profile.part("experts");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, profile.diagnostics());
  ExpertCosts costs;
  costs.grouped_efficiency = read_estimate(reader, "grouped_efficiency", kShareOfPeak);
  costs.grouped_half_rows = read_estimate(reader, "grouped_half_rows", kNotNegative);
  costs.permutation_bytes = read_estimate(reader, "permutation_bytes_per_element", kNotNegative);
  costs.exchange_scale_up = read_estimate(reader, "exchange_scale_up_efficiency", kShareOfPeak);
  costs.exchange_scale_out = read_estimate(reader, "exchange_scale_out_efficiency", kShareOfPeak);
  costs.exchange_overhead = read_estimate(reader, "exchange_overhead_s", kNotNegative);
  costs.exchange_seen = read_estimate(reader, "exchange_seen", between(0.0, 1.0));
  costs.exchange_seen_overlapped =
      read_estimate(reader, "exchange_seen_overlapped", between(0.0, 1.0));
  costs.layer_gap = read_estimate(reader, "layer_gap_s", kNotNegative);
  costs.host_per_layer = read_estimate(reader, "host_per_layer_s", kNotNegative);
  reader.finish();
  return costs;
}

std::optional<GraphCosts> read_graph_costs(ObjectReader& profile) {
  const auto part = profile.part("cuda_graphs");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, profile.diagnostics());
  GraphCosts costs;
  costs.launch_gap = read_estimate(reader, "launch_gap", between(0.0, 1.0));
  costs.expert_layer = read_estimate(reader, "expert_layer", between(0.0, 1.0));
  costs.expert_full = read_estimate(reader, "expert_full", between(0.0, 1.0));
  reader.finish();
  return costs;
}

}  // namespace headway
