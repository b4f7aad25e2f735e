#include "sim/scenario/read_cost.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/utf8.h"
#include "sim/files/json_reader.h"
#include "sim/network/analysis/bill_of_materials.h"
#include "sim/result/power.h"

namespace headway {
namespace {

constexpr Range kMoney = between(0.0, 1e9);
constexpr Range kWholeCluster = between(0.0, 1e13);
constexpr Range kYears{.least = 0.0, .most = 100.0, .open = true};
constexpr Range kEffectiveness = between(1.0, 10.0);
constexpr Range kIntensity = between(0.0, 100.0);
constexpr Range kTokens{.least = 0.0, .most = 1e18, .open = true};

void report_no_power(ObjectReader& reader, const char* field, const std::string& text) {
  reader.report(field, fmt::format("{} is no power", in_quotes(text)), "",
                R"(write "700 W" or "0.7 kW")");
}

/// A power; `otherwise` if it is left out, which is an error without that.
std::optional<Watts> read_watts(ObjectReader& reader, const char* field,
                                std::optional<Watts> otherwise = std::nullopt) {
  const std::size_t problems = reader.diagnostics().all().size();
  const std::string text =
      otherwise ? reader.text(field, exact_text(*otherwise)) : reader.text(field);
  if (reader.diagnostics().all().size() > problems) return std::nullopt;
  const auto power = parse_power(text);
  if (power && *power >= Watts(0.0)) return power;
  report_no_power(reader, field, text);
  return std::nullopt;
}

std::optional<Watts> read_watts_if_given(ObjectReader& reader, const char* field) {
  return reader.has(field) ? read_watts(reader, field) : std::nullopt;
}

/// "power": of an accelerator by what it does, of a node at most, and of the switches.
nlohmann::json read_power(const JsonCursor& part, const CostContext& context,
                          Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  const std::optional<Watts> node = read_watts_if_given(reader, "node");
  const std::optional<Watts> of_switch = read_watts_if_given(reader, "switch");
  if (reader.has("fabric")) read_watts(reader, "fabric");
  std::optional<Watts> share;
  if (reader.has("node")) {
    const int accelerators = context.cluster ? context.cluster->node_type.accelerators : 1;
    share = 1.0 / accelerators * node.value_or(Watts(0.0));
  }
  for (const char* activity : {"computing", "exchanging", "waiting"}) {
    read_watts(reader, activity, share);
  }
  if (of_switch && context.cluster) {
    const auto switches = static_cast<double>(bill_of_materials(*context.cluster).all_switches());
    static_cast<void>(reader.part("fabric"));
    reader.resolve("fabric", exact_text(switches * *of_switch));
  }
  return reader.finish();
}

/// "purchase": what the whole cluster costs is the sum of its parts, where any has a price.
nlohmann::json read_purchase(const JsonCursor& part, const CostContext& context,
                             Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  std::optional<BillOfMaterials> bill;
  if (context.cluster) bill = bill_of_materials(*context.cluster);
  std::optional<double> sum;
  const auto add = [&](const char* price, std::int64_t count) {
    if (!reader.has(price)) return;
    sum = sum.value_or(0.0) + reader.number(price, kMoney) * static_cast<double>(count);
  };
  add("usd_per_node", bill ? bill->nodes + context.spare_nodes : 0);
  add("usd_per_switch", bill ? bill->all_switches() : 0);
  add("usd_per_cable", bill ? bill->all_cables() : 0);
  add("usd_per_transceiver", bill ? bill->transceivers() : 0);
  if (!sum) {
    reader.number("usd", kWholeCluster);
  } else {
    static_cast<void>(reader.part("usd"));
    reader.resolve("usd", *sum);
  }
  if (reader.has("depreciation_years")) reader.number("depreciation_years", kYears);
  return reader.finish();
}

/// A price of a GB and how much has it: both of them, or neither; of the whole run.
void read_priced_size(ObjectReader& reader, const char* price, const char* size, bool has_run) {
  if (reader.has(price)) reader.number(price, kMoney);
  if (reader.has(size)) reader.quantity<Bytes>(size, at_least(0.0));
  if (reader.has(price) && !reader.has(size)) {
    reader.report(price, fmt::format("{} needs {}", price, size), "",
                  fmt::format("say how much it is, as in \"{}\": \"20 TB\"", size));
  } else if (reader.has(size) && !reader.has(price)) {
    reader.report(size, fmt::format("{} needs {}", size, price), "",
                  "say what a GB costs, or leave it out");
  }
  if (reader.has(price) && !has_run) {
    reader.report(price, fmt::format("{} needs tokens", price), "",
                  "it counts in the cost of the whole run: say how many tokens that has");
  }
}

}  // namespace

nlohmann::json read_cost(const JsonCursor& part, const CostContext& context,
                         Diagnostics& diagnostics) {
  const std::optional<double>& train_tokens = context.train_tokens;
  ObjectReader reader(part, diagnostics);
  if (reader.has("usd_per_gpu_hour")) reader.number("usd_per_gpu_hour", kMoney);
  if (reader.has("spot_usd_per_gpu_hour")) {
    reader.number("spot_usd_per_gpu_hour", kMoney);
    if (!context.has_spot_nodes || !reader.has("usd_per_gpu_hour")) {
      reader.report("spot_usd_per_gpu_hour",
                    context.has_spot_nodes ? "spot_usd_per_gpu_hour needs usd_per_gpu_hour"
                                           : "no node of this job comes and goes",
                    "",
                    context.has_spot_nodes ? "say what the accelerators cost that stay"
                                           : "see reliability.availability");
    }
  }
  if (const auto purchase = reader.part("purchase")) {
    reader.resolve("purchase", read_purchase(*purchase, context, diagnostics));
  }
  if (reader.has("price_spread")) reader.number("price_spread", between(0.0, 1.0));
  if (const auto power = reader.part("power")) {
    reader.resolve("power", read_power(*power, context, diagnostics));
    reader.number("power_usage_effectiveness", kEffectiveness, 1.0);
    if (reader.has("carbon_kg_per_kwh")) reader.number("carbon_kg_per_kwh", kIntensity);
    if (reader.has("usd_per_kwh")) reader.number("usd_per_kwh", kMoney);
  }
  for (const char* field : {"power_usage_effectiveness", "carbon_kg_per_kwh", "usd_per_kwh"}) {
    if (reader.has("power") || !reader.has(field)) continue;
    reader.number(field, at_least(0.0));
    reader.report(field, fmt::format("{} needs power", field), "",
                  "say what an accelerator draws in \"power\", or leave it out");
  }
  const bool has_run = reader.has("tokens") || train_tokens || context.has_target;
  if (reader.has("tokens") && context.has_target) {
    reader.report("tokens", "the statistics of the scenario say how long the run is", "",
                  "leave tokens out");
  }
  if (reader.has("tokens")) {
    const double tokens = reader.number("tokens", kTokens);
    if (train_tokens && std::isfinite(*train_tokens) && tokens != *train_tokens) {
      reader.report("tokens", "tokens and reliability.train_tokens are of one run, but differ",
                    fmt::format("train_tokens is {:g}", *train_tokens),
                    "leave tokens out: the run then has train_tokens");
    }
  }
  read_priced_size(reader, "usd_per_gb_month", "stored", has_run);
  read_priced_size(reader, "usd_per_gb_egress", "egress", has_run);
  return reader.finish();
}

}  // namespace headway
