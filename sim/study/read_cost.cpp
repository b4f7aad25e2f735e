#include "sim/study/read_cost.h"

#include <fmt/format.h>

#include "sim/base/json_reader.h"
#include "sim/base/power.h"
#include "sim/base/utf8.h"

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

}  // namespace

nlohmann::json read_cost(const JsonCursor& part, Diagnostics& diagnostics) {
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
  if (reader.has("tokens")) reader.number("tokens", kTokens);
  return reader.finish();
}

}  // namespace headway
