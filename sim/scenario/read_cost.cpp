#include "sim/scenario/read_cost.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/utf8.h"
#include "sim/files/json_reader.h"
#include "sim/result/power.h"

namespace headway {
namespace {

constexpr Range kMoney = between(0.0, 1e9);
constexpr Range kEffectiveness = between(1.0, 10.0);
constexpr Range kIntensity = between(0.0, 100.0);
constexpr Range kTokens{.least = 0.0, .most = 1e18, .open = true};

void read_power(ObjectReader& reader, const char* activity) {
  const std::size_t problems = reader.diagnostics().all().size();
  const std::string text = reader.text(activity);
  if (reader.diagnostics().all().size() > problems) return;
  const auto power = parse_power(text);
  if (power && *power >= Watts(0.0)) return;
  reader.report(activity, fmt::format("{} is no power", in_quotes(text)), "",
                R"(write "700 W" or "0.7 kW")");
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

nlohmann::json read_cost(const JsonCursor& part, const std::optional<double>& train_tokens,
                         Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  if (reader.has("usd_per_gpu_hour")) reader.number("usd_per_gpu_hour", kMoney);
  if (const auto power = reader.part("power")) {
    ObjectReader powers(*power, diagnostics);
    for (const char* activity : {"computing", "exchanging", "waiting"}) {
      read_power(powers, activity);
    }
    reader.resolve("power", powers.finish());
    reader.number("power_usage_effectiveness", kEffectiveness, 1.0);
    if (reader.has("carbon_kg_per_kwh")) reader.number("carbon_kg_per_kwh", kIntensity);
  }
  for (const char* field : {"power_usage_effectiveness", "carbon_kg_per_kwh"}) {
    if (reader.has("power") || !reader.has(field)) continue;
    reader.number(field, at_least(0.0));
    reader.report(field, fmt::format("{} needs power", field), "",
                  "say what an accelerator draws in \"power\", or leave it out");
  }
  const bool has_run = reader.has("tokens") || train_tokens;
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
