#include "sim/scenario/read_cost.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/field_table.h"
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

struct PowerDraw {
  std::optional<Watts> node;
  std::optional<Watts> of_switch;
  std::optional<Watts> fabric;
  std::optional<Watts> computing;
  std::optional<Watts> exchanging;
  std::optional<Watts> waiting;
  std::optional<Watts> share;  ///< of a node's power, an accelerator's: the default of the three
};

struct PurchasePrices {
  std::optional<double> node;
  std::optional<double> of_switch;
  std::optional<double> cable;
  std::optional<double> transceiver;
  std::optional<double> whole;
  std::optional<double> depreciation_years;

  [[nodiscard]] bool has_parts() const { return node || of_switch || cable || transceiver; }
};

struct Prices {
  std::optional<double> usd_per_gpu_hour;
  std::optional<double> spot_usd_per_gpu_hour;
  std::optional<double> price_spread;
  bool has_power = false;
  double power_usage_effectiveness = 1.0;
  std::optional<double> carbon_kg_per_kwh;
  std::optional<double> usd_per_kwh;
  std::optional<double> tokens;
  std::optional<double> usd_per_gb_month;
  std::optional<Bytes> stored;
  std::optional<double> usd_per_gb_egress;
  std::optional<Bytes> egress;
};

/// A power, which has to be given where nothing stands for it.
FieldMember<PowerDraw> watts(std::optional<Watts> PowerDraw::*member, bool is_of_accelerator) {
  return {.type = {"text with a unit: W, kW or MW", text_type().schema},
          .read =
              [=](ObjectReader& reader, std::string_view key, bool, PowerDraw& power) {
                const std::optional<Watts>& otherwise = power.share;
                if (!reader.has(key) && (!is_of_accelerator || otherwise)) {
                  if (is_of_accelerator) power.*member = otherwise;
                  return;
                }
                const std::size_t problems = reader.diagnostics().errors();
                const std::string text = reader.text(key);
                if (reader.diagnostics().errors() > problems) return;
                power.*member = parse_power(text);
                if (power.*member && *(power.*member) >= Watts(0.0)) return;
                reader.report(key, fmt::format("{} is no power", in_quotes(text)), "",
                              R"(write "700 W" or "0.7 kW")");
              },
          .write =
              [=](const PowerDraw& power) {
                return power.*member ? json_of(exact_text(*(power.*member))) : JsonValue();
              }};
}

