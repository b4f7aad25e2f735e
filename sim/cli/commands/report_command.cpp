#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reports/answers/answers.h"
#include "sim/base/utf8.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/options/common_options.h"
#include "sim/cli/options/scenario_options.h"
#include "sim/cli/outputs.h"
#include "sim/sweep/read_reported.h"

namespace headway {
namespace {

constexpr std::int64_t kMostMeasuredAccelerators = 1 << 30;
constexpr std::size_t kMostResults = 10'000;

/// "GPUS=RATE"
std::vector<MeasuredThroughput> measured_in(const std::vector<std::string>& texts,
                                            Diagnostics& diagnostics) {
  std::vector<MeasuredThroughput> list;
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const auto gpus = whole_number_in(text.substr(0, equals), 1, kMostMeasuredAccelerators);
    const std::string rate = equals < text.size() ? text.substr(equals + 1) : "";
    char* end = nullptr;
    const double value = std::strtod(rate.c_str(), &end);
    const bool is_known =
        gpus && std::ranges::find(list, *gpus, &MeasuredThroughput::accelerators) != list.end();
    if (gpus && !is_known && !rate.empty() && *end == '\0' && value > 0.0 && std::isfinite(value)) {
      list.push_back({*gpus, value});
    } else {
      Diagnostic problem;
      problem.message = is_known ? fmt::format("--measured speaks of {} GPUs twice", *gpus)
                                 : fmt::format("--measured {} is no throughput of a number of GPUs",
                                               in_quotes(text));
      problem.help =
          "such as --measured 1024=453000, tokens a second of the whole job; once for each number "
          "of GPUs";
      diagnostics.add(std::move(problem));
    }
  }
  return list;
}

int run_report(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Diagnostics diagnostics;
  const std::vector<OutputFile> files =
      answer_files(arguments, arguments.positional(), diagnostics);
  const std::vector<MeasuredThroughput> measured =
      measured_in(arguments.values("measured"), diagnostics);
  diagnostics.throw_if_errors();
  Reported report = read_reported(arguments.positional(), !measured.empty());
  report.study.measured = measured;
  warn_of_lone_measurements(report.study, diagnostics);
  show_warnings(diagnostics, invocation.terminal);
  const Answer answer =
      report.prediction ? prediction_answer(*report.prediction) : study_answer(report.study);
  for (const OutputFile& file : files) write_answer(answer, file.path, invocation.terminal);
  if (arguments.has("json")) {
    invocation.terminal.print([&](std::ostream& out) { answer.json.write_to(out); });
  } else if (files.empty()) {
    invocation.terminal.print(answer_as(".md", answer));
  }
  return kExitDone;
}

}  // namespace

Command report_command() {
  Command command;
  command.name = "report";
  command.group = "Predict";
  command.arguments = "RESULT...";
  command.summary = "results as a page, a text, a table";
  command.about =
      "Writes what `headway simulate` found as a report for people: an HTML page that needs no "
      "network, Markdown, CSV. RESULT is a file written by -o x.json or --json; several of them, "
      "or the folder of a sweep, give a scaling report.";
  command.examples = {
      {"headway report result.json -o result.html", "a page to send to somebody"},
      {"headway report sweep_folder -o scaling.html", "throughput and efficiency against GPUs"},
  };
  command.options = with_standard_options({
      {.name = "measured",
       .value = "GPUS=RATE",
       .help = "tokens/s that was measured, beside the predictions",
       .group = OptionGroup::input,
       .repeatable = true},
      json_option(),
      output_option(),
  });
  command.least_arguments = 1;
  command.most_arguments = kMostResults;
  command.outcome = "nothing was written";
  command.details =
      "The page is one file with everything in it: charts with their numbers as tables below, "
      "light and dark, for paper too. Nothing is simulated again. Without -o the report goes to "
      "standard output as Markdown.";
  command.run = run_report;
  return command;
}

}  // namespace headway
