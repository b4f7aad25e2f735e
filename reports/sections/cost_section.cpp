#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reports/sections/prediction_sections.h"
#include "sim/base/quantity_text.h"
#include "sim/result/decision/objective.h"
#include "sim/result/number_text.h"
#include "sim/result/run_cost.h"

namespace headway {
namespace {

template <class Value, class Text>
std::string known(const std::optional<Value>& value, const Text& text) {
  return value ? text(*value) : "";
}

std::string short_energy(Joules energy) { return short_text(energy); }

/// A part of `all`; what adding up leaves behind is nothing.
std::string short_energy_of(Joules part, Joules all) {
  constexpr double kNothing = 1e-12;
  return short_energy(part < kNothing * all ? Joules(0.0) : part);
}

TextTable energy_table(const RunCost& cost) {
  std::vector<TextTable::Column> columns = {{"energy of"}, {"an iteration", kRight}};
  const bool has_run = cost.run && cost.run->energy_by_activity;
  if (has_run) columns.push_back({"the whole run", kRight});
  columns.push_back({"%", kRight});
  TextTable table(std::move(columns));
  const EnergyByActivity& iteration = *cost.energy_by_activity;
  const EnergyByActivity& shown = has_run ? *cost.run->energy_by_activity : iteration;
  constexpr std::array<std::pair<const char*, Joules EnergyByActivity::*>, 3> kActivities{{
      {"computing", &EnergyByActivity::computing},
      {"exchanging", &EnergyByActivity::exchanging},
      {"waiting", &EnergyByActivity::waiting},
  }};
  for (const auto& [name, energy] : kActivities) {
    std::vector<std::string> row = {name, short_energy_of(iteration.*energy, iteration.total())};
    if (has_run) row.push_back(short_energy_of(shown.*energy, shown.total()));
    row.push_back(percent(shown.total() > Joules(0.0) ? shown.*energy / shown.total() : 0.0));
    table.add_row(std::move(row));
  }
  return table;
}

TextTable price_table(const RunCost& cost) {
  std::vector<TextTable::Column> columns = {{"cost"}, {"an iteration", kRight}};
  if (cost.run) {
    columns.push_back(
        {"the run of " + objective_text(Objective::run_time, {.run_time = cost.run->time}),
         kRight});
  }
  TextTable table(std::move(columns));
  const auto add = [&](const char* name, const std::string& iteration, const std::string& run) {
    if (iteration.empty() && run.empty()) return;
    std::vector<std::string> row = {name, iteration};
    if (cost.run) row.push_back(run);
    table.add_row(std::move(row));
  };
  const auto of_run = [&](auto member) {
    return cost.run ? (*cost.run).*member : std::optional<double>();
  };
  const bool is_rented_alone = !cost.run || cost.run->usd() == cost.run->gpus_usd;
  if (!is_rented_alone) {
    add("all of it, US$", known(cost.usd, prefixed_count), known(cost.run->usd(), prefixed_count));
  }
  add("GPUs, US$", is_rented_alone ? known(cost.usd, prefixed_count) : "",
      known(of_run(&RunCost::Run::gpus_usd), prefixed_count));
  add("used up of the purchase, US$", "",
      known(of_run(&RunCost::Run::purchase_usd), prefixed_count));
  add("electricity, US$", "", known(of_run(&RunCost::Run::electricity_usd), prefixed_count));
  add("storage, US$", "", known(of_run(&RunCost::Run::storage_usd), prefixed_count));
  add("egress, US$", "", known(of_run(&RunCost::Run::egress_usd), prefixed_count));
  if (cost.run && cost.run->bought_usd) {
    add("paid until then, US$", "", known(cost.run->outlay(), prefixed_count));
  }
  add("energy", known(cost.energy, short_energy),
      cost.run ? known(cost.run->energy, short_energy) : "");
  add("power to supply", known(cost.peak_power, [](Watts power) { return short_text(power); }), "");
  add("CO2, kg", known(cost.carbon_kg, prefixed_count),
      known(of_run(&RunCost::Run::carbon_kg), prefixed_count));
  return table;
}

}  // namespace

std::optional<DocumentSection> cost_section(const Prediction& prediction) {
  const std::optional<RunCost> cost = run_cost(prediction);
  if (!cost) return std::nullopt;
  DocumentSection section{"Cost and energy", {price_table(*cost)}};
  if (cost->energy_by_activity) section.blocks.emplace_back(energy_table(*cost));
  return section;
}

}  // namespace headway