const FieldTable<PowerDraw>& power_fields() {
  static const FieldTable<PowerDraw> kFields(
      {{"node", watts(&PowerDraw::node, false),
        "What a node draws at most, as its data sheet says. Without the three below, all the "
        "time."},
       {"switch", watts(&PowerDraw::of_switch, false),
        "What a switch of the fabric draws, all the time."},
       {"fabric", watts(&PowerDraw::fabric, false),
        R"(What all switches draw, where not one by one.
default: that of all switches)"},
       {"computing", watts(&PowerDraw::computing, true),
        R"(While it computes, recomputes or updates parameters.
default: required without node)"},
       {"exchanging", watts(&PowerDraw::exchanging, true),
        R"(While nothing but communication is under way on it.
default: required without node)"},
       {"waiting", watts(&PowerDraw::waiting, true),
        R"(In bubbles, and while it waits for others, for data or for the host.
default: required without node)"}});
  return kFields;
}

const FieldTable<PurchasePrices>& purchase_fields() {
  static const FieldTable<PurchasePrices> kFields(
      {{"usd_per_node", number(&PurchasePrices::node, kMoney), "Of a node with all that is in it."},
       {"usd_per_switch", number(&PurchasePrices::of_switch, kMoney), "Of a switch of the fabric."},
       {"usd_per_cable", number(&PurchasePrices::cable, kMoney),
        "Of a cable of the fabric, whatever its length."},
       {"usd_per_transceiver", number(&PurchasePrices::transceiver, kMoney),
        R"(Of a transceiver, two for each cable that is longer than copper reaches (5 m).
see: NVIDIA, LinkX 100G-PAM4 product line overview)"},
       {"usd",
        number(&PurchasePrices::whole, kWholeCluster)
            .required()
            .where([](const PurchasePrices& purchase) { return !purchase.has_parts(); }),
        R"(Of the whole cluster, where no part has a price.
default: the sum of the parts that have a price)"},
       {"depreciation_years", number(&PurchasePrices::depreciation_years, kYears),
        R"(Until it is worth nothing, in a straight line.
default: none: the run pays for all of it)"}});
  return kFields;
}

/// "power": of an accelerator by what it does, of a node at most, and of the switches.
nlohmann::json read_power(const JsonCursor& part, const CostContext& context,
                          Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  PowerDraw power;
  power_fields().read(reader, power, [&](std::string_view field, const auto&) {
    if (field == "computing" && reader.has("node")) {
      const int accelerators = context.cluster ? context.cluster->node_type.accelerators : 1;
      power.share = 1.0 / accelerators * power.node.value_or(Watts(0.0));
    }
    return true;
  });
  if (power.of_switch && context.cluster) {
    const auto switches = static_cast<double>(bill_of_materials(*context.cluster).all_switches());
    reader.resolve("fabric", exact_text(switches * *power.of_switch));
  }
  return reader.finish();
}

/// "purchase": what the whole cluster costs is the sum of its parts, where any has a price.
nlohmann::json read_purchase(const JsonCursor& part, const CostContext& context,
                             Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  PurchasePrices purchase;
  purchase_fields().read(reader, purchase);
  if (purchase.has_parts()) {
    std::optional<BillOfMaterials> bill;
    if (context.cluster) bill = bill_of_materials(*context.cluster);
    double sum = 0.0;
    const auto add = [&](std::optional<double> price, std::int64_t count) {
      sum += price.value_or(0.0) * static_cast<double>(count);
    };
    add(purchase.node, bill ? bill->nodes + context.spare_nodes : 0);
    add(purchase.of_switch, bill ? bill->all_switches() : 0);
    add(purchase.cable, bill ? bill->all_cables() : 0);
    add(purchase.transceiver, bill ? bill->transceivers() : 0);
    reader.resolve("usd", sum);
  }
  return reader.finish();
}

/// One of a price of a GB and how much has it needs the other; and both a run.
void check_priced_size(ObjectReader& reader, const char* price, const char* size, bool has_run) {
  if (reader.has(price) && !reader.has(size)) {
    reader.report(price, fmt::format("{} needs {}", price, size), "",
                  fmt::format("say how much it is, as in \"{}\": \"20 TB\"", size));
  } else if (reader.has(size) && !reader.has(price)) {
    reader.report(size, fmt::format("{} needs {}", size, price), "",
                  "say what a GB costs, or leave it out");
  }
  if (reader.has(price) && !has_run) {
    reader.report(price, fmt::format("{} needs tokens", price), "",
                  "it counts in the cost of the whole run: say how many tokens that has, or how "
                  "long it takes in reliability.duration");
  }
}

bool counts_power(const Prices& cost) { return cost.has_power; }

const FieldTable<Prices>& price_fields() {
  static const FieldTable<Prices> kFields(
      {{"usd_per_gpu_hour", number(&Prices::usd_per_gpu_hour, kMoney),
        "Price of one accelerator for an hour, everything around it included."},
       {"spot_usd_per_gpu_hour", number(&Prices::spot_usd_per_gpu_hour, kMoney),
        R"(The same of a spot node, paid for while it is there.
limits: with reliability.availability only
default: usd_per_gpu_hour)"},
       {"purchase", elsewhere<Prices>(object_type()).made_of(purchase_fields().described()),
        R"(What the cluster is bought for, spare nodes included. A run uses up its part of the years
of depreciation; what is rented beside it adds up.
see: run_cost_parts_usd, run_outlay_usd)"},
       {"price_spread", number(&Prices::price_spread, between(0.0, 1.0)),
        R"(How far all prices may be off together: a standard deviation, as a share. It widens the
intervals of money.
see: run_cost_interval_usd
default: 0)"},
       {"power", elsewhere<Prices>(object_type()).made_of(power_fields().described()),
        R"(What one accelerator draws, by what its time goes to. Shares of a node's power, if hosts
are to be counted.
see: energy_J, peak_power_W)"},
       {"power_usage_effectiveness",
        number(&Prices::power_usage_effectiveness, kEffectiveness).where(counts_power, {"power"}),
        R"(Energy of the whole building over that of the computers.
see: ISO/IEC 30134-2)"},
       {"carbon_kg_per_kwh",
        number(&Prices::carbon_kg_per_kwh, kIntensity).where(counts_power, {"power"}),
        "Kilograms of CO2 that a kilowatt-hour of this grid stands for."},
       {"usd_per_kwh", number(&Prices::usd_per_kwh, kMoney).where(counts_power, {"power"}),
        R"(Price of electricity at the meter.
see: run_cost_parts_usd)"},
       {"tokens", number(&Prices::tokens, kTokens),
        R"(Tokens that the whole run trains on; of a model without tokens samples: images, rows.
limits: the same as reliability.train_tokens
see: run_cost_usd, run_time_s
default: reliability.train_tokens, where that is given)"},
       {"usd_per_gb_month", number(&Prices::usd_per_gb_month, kMoney),
        R"(Price of keeping a GB (1e9 bytes) for 30 days.
limits: needs stored, and tokens or reliability.duration
see: run_cost_parts_usd)"},
       {"stored", quantity(&Prices::stored, at_least(0.0)),
        R"(What is kept while the run lasts: training data, checkpoints.
limits: needs usd_per_gb_month)"},
       {"usd_per_gb_egress", number(&Prices::usd_per_gb_egress, kMoney),
        R"(Price of a GB that leaves the site.
limits: needs egress, and tokens or reliability.duration
see: run_cost_parts_usd)"},
       {"egress", quantity(&Prices::egress, at_least(0.0)),
        R"(What leaves the site in the whole run: the trained model, checkpoints.
limits: needs usd_per_gb_egress)"}});
  return kFields;
}

}  // namespace

std::vector<FieldDescription> cost_field_descriptions() { return price_fields().described(); }

nlohmann::json read_cost(const JsonCursor& part, const CostContext& context,
                         Diagnostics& diagnostics) {
  const std::optional<double>& train_tokens = context.train_tokens;
  ObjectReader reader(part, diagnostics);
  Prices cost;
  cost.has_power = reader.has("power");
  price_fields().read(reader, cost);
  if (cost.spot_usd_per_gpu_hour && (!context.has_spot_nodes || !cost.usd_per_gpu_hour)) {
    reader.report("spot_usd_per_gpu_hour",
                  context.has_spot_nodes ? "spot_usd_per_gpu_hour needs usd_per_gpu_hour"
                                         : "no node of this job comes and goes",
                  "",
                  context.has_spot_nodes ? "say what the accelerators cost that stay"
                                         : "see reliability.availability");
  }
  if (const auto purchase = reader.part("purchase")) {
    reader.resolve("purchase", read_purchase(*purchase, context, diagnostics));
  }
  if (const auto power = reader.part("power")) {
    reader.resolve("power", read_power(*power, context, diagnostics));
  }
  for (const char* field : {"power_usage_effectiveness", "carbon_kg_per_kwh", "usd_per_kwh"}) {
    if (cost.has_power || !reader.has(field)) continue;
    reader.report(field, fmt::format("{} needs power", field), "",
                  "say what an accelerator draws in \"power\", or leave it out");
  }
  if (cost.tokens && context.has_target) {
    reader.report("tokens", "the statistics of the scenario say how long the run is", "",
                  "leave tokens out");
  }
  if (cost.tokens && train_tokens && std::isfinite(*train_tokens) && cost.tokens != *train_tokens) {
    reader.report("tokens", "tokens and reliability.train_tokens are of one run, but differ",
                  fmt::format("train_tokens is {:g}", *train_tokens),
                  "leave tokens out: the run then has train_tokens");
  }
  const bool has_run = cost.tokens || train_tokens || context.has_target || context.has_duration;
  check_priced_size(reader, "usd_per_gb_month", "stored", has_run);
  check_priced_size(reader, "usd_per_gb_egress", "egress", has_run);
  return reader.finish();
}

}  // namespace headway
