// Throughput of image networks over accelerators, from one accelerator's; and scaling alone.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/layers/flops.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// The networks whose batches "batch 64/64/32/512/32" has, in its order.
constexpr std::array<std::string_view, 5> kBatchOrder = {"Inception V3", "ResNet 50", "ResNet 152",
                                                         "AlexNet", "VGG 16"};

struct ImageJob {
  NamedModel network;
  NamedAccelerator accelerator;
  int batch = 64;  ///< of an accelerator
  int accelerators = 1;
  int nodes = 1;
  BytesPerSecond network_rate = BytesPerSecond(1.25e9);
};

/// The network's own number in "64/64/32/512/32" or in "64 (AlexNet 512)"; else the only one.
std::optional<double> batch_of_network(const std::string& batches, const NamedModel& network) {
  for (const NamedModel& special : named_models(text_between(batches, "(", ")"))) {
    if (special.words == network.words) {
      return number_after(text_between(batches, "(", ")"), text_between(batches, "(", " "));
    }
  }
  const std::vector<std::string> each = parts_of(batches, "/");
  const auto place =
      static_cast<std::size_t>(std::ranges::find(kBatchOrder, network.words) - kBatchOrder.begin());
  return number_after(each.size() > 1 && place < each.size() ? each[place] : batches, "");
}

/// "synthetic, batch 64 (AlexNet 512); AlexNet; 8 GPUs".
ReadWords<ImageJob> image_job(const SyncRow& row) {
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return *reason;
  const std::string batches = text_between(row.set_up, "batch ", ";");
  std::string without_batches = row.set_up;
  if (const auto at = without_batches.find(batches); !batches.empty()) {
    without_batches.erase(at, batches.size());
  }
  const auto network = named_model(without_batches);
  if (const auto* reason = std::get_if<std::string>(&network)) return *reason;
  const auto accelerators = number_before(row.set_up, "GPUs");
  if (!accelerators || *accelerators < 1.0) return "the row does not say \"8 GPUs\"";
  ImageJob job{.network = std::get<NamedModel>(network),
               .accelerator = std::get<NamedAccelerator>(accelerator),
               .accelerators = static_cast<int>(*accelerators)};
  if (const auto batch = batch_of_network(batches, job.network)) {
    job.batch = static_cast<int>(*batch);
  }
  return job;
}

Scenario image_scenario(const ImageJob& job, double compute) {
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nodes = job.nodes;
  cluster.per_node = job.accelerators / job.nodes;
  cluster.nic_bandwidth = job.network_rate;
  Scenario scenario =
      scenario_from({{"model", *job.network.model},
                     {"cluster", switched_nodes(cluster)},
                     {"profile", job.accelerator.profile},
                     {"strategy",
                      {{"preset", "horovod"},
                       {"precision", "fp32"},
                       {"micro_batch", job.batch},
                       {"global_batch", std::int64_t{job.batch} * job.accelerators}}}});
  scenario.software_factor = compute;
  return scenario;
}

double images_a_second(const ImageJob& job, double compute) {
  return job.batch * static_cast<double>(job.accelerators) /
         iteration_seconds(image_scenario(job, compute));
}

/// The row of one accelerator whose id is otherwise the same.
std::optional<double> rate_of_one(const SyncQuestion& question) {
  const std::string& id = question.row.id;
  const std::string wanted = id.substr(0, id.rfind('-')) + "-1";
  for (const SyncRow& row : question.known) {
    if (row.id == wanted) return value_at(row, 0);
  }
  return std::nullopt;
}

SyncOutcome predict_throughput(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = image_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto* job = &std::get<ImageJob>(read);
  const auto published = value_at(row, 0);
  if (!published) return refused("the row has no images a second");
  if (row.set_up.find("distributed") != std::string::npos) {
    return refused("servers beside workers of several accelerators are not described");
  }
  const auto alone = rate_of_one(question);
  if (!alone) return refused("no row tells what one accelerator reaches");
  ImageJob one = *job;
  one.accelerators = 1;
  const Scenario single = image_scenario(one, 1.0);
  constexpr double kTraining = 3.0;  // a forward pass, and twice as much backward
  // Filters of 3 x 3 taps take 16 multiplications for 36 (Lavin and Gray 2016, arXiv:1509.09308).
  constexpr double kFewest = 16.0 / 36.0;
  const double floor = kFewest * kTraining * one.batch *
                       forward_flops(single.model, 1).total().count() /
                       single.profile->device.peak_flops.at(Precision::fp32).value;
  if (one.batch / *alone < floor) {
    return refused(
        "one accelerator is faster than its fewest multiplications at its peak: the rate, the "
        "batch or the model is another");
  }
  const double compute = images_a_second(one, 1.0) / *alone;
  SyncOutcome outcome;
  outcome.calibrates = job->accelerators == 1;
  outcome.assumed = {fmt::format("compute {:.2f} times ours, from one accelerator", compute),
                     "gradients all-reduced in fp32; nothing waits for input"};
  outcome.values = {{.what = "images/s",
                     .published = *published,
                     .predicted = images_a_second(*job, compute),
                     .ordered_with = row.id}};
  return outcome;
}

/// Predicts how "128 servers x 4" scale against one accelerator, by data sheet.
SyncOutcome predict_scaling(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  auto read = image_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  auto* job = &std::get<ImageJob>(read);
  const auto published = value_at(row, 0);
  const auto servers = number_before(row.set_up, "servers");
  const auto link = network_rate(row.set_up);
  if (!published || !servers || !link || *servers < 1.0 || *servers > job->accelerators) {
    return refused("the row does not say \"128 servers x 4\" and \"25 Gbit/s\"");
  }
  job->nodes = static_cast<int>(*servers);
  job->network_rate = *link;
  ImageJob one = *job;
  one.nodes = one.accelerators = 1;
  SyncOutcome outcome;
  outcome.assumed = {"64 images an accelerator, compute by the data sheet"};
  outcome.values = {
      {.what = "scaling efficiency",
       .published = *published / 100.0,
       .predicted = images_a_second(*job, 1.0) / images_a_second(one, 1.0) / job->accelerators,
       .is_share = true,
       .ordered_with = "scaling of " + row.source}};
  return outcome;
}

}  // namespace

SyncKind scaling_rows() {
  return {.name = "data parallel, scaling",
          .about = "throughput of image networks over accelerators, from one",
          .takes =
              [](const SyncRow& row) {
                return row.metric.find("images/s") != std::string::npos
                           ? row.id.starts_with("tfbench-")
                           : row.id.starts_with("horovod-");
              },
          .predict =
              [](const SyncQuestion& question) {
                return question.row.metric.find("images/s") != std::string::npos
                           ? predict_throughput(question)
                           : predict_scaling(question);
              }};
}

}  // namespace headway
