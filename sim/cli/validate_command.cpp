#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <exception>

#include "reports/write_file.h"
#include "sim/base/utf8.h"
#include "sim/cli/common_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/jobs.h"
#include "sim/cli/json_output.h"
#include "sim/cli/outputs.h"
#include "sim/cli/progress.h"
#include "sim/cli/scenario_options.h"
#include "sim/cli/validation_report.h"
#include "sim/study/validation.h"

namespace headway {
namespace {

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

std::string rows_file_of(const Arguments& arguments) {
  if (auto path = arguments.value("rows")) return *path;
  refuse("validate needs --rows FILE",
         "a file of published training steps; `headway validate "
         "--help` tells what it holds");
}

std::vector<OutputFile> outputs_of(const Arguments& arguments, const std::string& rows_file) {
  std::vector<OutputFile> outputs;
  Diagnostics diagnostics;
  for (const std::string& path : arguments.values("output")) {
    outputs.push_back({"-o", path});
    check_suffix(outputs.back(), {".json", ".md"}, diagnostics);
  }
  check_outputs(outputs, diagnostics);
  check_outputs_spare(outputs, {rows_file}, diagnostics);
  diagnostics.throw_if_errors();
  return outputs;
}

void write_outputs(const std::vector<OutputFile>& outputs, const Validation& validation) {
  for (const OutputFile& output : outputs) {
    write_file(output.path, suffix_of(output.path) == ".md"
                                ? validation_markdown(validation)
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
  if (all.rows > 0 && all.mean <= *tolerance) return kExitDone;
  terminal.report(all.rows == 0
                      ? std::string("no row could be predicted, so no tolerance is met\n")
                      : fmt::format("the mean absolute error, {:.1f} %, exceeds the tolerance of "
                                    "{:.1f} %\n",
                                    100.0 * all.mean, 100.0 * *tolerance));
  return kExitNegative;
}

int run_validate(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  const std::string rows_file = rows_file_of(arguments);
  const auto tolerance = tolerance_of(arguments);
  const std::vector<OutputFile> outputs = outputs_of(arguments, rows_file);
  const When when = when_named(arguments.value("progress").value_or("auto"));
  ValidateOptions options;
  options.jobs = jobs_of(arguments);
  options.id_prefixes = arguments.values("id");
  options.accelerators = arguments.values("gpu");
  options.precisions = arguments.values("precision");
  const Validation validation = validation_of(rows_file, options, when, terminal);
  if (validation.rows.empty()) {
    refuse("no row of the file is asked for",
           "loosen --id, --gpu or --precision: they are the words of the file");
  }
  std::exception_ptr failure;
  try {
    write_outputs(outputs, validation);
  } catch (const EnvironmentError&) {
    failure = std::current_exception();
  }
  terminal.print(arguments.has("json") ? json_document_text(validation_json(validation))
                                       : validation_text(validation));
  if (failure) std::rethrow_exception(failure);
  return verdict(validation, tolerance, terminal);
}

std::vector<Option> validate_options() {
  return with_standard_options({
      {.name = "rows",
       .value = "FILE",
       .help = "published training steps",
       .group = OptionGroup::input},
      {.name = "id",
       .value = "PREFIX",
       .help = "only rows whose id begins so",
       .group = OptionGroup::input,
       .repeatable = true},
      {.name = "gpu",
       .value = "NAME",
       .help = "only rows of this accelerator, as the file names it",
       .group = OptionGroup::input,
       .repeatable = true},
      {.name = "precision",
       .value = "NAME",
       .help = "only rows in this precision",
       .group = OptionGroup::input,
       .repeatable = true},
      {.name = "tolerance",
       .value = "SHARE",
       .help = "exit code 1 if the mean absolute error exceeds it: 10% or 0.1",
       .group = OptionGroup::run},
      jobs_option(),
      json_option(),
      output_option(),
      progress_option(),
  });
}

}  // namespace

Command validate_command() {
  Command command;
  command.name = "validate";
  command.group = "Predict";
  command.summary = "predictions against published training steps";
  command.about =
      "Predicts every row of a file of published training steps and compares. A row that cannot be "
      "predicted is refused with its reason and does not stop the rest.";
  command.examples = {
      {"headway validate --rows published.json", "every row, then errors by source and GPU"},
      {"headway validate --rows published.json --gpu H100 --tolerance 10% -o errors.md",
       "some of them, as a check that fails if the mean error is above 10 %"},
  };
  command.options = validate_options();
  command.outcome = "nothing was predicted";
  command.details =
      "The file holds {\"rows\": [...]}, one object a published step: id, gpu, gpus, model, train, "
      "measured.iteration_time_s and where it was published. Errors are predicted / published - 1. "
      "What a row does not say and was taken for granted stands in the JSON result as "
      "\"assumed\".";
  command.run = run_validate;
  return command;
}

}  // namespace headway
