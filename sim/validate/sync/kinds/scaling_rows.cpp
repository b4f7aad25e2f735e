// Throughput of image networks over accelerators, from one accelerator's; and scaling alone.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sim/layers/flops.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// How rows call a network, what the library has of it, and which of the batches of
/// "batch 64/64/32/512/32" is its own.
struct ImageNetwork {
  std::string_view words;
  std::string_view model;
  std::size_t batch;
};
constexpr std::array kImageNetworks = {ImageNetwork{"InceptionV3", "inception_v3", 0},
                                       ImageNetwork{"Inception V3", "inception_v3", 0},
                                       ImageNetwork{"ResNet-50", "resnet_50", 1},
                                       ImageNetwork{"ResNet-152", "resnet_152", 2},
                                       ImageNetwork{"ResNet-101", "resnet_101", 2},
                                       ImageNetwork{"AlexNet", "alexnet", 3},
                                       ImageNetwork{"VGG16", "vgg_16", 4},
                                       ImageNetwork{"VGG-16", "vgg_16", 4}};

struct ImageMachine {
  std::string_view words;
  ServerKind server;
};
constexpr std::array kImageMachines = {ImageMachine{"P100", kP100Server},
                                       ImageMachine{"Pascal", kP100Server},
                                       ImageMachine{"K80", kK80Server}};

struct ImageJob {
  const ImageNetwork* network = nullptr;
  const ImageMachine* machine = nullptr;
  int batch = 64;  ///< of an accelerator
  int accelerators = 1;
  int nodes = 1;
  BytesPerSecond network_rate = BytesPerSecond(1.25e9);
};

/// "synthetic, batch 64 (AlexNet 512); AlexNet; 8 GPUs".
std::optional<ImageJob> image_job(const SyncRow& row) {
  const std::vector<std::string> said = parts_of(row.set_up, "; ");
  ImageJob job{.machine = named_in(kImageMachines, row.set_up)};
  for (const std::string& part : said) {
    if (job.network == nullptr && part.find("batch") == std::string::npos) {
      job.network = named_in(kImageNetworks, part);
    }
  }
  const auto accelerators = number_before(row.set_up, "GPUs");
  if (job.network == nullptr || job.machine == nullptr || !accelerators) return std::nullopt;
  job.accelerators = static_cast<int>(*accelerators);
  const std::string batches = text_between(row.set_up, "batch ", ";");
  const std::vector<std::string> each = parts_of(batches, "/");
  const bool has_own = each.size() > job.network->batch && each.size() > 1;
  auto batch = number_after(has_own ? each[job.network->batch] : batches, "");
  const auto special = number_after(batches, fmt::format("({} ", job.network->words));
  if (special) batch = special;
  if (batch) job.batch = static_cast<int>(*batch);
  return job;
}

Scenario image_scenario(const ImageJob& job, double compute) {
  const int per_node = job.accelerators / job.nodes;
  Scenario scenario =
      scenario_from({{"model", job.network->model},
                     {"cluster", switched_nodes({.accelerator = job.machine->server.accelerator,
                                                 .nodes = job.nodes,
                                                 .per_node = per_node,
                                                 .scale_up_bandwidth = job.machine->server.scale_up,
                                                 .nic_bandwidth = job.network_rate})},
                     {"profile", job.machine->server.profile},
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
  const auto job = image_job(row);
  const auto published = value_at(row, 0);
  if (!job || !published)
    return refused("the row does not say a network and machine of the library");
  if (row.set_up.find("distributed") != std::string::npos) {
    return refused("servers beside workers of several accelerators are not described");
  }
  const auto alone = rate_of_one(question);
  if (!alone) return refused("no row tells what one accelerator reaches");
  ImageJob one = *job;
  one.accelerators = 1;
  const Scenario single = image_scenario(one, 1.0);
  constexpr double kTraining = 3.0;  // a forward pass, and twice as much backward
  const double floor = kTraining * one.batch * forward_flops(single.model, 1).total().count() /
                       single.profile->device.peak_flops.at(Precision::fp32).value;
  if (one.batch / *alone < floor) {
    return refused(
        "one accelerator is faster than all multiplications at its peak: convolutions that "
        "multiply less (Winograd) are not modelled");
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

/// Of "128 servers x 4", against one accelerator, by data sheet.
SyncOutcome predict_scaling(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  auto job = image_job(row);
  const auto published = value_at(row, 0);
  const auto servers = number_before(row.set_up, "servers");
  const auto gigabits = number_before(row.set_up, "Gbit");
  if (!job || !published || !servers || !gigabits) {
    return refused("the row does not say network, servers and links");
  }
  job->nodes = static_cast<int>(*servers);
  job->network_rate = BytesPerSecond(*gigabits * 1e9 / 8.0);
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
