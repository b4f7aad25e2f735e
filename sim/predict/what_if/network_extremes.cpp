#include "sim/predict/what_if/network_extremes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "sim/network/changed_cluster.h"
#include "sim/predict/what_if/changed_topology.h"

namespace headway {
namespace {

/// Draws of the switches' hash functions, the scenario's own among them.
constexpr int kHashDraws = 8;

bool loses_no_packet(TransportKind transport) {
  return transport == TransportKind::unstated || transport == TransportKind::infiniband ||
         transport == TransportKind::roce;
}

}  // namespace

std::vector<Sensitivity> network_extremes(const Scenario& scenario, const JobRun& run, int jobs) {
  if (scenario.accelerators() > kMostPaused) return {};
  Perturbation drawn = scenario.perturbation;
  drawn.seed += run.median;
  std::vector<Sensitivity> extremes;
  const auto add = [&](const char* name, const char* title, const Workload& workload,
                       const Topology& topology, const EngineOptions& engine) {
    const std::vector<double> times =
        simulated_times({{&workload, &topology, drawn}}, engine, jobs);
    // Delays may make a job faster, which is no bound.
    const Seconds time = max(run.time(), Seconds(times.front()));
    extremes.push_back(
        {.name = name, .title = title, .iteration_time = time, .speedup = run.time() / time});
  };
  if (loses_no_packet(scenario.cluster->node_type.transport.kind)) {
    EngineOptions paused = scenario.run.engine;
    paused.flows = FlowEngine::paused;
    add("paused_links", "whole links paused (PFC, credits)", run.workload,
        scenario.cluster->topology, paused);
  }
  if (scenario.cluster->routing->hashes_flows()) {
    Seconds slowest = run.time();
    for (int draw = 1; draw < kHashDraws; ++draw) {
      Scenario redrawn = scenario;
      redrawn.cluster = cluster_with(scenario, [draw](nlohmann::json& topology) {
        nlohmann::json& seed = topology.at("routing").at("seed");
        seed = seed.get<std::uint64_t>() + static_cast<std::uint64_t>(draw);
      });
      const Workload workload = built_job(redrawn, *redrawn.strategy).workload;
      const std::vector<double> times = simulated_times(
          {{&workload, &redrawn.cluster->topology, drawn}}, scenario.run.engine, jobs);
      slowest = max(slowest, Seconds(times.front()));
    }
    extremes.push_back({.name = "hash_collisions",
                        .title = fmt::format("hashed flows in the worst of {} draws", kHashDraws),
                        .iteration_time = slowest,
                        .speedup = run.time() / slowest});
  }
  const Routing& routing = *scenario.cluster->routing;
  const double least_share = routing.least_efficiency() / routing.efficiency();
  if (least_share < 1.0) {
    Scenario uneven = scenario;
    uneven.cluster = changed_cluster(scenario.cluster, [least_share](Cluster& cluster) {
      Topology& topology = cluster.topology;
      for (LinkId id = 0; id < topology.link_count(); ++id) {
        Link& link = topology.link(id);
        if (topology.is_switch(link.from) && topology.is_switch(link.to)) {
          link.capacity = least_share * link.capacity;
        }
      }
    });
    const Workload workload = built_job(uneven, *uneven.strategy).workload;
    add("uneven_flowlets", "flowlets as uneven as seen", workload, uneven.cluster->topology,
        scenario.run.engine);
  }
  return extremes;
}

}  // namespace headway
