// How long a run takes that breaks again and again, by how it recovers.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/predict/reliability/job_history.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// What rows do not say of such runs. PyTorch gives up a collective after 10 min by default
/// (torch.distributed); in place, peers are missed after 10 s. Starting processes anew on a node
/// takes 10 min, storage gives 5 GB/s, a node's NICs 50 GB/s to its peers.
constexpr Seconds kTimeout(600.0);
constexpr Seconds kMissedPeer(10.0);
constexpr Seconds kRestart(600.0);
constexpr BytesPerSecond kStorage(5e9);
constexpr BytesPerSecond kPeers(50e9);
/// Replicas that may drop out exchange gradients over TCP (Gloo), a connection of 40 Gb/s for each
/// accelerator, in fp32, in which torchtitan reduces them, and beside nothing.
constexpr BytesPerSecond kTcp(5e9);
constexpr double kExchangedBytes = 4.0;
constexpr double kStateBytes = 14.0;  ///< of a parameter, with Adam (Rajbhandari et al. 2020)
constexpr int kRuns = 20;

/// The run as its row tells of it.
struct BrokenRun {
  double parameters = 0.0;
  int nodes = 0;
  int per_node = 0;
  double steps = 0.0;
  double steps_of_checkpoint = 0.0;
  Bytes memory;          ///< of an accelerator
  double least_s = 0.0;  ///< between failures
  double most_s = 0.0;
};

ReliabilitySettings settings_of(const BrokenRun& run, std::string_view recovery, double step_s) {
  ReliabilitySettings settings;
  constexpr int kTimes = 19;
  FailureCause cause{.name = "node", .units = 1, .nodes_lost = 1};
  cause.lifetime.kind = LifetimeKind::empirical;
  for (int i = 0; i < kTimes; ++i) {
    cause.lifetime.observed.emplace_back(run.least_s +
                                         (run.most_s - run.least_s) * i / (kTimes - 1.0));
  }
  settings.causes.push_back(std::move(cause));
  settings.recovery = &*std::ranges::find(recoveries(), recovery, &Recovery::name);
  settings.detection = settings.recovery->in_place ? kMissedPeer : kTimeout;
  settings.restart = kRestart;
  settings.spare_nodes = 1'000'000;  // there is always one
  settings.nodes = run.nodes;
  settings.step = Seconds(step_s);
  settings.state_bandwidth = kPeers;
  settings.checkpoint.size = Bytes(kStateBytes * run.parameters);
  settings.checkpoint.loading = settings.checkpoint.size / kStorage;
  return settings;
}

/// Nodes whose memory holds a copy of the state: a whole number of copies fills the job.
int nodes_of_copy(const BrokenRun& run) {
  constexpr double kFilled = 0.8;  // the rest is activations'
  int nodes = 1;
  while (nodes < run.nodes &&
         (run.nodes % nodes != 0 || kStateBytes * run.parameters + 2.0 * run.parameters >
                                        kFilled * nodes * run.per_node * run.memory.count())) {
    ++nodes;
  }
  return nodes;
}

double minutes_of(const BrokenRun& run, const ReliabilitySettings& settings) {
  double sum = 0.0;
  for (int seed = 1; seed <= kRuns; ++seed) {
    const double step_s = settings.step.count();
    sum += job_history(settings, Seconds(run.steps_of_checkpoint * step_s), run.steps * step_s, 1e9,
                       static_cast<std::uint64_t>(seed))
               .wall;
  }
  return sum / kRuns / 60.0;
}

/// The memory of an accelerator that programs can use.
Bytes memory_of(const NamedAccelerator& accelerator) {
  SwitchedNodes cluster = nodes_of(accelerator);
  cluster.nic_bandwidth = kPeers;
  return Bytes(scenario_from({{"model", "resnet_50"},
                              {"cluster", switched_nodes(cluster)},
                              {"profile", accelerator.profile},
                              {"strategy", {{"global_batch", 1}}}})
                   .profile->device.memory_bytes.value);
}

