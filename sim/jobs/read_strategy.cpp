#include "sim/jobs/read_strategy.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"
#include "sim/jobs/frameworks.h"
#include "sim/jobs/rules/strategy_checks.h"
#include "sim/jobs/strategy_fields.h"

namespace headway {
namespace {

constexpr std::string_view kStrategyFolder = "scenarios/strategies";

/// What the framework does in the precision of this job, with such a model.
Strategy read_preset(ObjectReader& reader, const Model& model) {
  std::vector<Word<const Framework*>> words;
  for (const Framework& framework : frameworks()) words.emplace_back(framework.name, &framework);
  const Framework& framework =
      *reader.choice("preset", Words<const Framework*>(words), words.front().second);
  const auto said = reader.cursor().member("precision");
  const bool is_fp16 = said ? said->value() == word_of(Precision::fp16)
                            : framework.strategy.precision == Precision::fp16;
  return framework.habits(is_fp16 ? Precision::fp16 : Precision::bf16, model.routing() != nullptr);
}

/// What the other degrees leave of the accelerators, if they divide them.
std::optional<int> data_parallel_left(const Strategy& strategy, std::optional<int> accelerators) {
  const double product = static_cast<double>(strategy.tensor_parallel) * strategy.context_parallel *
                         strategy.pipeline_parallel;
  if (!accelerators || product > *accelerators) return std::nullopt;
  if (*accelerators % static_cast<int>(product) != 0) return std::nullopt;
  return *accelerators / static_cast<int>(product);
}

/// Presets say what Adam keeps. Where that is two moments in 16 bits and nothing else, so another
/// optimizer does, unless the scenario says how much.
void settle_states(ObjectReader& reader, Strategy& strategy) {
  constexpr double kHalves = 4.0;
  constexpr const char* kField = "optimizer_state_bytes";
  const auto said = reader.cursor().member("memory");
  if (said && said->is_object() && said->member(kField)) return;
  if (strategy.memory.optimizer_state_bytes != kHalves) return;
  strategy.memory.optimizer_state_bytes = state_bytes_in_halves(*strategy.optimizer);
  reader.resolve("memory", *written_software_memory(strategy.memory));
}

}  // namespace

Diagnostic ReadStrategy::problem(std::string_view field, std::string message, std::string label,
                                 std::string help) const {
  const std::optional<JsonCursor> written = cursor.member(field);
  const std::optional<JsonCursor> preset = cursor.member("preset");
  if (written || !preset) {
    return written.value_or(cursor).problem(std::move(message), std::move(label), std::move(help));
  }
  const auto value = resolved->find(field);
  const bool is_word = value != resolved->end() && !value->is_structured();
  const std::string said = is_word ? fmt::format("says \"{}\": {}", field, compact_json(*value))
                                   : fmt::format("says what \"{}\" is", field);
  return preset->problem(std::move(message), label.empty() ? said : said + "; " + label,
                         std::move(help));
}

void write_strategy(const Strategy& strategy, const Model& model, nlohmann::json& fields) {
  strategy_fields().write(strategy, fields);
  if (!model.has_tokens) fields.erase("sequence_length");
}

Strategy read_habits(const JsonCursor& part, const Strategy& base, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  Strategy strategy = base;
  // Defaults do not settle: what one job has no use for is off in it, and not in the habit.
  strategy_fields().read(
      reader, strategy, [](std::string_view, const auto& member) { return member.is_presettable; });
  reader.report_unknown();
  return strategy;
}

std::optional<ReadStrategy> read_strategy(const JsonCursor& part, const ReadModel& model,
                                          std::optional<int> accelerators, InputFiles& files) {
  const std::optional<JsonCursor> object = files.follow(part, std::string(kStrategyFolder));
  if (!object) return std::nullopt;

  Diagnostics field_problems;
  ObjectReader reader(*object, field_problems);
  const bool is_file = object->pointer().empty();
  if ((is_file || reader.has("schema")) && !read_schema(reader, kStrategySchema)) {
    files.diagnostics().append(field_problems);
    return std::nullopt;
  }
  Strategy strategy = read_preset(reader, model.model);
  const SoftwareMemory habits = strategy.memory;
  strategy.sequence_length = model.model.sequence_length;
  if (model.model.biases_scores) strategy.fused_attention = false;
  strategy_fields().read(reader, strategy, [&](std::string_view field, const auto& member) {
    if (member.settle) member.settle(strategy);
    if (field == "data_parallel") {
      strategy.data_parallel = data_parallel_left(strategy, accelerators).value_or(1);
    }
    return field != "sequence_length" || model.model.has_tokens;
  });
  settle_states(reader, strategy);
  if (!model.model.has_tokens && reader.part("sequence_length")) {
    reader.report("sequence_length", "sequence_length needs a model that reads tokens",
                  "samples of this one are no sequences", "leave it out");
  }
  nlohmann::json resolved = reader.finish();

  // A degree that does not fit the accelerators has to change: the batch is held against it later.
  const std::optional<int> left = data_parallel_left(strategy, accelerators);
  const bool fits = left == strategy.data_parallel;
  Diagnostics problems;
  check_strategy({.strategy = strategy,
                  .habits = habits,
                  .object = *object,
                  .model = model,
                  .accelerators = accelerators,
                  .data_parallel_known = fits || (!accelerators && reader.has("data_parallel")),
                  .field_problems = field_problems,
                  .diagnostics = problems});
  files.diagnostics().append(field_problems);
  files.diagnostics().append(problems);
  if (field_problems.has_errors() || problems.has_errors()) return std::nullopt;
  return ReadStrategy{
      .strategy = std::move(strategy), .cursor = *object, .resolved = std::move(resolved)};
}

}  // namespace headway
