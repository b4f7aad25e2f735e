#include <fmt/format.h>

#include "reports/answers/explanation.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/files/json_text.h"
#include "sim/reference/input_fields.h"

namespace headway {
namespace {

std::vector<Topic> all_topics() {
  std::vector<Topic> all = topics();
  for (const ExitCodeText& code : exit_codes()) {
    Topic topic;
    topic.kind = TopicKind::exit_code;
    topic.name = fmt::format("exit_code.{}", static_cast<int>(code.code));
    topic.type = "exit code";
    topic.about = fmt::format("{}: {}.", code.name, code.meaning);
    topic.about.front() = static_cast<char>(topic.about.front() - 'a' + 'A');
    all.push_back(std::move(topic));
  }
  return all;
}

int run_explain(const Invocation& invocation) {
  const std::vector<std::string>& names = invocation.arguments.positional();
  if (const auto schema = invocation.arguments.value("schema")) {
    if (!names.empty()) refuse("--schema is all that is printed", "leave the name out");
    invocation.terminal.print(json_text(file_schema(*schema)));
    return kExitDone;
  }
  const std::vector<Topic> all = all_topics();
  if (invocation.arguments.has("fields")) {
    if (!names.empty()) refuse("--fields are all of them", "leave the name out");
    invocation.terminal.print(field_reference(all));
    return kExitDone;
  }
  invocation.terminal.print(names.empty() ? explanation_list(all)
                                          : explanation(topic_named(names.front(), all), all));
  return kExitDone;
}

}  // namespace

Command explain_command() {
  Command command;
  command.name = "explain";
  command.group = "Look up";
  command.arguments = "[NAME]";
  command.summary = "a field, a value of a result, a preset, an exit code";
  command.about =
      "Explains a field of an input file, a value of a result, a preset or an exit code: its type, "
      "default, meaning, limits and source. Without NAME it lists what there is.";
  command.examples = {
      {"headway explain strategy.tensor_parallel", "by its path; the end of it will do"},
      {"headway explain --schema scenario", "what editors complete and check with"},
  };
  command.options =
      with_standard_options({{.name = "schema",
                              .value = "KIND",
                              .help = "the JSON Schema of such files, for editors",
                              .group = OptionGroup::output,
                              .words = {schema_names().begin(), schema_names().end()}},
                             {.name = "fields",
                              .help = "every field of input files, as a page of Markdown",
                              .group = OptionGroup::output}});
  command.most_arguments = 1;
  command.outcome = "nothing was explained";
  command.details =
      "A name is the path of a field from the scenario's root, or as much of its end as is enough: "
      "leaf.uplinks. JSON pointers as messages show them are names too: /strategy/tensor_parallel. "
      "Array elements and free names (of a kernel family) are left out of the path.";
  command.run = run_explain;
  return command;
}

}  // namespace headway