ReadWords<BrokenRun> run_of(const SyncRow& row) {
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return *reason;
  const auto billions = number_before(row.set_up, "B MoE");
  const auto nodes = number_before(row.set_up, "nodes x");
  const auto per_node = number_after(row.set_up, "nodes x ");
  const auto every = number_after(row.set_up, "checkpoint every ");
  const auto least = number_after(row.set_up, "one failure every ");
  const std::string times = text_between(row.set_up, "one failure every ", " s");
  const auto most = number_after(times, "-");
  // Written with a comma: "3,000 steps".
  const auto parts = parts_of(row.set_up, ", ");
  std::string last = parts.back();
  std::erase(last, ',');
  const auto steps = number_before(last, "steps");
  if (!billions || !nodes || !per_node || !every || !least || !most || !steps) {
    return "the row does not say \"109B MoE\", \"8 nodes x 8\", \"checkpoint every 100 steps\", "
           "\"one "
           "failure every 2700-4500 s\" and \"3,000 steps\" at its end";
  }
  return BrokenRun{.parameters = *billions * 1e9,
                   .nodes = static_cast<int>(*nodes),
                   .per_node = static_cast<int>(*per_node),
                   .steps = *steps,
                   .steps_of_checkpoint = *every,
                   .memory = memory_of(std::get<NamedAccelerator>(accelerator)),
                   .least_s = *least,
                   .most_s = *most};
}

SyncOutcome predict_recovery(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = run_of(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto* run = &std::get<BrokenRun>(read);
  const auto migration = value_at(row, 0);
  const auto restart = value_at(row, 1);
  const auto drop_out = value_at(row, 2);
  if (!migration || !restart || !drop_out) {
    return refused("the row has not the minutes of migration, restart and drop-out, in this order");
  }
  const auto migrating = [&](double step_s) {
    ReliabilitySettings settings = settings_of(*run, "live_migration", step_s);
    settings.nodes_per_replica = run->nodes;
    return minutes_of(*run, settings);
  };
  const double step_s = where_it_is(*migration, 0.1, 60.0, migrating);
  ReliabilitySettings dropping = settings_of(*run, "drop_out", step_s);
  const int of_copy = nodes_of_copy(*run);
  dropping.replicas = run->nodes / of_copy;
  dropping.nodes_per_replica = of_copy;
  // A ring over the copies, of what an accelerator of each has.
  const Bytes exchanged(2.0 * (dropping.replicas - 1.0) / dropping.replicas * kExchangedBytes *
                        run->parameters / (of_copy * run->per_node));
  dropping.step_overhead = exchanged / kTcp / dropping.step;
  const std::string order = "minutes of " + row.id;
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("steps of {:.2f} s, with which live migration takes {:g} min", step_s,
                  *migration),
      "10 min until a collective is given up and 10 to start anew, storage of 5 GB/s: the row says "
      "neither",
      fmt::format("{} copies that may drop out, which exchange gradients over TCP, 40 Gb/s an "
                  "accelerator: {:.1f} s a step more",
                  dropping.replicas, (exchanged / kTcp).count())};
  outcome.values = {
      {.what = "restart over migration",
       .published = *restart / *migration,
       .predicted = minutes_of(*run, settings_of(*run, "restart", step_s)) / *migration,
       .ordered_with = order},
      {.what = "drop-out over migration",
       .published = *drop_out / *migration,
       .predicted = minutes_of(*run, dropping) / *migration,
       .ordered_with = order}};
  return outcome;
}

}  // namespace

SyncKind recovery_rows() {
  return {.name = "recovery",
          .about = "how long a run takes that breaks again and again, by how it recovers",
          .takes = [](const SyncRow& row) { return row.kind == "recovery"; },
          .predict = predict_recovery};
}

}  // namespace headway
