#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <numeric>
#include <optional>

#include "sim/base/child_process.h"
#include "sim/predict/simulate.h"
#include "sim/programs/closed_form.h"
#include "tests/fuzz/random_scenario.h"
#include "tests/fuzz/scenario_changes.h"
#include "tests/fuzz/settings.h"
#include "tests/support/scenario_reading.h"

namespace headway {
namespace {

using nlohmann::json;

/// Where flows share links, or passes wait for each other, a delay may take somebody out of another
/// one's way, so that single iterations do get a little faster now and then (Graham 1969, "Bounds
/// on multiprocessing timing anomalies").
constexpr double kAnomaly = 0.01;

/// What one iteration takes, and how much of it flows cost each other: what it takes longer than
/// the closed form, which knows no contention. Replicas in step send at the same moments over the
/// links that they share. Once something makes one of them late they send one after the other, each
/// at the whole speed: the job that nothing slows may take longer, by that at most.
struct Iteration {
  double time = 0.0;
  double contention = 0.0;

  /// Where nobody met anybody.
  [[nodiscard]] double alone() const { return time - contention; }
};

/// Collectives between replicas that leave over the same NICs have them in the order in which they
/// came in the closed form, and share them in the simulation, where a short one that came late may
/// end sooner.
constexpr double kClosedForm = 0.001;

int jobs_asked() { return number_from("HEADWAY_PHYSICS_JOBS", 60); }
/// Seeds to draw so many jobs from, most of which can be run.
std::vector<std::uint64_t> seeds_for(int jobs) {
  std::vector<std::uint64_t> seeds(100U * static_cast<unsigned>(jobs));
  std::iota(seeds.begin(), seeds.end(), static_cast<std::uint64_t>(number_from("HEADWAY_SEED", 1)));
  return seeds;
}

double closed_form_of(const Scenario& job) {
  return closed_form_iteration(job.model, *job.strategy, job.profiles(), *job.cluster,
                               job.placement, job.perturbation)
      .count();
}

/// Nothing where there is no such job.
std::optional<Iteration> iteration(const json& scenario) {
  try {
    const AsChild here;  // making a child takes longer than these jobs do
    const Scenario job = scenario_of(scenario);
    const double time = simulate(job, {.scaling = false, .even_if_it_does_not_fit = true})
                            .prediction.iteration_time.count();
    return Iteration{time, std::max(0.0, time - closed_form_of(job))};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

struct Relation {
  const char* name;
  std::function<void(json&)> change;
  double least = 0.0;  ///< of the changed time, as a share of the first
  double most = 1e9;
  std::function<void(json&)> prepare = {};  ///< what is done to both; they are as drawn without
  /// Nothing moves: both have the same moments, or all of them scaled alike. Else some are delayed
  /// more than others, so that transfers may come out of each other's way, or into it; what that
  /// may make is bound by what flows cost each other.
  bool is_exact = false;
};

const std::vector<Relation>& relations() {
  constexpr double kNotSlower = 1.0 + kAnomaly;
  constexpr double kNotFaster = 1.0 - kAnomaly;
  static const std::vector<Relation> kRelations = {
      {"NICs twice as fast", [](json& job) { scale(node_of(job)["nics"]["bandwidth"], 2.0); }, 0.0,
       kNotSlower},
      {"scale-up links twice as fast",
       [](json& job) { scale(node_of(job)["scale_up"]["bandwidth"], 2.0); }, 0.0, kNotSlower},
      {"switches that pass on after ten times as long",
       [](json& job) {
         json& fabric = job["cluster"]["topology"]["fabric"];
         for (const char* tier : {"leaf", "spine"}) {
           if (fabric.contains(tier)) fabric[tier]["switch_latency"] = "2 us";
         }
         if (!fabric.contains("leaf")) fabric["switch_latency"] = "2 us";
       },
       kNotFaster},
      {"one slow accelerator",
       [](json& job) {
         job["perturbations"]["slow_accelerators"] = {{{"accelerator", 0}, {"time_factor", 1.3}}};
       },
       kNotFaster, 1.3 * kNotSlower},
      {"all accelerators slower by a tenth",
       [](json& job) {
         json& slow = job["perturbations"]["slow_accelerators"];
         const int count = node_of(job)["accelerators"].get<int>() *
                           job["cluster"]["topology"]["nodes"].get<int>();
         for (int i = 0; i < count; ++i) slow.push_back({{"accelerator", i}, {"time_factor", 1.1}});
       },
       kNotFaster, 1.1 * kNotSlower},
      {"twice the batch",
       [](json& job) {
         json& batch = job["strategy"]["global_batch"];
         batch = 2 * batch.get<int>();
       },
       1.0 * kNotFaster, 2.0 * kNotSlower},
      {"twice the layers",
       [](json& job) {
         json& layers = job["model"]["layers"];
         layers = 2 * layers.get<int>();
       },
       1.0 * kNotFaster, 2.0 * kNotSlower},
      {"gradients of two bytes", [](json& job) { job["strategy"]["gradient_precision"] = "bf16"; },
       0.0, kNotSlower},
      {"a NIC lost",
       [](json& job) {
         job["cluster"]["topology"]["faults"] = {{{"nic", "node0/nic0"}}};
       },
       kNotFaster},
      {"other names",
       [](json& job) {
         job["name"] = "another";
         job["model"]["name"] = "another";
         node_of(job)["name"] = "another";
         job["cluster"]["topology"]["name"] = "another";
       },
       1.0,
       1.0,
       {},
       true},
      {"the fabric drawn cable by cable", draw_by_hand, 1.0 - 1e-9, 1.0 + 1e-9, {}, true},
      {"quantities in other units", write_in_other_units, 1.0 - 1e-9, 1.0 + 1e-9, {}, true},
      {"links of equal use kept apart",
       [](json& job) { job["run"]["fold_equal_links"] = false; },
       1.0 - 1e-9,
       1.0 + 1e-9,
       {},
       true},
      {"the nodes of that drawing in another order", permute_nodes, 1.0 - 1e-9, 1.0 + 1e-9,
       draw_by_hand, true},
      {"rates a tenth, times ten times", [](json& job) { slow_down_tenfold(job); },
       10.0 * (1.0 - 1e-6), 10.0 * (1.0 + 1e-6), take_made_up_accelerators, true},
  };
  return kRelations;
}

/// What came of a relation.
struct Tally {
  int jobs = 0;
  int violations = 0;
  int anomalies = 0;  ///< within what flows cost each other, and only so
  double least = 1e9;
  double most = 0.0;

  void take(double share, double may_be_least, double may_be_most) {
    ++jobs;
    violations += share >= may_be_least && share <= may_be_most ? 0 : 1;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  void print(std::string_view name) const {
    std::cout << fmt::format("| {} | {} | {} | {} | {:.6g} .. {:.6g} |\n", name, jobs, violations,
                             anomalies, least, most);
  }
};

/// HEADWAY_RELATION names the only one that is looked at.
bool is_asked(const Relation& relation) {
  const char* const only = std::getenv("HEADWAY_RELATION");
  return only == nullptr || std::string_view(only) == relation.name;
}

TEST(Physics, HoldsForRandomJobs) {
  int jobs = 0;
  std::vector<Tally> tallies(relations().size());
  for (const std::uint64_t seed : seeds_for(jobs_asked())) {
    if (jobs == jobs_asked()) break;
    const json scenario = random_scenario(seed);
    const std::optional<Iteration> before = iteration(scenario);
    if (!before) continue;
    ++jobs;
    for (std::size_t i = 0; i < relations().size(); ++i) {
      const Relation& relation = relations()[i];
      if (!is_asked(relation)) continue;
      json first = scenario;
      if (relation.prepare) relation.prepare(first);
      json changed = first;
      relation.change(changed);
      const std::optional<Iteration> prepared = relation.prepare ? iteration(first) : before;
      const std::optional<Iteration> after = iteration(changed);
      if (!prepared || !after) continue;
      const double share = after->time / prepared->time;
      double least = relation.least;
      double most = relation.most;
      if (!relation.is_exact) {
        least *= prepared->alone() / prepared->time;
        most *= after->time / after->alone();
      }
      tallies[i].take(share, least, most);
      const bool is_anomaly = share < relation.least || share > relation.most;
      if (is_anomaly && share >= least && share <= most) {
        ++tallies[i].anomalies;
        std::cout << fmt::format("anomaly: {}, seed {}: {:.6g}\n", relation.name, seed, share);
      }
      EXPECT_GE(share, least) << relation.name << ", seed " << seed;
      EXPECT_LE(share, most) << relation.name << ", seed " << seed;
    }
  }
  EXPECT_EQ(jobs, jobs_asked());
  for (std::size_t i = 0; i < relations().size(); ++i) {
    if (!is_asked(relations()[i])) continue;
    tallies[i].print(relations()[i].name);
    EXPECT_GT(tallies[i].jobs, jobs / 4) << relations()[i].name;
    EXPECT_LE(tallies[i].anomalies, 1 + jobs / 100) << relations()[i].name;
  }
}

/// The closed form leaves out what flows cost each other, and nothing else.
TEST(Physics, TheClosedFormIsNotAboveTheSimulation) {
  Tally tally;
  for (const std::uint64_t seed : seeds_for(jobs_asked())) {
    if (tally.jobs == jobs_asked()) break;
    const json text = random_scenario(seed);
    const std::optional<Iteration> simulated = iteration(text);
    if (!simulated) continue;
    const double share = closed_form_of(scenario_of(text)) / simulated->time;
    tally.take(share, 0.0, 1.0 + kClosedForm);
    EXPECT_LE(share, 1.0 + kClosedForm) << "seed " << seed;
  }
  tally.print("the closed form instead of the simulation");
  EXPECT_EQ(tally.jobs, jobs_asked());
}

/// Whatever is taken away or made better, an iteration does not become slower by it.
TEST(Physics, WhatIfGainsAreNotNegative) {
  const int wanted = std::max(1, jobs_asked() / 10);
  Tally tally;
  for (const std::uint64_t seed : seeds_for(wanted)) {
    if (tally.jobs == wanted) break;
    json text = random_scenario(seed);
    text["run"] = {{"seed", seed}};
    text["perturbations"] = {{"device_spread", 0.03},
                             {"operation_spread", 0.02},
                             {"slow_accelerators", {{{"accelerator", 1}, {"time_factor", 1.4}}}}};
    json even = text;
    even["perturbations"] = {{"device_spread", 0.0}, {"operation_spread", 0.0}};
    std::optional<WhatIf> what_if;
    try {
      what_if = simulate(scenario_of(text), {.scaling = false,
                                             .what_if = WhatIfExtent::everything,
                                             .even_if_it_does_not_fit = true})
                    .prediction.what_if;
    } catch (const InputError&) {
      continue;
    }
    ASSERT_TRUE(what_if);
    const std::optional<Iteration> in_step = iteration(even);
    ASSERT_TRUE(in_step);
    const double apart = in_step->alone() / in_step->time;
    double least = 1e9;
    const auto judge = [&](double gain, const std::string& of) {
      least = std::min(least, gain);
      EXPECT_GE(gain, (1.0 - kAnomaly) * apart) << of << ", seed " << seed;
    };
    judge(what_if->slowdown(), "stragglers");
    for (const Removal& removal : what_if->removals) {
      judge(1.0 + removal.gain / what_if->time, removal.what);
    }
    // Mitigations may cost more than they give: fewer nodes are fewer nodes.
    for (const Sensitivity& one : what_if->sensitivities) judge(one.speedup, one.title);
    const double most = 1.0 / (1.0 - kAnomaly);
    tally.take(1.0 / least, 0.0, most / apart);
    if (1.0 / least > most && 1.0 / least <= most / apart) ++tally.anomalies;
  }
  tally.print("what-if: the least of all gains");
  EXPECT_EQ(tally.jobs, wanted);
  EXPECT_LE(tally.anomalies, 1 + wanted / 50);
}

/// Beside others on the same fabric nobody is faster than alone.
TEST(Physics, AJobAloneIsNotSlowerThanBesideAnother) {
  const int wanted = std::max(1, jobs_asked() / 10);
  Tally tally;
  for (const std::uint64_t seed : seeds_for(wanted)) {
    if (tally.jobs == wanted) break;
    json text = random_scenario(seed);
    // Three times as many nodes are an odd number or the double of one: jobs share leaf switches.
    const int nodes = 3 * text["cluster"]["topology"]["nodes"].get<int>();
    text["cluster"]["topology"]["nodes"] = 2 * nodes;
    text["cluster"]["topology"]["fabric"] = {{"kind", "clos"},
                                             {"attach", "rack"},
                                             {"nodes_per_unit", 4},
                                             {"units", (2 * nodes + 3) / 4},
                                             {"leaf", {{"oversubscription", 4}}},
                                             {"spine", json::object()}};
    text["strategy"]["global_batch"] = 3 * text["strategy"]["global_batch"].get<int>();
    text["cluster"]["job_nodes"] = nodes;
    text["jobs"] = {{{"name", "other"},
                     {"first_node", nodes},
                     {"strategy", text["strategy"]},
                     {"sizes", {{{"at", "0 s"}, {"nodes", nodes}}}}}};
    std::optional<SharedFabric> shared;
    try {
      shared = simulate(scenario_of(text), {.scaling = false, .even_if_it_does_not_fit = true})
                   .prediction.shared_fabric;
    } catch (const InputError&) {
      continue;
    }
    ASSERT_TRUE(shared);
    double least = 1e9;
    for (const SharedFabric::Stay& stay : shared->stays) {
      least = std::min(least, stay.slowdown());
      EXPECT_GE(stay.slowdown(), 1.0 - kAnomaly) << stay.job << ", seed " << seed;
    }
    tally.take(1.0 / least, 0.0, 1.0 / (1.0 - kAnomaly));
  }
  tally.print("the same job alone instead of beside another");
  EXPECT_EQ(tally.jobs, wanted);
}

}  // namespace
}  // namespace headway
