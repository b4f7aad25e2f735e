#include "sim/jobs/strategy_members.h"

#include <span>
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
      words.push_back({word_of(precision), {precision, Scaling::delayed}});
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

/// A row of a table, said by its name.
template <class Row>
FieldMember<Strategy> row_of_table(std::span<const Row> rows, const Row* Strategy::*member) {
  static const std::vector<Word<const Row*>> kNames = [&] {
    std::vector<Word<const Row*>> names;
    for (const Row& row : rows) names.emplace_back(row.name, &row);
    return names;
  }();
  return word<Strategy>(
      Words<const Row*>(kNames), [=](const Strategy& strategy) { return strategy.*member; },
      [=](Strategy& strategy, const Row* row) { strategy.*member = row; });
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

FieldMember<Strategy> pipeline_schedule() { return row_of_table(schedules(), &Strategy::schedule); }

FieldMember<Strategy> update_rule() { return row_of_table(optimizers(), &Strategy::optimizer); }

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
