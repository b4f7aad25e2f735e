// What compressed gradients save: of bytes, and of time on a slow link.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/compression/compression.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

constexpr double kHalfBytes = 2.0;  ///< of an element in 16 bits

Compression one_bit_after(double warm_up) {
  Compression how{.warm_up = warm_up};
  for (const Compressor& method : compressors()) {
    if (method.name == "one_bit") how.method = &method;
  }
  return how;
}

SyncOutcome predict_volume(const SyncQuestion& question) {
  const auto warm_up = number_after(question.row.set_up, "warm-up fraction");
  const auto ratio = value_at(question.row, 1);
  if (!warm_up || !ratio) return refused("the row does not say the warm-up");
  const GradientPart all{.elements = 1.0, .factors = 1.0};
  const Bytes full = compressed_message({}, all, kHalfBytes, 2);
  const Bytes sent = compressed_message(one_bit_after(*warm_up / 100.0), all, kHalfBytes, 2);
  SyncOutcome outcome;
  outcome.values = {{.what = "volume, times less", .published = *ratio, .predicted = full / sent}};
  return outcome;
}

/// BERT-large on nodes of four V100 with one NIC each, gradients in 16 bits behind the backward
/// pass, as DeepSpeed has them.
Scenario compressed_job(double batch, int nodes, int per_node, BytesPerSecond link,
                        const char* method) {
  const auto samples = static_cast<std::int64_t>(batch);
  constexpr int kFirstPhase = 128;
  return scenario_from({{"model",
                         {{"family", "bert"},
                          {"layers", 24},
                          {"hidden", 1024},
                          {"attention_heads", 16},
                          {"vocabulary", 30522},
                          {"sequence_length", kFirstPhase},
                          {"predicted_words", 20}}},
                        {"cluster", switched_nodes({.accelerator = kV100Server.accelerator,
                                                    .nodes = nodes,
                                                    .per_node = per_node,
                                                    .scale_up_bandwidth = kV100Server.scale_up,
                                                    .nic_bandwidth = link})},
                        {"profile", kV100Server.profile},
                        {"strategy",
                         {{"precision", "fp16"},
                          {"gradient_precision", "fp16"},
                          {"overlap_gradient_reduce", false},
                          {"micro_batch", samples},
                          {"global_batch", samples * nodes * per_node},
                          {"compression", {{"method", method}}}}}});
}

/// An iperf rate is what a link carries: nothing of it is lost once more.
double seconds_at_full_rate(Scenario scenario) {
  auto carried = *scenario.profile;
  carried.scale_out.bandwidth_efficiency.value = 1.0;
  scenario.profile = std::make_shared<const Profile>(std::move(carried));
  return iteration_seconds(scenario);
}

SyncOutcome predict_speed_up(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto batch = number_before(row.set_up, "samples a GPU");
  auto gigabits = number_after(row.set_up, "iperf rate is");
  if (!gigabits) gigabits = number_before(row.set_up, "Gb");
  const auto nodes = number_before(row.set_up, "nodes x");
  const auto per_node = number_after(row.set_up, "nodes x");
  const auto warm_up = number_before(row.metric, "% warm-up");
  const auto in_stage = value_at(row, 0);
  const auto whole = value_at(row, 1);
  const bool is_known = row.set_up.find("BERT-Large") != std::string::npos &&
                        row.set_up.find("V100") != std::string::npos;
  if (!is_known || !batch || !gigabits || !nodes || !per_node || !in_stage) {
    return refused("the row does not say batch, link and nodes of a model that we know");
  }
  const auto seconds = [&](const char* method) {
    return seconds_at_full_rate(compressed_job(*batch, static_cast<int>(*nodes),
                                               static_cast<int>(*per_node),
                                               BytesPerSecond(*gigabits * 1e9 / 8.0), method));
  };
  SyncOutcome outcome;
  outcome.assumed = {"sequences of 128 words, of which 20 are predicted"};
  outcome.values = {{.what = "speed-up while compressing",
                     .published = *in_stage,
                     .predicted = seconds("none") / seconds("one_bit")}};
  if (whole && warm_up) {
    const double share = *warm_up / 100.0;
    outcome.values.push_back({.what = "speed-up from end to end, by the published one",
                              .published = *whole,
                              .predicted = 1.0 / (share + (1.0 - share) / *in_stage)});
  }
  return outcome;
}

}  // namespace

SyncKind compression_rows() {
  return {.name = "compression",
          .about = "bytes and time that compressed gradients save",
          .takes = [](const SyncRow& row) { return row.kind == "compression"; },
          .predict =
              [](const SyncQuestion& question) {
                return question.row.metric.find("volume") != std::string::npos
                           ? predict_volume(question)
                           : predict_speed_up(question);
              }};
}

}  // namespace headway
