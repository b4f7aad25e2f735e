#include "sim/cli/commands/measured_validation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/text_table.h"
#include "sim/cli/exit_codes.h"
#include "sim/cli/jobs.h"
#include "sim/costs/read_profile.h"
#include "sim/costs/steps/read_steps.h"
#include "sim/files/input_files.h"
#include "sim/files/json_output.h"

namespace headway {
namespace {

std::vector<Profile> profiles_of(const Arguments& arguments) {
  const std::vector<std::string> paths = arguments.values("profile");
  if (paths.empty() || paths.size() > 2) {
    Diagnostic problem;
    problem.message = "--measured needs one or two --profile";
    problem.help = "name the profiles that were calibrated before and after the steps were run";
    throw InputError(std::move(problem));
  }
  std::vector<Profile> profiles;
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  for (const std::string& path : paths) {
    const auto cursor = files.open(path, "calibrate/profiles");
    const auto read = cursor ? read_profile(*cursor, files) : std::nullopt;
    if (read) profiles.push_back(*read->profile);
  }
  diagnostics.throw_if_errors();
  return profiles;
}

std::string milliseconds(double seconds) { return fmt::format("{:.2f}", 1e3 * seconds); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

}  // namespace

std::string measured_text(const MeasuredComparison& comparison) {
  using Align = TextTable::Align;
  TextTable table({{"step"},
                   {"ranks", Align::right},
                   {"measured ms", Align::right},
                   {"+-", Align::right},
                   {"predicted ms", Align::right},
                   {"error", Align::right},
                   {"contaminated", Align::right}});
  for (const MeasuredComparison::Row& row : comparison.rows) {
    const MeasuredStep& measured = row.measured;
    table.add_row({measured.step.id, fmt::format("{}", measured.ranks),
                   milliseconds(measured.time_s), percent(measured.spread),
                   milliseconds(row.predicted_s), fmt::format("{:+.1f} %", 100.0 * row.error()),
                   percent(measured.contaminated)});
  }
  const std::string drift =
      comparison.profiles_difference
          ? "; calibrations differ by " + percent(*comparison.profiles_difference)
          : "";
  return fmt::format(
      "{}{} rows: error median {}, p90 {}, worst {}; {} of the time contaminated{}\n"
      "verdict: {}{}\n",
      table.text(), comparison.rows.size(), percent(comparison.median_error),
      percent(comparison.p90_error), percent(comparison.worst_error),
      percent(comparison.contaminated), drift, verdict_name(comparison.verdict),
      comparison.reason.empty() ? "" : " (" + comparison.reason + ")");
}

nlohmann::json measured_json(const MeasuredComparison& comparison) {
  nlohmann::json rows = nlohmann::json::array();
  for (const MeasuredComparison::Row& row : comparison.rows) {
    rows.push_back({{"id", row.measured.step.id},
                    {"ranks", row.measured.ranks},
                    {"measured_s", json_number(row.measured.time_s)},
                    {"spread", json_number(row.measured.spread)},
                    {"contaminated_share", json_number(row.measured.contaminated)},
                    {"predicted_s", json_number(row.predicted_s)},
                    {"error", json_number(row.error())}});
  }
  return {{"schema", "headway/measured_validation/1"},
          {"rows", rows},
          {"summary",
           {{"median_absolute_error", json_number(comparison.median_error)},
            {"p90_absolute_error", json_number(comparison.p90_error)},
            {"worst_absolute_error", json_number(comparison.worst_error)},
            {"contaminated_share", json_number(comparison.contaminated)},
            {"calibrations_difference", comparison.profiles_difference
                                            ? json_number(*comparison.profiles_difference)
                                            : nlohmann::json()},
            {"verdict", verdict_name(comparison.verdict)},
            {"reason", comparison.reason}}}};
}

int run_measured_validation(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::vector<Profile> profiles = profiles_of(arguments);
  std::vector<MeasuredStep> measured;
  for (const std::string& path : arguments.values("measured")) {
    const auto rows = read_measured(path);
    measured.insert(measured.end(), rows.begin(), rows.end());
  }
  const MeasuredComparison comparison = measured_comparison(measured, profiles, jobs_of(arguments));
  invocation.terminal.print(arguments.has("json") ? json_document_text(measured_json(comparison))
                                                  : measured_text(comparison));
  return comparison.verdict == MeasuredComparison::Verdict::off ? kExitNegative : kExitDone;
}

}  // namespace headway
