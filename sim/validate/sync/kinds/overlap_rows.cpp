// What it is worth to reduce gradients while the backward pass runs.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

struct OverlappedModel {
  std::string_view model;
  int batch;  ///< of an accelerator
};
/// In the order of the row's values. Batches are not said.
constexpr std::array kOverlapped = {OverlappedModel{"resnet_50", 32},
                                    OverlappedModel{"bert_large", 4}};

double overlapped_seconds(const OverlappedModel& model, int servers, int per_server,
                          BytesPerSecond link, bool overlaps) {
  return iteration_seconds(
      scenario_from({{"model", model.model},
                     {"cluster", switched_nodes({.accelerator = kV100Server.accelerator,
                                                 .nodes = servers,
                                                 .per_node = per_server,
                                                 .scale_up_bandwidth = kV100Server.scale_up,
                                                 .nic_bandwidth = link,
                                                 .nic_latency = Seconds(1e-6)})},
                     {"profile", kV100Server.profile},
                     {"strategy",
                      {{"preset", "pytorch-ddp"},
                       {"precision", "fp32"},
                       {"overlap_gradient_reduce", overlaps},
                       {"micro_batch", model.batch},
                       {"global_batch", model.batch * servers * per_server}}}}));
}

SyncOutcome predict_overlap(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto servers = number_before(row.set_up, "servers of");
  const auto per_server = number_after(row.set_up, "servers of");
  const auto gigabits = number_before(row.set_up, "Gb/s");
  const bool is_known = row.set_up.find("V100") != std::string::npos &&
                        row.set_up.find("ResNet-50 and BERT") != std::string::npos &&
                        row.set_up.find("NCCL") != std::string::npos;
  if (!is_known || !servers || !per_server || !gigabits) {
    return refused("the row does not say servers and links of models and software that we know");
  }
  SyncOutcome outcome;
  for (std::size_t i = 0; i < kOverlapped.size(); ++i) {
    const auto published = value_at(row, i);
    if (!published) return refused("the row lacks one of the two models");
    const auto seconds = [&](bool overlaps) {
      return overlapped_seconds(kOverlapped[i], static_cast<int>(*servers),
                                static_cast<int>(*per_server),
                                BytesPerSecond(*gigabits * 1e9 / 8.0), overlaps);
    };
    outcome.values.push_back({.what = fmt::format("gained by overlap, {}", kOverlapped[i].model),
                              .published = *published / 100.0,
                              .predicted = seconds(false) / seconds(true) - 1.0,
                              .is_share = true,
                              .ordered_with = "gained by overlap"});
    outcome.assumed.push_back(fmt::format("{} in fp32 with {} samples an accelerator",
                                          kOverlapped[i].model, kOverlapped[i].batch));
  }
  return outcome;
}

}  // namespace

SyncKind overlap_rows() {
  return {.name = "data parallel, overlap",
          .about = "speed that overlapping the reduction of gradients gains",
          .takes = [](const SyncRow& row) { return row.kind == "ddp_overlap"; },
          .predict = predict_overlap};
}

}  // namespace headway
