#include "sim/predict/what_if/sensitivities.h"

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/network/changed_cluster.h"
#include "sim/predict/what_if/changed_topology.h"

namespace headway {
namespace {

constexpr double kSlightlyFaster = 1.1;

void for_each_type(Cluster& cluster, void (*change)(NodeType&)) {
  change(cluster.node_type);
  for (NodeType& type : cluster.other_types) change(type);
}

/// Matrix products of linear layers and experts; attention keeps its rate, which the profile gives
/// as a share of the peak, or in a table that stays as it is.
Scenario faster_products(Scenario scenario) {
  scenario.change_profiles([](Profile& profile) {
    for (auto& [unused, peak] : profile.device.peak_flops) peak.value *= kSlightlyFaster;
    profile.device.attention_efficiency.value /= kSlightlyFaster;
    for (auto& [unused, kernel] : profile.device.attention_kernels) {
      kernel.efficiency.value /= kSlightlyFaster;
    }
    for (MeasuredGemm& measured : profile.device.gemm_table) {
      measured.time = measured.time / kSlightlyFaster;
    }
  });
  return scenario;
}

Scenario faster_memory(Scenario scenario) {
  scenario.change_profiles([](Profile& profile) {
    profile.device.memory_bandwidth.value *= kSlightlyFaster;
    for (MeasuredCurve::Point& point : profile.device.memory_curve.points) {
      point.time = point.time / kSlightlyFaster;
    }
  });
  return scenario;
}

/// The cables at the NICs too, the fabric behind them as it is.
Scenario faster_nics(Scenario scenario) {
  scenario.cluster = changed_cluster(scenario.cluster, [](Cluster& cluster) {
    for_each_type(cluster, [](NodeType& type) { type.nic_bandwidth = 2.0 * type.nic_bandwidth; });
    Topology& topology = cluster.topology;
    for (LinkId id = 0; id < topology.link_count(); ++id) {
      Link& link = topology.link(id);
      const bool is_of_nic = !topology.is_switch(link.from) || !topology.is_switch(link.to);
      if (is_of_nic) link.capacity = 2.0 * link.capacity;
    }
  });
  return scenario;
}

bool is_between_switches(const Topology& topology, LinkId id) {
  const Link& link = topology.link(id);
  return topology.is_switch(link.from) && topology.is_switch(link.to);
}

bool joins_switches(const Scenario& scenario) {
  const Topology& topology = scenario.cluster->topology;
  for (LinkId id = 0; id < topology.link_count(); ++id) {
    if (is_between_switches(topology, id)) return true;
  }
  return false;
}

/// What takes away half of any oversubscription: the cables at the NICs stay as they are.
Scenario faster_fabric(Scenario scenario) {
  scenario.cluster = changed_cluster(scenario.cluster, [](Cluster& cluster) {
    Topology& topology = cluster.topology;
    for (LinkId id = 0; id < topology.link_count(); ++id) {
      if (!is_between_switches(topology, id)) continue;
      Link& link = topology.link(id);
      link.capacity = 2.0 * link.capacity;
    }
  });
  return scenario;
}

/// Halves the latency of wires, switches, NICs and steps; launching a collective costs what it did.
Scenario half_the_latency(Scenario scenario) {
  scenario.cluster = changed_cluster(scenario.cluster, [](Cluster& cluster) {
    for_each_type(cluster, [](NodeType& type) {
      type.nic_latency = 0.5 * type.nic_latency;
      type.scale_up_latency = 0.5 * type.scale_up_latency;
    });
    Topology& topology = cluster.topology;
    for (LinkId id = 0; id < topology.link_count(); ++id) {
      topology.set_latency(id, 0.5 * topology.latency(id));
    }
  });
  scenario.change_profiles([](Profile& profile) {
    profile.scale_up.latency.value *= 0.5;
    profile.scale_out.latency.value *= 0.5;
  });
  return scenario;
}

/// Every switch sprays packets over all its paths where it hashed whole flows onto one.
Scenario sprayed_packets(Scenario scenario) {
  scenario.cluster = cluster_with(scenario, [](nlohmann::json& topology) {
    topology["routing"] = {{"kind", "adaptive"}};
  });
  return scenario;
}

Scenario twice_the_micro_batches(Scenario scenario) {
  scenario.change_strategy([](Strategy& strategy) { strategy.global_batch *= 2; });
  return scenario;
}

bool hashes_flows(const Scenario& scenario) { return scenario.cluster->routing->hashes_flows(); }

constexpr std::array kCases{
    SensitivityCase{"gemm_rate", "matrix products 10 % faster", faster_products},
    SensitivityCase{"memory_bandwidth", "memory 10 % faster", faster_memory},
    SensitivityCase{"nic_bandwidth", "NICs twice as fast", faster_nics},
    SensitivityCase{"fabric_bandwidth", "cables between switches twice as fast", faster_fabric,
                    joins_switches},
    SensitivityCase{"latency", "half the latency of the network", half_the_latency},
    SensitivityCase{"sprayed_packets", "packets sprayed over all paths", sprayed_packets,
                    hashes_flows},
    SensitivityCase{"micro_batches", "twice the micro-batches", twice_the_micro_batches},
};

}  // namespace

std::span<const SensitivityCase> sensitivity_cases() { return kCases; }

}  // namespace headway
