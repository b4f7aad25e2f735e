#include "sim/network/analysis/expectations.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/join_words.h"
#include "sim/files/field_table.h"
#include "sim/network/analysis/topology_counts.h"

namespace headway {

namespace {

using Count = std::optional<std::int64_t>;
struct ExpectFields {
  Count accelerators;
  Count endpoints;
  Count switches;
  Count cables;
};

const FieldTable<ExpectFields>& expect_fields() {
  using Expect = ExpectFields;
  static const FieldTable<Expect> kFields(
      {{"accelerators", whole(&Expect::accelerators, at_least(0)), "Accelerators of the cluster."},
       {"endpoints", whole(&Expect::endpoints, at_least(0)), "NIC ports."},
       {"switches", whole(&Expect::switches, at_least(0)), "Switches of all tiers."},
       {"switches_by_tier", elsewhere<Expect>(array_type(whole_type({}), "whole numbers")),
        "Switches of each tier, bottom-up."},
       {"cables", whole(&Expect::cables, at_least(0)), "Cables, those to the nodes included."}});
  return kFields;
}

std::string way_out(const ObjectReader& reader) {
  const JsonCursor& expect = reader.cursor();
  return fmt::format(
      "the counts guard against slips; if this is meant, take them away: --set {}{}=null",
      expect.document().pointer_prefix(), expect.pointer());
}

void expect_number(ObjectReader& reader, std::string_view key, int built, Count expected) {
  if (!expected || expected == built) return;
  reader.report(key, fmt::format("the file expects {} {}", *expected, key),
                fmt::format("built: {}", built), way_out(reader));
}

void expect_tiers(ObjectReader& reader, const TopologyCounts& counts, bool compare) {
  std::vector<int> built;
  built.reserve(counts.tiers.size());
  for (const TopologyCounts::Tier& tier : counts.tiers) built.push_back(tier.switches);
  const auto part = reader.part("switches_by_tier");
  if (!part || !compare || part->value() == nlohmann::json(built)) return;
  reader.report("switches_by_tier", "the file expects other numbers of switches",
                fmt::format("built, bottom-up: {}", join_words(built, ", ")), way_out(reader));
}

}  // namespace

std::vector<FieldDescription> expect_field_descriptions() { return expect_fields().described(); }

void check_expectations(const JsonCursor& expect, const Cluster& cluster, bool compare,
                        Diagnostics& diagnostics) {
  const TopologyCounts counts = topology_counts(cluster);
  ObjectReader reader(expect, diagnostics);
  const std::size_t problems = diagnostics.all().size();
  ExpectFields expected;
  expect_fields().read(reader, expected);
  if (compare && diagnostics.all().size() == problems) {
    expect_number(reader, "accelerators", cluster.accelerators(), expected.accelerators);
    expect_number(reader, "endpoints", counts.endpoints, expected.endpoints);
    expect_number(reader, "switches", counts.switches, expected.switches);
    expect_number(reader, "cables", counts.cables, expected.cables);
  }
  expect_tiers(reader, counts, compare);
  reader.report_unknown();
}

}  // namespace headway
