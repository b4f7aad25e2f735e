// Fully sharded steps: rates over accelerators, and what fetching ahead is worth.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/predict/simulate.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// GPT of 175 billion parameters as minGPT has it, on nodes of eight A100.
Scenario sharded_job(int accelerators, BytesPerSecond node_network, int micro_batch, bool ahead) {
  constexpr int kOfNode = 8;
  return scenario_from({{"model",
                         {{"layers", 96},
                          {"hidden", 12288},
                          {"attention_heads", 96},
                          {"ffn_hidden", 49152},
                          {"mlp", "plain"},
                          {"vocabulary", 50000},
                          {"sequence_length", 2048}}},
                        {"cluster", switched_nodes({.accelerator = "a100-sxm-80gb",
                                                    .nodes = accelerators / kOfNode,
                                                    .per_node = kOfNode,
                                                    .scale_up_bandwidth = BytesPerSecond(300e9),
                                                    .nics = kOfNode,
                                                    .nic_bandwidth = node_network / kOfNode,
                                                    .nic_latency = Seconds(1e-6)})},
                        {"profile", "a100_sxm_80gb"},
                        {"strategy",
                         {{"preset", "pytorch-fsdp"},
                          {"gradient_precision", "bf16"},
                          {"attention", "unfused"},
                          {"recompute", "full"},
                          {"overlap_parameter_gather", ahead},
                          {"micro_batch", micro_batch},
                          {"global_batch", micro_batch * accelerators}}}});
}

/// TFLOP/s of an accelerator, what is recomputed counted.
double counted_rate(const Scenario& scenario) {
  const Prediction prediction =
      simulate(scenario, {.scaling = false, .even_if_it_does_not_fit = true}).prediction;
  return prediction.hfu / prediction.mfu * prediction.model_flops_per_second_per_accelerator / 1e12;
}

SyncOutcome predict_sharded(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto terabits = number_before(row.set_up, "Tb/s");
  const auto published = value_at(row, 0);
  const bool is_known =
      row.set_up.find("175B") != std::string::npos && row.set_up.find("A100") != std::string::npos;
  if (!is_known || !terabits || !published) {
    return refused("the row is not of GPT 175B on A100, or does not say the network");
  }
  const BytesPerSecond network(*terabits * 1e12 / 8.0);
  SyncOutcome outcome;
  outcome.assumed = {"eight NICs a node, which share what the row says of the network"};
  if (row.metric.find("prefetch") != std::string::npos) {
    constexpr int kMany = 128;
    const double fetched = iteration_seconds(sharded_job(kMany, network, 1, true));
    const double waited = iteration_seconds(sharded_job(kMany, network, 1, false));
    outcome.values = {{.what = "gained by fetching ahead",
                       .published = *published / 100.0,
                       .predicted = waited / fetched - 1.0,
                       .is_share = true}};
    return outcome;
  }
  const auto batch = number_before(row.set_up, "a GPU;");
  const auto in_batch = number_after(row.set_up, "batch");
  const int micro_batch = static_cast<int>(in_batch.value_or(batch.value_or(1.0)));
  const std::string sizes = parts_of(row.set_up, ";").back();
  const auto fewest = number_before(sizes, "to");
  const auto most = number_after(sizes, "to");
  if (!fewest || !most) return refused("the row does not say on how many accelerators");
  for (int size = static_cast<int>(*fewest); size <= static_cast<int>(*most); size *= 2) {
    outcome.values.push_back(
        {.what = fmt::format("TFLOP/s on {}", size),
         .published = *published,
         .predicted = counted_rate(sharded_job(size, network, micro_batch, true))});
  }
  return outcome;
}

}  // namespace

SyncKind sharded_rows() {
  return {.name = "fully sharded",
          .about = "rates of FSDP over accelerators, and what fetching ahead is worth",
          .takes = [](const SyncRow& row) { return row.kind == "fsdp"; },
          .predict = predict_sharded};
}

}  // namespace headway
