// What compressed gradients save: of bytes, and of time on a slow link.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/compression/compression.h"
#include "sim/network/fabrics/transport.h"
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

/// Gradients in 16 bits behind the backward pass, in buckets of 5e8 elements, as DeepSpeed has
/// them.
struct CompressedJob {
  NamedAccelerator accelerator;
  NamedModel model;
  double batch = 1.0;
  int nodes = 1;
  int per_node = 1;
  BytesPerSecond link;
  /// What iperf reached, which opens one connection: a ring has one to a neighbour, an exchange of
  /// everybody with everybody many.
  std::optional<BytesPerSecond> connection;
};

/// The model as it was trained: BERT in the first phase of its pre-training, most of the steps of
/// which are so short.
nlohmann::json as_pretrained(const NamedModel& model) {
  constexpr int kFirstPhase = 128;
  constexpr int kPredicted = 20;
  if (!model.words.starts_with("BERT")) return *model.model;
  const bool is_base = model.words == "BERT base";
  return {{"family", "bert"},
          {"layers", is_base ? 12 : 24},
          {"hidden", is_base ? 768 : 1024},
          {"attention_heads", is_base ? 12 : 16},
          {"vocabulary", 30522},
          {"sequence_length", kFirstPhase},
          {"predicted_words", kPredicted}};
}

/// What makes the gradients of a row smaller, as a strategy has it; null if it says nothing known.
nlohmann::json method_of(const SyncRow& row) {
  const std::string all = row.id + "; " + row.source + "; " + row.set_up + "; " + row.metric;
  const auto says = [&](std::string_view words) { return all.find(words) != std::string::npos; };
  if (says("1-bit") || says("one-bit") || says("onebit")) return {{"method", "one_bit"}};
  auto density = number_after(all, "top-k");
  if (!density) density = number_after(all, "Top-k");
  if (density && says("%")) return {{"method", "top_k"}, {"density", *density / 100.0}};
  const auto rank = number_after(all, "rank");
  if (rank && *rank >= 1.0) return {{"method", "low_rank"}, {"rank", static_cast<int>(*rank)}};
  return nullptr;
}

Scenario compressed_scenario(const CompressedJob& job, const nlohmann::json& method) {
  const auto samples = static_cast<std::int64_t>(job.batch);
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nodes = job.nodes;
  cluster.per_node = job.per_node;
  cluster.nic_bandwidth = job.link;
  if (job.connection) {
    cluster.transport = "tcp";
    cluster.connection = job.connection;
  }
  return scenario_from({{"model", as_pretrained(job.model)},
                        {"cluster", switched_nodes(cluster)},
                        {"profile", job.accelerator.profile},
                        {"strategy",
                         {{"precision", "fp16"},
                          {"gradient_precision", "fp16"},
                          {"overlap_gradient_reduce", false},
                          {"gradient_bucket", "1 GB"},
                          {"micro_batch", samples},
                          {"global_batch", samples * job.nodes * job.per_node},
                          {"compression", method}}}});
}

/// An iperf rate is what a connection carries: nothing of it is lost once more.
double seconds_at_full_rate(Scenario scenario) {
  auto carried = *scenario.profile;
  carried.scale_out.bandwidth_efficiency.value = 1.0;
  scenario.profile = std::make_shared<const Profile>(std::move(carried));
  return iteration_seconds(scenario);
}

SyncOutcome predict_speed_up(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return refused(*reason);
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return refused(*reason);
  const auto batch = batch_of_each(row.set_up);
  const auto link = network_rate(row.set_up);
  const std::string after_iperf = text_between(row.set_up, "iperf", ";");
  const auto nodes = number_before(row.set_up, "nodes x");
  const auto per_node = number_after(row.set_up, "nodes x");
  const auto warm_up = number_before(row.metric, "% warm-up");
  const auto in_stage = value_at(row, 0);
  const auto whole = value_at(row, 1);
  if (!batch || !link || !nodes || !per_node || !in_stage || *batch < 1.0) {
    return refused("the row does not say \"16 samples a GPU\", the link and \"64 nodes x 4\"");
  }
  const CompressedJob job{.accelerator = std::get<NamedAccelerator>(accelerator),
                          .model = std::get<NamedModel>(model),
                          .batch = *batch,
                          .nodes = static_cast<int>(*nodes),
                          .per_node = static_cast<int>(*per_node),
                          .link = *link,
                          .connection = network_rate(after_iperf)};
  const nlohmann::json method = method_of(row);
  if (method.is_null()) {
    return refused("the row says neither 1-bit, nor \"top-k 1 %\", nor \"rank 4\"");
  }
  const auto seconds = [&](const nlohmann::json& how) {
    return seconds_at_full_rate(compressed_scenario(job, how));
  };
  SyncOutcome outcome;
  if (job.model.words.starts_with("BERT")) {
    outcome.assumed = {"sequences of 128 words, of which 20 are predicted"};
  }
  if (job.connection) {
    outcome.assumed.push_back(fmt::format(
        "iperf's rate is that of one connection, as a ring has to a neighbour; an exchange of "
        "everybody with everybody keeps {:g} of a NIC busy",
        transport_costs(TransportKind::tcp).spread_connections));
  }
  outcome.values = {{.what = "speed-up while compressing",
                     .published = *in_stage,
                     .predicted = seconds({{"method", "none"}}) / seconds(method)}};
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
