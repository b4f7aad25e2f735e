#include "sim/validate/sync/sync_scenario.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/predict/job_run.h"
#include "sim/scenario/resolved_scenario.h"

namespace headway {
namespace {

constexpr int kDrawsOfSyncRow = 3;
/// So fast that nothing is waited for.
constexpr BytesPerSecond kNoLimit(1e18);

/// So many that the optimizer hardly counts beside the passes.
constexpr int kRowsOfWork = 1 << 20;

/// One matrix with all parameters, as square as it goes: what islands average does not depend on
/// the shape.
nlohmann::json matrix_of(double parameters) {
  const double side = std::floor(std::sqrt(parameters));
  return {{"name", "all parameters"},
          {"layers",
           {{{"name", "all"},
             {"products",
              {{{"name", "all"},
                {"rows", kRowsOfWork},
                {"outputs", std::round(parameters / side)},
                {"inputs", side}}}}}}}};
}

Scenario islands_scenario(const IslandsOfOne& job, BytesPerSecond link) {
  return scenario_from(
      {{"model", matrix_of(job.parameters)},
       {"cluster",
        switched_nodes({.nodes = job.islands, .nic_bandwidth = link, .nic_latency = Seconds(0.0)})},
       {"profile", "h100_sxm"},
       {"strategy",
        {{"micro_batch", 1},
         {"global_batch", job.islands},
         {"synchronisation",
          {{"scheme", "local_steps"},
           {"every", job.every},
           {"bits", job.bits},
           {"fragments", job.fragments},
           {"overlap_steps", job.overlap_steps}}}}}});
}

/// Without noise, and with an efficiency of 1: the link is what it is said to be.
double plain_seconds(Scenario scenario) {
  scenario.perturbation = {};
  auto ideal = *scenario.profile;
  ideal.scale_out.bandwidth_efficiency.value = 1.0;
  ideal.scale_out.latency.value = 0.0;
  ideal.scale_out.overhead.value = 0.0;
  scenario.profile = std::make_shared<const Profile>(std::move(ideal));
  return run_job(scenario, *scenario.strategy, 1, 1).time().count();
}

}  // namespace

nlohmann::json switched_nodes(const SwitchedNodes& nodes) {
  nlohmann::json node = {{"schema", "headway/node/1"},
                         {"name", "node"},
                         {"accelerator", nodes.accelerator},
                         {"accelerators", nodes.per_node},
                         {"nics",
                          {{"count", nodes.nics},
                           {"bandwidth", exact_text(nodes.nic_bandwidth)},
                           {"latency", exact_text(nodes.nic_latency)}}}};
  if (nodes.per_node > 1) {
    node["scale_up"] = {{"bandwidth", exact_text(nodes.scale_up_bandwidth)}, {"latency", "1 us"}};
  }
  nlohmann::json fabric = {
      {"kind", "single_switch"}, {"cable_latency", "0 s"}, {"switch_latency", "0 s"}};
  if (nodes.transport) fabric["transport"] = *nodes.transport;
  if (nodes.connection) {
    fabric["transport_costs"] = {{"connection_bandwidth", exact_text(*nodes.connection)}};
  }
  return {{"topology",
           {{"schema", "headway/topology/1"},
            {"name", "nodes around a switch"},
            {"node", node},
            {"nodes", nodes.nodes},
            {"fabric", fabric}}}};
}

SwitchedNodes nodes_of(const NamedAccelerator& accelerator) {
  return {.accelerator = accelerator.name, .scale_up_bandwidth = accelerator.scale_up};
}

Scenario scenario_from(const nlohmann::json& parts) {
  nlohmann::json whole = parts;
  whole["schema"] = "headway/scenario/1";
  Diagnostics diagnostics;
  return read_resolved_scenario(whole, "row", diagnostics);
}

double iteration_seconds(const Scenario& scenario) {
  if (!std::isfinite(scenario.software_factor) || scenario.software_factor <= 0.0) {
    throw InputError(
        Diagnostic{.message = "the time that its compute is calibrated with is not above 0"});
  }
  return run_job(scenario, *scenario.strategy, kDrawsOfSyncRow, 1).time().count();
}

double step_of_islands(const IslandsOfOne& job, BytesPerSecond link) {
  // Compute as our device has it; the link is slower or faster by what the row's step is longer or
  // shorter, and so is what an iteration takes.
  const double ours = plain_seconds(islands_scenario(job, kNoLimit));
  const double stretched = ours / job.step_s;
  return plain_seconds(islands_scenario(job, link / stretched)) / stretched;
}

BytesPerSecond link_for_step(const IslandsOfOne& job, double wanted_s) {
  const double sent = job.parameters * job.bits / 8.0 / job.every;
  const double about = sent / (wanted_s - job.step_s);
  return BytesPerSecond(where_it_is(wanted_s, about / 64.0, about * 64.0, [&](double rate) {
    return step_of_islands(job, BytesPerSecond(rate));
  }));
}

double where_it_is(double wanted, double low, double high,
                   const std::function<double(double)>& value) {
  constexpr double kCloseEnough = 1e-4;
  const bool rises = value(high) > value(low);
  while (high / low > 1.0 + kCloseEnough) {
    const double middle = std::sqrt(low * high);
    ((value(middle) < wanted) == rises ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

}  // namespace headway
