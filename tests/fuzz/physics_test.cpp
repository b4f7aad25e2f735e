#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>

#include "sim/base/quantity_text.h"
#include "sim/predict/simulate.h"
#include "tests/fuzz/random_scenario.h"
#include "tests/support/scenario_reading.h"

namespace headway {
namespace {

using nlohmann::json;

/// Where flows share links, or passes wait for each other, a delay may take somebody out of another
/// one's way, so that single iterations do get a little faster now and then (Graham 1969, "Bounds
/// on multiprocessing timing anomalies").
constexpr double kAnomaly = 0.01;

int jobs_asked() {
  const char* const text = std::getenv("HEADWAY_PHYSICS_JOBS");
  return text == nullptr ? 60 : std::atoi(text);
}

/// Nothing where there is no such job.
std::optional<double> iteration(const json& scenario) {
  try {
    const Seconds time =
        simulate(scenario_of(scenario), {.scaling = false, .even_if_it_does_not_fit = true})
            .prediction.iteration_time;
    return time.count();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// "40 GB/s" times two.
void scale(json& quantity, double factor) {
  const auto text = quantity.get<std::string>();
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  quantity = fmt::format("{}{}", number * factor, text.substr(end));
}

json& node_of(json& scenario) { return scenario["cluster"]["topology"]["node"]; }

struct Relation {
  const char* name;
  std::function<void(json&)> change;
  double least = 0.0;  ///< of the changed time, as a share of the first
  double most = 1e9;
};

const std::vector<Relation>& relations() {
  constexpr double kNotSlower = 1.0 + kAnomaly;
  constexpr double kNotFaster = 1.0 - kAnomaly;
  static const std::vector<Relation> kRelations = {
      {"NICs twice as fast", [](json& job) { scale(node_of(job)["nics"]["bandwidth"], 2.0); }, 0.0,
       kNotSlower},
      {"scale-up links twice as fast",
       [](json& job) { scale(node_of(job)["scale_up"]["bandwidth"], 2.0); }, 0.0, kNotSlower},
      {"half the latency",
       [](json& job) {
         scale(node_of(job)["nics"]["latency"], 0.5);
         scale(node_of(job)["scale_up"]["latency"], 0.5);
       },
       0.0, kNotSlower},
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
      {"other names",
       [](json& job) {
         job["name"] = "another";
         job["model"]["name"] = "another";
         node_of(job)["name"] = "another";
         job["cluster"]["topology"]["name"] = "another";
       },
       1.0, 1.0},
      {"links of equal use kept apart", [](json& job) { job["run"]["fold_equal_links"] = false; },
       1.0 - 1e-9, 1.0 + 1e-9},
  };
  return kRelations;
}

TEST(Physics, HoldsForRandomJobs) {
  int jobs = 0;
  std::vector<int> tried(relations().size());
  for (std::uint64_t seed = 1; jobs < jobs_asked(); ++seed) {
    ASSERT_LE(seed, 100U * static_cast<unsigned>(jobs_asked())) << "hardly any job can be run";
    const json scenario = random_scenario(seed);
    const std::optional<double> before = iteration(scenario);
    if (!before) continue;
    ++jobs;
    for (std::size_t i = 0; i < relations().size(); ++i) {
      const Relation& relation = relations()[i];
      json changed = scenario;
      relation.change(changed);
      const std::optional<double> after = iteration(changed);
      if (!after) continue;
      ++tried[i];
      const double share = *after / *before;
      EXPECT_GE(share, relation.least) << relation.name << ", seed " << seed;
      EXPECT_LE(share, relation.most) << relation.name << ", seed " << seed;
    }
  }
  for (std::size_t i = 0; i < relations().size(); ++i) {
    EXPECT_GT(tried[i], jobs / 2) << relations()[i].name;
    RecordProperty(fmt::format("relation_{}", i), tried[i]);
  }
}

}  // namespace
}  // namespace headway
