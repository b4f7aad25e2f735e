#include "sim/network/analysis/expectations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/files/json_reader.h"
#include "sim/network/analysis/topology_counts.h"

namespace headway {

namespace {

void expect_number(ObjectReader& reader, std::string_view key, int built, bool compare) {
  if (!reader.has(key)) {
    static_cast<void>(reader.part(key));
    return;
  }
  const std::size_t problems = reader.diagnostics().all().size();
  const std::int64_t expected = reader.integer(key, at_least(0));
  const bool is_number = reader.diagnostics().all().size() == problems;
  if (!is_number || !compare || expected == built) return;
  reader.report(key, fmt::format("the file expects {} {}", expected, key),
                fmt::format("built: {}", built));
}

void expect_tiers(ObjectReader& reader, const TopologyCounts& counts, bool compare) {
  std::vector<int> built;
  built.reserve(counts.tiers.size());
  for (const TopologyCounts::Tier& tier : counts.tiers) built.push_back(tier.switches);
  const auto part = reader.part("switches_by_tier");
  if (!part || !compare || part->value() == nlohmann::json(built)) return;
  reader.report("switches_by_tier", "the file expects other numbers of switches",
                fmt::format("built, bottom-up: {}", fmt::join(built, ", ")));
}

}  // namespace

void check_expectations(const JsonCursor& expect, const Cluster& cluster, bool compare,
                        Diagnostics& diagnostics) {
  const TopologyCounts counts = topology_counts(cluster.topology);
  ObjectReader reader(expect, diagnostics);
  expect_number(reader, "accelerators", cluster.accelerators(), compare);
  expect_number(reader, "endpoints", counts.endpoints, compare);
  expect_number(reader, "switches", counts.switches, compare);
  expect_number(reader, "cables", counts.cables, compare);
  expect_tiers(reader, counts, compare);
  static_cast<void>(reader.finish());
}

}  // namespace headway
