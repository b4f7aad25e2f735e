#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "reports/answers/collective_validation_report.h"
#include "reports/answers/memory_report.h"
#include "reports/answers/validation_page.h"
#include "reports/answers/validation_report.h"
#include "reports/write_file.h"
#include "sim/base/utf8.h"
#include "sim/cli/commands/measured_validation.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/jobs.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/files/json_output.h"
#include "sim/validate/validation.h"

namespace headway {
namespace {

/// Properties of rows that an option of the same name filters by.
constexpr std::array<std::string_view, 5> kFilteredProperties = {"kind", "framework", "source",
                                                                 "gpu", "precision"};

[[noreturn]] void refuse(std::string message, std::string help) {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.help = std::move(help);
  throw InputError(std::move(problem));
}

/// "10%" or "0.1" as a fraction.
std::optional<double> tolerance_of(const Arguments& arguments) {
  const auto text = arguments.value("tolerance");
  if (!text) return std::nullopt;
  const bool is_percent = text->ends_with('%');
  const char* const end = text->data() + text->size() - (is_percent ? 1 : 0);
  double value = 0.0;
  const auto [stopped, error] = std::from_chars(text->data(), end, value);
  if (error == std::errc() && stopped == end && std::isfinite(value) && value >= 0.0) {
    return is_percent ? value / 100.0 : value;
  }
  refuse(fmt::format("--tolerance needs a share, not {}", in_quotes(*text)), "write 10% or 0.1");
}

ValidationFilter filter_of(const Arguments& arguments) {
  ValidationFilter filter;
  filter.id_prefixes = arguments.values("id");
  for (const std::string_view property : kFilteredProperties) {
    filter.words[std::string(property)] = arguments.values(property);
  }
  for (const std::string& text : arguments.values("scale")) {
    filter.scales.push_back(scale_range(text));
  }
  return filter;
}

std::vector<const CostTerm*> terms_of(const Arguments& arguments) {
  std::vector<const CostTerm*> terms;
  for (const std::string& name : arguments.values("ablate")) {
    if (name != "all") {
      terms.push_back(&cost_term_named(name));
      continue;
    }
    for (const CostTerm& term : cost_terms()) terms.push_back(&term);
  }
  return terms;
}

std::vector<OutputFile> outputs_of(const Arguments& arguments) {
  Diagnostics diagnostics;
  std::vector<OutputFile> outputs =
      report_files(arguments.values("output"), {".json", ".md", ".html"}, diagnostics);
  check_outputs(outputs, diagnostics);
  if (const auto rows = arguments.value("rows")) check_outputs_spare(outputs, {*rows}, diagnostics);
  diagnostics.throw_if_errors();
  return outputs;
}

void write_outputs(const std::vector<OutputFile>& outputs, const Validation& validation) {
  for (const OutputFile& output : outputs) {
    const std::string suffix = suffix_of(output.path);
    write_file(output.path, suffix == ".md"     ? validation_markdown(validation)
                            : suffix == ".html" ? validation_html(validation)
                                                : json_document_text(validation_json(validation)));
  }
}

Validation validation_of(const std::string& rows_file, ValidateOptions& options, When when,
                         Terminal& terminal) {
  Diagnostics diagnostics;
  Progress progress(terminal, when, "predicting published steps");
  options.progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); };
  Validation validation = validate_rows(rows_file, options, diagnostics);
  progress.finish();
  show_warnings(diagnostics, terminal);
  return validation;
}

int verdict(const Validation& validation, std::optional<double> tolerance, Terminal& terminal) {
  if (!tolerance) return kExitDone;
  const ValidationSummary& all = validation.summary.front();
  if (all.rows.count > 0 && all.rows.mean <= *tolerance) return kExitDone;
  terminal.report(all.rows.count == 0
                      ? std::string("no row could be predicted, so no tolerance is met\n")
                      : fmt::format("the mean absolute error, {:.1f} %, exceeds the tolerance of "
                                    "{:.1f} %\n",
                                    100.0 * all.rows.mean, 100.0 * *tolerance));
  return kExitNegative;
}

/// `mode` compares something else than the times of published rows: options that make no sense with
/// it are refused.
void refuse_beside(const std::string& mode, std::initializer_list<const char*> options,
                   const Arguments& arguments) {
  for (const char* option : options) {
    if (!arguments.has(option)) continue;
    refuse(fmt::format("--{} does not go with --{}", mode, option), "leave one of them out");
  }
}

/// Whether jobs fit, instead of how long they take.
int run_memory(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  refuse_beside("memory", {"ablate", "tolerance", "output", "profile"}, arguments);
  Diagnostics diagnostics;
  ValidateOptions options;
  options.jobs = jobs_of(arguments);
  options.filter = filter_of(arguments);
  Progress progress(terminal, when_named(arguments.value("progress").value_or("auto")),
                    "judging published jobs");
  options.progress = [&](std::size_t done, std::size_t of) { progress.update(done, of); };
  const MemoryValidation validation =
      validate_memory(arguments.value("rows").value_or(""), options, diagnostics);
  progress.finish();
  terminal.print(arguments.has("json") ? json_document_text(memory_json(validation))
                                       : memory_text(validation));
  return kExitDone;
}

