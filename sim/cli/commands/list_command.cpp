#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/base/text_table.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/files/json_output.h"
#include "sim/programs/stage_costs/attention_shapes.h"
#include "sim/programs/stage_costs/product_shapes.h"
#include "sim/reference/catalog.h"

namespace headway {
namespace {

constexpr std::string_view kShapes = "shapes";

std::string list_text(const std::vector<CatalogEntry>& entries) {
  TextTable table({{"name"}, {"what it is"}});
  for (const CatalogEntry& entry : entries) table.add_row({entry.name, entry.about});
  return table.text();
}

nlohmann::json list_json(const std::string& kind, const std::vector<CatalogEntry>& entries) {
  nlohmann::json list = nlohmann::json::array();
  for (const CatalogEntry& entry : entries) {
    list.push_back({{"name", entry.name},
                    {"about", entry.about},
                    {"path", entry.path.empty() ? nlohmann::json() : nlohmann::json(entry.path)}});
  }
  return {{"schema", "headway/list/1"}, {"kind", kind}, {"entries", list}};
}

/// What of a job can be measured by itself.
struct JobShapes {
  std::vector<ProductShape> products;
  std::vector<AttentionShape> attention;
};

std::string shapes_text(const JobShapes& shapes) {
  std::string text;
  for (const ProductShape& product : shapes.products) {
    text += fmt::format("{} {:.0f} {:.0f} {:.0f}  # {}\n", precision_name(product.precision),
                        product.shape.m, product.shape.n, product.shape.k,
                        fmt::join(product.uses, ", "));
  }
  for (const AttentionShape& shape : shapes.attention) {
    text += fmt::format(
        "attention {:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {}  # sequences, positions, heads of "
        "queries and of keys, their size\n",
        shape.sequences, shape.query_length, shape.query_heads, shape.key_heads, shape.head_size,
        shape.causal ? "causal" : "full");
  }
  return text;
}

nlohmann::json shapes_json(const JobShapes& shapes) {
  nlohmann::json attention = nlohmann::json::array();
  for (const AttentionShape& shape : shapes.attention) {
    attention.push_back({{"sequences", shape.sequences},
                         {"length", shape.query_length},
                         {"query_heads", shape.query_heads},
                         {"key_heads", shape.key_heads},
                         {"head_size", shape.head_size},
                         {"causal", shape.causal}});
  }
  nlohmann::json list = nlohmann::json::array();
  for (const ProductShape& product : shapes.products) {
    list.push_back({{"precision", precision_name(product.precision)},
                    {"m", product.shape.m},
                    {"n", product.shape.n},
                    {"k", product.shape.k},
                    {"uses", product.uses}});
  }
  return {
      {"schema", "headway/list/1"}, {"kind", kShapes}, {"entries", list}, {"attention", attention}};
}

int run_shapes(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const ScenarioOptions options{.overrides = overrides_of(arguments, diagnostics)};
  if (!arguments.has("scenario")) {
    Diagnostic problem;
    problem.message = "list shapes needs --scenario";
    problem.help = "write `headway list shapes --scenario llama3_8b_64`";
    diagnostics.add(std::move(problem));
  }
  diagnostics.throw_if_errors();
  const Scenario scenario = read_scenario(*arguments.value("scenario"), options, diagnostics);
  show_warnings(diagnostics, invocation.terminal);
  const JobShapes shapes{product_shapes(scenario.model, scenario.strategy),
                         attention_shapes(scenario.model, scenario.strategy)};
  invocation.terminal.print(arguments.has("json") ? json_document_text(shapes_json(shapes))
                                                  : shapes_text(shapes));
  return kExitDone;
}

int run_list(const Invocation& invocation) {
  const std::string& kind = invocation.arguments.positional().front();
  if (kind == kShapes) return run_shapes(invocation);
  for (const char* option : {"scenario", "set"}) {
    if (!invocation.arguments.has(option)) continue;
    Diagnostic problem;
    problem.message = fmt::format("--{} goes with shapes only", option);
    problem.help = "write `headway list shapes --scenario FILE`";
    throw InputError(std::move(problem));
  }
  const std::vector<CatalogEntry> entries = catalog(kind);
  invocation.terminal.print(invocation.arguments.has("json")
                                ? json_document_text(list_json(kind, entries))
                                : list_text(entries));
  return kExitDone;
}

}  // namespace

Command list_command() {
  Command command;
  command.name = "list";
  command.group = "Look up";
  command.arguments = "KIND";
  command.summary = "what ships: models, topologies, ...; shapes of a job";
  command.about = fmt::format(
      "Lists what ships with Headway and can be named in a scenario. "
      "KIND is one of {}, or shapes: the matrix products and the attention of a scenario.",
      fmt::join(catalog_kinds(), ", "));
  command.examples = {
      {"headway list models", "the model library, with sizes"},
      {"headway list shapes --scenario llama3_8b_64", "lines for headway-calibrate --shapes -"},
  };
  command.options = with_standard_options(
      {{.name = "scenario",
        .value = "FILE",
        .help = "whose matrix products and attention are listed; - is standard input",
        .group = OptionGroup::input},
       set_option("/strategy/micro_batch=2"),
       json_option()});
  command.words = catalog_kinds();
  command.words.emplace_back("shapes");
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was listed";
  command.details =
      "A file that cannot be read is listed with the reason. Files in $HEADWAY_DATA_DIR come "
      "before "
      "installed ones of the same name.";
  command.run = run_list;
  return command;
}

}  // namespace headway
