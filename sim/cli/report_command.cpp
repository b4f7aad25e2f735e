#include <fmt/format.h>

#include <vector>

#include "reports/read_result.h"
#include "reports/report_format.h"
#include "reports/result_json.h"
#include "reports/write_file.h"
#include "sim/base/json_document.h"
#include "sim/cli/common_options.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/outputs.h"

namespace headway {
namespace {

Prediction result_in(const std::string& path) {
  Diagnostics diagnostics;
  const auto document = JsonDocument::read(path, diagnostics);
  diagnostics.throw_if_errors();
  Prediction prediction = read_result(JsonCursor(document), diagnostics);
  diagnostics.throw_if_errors();
  return prediction;
}

int run_report(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  Terminal& terminal = invocation.terminal;
  Diagnostics diagnostics;
  const std::vector<OutputFile> files =
      report_files(arguments.values("output"), report_suffixes(), diagnostics);
  check_outputs(files, diagnostics);
  check_outputs_spare(files, arguments.positional(), diagnostics);
  diagnostics.throw_if_errors();
  const Prediction prediction = result_in(arguments.positional().front());
  for (const OutputFile& file : files) {
    write_file(file.path, report_in(*format_of(file.path), prediction));
    terminal.remark(fmt::format("wrote {}\n", file.path));
  }
  if (arguments.has("json")) {
    terminal.print(result_json_text(prediction));
  } else if (files.empty()) {
    terminal.print(report_in(ReportFormat::markdown, prediction));
  }
  return kExitDone;
}

}  // namespace

Command report_command() {
  Command command;
  command.name = "report";
  command.group = "Predict";
  command.arguments = "RESULT";
  command.summary = "a result as a page, a text, a table";
  command.about =
      "Writes what `headway simulate` found as a report for people: an HTML page that needs no "
      "network, Markdown, CSV. RESULT is a file written by -o x.json or --json.";
  command.examples = {
      {"headway report result.json -o result.html", "a page to send to somebody"},
      {"headway report result.json", "the same as Markdown, on standard output"},
  };
  command.options = with_standard_options({json_option(), output_option()});
  command.least_arguments = 1;
  command.most_arguments = 1;
  command.outcome = "nothing was written";
  command.details =
      "The page is one file with everything in it: charts with their numbers as tables below, "
      "light and dark, for paper too. Nothing is simulated again. Without -o the report goes to "
      "standard output as Markdown.";
  command.run = run_report;
  return command;
}

}  // namespace headway
