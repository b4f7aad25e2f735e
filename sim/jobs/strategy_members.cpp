#include "sim/jobs/strategy_members.h"

#include <tuple>

#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/software_memory.h"

namespace headway {
namespace {

/// A number format and, below 16 bits, how it is scaled.
using Recipe = std::pair<Precision, Scaling>;
Words<Recipe> recipes() {
  static const std::vector<Word<Recipe>> kRecipes = [] {
    std::vector<Word<Recipe>> words;
    const auto add = [&](Precision precision) {
      words.push_back({precision_name(precision), {precision, Scaling::delayed}});
    };
    add(Precision::bf16);
    add(Precision::fp16);
    for (const auto& [name, scaling] : kWords<Scaling>) {
      words.push_back({name, {precision_of(scaling), scaling}});
    }
    add(Precision::tf32);
    add(Precision::fp32);
    return words;
  }();
  return kRecipes;
}

}  // namespace

FieldMember<Strategy> number_format() {
  return word<Strategy>(
      recipes(),
      [](const Strategy& strategy) { return Recipe(strategy.precision, strategy.scaling); },
      [](Strategy& strategy, const Recipe& recipe) {
        std::tie(strategy.precision, strategy.scaling) = recipe;
      });
}

FieldMember<Strategy> pipeline_schedule() {
  static const std::vector<Word<const Schedule*>> kSchedules = [] {
    std::vector<Word<const Schedule*>> words;
    for (const Schedule& schedule : schedules()) words.emplace_back(schedule.name, &schedule);
    return words;
  }();
  return word<Strategy>(
      Words<const Schedule*>(kSchedules),
      [](const Strategy& strategy) { return strategy.schedule; },
      [](Strategy& strategy, const Schedule* schedule) { strategy.schedule = schedule; });
}

FieldMember<Strategy> update_rule() {
  static const std::vector<Word<const Optimizer*>> kOptimizers = [] {
    std::vector<Word<const Optimizer*>> words;
    for (const Optimizer& optimizer : optimizers()) words.emplace_back(optimizer.name, &optimizer);
    return words;
  }();
  return word<Strategy>(
      Words<const Optimizer*>(kOptimizers),
      [](const Strategy& strategy) { return strategy.optimizer; },
      [](Strategy& strategy, const Optimizer* optimizer) { strategy.optimizer = optimizer; });
}

FieldMember<Strategy> software_memory() {
  return {
      .type = object_type(),
      .read =
          [](ObjectReader& reader, std::string_view, bool, Strategy& strategy) {
            strategy.memory = read_software_memory(reader, strategy.memory);
          },
      .write = [](const Strategy& strategy) { return written_software_memory(strategy.memory); },
      .children = software_memory_fields().described()};
}

}  // namespace headway
