#include "sim/plan/plan_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/join_words.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/launch/launch_files.h"
#include "sim/launch/launch_job.h"

namespace headway {
namespace {

void check_kept(const std::set<std::string>& kept, Diagnostics& diagnostics) {
  const std::vector<std::string_view>& fields = searched_fields();
  for (const std::string& field : kept) {
    if (std::ranges::find(fields, field) != fields.end()) continue;
    const auto meant = closest(field, fields);
    diagnostics.add({.message = fmt::format("{} is not searched", in_quotes(field)),
                     .location = {.file = "--keep " + printable(field)},
                     .help = (meant ? fmt::format("did you mean \"{}\"? ", *meant) : "") +
                             fmt::format("searched are {}; everything else stays as the scenario "
                                         "has it anyway",
                                         join_words(fields, ", "))});
  }
}

void check_path(const std::string& path, Diagnostics& diagnostics) {
  if (path != "-") return;
  diagnostics.add(
      {.message = "a plan reads its scenario many times, which standard input does not allow",
       .help = "write it to a file"});
}

}  // namespace

std::string unsaid_choice(const PlanOptions& options, const Leader& leader) {
  const JsonValue& scenario = leader.prediction.question.scenario;
  const std::optional<LaunchFramework> framework = launch_framework_of(scenario);
  if (options.framework || !framework) return "";
  std::vector<std::string> unsaid;
  for (const UnsaidField& field : launch_job(scenario, *framework).flags.unsaid) {
    const auto& fields = searched_fields();
    if (std::ranges::find(fields, field.field) == fields.end()) continue;
    unsaid.push_back(field.field + " " + field.value);
  }
  if (unsaid.empty()) return "";
  return fmt::format("{} has no setting for {}; --framework {} plans with what it has.",
                     framework_title(*framework), join_words(unsaid, ", "), word_of(*framework));
}

void check_plan(const PlanOptions& options, Diagnostics& diagnostics) {
  check_kept(options.kept, diagnostics);
  check_path(options.leaders.path, diagnostics);
}

}  // namespace headway