/// How long collectives take, against tables of nccl-tests.
int run_collectives(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const CollectiveValidation validation =
      validate_collectives(arguments.value("rows").value_or(""), jobs_of(arguments), diagnostics);
  show_warnings(diagnostics, invocation.terminal);
  invocation.terminal.print(arguments.has("json")
                                ? json_document_text(collective_validation_json(validation))
                                : collective_validation_text(validation));
  return kExitDone;
}

int run_validate(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  if (arguments.has("collectives")) {
    refuse_beside("collectives",
                  {"kind", "framework", "source", "gpu", "precision", "scale", "id", "ablate",
                   "memory", "tolerance", "output", "measured", "profile"},
                  arguments);
    return run_collectives(invocation);
  }
  if (arguments.has("measured")) {
    refuse_beside("measured",
                  {"rows", "kind", "framework", "source", "gpu", "precision", "scale", "id",
                   "ablate", "memory", "tolerance", "output"},
                  arguments);
    return run_measured_validation(invocation);
  }
  if (arguments.has("profile")) {
    refuse("--profile needs --measured", "published rows take the profile of their accelerator");
  }
  if (arguments.has("memory")) return run_memory(invocation);
  Terminal& terminal = invocation.terminal;
  const auto tolerance = tolerance_of(arguments);
  const std::vector<OutputFile> outputs = outputs_of(arguments);
  const When when = when_named(arguments.value("progress").value_or("auto"));
  ValidateOptions options;
  options.jobs = jobs_of(arguments);
  options.filter = filter_of(arguments);
  options.ablate = terms_of(arguments);
  const Validation validation =
      validation_of(arguments.value("rows").value_or(""), options, when, terminal);
  write_then_print([&] { write_outputs(outputs, validation); },
                   [&] {
                     terminal.print(arguments.has("json")
                                        ? json_document_text(validation_json(validation))
                                        : validation_text(validation));
                   });
  return verdict(validation, tolerance, terminal);
}

Option repeatable_option(std::string name, std::string value, std::string help) {
  return {.name = std::move(name),
          .value = std::move(value),
          .help = std::move(help),
          .group = OptionGroup::input,
          .repeatable = true};
}

std::vector<Option> validate_options() {
  Option output = output_option();
  output.help = "writes the result too, by suffix: .json, .md or .html";
  return with_standard_options({
      {.name = "rows",
       .value = "FILE",
       .fallback = "798 that ship",
       .help = "published training steps",
       .group = OptionGroup::input},
      repeatable_option("measured", "FILE", "steps that were run here, instead"),
      repeatable_option("profile", "FILE", "calibrated before them, and after"),
      repeatable_option("kind", "WORD", "only these: dense, moe, lora or sft"),
      repeatable_option("framework", "NAME", "only rows of this software"),
      repeatable_option("source", "KEY", "only rows that this source published"),
      repeatable_option("gpu", "NAME", "only rows of this accelerator"),
      repeatable_option("precision", "NAME", "only rows in this precision"),
      repeatable_option("scale", "RANGE", "only jobs of 64, 65..1024 or 1025.. GPUs"),
      repeatable_option("id", "PREFIX", "only rows whose id begins so"),
      {.name = "ablate",
       .value = "TERM",
       .help = "predict again without a term of the cost model; all takes each in turn",
       .group = OptionGroup::run,
       .repeatable = true},
      {.name = "memory",
       .help = "whether jobs fit: ones that ran, ones that did not",
       .group = OptionGroup::run},
      {.name = "collectives",
       .help = "collectives of NCCL, against 20 published sweeps",
       .group = OptionGroup::run},
      {.name = "tolerance",
       .value = "SHARE",
       .help = "exit code 1 if the mean error exceeds it: 10%",
       .group = OptionGroup::run},
      jobs_option(),
      json_option(),
      output,
      progress_option(),
  });
}

}  // namespace

Command validate_command() {
  Command command;
  command.name = "validate";
  command.group = "Predict";
  command.summary = "predictions against published or measured steps";
  command.about =
      "Predicts published training steps and compares. A row that cannot be predicted is refused "
      "with its reason and does not stop the rest.";
  command.examples = {
      {"headway validate -o errors.html", "every row that ships, as a page"},
      {"headway validate --kind dense --gpu H100 --ablate recompute --tolerance 10%",
       "some of them, also without a term; fails if the mean error is above 10 %"},
  };
  command.options = validate_options();
  command.outcome = "nothing was predicted";
  command.details =
      "A file holds {\"rows\": [...]}, one object a published step: id, gpu, gpus, model, train, "
      "measured.iteration_time_s and where it was published. Errors are predicted / published - 1; "
      "a group of near-identical rows counts once in the columns that say so. What a row does not "
      "say and was taken for granted stands in the JSON result as \"assumed\". `headway explain "
      "terms` lists what --ablate can leave out. --measured takes what headway-calibrate --steps "
      "wrote and needs --profile, once or twice: calibrated before the steps were run, and after. "
      "Its verdict is inconclusive where other work on the machine, or the two profiles, make more "
      "than 5 % of difference.";
  command.run = run_validate;
  return command;
}

}  // namespace headway
